package native

import (
	"mage/gpu/verdict"
	"mage/impl"
)

// counter is a device that counts what it executes instead of timing it.
// *simt.Device is one.
type counter interface {
	Counters() verdict.Counters
	ResetCounters()
	Findings() []verdict.Finding
	Printed() []byte
}

// counting is an operation on such a device. It has the device's counters to
// itself while it runs: a device belongs to one goroutine.
type counting struct {
	*operation
	device   counter
	counters verdict.Counters
	findings []verdict.Finding
	printed  []byte
}

var _ impl.Counting = (*counting)(nil)

// opened is what callers of Open get: an operation that counts where the device does.
func (o *operation) opened() impl.Operation {
	if d, ok := o.options.Device.(counter); ok {
		return &counting{operation: o, device: d}
	}
	return o
}

// Run performs the operation once and keeps what it cost and showed, also when it
// fails.
func (c *counting) Run() error {
	c.device.ResetCounters()
	before := len(c.device.Findings())
	err := c.operation.Run()
	c.counters = c.device.Counters()
	c.printed = c.device.Printed()
	c.findings = append(c.findings, c.device.Findings()[before:]...)
	return err
}

func (c *counting) Counters() verdict.Counters  { return c.counters }
func (c *counting) Findings() []verdict.Finding { return c.findings }
func (c *counting) Printed() []byte             { return c.printed }
