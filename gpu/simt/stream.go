package simt

import (
	"errors"
	"fmt"

	"mage/gpu"
)

// stream keeps what is queued until it is synchronized.
type stream struct {
	device *Device
	queue  []work
	gone   bool
}

// work is a launch, a fill or a copy.
type work struct {
	launch   *launch
	copy     bool
	dst, src gpu.Ptr
	value    byte
	bytes    int64
}

var errForeign = errors.New("it belongs to another device, or was destroyed")

// NewStream makes an in-order queue.
func (d *Device) NewStream() (gpu.Stream, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	s := &stream{device: d}
	d.streams[s] = struct{}{}
	return s, nil
}

func (d *Device) stream(g gpu.Stream) (*stream, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	s, ok := g.(*stream)
	if !ok || s.device != d || s.gone {
		return nil, fmt.Errorf("stream: %w", errForeign)
	}
	return s, nil
}

func (s *stream) usable() error {
	_, err := s.device.stream(s)
	return err
}

// Synchronize runs what is queued. The first error is returned, and what was
// queued behind it is dropped. A kernel that ran to its end with findings is a
// *CheckError, and does not keep the rest from running.
func (s *stream) Synchronize() error {
	if err := s.usable(); err != nil {
		return err
	}
	queue := s.queue
	s.queue = nil
	var found *CheckError
	for _, w := range queue {
		err := s.run(w)
		var check *CheckError
		if errors.As(err, &check) {
			if found == nil {
				found = &CheckError{}
			}
			found.Findings = append(found.Findings, check.Findings...)
		} else if err != nil {
			return err
		}
	}
	if found != nil {
		return found
	}
	return nil
}

func (s *stream) run(w work) error {
	d := s.device
	switch {
	case w.launch != nil:
		return w.launch.run()
	case !w.copy:
		return d.Fill(w.dst, w.value, w.bytes)
	}
	to, dst, err := d.memory.Range(uint64(w.dst), w.bytes)
	if err != nil {
		return fmt.Errorf("copy to: %w", err)
	}
	from, src, err := d.memory.Range(uint64(w.src), w.bytes)
	if err != nil {
		return fmt.Errorf("copy from: %w", err)
	}
	copy(dst, src)
	to.CopyWritten(int64(uint64(w.dst)-to.Base), from, int64(uint64(w.src)-from.Base), w.bytes)
	return nil
}

// Record is unavailable.
func (s *stream) Record(gpu.Event) error { return noClock("event") }

// FillAsync queues a fill.
func (s *stream) FillAsync(dst gpu.Ptr, value byte, bytes int64) error {
	return s.push(work{dst: dst, value: value, bytes: bytes})
}

// CopyAsync queues a copy within the device.
func (s *stream) CopyAsync(dst, src gpu.Ptr, bytes int64) error {
	return s.push(work{copy: true, dst: dst, src: src, bytes: bytes})
}

func (s *stream) push(w work) error {
	if err := s.usable(); err != nil {
		return err
	}
	if w.bytes < 0 {
		return fmt.Errorf("%d bytes: the size is negative", w.bytes)
	}
	if w.bytes > 0 {
		s.queue = append(s.queue, w)
	}
	return nil
}

// Capture is unavailable: a graph serves to take time.
func (s *stream) Capture(func() error) (gpu.Graph, error) { return nil, noClock("graph") }

// Replay is unavailable.
func (s *stream) Replay(gpu.Graph) error { return noClock("graph") }

// Destroy runs what is queued and ends the stream.
func (s *stream) Destroy() error {
	if err := s.usable(); err != nil {
		return err
	}
	err := s.Synchronize()
	s.gone = true
	delete(s.device.streams, s)
	return err
}
