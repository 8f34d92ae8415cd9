package machine

import (
	"context"
	"strings"

	"mage/impl/exec"
	"mage/unavailable"
)

// openPrograms adds the native programs that are declared below o.Exec. Without any,
// those that are wanted are lacking: a shared experiment names programs that not
// everybody has built. With some, another name is a mistake, and told as one.
func (m *Machine) openPrograms(ctx context.Context, o Options) error {
	if len(o.Exec) == 0 {
		for _, name := range o.Wanted {
			if strings.HasPrefix(name, "exec/") {
				m.Lacking[name] = unavailable.New(name, "no --exec names the directory that declares it", "build it and add --exec DIR (docs/rust.md)")
			}
		}
		return nil
	}
	declarations, err := exec.Load(o.Exec...)
	if err != nil {
		return err
	}
	opt := exec.Options{}
	if m.gpu != nil {
		opt.DeviceID, opt.Visible, opt.State = m.gpu.id, m.gpu.device.Info().UUID, m.gpu.device.State
	}
	for _, i := range exec.New(ctx, opt, declarations) {
		if m.gpu != nil {
			m.Implementations = append(m.Implementations, i)
		} else {
			m.Lacking[i.Name()] = unavailable.New(i.Name(), "there is no GPU", "")
		}
	}
	return nil
}
