package history

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Point is one kernel in one session. Times are µs.
type Point struct {
	Session    int64     `json:"session_id"`
	Start      time.Time `json:"start_time,omitzero"`
	Device     string    `json:"device_name,omitempty"`
	Backend    string    `json:"backend,omitempty"`
	Instrument string    `json:"instrument,omitempty"`
	Command    string    `json:"command"`
	Calls      int       `json:"calls"`
	Median     float64   `json:"median_us"`
	// Low and High are the quartiles of the launches' durations.
	Low  float64 `json:"low_us"`
	High float64 `json:"high_us"`
	Min  float64 `json:"min_us"`
	Max  float64 `json:"max_us"`
}

// Series is a kernel over the sessions of one device and instrument: what may be
// drawn as one line. The points are in the order of their sessions' starts.
type Series struct {
	Device     string  `json:"device_name,omitempty"`
	Instrument string  `json:"instrument,omitempty"`
	Points     []Point `json:"points"`
}

// KernelOverTime returns the kernel's name and its series, by device and
// instrument. word is the name, or a part of it that no other kernel's name
// holds (case aside); else the error is a *NoKernelError.
func (d *DB) KernelOverTime(ctx context.Context, word string) (name string, out []Series, err error) {
	if name, err = d.findKernel(ctx, word); err != nil {
		return "", nil, err
	}
	sessions, err := d.Sessions(ctx)
	if err != nil {
		return "", nil, err
	}
	durations := map[int64][]float64{}
	rows, err := d.db.QueryContext(ctx, "SELECT m.session_id, m.duration_us FROM metrics m WHERE m.kernel_name = ? AND "+
		measured+" ORDER BY m.duration_us", name)
	err = each(rows, err, func() error {
		var id int64
		var us float64
		if err := rows.Scan(&id, &us); err != nil {
			return err
		}
		durations[id] = append(durations[id], us)
		return nil
	})
	if err != nil {
		return "", nil, explain(d.path, "read a kernel", err)
	}
	for _, s := range slices.Backward(sessions) { // oldest first
		us := durations[s.ID]
		if len(us) == 0 {
			continue
		}
		p := Point{Session: s.ID, Start: s.Start, Device: s.Device, Backend: s.Backend, Instrument: s.ReadWith(),
			Command: s.Command, Calls: len(us), Median: quantile(us, 0.5), Low: quantile(us, 0.25), High: quantile(us, 0.75),
			Min: us[0], Max: us[len(us)-1]}
		i := slices.IndexFunc(out, func(x Series) bool { return x.Device == p.Device && x.Instrument == p.Instrument })
		if i < 0 {
			i = len(out)
			out = append(out, Series{Device: p.Device, Instrument: p.Instrument})
		}
		out[i].Points = append(out[i].Points, p)
	}
	return name, out, nil
}

func (d *DB) findKernel(ctx context.Context, word string) (string, error) {
	var all []string
	rows, err := d.db.QueryContext(ctx, "SELECT DISTINCT m.kernel_name FROM metrics m WHERE "+measured+" ORDER BY 1")
	err = each(rows, err, func() error {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		all = append(all, name)
		return nil
	})
	if err != nil {
		return "", explain(d.path, "look for a kernel", err)
	}
	if slices.Contains(all, word) {
		return word, nil
	}
	var similar []string
	for _, name := range all {
		if strings.Contains(strings.ToLower(name), strings.ToLower(word)) {
			similar = append(similar, name)
		}
	}
	if len(similar) == 1 {
		return similar[0], nil
	}
	return "", &NoKernelError{Name: word, Similar: similar}
}

// quantile interpolates between the sorted values (Hyndman and Fan, The American
// Statistician 50, 1996, definition 7).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
