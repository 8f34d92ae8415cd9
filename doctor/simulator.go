package doctor

import (
	"context"
	"errors"
	"fmt"

	"mage/gpu"
	"mage/gpu/simt"
)

// probe stores its thread's number.
const probe = `.version 8.0
.target sm_90
.address_size 64
.visible .entry probe(.param .u64 out) { .reg .b32 %r; .reg .b64 %d<3>;
ld.param.u64 %d1, [out]; mov.u32 %r, %tid.x; mul.wide.u32 %d2, %r, 4; add.s64 %d2, %d1, %d2; st.global.u32 [%d2], %r; ret; }`

// simulator executes a kernel: it is the one thing here that every machine has.
func simulator(_ context.Context, report func(Finding)) {
	info, err := execute()
	if err != nil {
		report(missing("simulator", err))
		return
	}
	report(Finding{Item: "simulator", Available: true,
		Detail: fmt.Sprintf("executes PTX as compute capability %s, checks and counts it, measures no time; where there is no GPU, or with --simulate", info.ComputeCapability)})
}

// execute runs the probe on a simulated device.
func execute() (gpu.Info, error) {
	d, err := simt.Open(simt.Options{})
	if err != nil {
		return gpu.Info{}, err
	}
	defer d.Close()
	m, err := d.Load([]byte(probe))
	if err != nil {
		return gpu.Info{}, err
	}
	f, err := m.Function("probe")
	if err != nil {
		return gpu.Info{}, err
	}
	out, err := d.Alloc(4 * 32)
	if err != nil {
		return gpu.Info{}, err
	}
	l, err := f.Bind(gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}}, gpu.Pointer(out))
	if err != nil {
		return gpu.Info{}, err
	}
	s, err := d.NewStream()
	if err != nil {
		return gpu.Info{}, err
	}
	last := make([]byte, 4)
	if err := errors.Join(l.Submit(s), s.Synchronize(), d.Download(last, out+4*31)); err != nil {
		return gpu.Info{}, err
	}
	if last[0] != 31 {
		return gpu.Info{}, fmt.Errorf("a kernel stored %d where it stores 31", last[0])
	}
	return d.Info(), nil
}
