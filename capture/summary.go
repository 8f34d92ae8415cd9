package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Group is the launches that are alike in what the summary groups by.
type Group struct {
	Key      []string // one value for each criterion
	Launches []*Kernel
	// Timed counts the launches with a duration; the times are over those, in µs,
	// and zero when there are none.
	Timed                    int
	Total, Mean, Least, Most float64
	// Share is this group's part of the time of all groups.
	Share float64
}

// Criteria are what launches can be grouped by.
func Criteria() []string { return []string{"kernel", "grid", "block", "stream"} }

// Summarize groups launches by the criteria, "kernel" when there are none, with
// the longest total first.
func Summarize(kernels []Kernel, by ...string) ([]Group, error) {
	if len(by) == 0 {
		by = []string{"kernel"}
	}
	for _, b := range by {
		if !slices.Contains(Criteria(), b) {
			return nil, &UsageError{fmt.Sprintf("launches cannot be grouped by %q; choose of %s", b, strings.Join(Criteria(), ", "))}
		}
	}
	index := map[string]int{}
	var groups []Group
	total := 0.0
	for i := range kernels {
		k := &kernels[i]
		key := make([]string, len(by))
		for j, b := range by {
			key[j] = criterion(k, b)
		}
		id := strings.Join(key, "\x00")
		at, ok := index[id]
		if !ok {
			at = len(groups)
			index[id] = at
			groups = append(groups, Group{Key: key})
		}
		groups[at].add(k)
		if k.DurationUS != nil {
			total += *k.DurationUS
		}
	}
	for i := range groups {
		g := &groups[i]
		if g.Timed > 0 {
			g.Mean = g.Total / float64(g.Timed)
		}
		if total > 0 {
			g.Share = g.Total / total
		}
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Total, a.Total) })
	return groups, nil
}

func criterion(k *Kernel, by string) string {
	switch by {
	case "grid":
		return k.Grid.String()
	case "block":
		return k.Block.String()
	case "stream":
		return number(k.Stream)
	}
	return k.Name
}

func (g *Group) add(k *Kernel) {
	g.Launches = append(g.Launches, k)
	if k.DurationUS == nil {
		return
	}
	us := *k.DurationUS
	if g.Timed == 0 {
		g.Least, g.Most = us, us
	}
	g.Timed++
	g.Total += us
	g.Least, g.Most = min(g.Least, us), max(g.Most, us)
}
