package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"mage/capture"
	"mage/report"
	"mage/roofline"
)

// ofDevice is a made-up capture of two launches alike and one that lacks a counter,
// with ceilings in round numbers, made up as well.
func ofDevice(name, uuid string) (*capture.Capture, *capture.Result, *roofline.Roofs) {
	launch := func(name string) capture.Kernel {
		k := capture.Kernel{Name: name, DurationUS: us(100), Grid: capture.Dim{1, 1, 1}, Block: capture.Dim{32, 1, 1}, Counters: map[string]capture.Counter{}}
		for _, c := range roofline.Counters() {
			k.Counters[c] = capture.Counter{Unit: "inst"}
		}
		k.Counters[capture.Duration] = capture.Counter{Value: 100e-6, Unit: "s"}
		k.Counters["dram__bytes_read.sum"] = capture.Counter{Value: 200e6, Unit: "B"}
		k.Counters["dram__bytes_write.sum"] = capture.Counter{Value: 100e6, Unit: "B"}
		k.Counters["lts__t_sectors_srcunit_tex.sum"] = capture.Counter{Value: 10e6, Unit: "sector"}
		k.Counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = capture.Counter{Value: 300e6, Unit: "inst"}
		return k
	}
	r := &capture.Result{Kernels: []capture.Kernel{launch("whole"), launch("whole"), launch("part")}}
	delete(r.Kernels[2].Counters, "dram__bytes_write.sum")
	roofs := &roofline.Roofs{Device: "Made-up GPU", UUID: "GPU-1", About: "made up", Roofs: []roofline.Roof{
		{Name: "dram-copy", Resource: roofline.DRAM, Rate: 4e12, Writes: 0.5}, {Name: "l2-copy", Resource: roofline.L2, Rate: 8e12, Writes: 0.5}, {Name: "fp32-fma", Resource: roofline.FP32, Rate: 50e12}}}
	return &capture.Capture{Backend: "ncu", Device: name, UUID: uuid, Outcome: capture.Complete}, r, roofs
}

func TestRoofline(t *testing.T) {
	c, r, roofs := ofDevice("Made-up GPU", "GPU-1")
	p, err := New(c, r, Options{Analyze: true, Roofs: roofs})
	if err != nil {
		t.Fatal(err)
	}
	// 300 MB take 75 of 100 µs at 4 TB/s, 600 MFLOP only 12; so do two launches together.
	whole, part := p.Groups[0].Roofline, p.Groups[1].Roofline
	if whole.Binds != roofline.DRAM || math.Abs(*whole.Fraction-0.75) > 1e-9 || math.Abs(*whole.Intensity-2) > 1e-9 || len(whole.Unknown) > 0 {
		t.Errorf("%+v", whole)
	}
	// Without DRAM the L2 is the nearest of those known: 320 MB take 40 µs.
	if part.Binds != roofline.L2 || math.Abs(*part.Fraction-0.4) > 1e-9 || part.Intensity != nil {
		t.Errorf("%+v", part)
	}
	var b bytes.Buffer
	if err := p.Write(&b, report.TableFormat, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Under the ceilings of Made-up GPU, made up", "75 %", "4.00 TB/s, dram-copy", "6.00 TFLOP/s", "unknown: bytes of DRAM: not measured",
		"ncu did not count dram__bytes_write.sum"} {
		if !strings.Contains(strings.ReplaceAll(b.String(), "\u00a0", " "), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "of this model") || strings.Contains(b.String(), "no roofline") {
		t.Errorf("the device itself passes for another:\n%s", b.String())
	}
	b.Reset()
	if err := p.Write(&b, report.JSON, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Ceilings Ceilings
		Groups   []struct{ Roofline roofline.Placement }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || !got.Ceilings.Same || got.Groups[0].Roofline.Binds != roofline.DRAM {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestRooflineOfOtherDevices(t *testing.T) {
	for _, d := range []struct{ name, uuid, want string }{
		{"Made-up GPU", "GPU-2", "another device of this model"},
		{"Made-up GPU", "", "whether they are of this device is not known"},
		{"Other GPU", "GPU-2", ""},
		{"", "", ""},
	} {
		c, r, roofs := ofDevice(d.name, d.uuid)
		p, err := New(c, r, Options{Analyze: true, Roofs: roofs})
		if d.want == "" {
			if _, other := errors.AsType[*roofline.OtherDevice](err); !other {
				t.Errorf("%+v: %v", d, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.Write(&b, report.TableFormat, report.RenderOptions{}); err != nil || !strings.Contains(b.String(), d.want) {
			t.Errorf("%v, no %q in\n%s", err, d.want, b.String())
		}
	}
}

// TestNoRoofline: why there is none, and only where counters were asked for.
func TestNoRoofline(t *testing.T) {
	for _, o := range []struct {
		analyze bool
		backend string
		said    bool
	}{{true, "ncu", true}, {false, "ncu", false}, {true, "nsys", false}} {
		c, r, _ := ofDevice("Made-up GPU", "GPU-1")
		c.Backend = o.backend
		p, err := New(c, r, Options{Analyze: o.analyze, Unroofed: "none were measured"})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.Write(&b, report.TableFormat, report.RenderOptions{}); err != nil || strings.Contains(b.String(), "no roofline: none were measured") != o.said {
			t.Errorf("%+v: %v\n%s", o, err, b.String())
		}
	}
}
