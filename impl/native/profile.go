package native

import (
	"errors"

	"mage/impl"
)

var _ impl.Profiled = (*operation)(nil)

// Profile performs the operation n times in the range of an external profiler.
func (o *operation) Profile(n int) error {
	if err := o.Run(); err != nil {
		return err
	}
	if err := o.options.Device.ProfilerStart(); err != nil {
		return err
	}
	var err error
	for i := 0; i < n && err == nil; i++ {
		err = o.Run()
	}
	return errors.Join(err, o.options.Device.ProfilerStop())
}
