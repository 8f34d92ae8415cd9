package agreement

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"mage/gpu"
)

//go:embed probes/probes.ptx
var probes []byte

// What probes.cu fixes: the bytes of data, and the index of a lane that stays out.
const (
	probeBytes = 16384
	none       = 0xffffffff
)

// pattern says which element each lane accesses.
type pattern struct {
	name  string
	index func(lane int) int // negative: none
}

// patterns returns the tables for elements of a size. Those that are random have
// fixed seeds.
func patterns(size int) []pattern {
	all := []pattern{
		{"unit", func(l int) int { return l }},
		{"offset-1", func(l int) int { return l + 1 }},
		{"reversed", func(l int) int { return 31 - l }},
		{"same", func(int) int { return 5 }},
		{"pairs", func(l int) int { return l / 2 }},
		{"quads", func(l int) int { return l / 4 }},
		{"halves-alike", func(l int) int { return l % 16 }},
		{"quarters-alike", func(l int) int { return l % 8 }},
		{"interleaved", func(l int) int { return l%2*16 + l/2 }},
		{"even-lanes", func(l int) int { return l - l%2*64 }},
		{"lower-half", func(l int) int { return l - l/16*64 }},
		{"one-lane", func(l int) int { return 7 - l*8 }},
		{"no-lane", func(int) int { return -1 }},
	}
	for _, n := range []int{2, 3, 4, 8, 16, 32} {
		all = append(all, pattern{fmt.Sprintf("stride-%d", n), func(l int) int { return n * l }})
	}
	for seed, among := range []int{8, 32, 64, 256, probeBytes / size} {
		r := rand.New(rand.NewPCG(uint64(size), uint64(seed)))
		var at [32]int
		for i := range at {
			at[i] = r.IntN(among)
			if seed%2 == 1 && r.IntN(4) == 0 {
				at[i] = -1
			}
		}
		all = append(all, pattern{fmt.Sprintf("random-%d", among), func(l int) int { return at[l] }})
	}
	return all
}

// neighbours are patterns of lanes that share an address with the next lane or the
// next but one, wholly and in part: a GPU serves such loads of 8 and 16 bytes in
// fewer wavefronts.
func neighbours(size int) []pattern {
	xor2 := func(l int) int { return l/4*2 + l%2 }
	r := rand.New(rand.NewPCG(uint64(size), 99))
	var at [32]int
	for i := range at {
		at[i] = r.IntN(probeBytes / size)
	}
	return []pattern{
		{"alternate", xor2},
		{"alternate-4", func(l int) int { return l/8*4 + l%4 }},
		{"pairs-shifted", func(l int) int { return (l + 1) / 2 }},
		{"pairs-lower-half", func(l int) int { return min(l, 16)/2 + max(l-15, 0) }},
		{"pairs-upper-half", func(l int) int { return min(l, 16) + max(l-16, 0)/2 }},
		{"pairs-lower-quarter", func(l int) int { return min(l, 8)/2 + max(l-7, 0) }},
		{"pairs-but-one", func(l int) int { return l/2 + l/31 }},
		{"pairs-and-alternate", func(l int) int { return l/4*2 + []int{l % 4 / 2, l % 2}[l/4%2] }},
		{"pairs-stride-2", func(l int) int { return l / 2 * 2 }},
		{"pairs-stride-4", func(l int) int { return l / 2 * 4 }},
		{"pairs-stride-16", func(l int) int { return l / 2 * 16 }},
		{"alternate-stride-2", func(l int) int { return 2 * xor2(l) }},
		{"pairs-random", func(l int) int { return at[l/2] }},
		{"alternate-random", func(l int) int { return at[xor2(l)] }},
		{"quads-random", func(l int) int { return at[l/4] }},
		{"odd-lanes", func(l int) int { return l - (1-l%2)*64 }},
		{"even-lanes-dense", func(l int) int { return l/2 - l%2*64 }},
		{"two-of-four", func(l int) int { return l - l%4/2*64 }},
		{"two-of-four-dense", func(l int) int { return xor2(l) - l%4/2*64 }},
		{"one-of-four", func(l int) int { return l - min(l%4, 1)*64 }},
		{"four-of-eight", func(l int) int { return l - l%8/4*64 }},
		{"upper-half", func(l int) int { return l - (1-l/16)*64 }},
	}
}

