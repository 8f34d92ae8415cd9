package doctor

import (
	"context"
	"errors"

	"mage/ceiling"
	"mage/gpu/cuda"
	"mage/timing"
)

// Ceilings measures what the GPU with the given ordinal can do at best. Without a
// driver or a GPU it returns an *unavailable.Error. It takes seconds, and the GPU
// should have nothing else to do. Zero where takes cuda.DefaultOptions.
func Ceilings(ctx context.Context, where cuda.Options, ordinal int, o ceiling.Options) (_ *ceiling.File, err error) {
	if where == (cuda.Options{}) {
		where = cuda.DefaultOptions()
	}
	if _, err := where.Count(); err != nil {
		return nil, err
	}
	dev, err := where.Open(ordinal)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	stream, err := dev.NewStream()
	if err != nil {
		return nil, err
	}
	timer, err := timing.NewDevice(dev, stream)
	if err != nil {
		return nil, err
	}
	defer timer.Close()
	return ceiling.Measure(ctx, dev, stream, timer, o)
}
