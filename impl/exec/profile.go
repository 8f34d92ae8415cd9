package exec

import (
	"fmt"
	"strconv"

	"mage/impl"
	"mage/internal/tail"
)

var _ impl.Profiled = (*operation)(nil)

// Profile lets the program perform the operation n times in the range of an
// external profiler. What it leaves is not taken: a profiler was on.
func (o *operation) Profile(n int) error {
	if err := o.owner.executable.unchanged(); err != nil {
		return err
	}
	log, err := run(o.owner.ctx, job{
		path: o.owner.executable.path, args: []string{o.dir, "--iterations", strconv.Itoa(n), "--capture"}, dir: o.dir,
		env: o.owner.env(), deadline: o.owner.options.Deadline,
	})
	if err != nil {
		if line := o.local(tail.Line(log)); line != "" {
			err = fmt.Errorf("%w: %s", err, line)
		}
		return fmt.Errorf("profiling %s: %w", o.name(), err)
	}
	return o.clear()
}