// ProbeCases returns the kernels of probes.cu with every table that suits them.
func ProbeCases() []Case {
	var all []Case
	add := func(entry string, size int, only ...string) {
		for _, p := range patterns(size) {
			wanted := len(only) == 0
			for _, o := range only {
				wanted = wanted || o == p.name
			}
			if wanted {
				all = append(all, probeCase(entry, p))
			}
		}
	}
	few := []string{"unit", "offset-1", "same", "stride-4", "stride-32", "even-lanes", "random-256"}
	for _, kind := range []string{"load_global", "store_global", "load_shared", "store_shared"} {
		for _, size := range []int{4, 8, 16} {
			add(fmt.Sprintf("%s_%d", kind, size), size)
		}
		for _, size := range []int{1, 2} {
			add(fmt.Sprintf("%s_%d", kind, size), size, few...)
		}
	}
	for _, kind := range []string{"load_shared", "store_shared"} {
		for _, size := range []int{8, 16} {
			for _, p := range neighbours(size) {
				all = append(all, probeCase(fmt.Sprintf("%s_%d", kind, size), p))
			}
		}
	}
	add("reduce_global_4", 4, append(few, "pairs", "no-lane")...)
	add("atomic_global_4", 4, few...)
	add("atomic_shared_4", 4, few...)
	for _, size := range []int{4, 8, 16} {
		add(fmt.Sprintf("copy_async_%d", size), size, few...)
	}
	return all
}

func probeCase(entry string, p pattern) Case {
	kernel := "probe " + entry
	return Case{Name: kernel + " " + p.name, Kernel: kernel, Set: "probe",
		open: func(dev gpu.Device, s gpu.Stream) (opened, error) {
			o, err := openProbe(dev, s, entry, p)
			if err != nil {
				return opened{}, err
			}
			one := [3]uint32{1, 1, 1}
			return opened{subject: o, entry: entry, grid: one, block: [3]uint32{32, 1, 1}}, nil
		}}
}

// probe is one warp that accesses data by a table. Its output is data, then a word
// per lane.
type probe struct {
	device gpu.Device
	stream gpu.Stream
	module gpu.Module
	launch gpu.Launch
	table  gpu.Ptr
	data   gpu.Ptr
	out    gpu.Ptr
}

func openProbe(dev gpu.Device, s gpu.Stream, entry string, p pattern) (_ *probe, err error) {
	o := &probe{device: dev, stream: s}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", entry, err), o.Close())
		}
	}()
	if o.module, err = dev.Load(probes); err != nil {
		return nil, err
	}
	f, err := o.module.Function(entry)
	if err != nil {
		return nil, err
	}
	for _, b := range []struct {
		at    *gpu.Ptr
		bytes int64
	}{{&o.table, 128}, {&o.data, probeBytes}, {&o.out, 128}} {
		if *b.at, err = dev.Alloc(b.bytes); err != nil {
			return nil, err
		}
	}
	var table []byte
	for l := range 32 {
		index := uint32(none)
		if i := p.index(l); i >= 0 {
			index = uint32(i)
		}
		table = binary.LittleEndian.AppendUint32(table, index)
	}
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, probeBytes)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	if err := errors.Join(dev.Upload(o.table, table), dev.Upload(o.data, data)); err != nil {
		return nil, err
	}
	o.launch, err = f.Bind(gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}},
		gpu.Pointer(o.table), gpu.Pointer(o.data), gpu.Pointer(o.out))
	return o, err
}

func (o *probe) Poison(value byte) error { return o.device.Fill(o.out, value, 128) }

func (o *probe) Run() error {
	if err := o.launch.Submit(o.stream); err != nil {
		return err
	}
	return o.stream.Synchronize()
}

func (o *probe) Output() ([]byte, error) {
	out := make([]byte, probeBytes+128)
	return out, errors.Join(o.device.Download(out[:probeBytes], o.data), o.device.Download(out[probeBytes:], o.out))
}

func (o *probe) Close() error {
	var errs []error
	if o.module != nil {
		errs = append(errs, o.module.Unload())
	}
	for _, p := range []gpu.Ptr{o.table, o.data, o.out} {
		if p != 0 {
			errs = append(errs, o.device.Free(p))
		}
	}
	return errors.Join(errs...)
}
