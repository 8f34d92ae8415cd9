package main

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"

	"mage/capture"
	"mage/history"
)

// persist adds a capture to the history.
func (f dbFlags) persist(ctx context.Context, c *capture.Capture, r *capture.Result) error {
	dir, err := filepath.Abs(c.Dir) // the history is looked at from elsewhere
	if err != nil {
		return err
	}
	db, err := f.open(history.Options{})
	if err != nil {
		return err
	}
	words := make([]string, len(c.Target))
	for i, w := range c.Target {
		words[i] = quoted(w)
	}
	var metrics []history.Metric
	for i := range r.Kernels {
		if m, ok := metric(&r.Kernels[i]); ok {
			metrics = append(metrics, m)
		}
	}
	_, err = db.Add(ctx, history.Session{
		Command: strings.Join(words, " "), Start: c.Started, End: c.Ended, Device: c.Device,
		Backend: c.Backend, Instrument: instrument(c.Backend), Outcome: string(c.Outcome), Directory: dir, ToolVersion: version,
	}, metrics)
	return errors.Join(err, db.Close())
}

// instrument is what a backend reads durations with.
func instrument(backend string) string {
	if backend == "triton" {
		return "cuda-event"
	}
	return backend
}

// metric is one launch; one without a duration is not part of the history.
func metric(k *capture.Kernel) (history.Metric, bool) {
	if k.DurationUS == nil {
		return history.Metric{}, false
	}
	a := capture.Analyze([]*capture.Kernel{k})
	m := history.Metric{
		Kernel: k.Name, DurationUS: *k.DurationUS,
		Grid: size(k.Grid), Block: size(k.Block),
		Registers: whole(k.Registers), StaticShared: whole(k.StaticShared), DynamicShared: whole(k.DynamicShared),
		LocalBytes: whole(k.Local), Stream: whole(k.Stream),
		Occupancy: a.Occupancy, MemoryGBps: times(a.Bandwidth, 1e-9), ComputePct: times(a.SMBusy, 100),
		L1HitRate: times(a.L1HitRate, 100), L2HitRate: times(a.L2HitRate, 100),
		DRAMReadBytes: bytesOf(k, "dram__bytes_read.sum"), DRAMWriteBytes: bytesOf(k, "dram__bytes_write.sum"),
	}
	if m.Occupancy != nil && *m.Occupancy > 1 {
		m.Occupancy = nil // a reading that cannot be
	}
	if m.StaticShared != nil && m.DynamicShared != nil {
		both := *m.StaticShared + *m.DynamicShared
		m.SharedBytes = &both
	}
	return m, true
}

func size(d capture.Dim) *history.Dim3 {
	return &history.Dim3{int64(d[0]), int64(d[1]), int64(d[2])}
}

func whole(v *int) *int64 {
	if v == nil {
		return nil
	}
	n := int64(*v)
	return &n
}

func times(v *float64, factor float64) *float64 {
	if v == nil {
		return nil
	}
	x := *v * factor
	return &x
}

func bytesOf(k *capture.Kernel, counter string) *int64 {
	c, ok := k.Counters[counter]
	if !ok || c.Unit != "B" {
		return nil
	}
	n := int64(math.Round(c.Value))
	return &n
}
