package machine

import (
	"context"

	"mage/impl/exec"
	"mage/unavailable"
)

// openPrograms adds the native programs that are declared below o.Exec.
func (m *Machine) openPrograms(ctx context.Context, o Options) error {
	if len(o.Exec) == 0 {
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
