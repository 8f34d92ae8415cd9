package ceiling

import (
	"fmt"

	"mage/gpu"
)

// chainSubjects are multiply-adds on the CUDA cores.
func chainSubjects(s sizes) []subject {
	f32 := subject{name: "fp32-fma", unit: FLOPsPerSecond, counts: "two operations per multiply-add"}
	f64 := subject{name: "fp64-fma", unit: FLOPsPerSecond, counts: "two operations per multiply-add"}
	for _, chains := range s.flight {
		for _, perSM := range []int{2, 4, 8} {
			f32.shapes = append(f32.shapes, chainShape(s, "fma32", chains, perSM, s.steps32, chains32, gpu.Float32(chainX), gpu.Float32(chainY)))
			f64.shapes = append(f64.shapes, chainShape(s, "fma64", chains, perSM, s.steps64, chains64, gpu.Float64(chainX), gpu.Float64(chainY)))
		}
	}
	return []subject{f32, f64}
}

func chainShape(s sizes, kernel string, chains, perSM, steps int, closed func(chains, steps int) [32]uint64, x, y gpu.Arg) shape {
	const threads = 256
	blocks := perSM * s.multiprocessors
	return shape{
		entry: fmt.Sprintf("%s_%d", kernel, chains), config: line(blocks, threads),
		text:   fmt.Sprintf("%s, %d chains", perMultiprocessor(perSM, threads), chains),
		amount: 2 * float64(blocks) * threads * float64(chains) * float64(steps),
		prepare: func(l *lab) (prepared, error) {
			out, err := l.alloc(8 * int64(blocks*threads))
			var want []word
			for _, v := range closed(chains, steps) {
				want = append(want, word(v), word(v>>32))
			}
			return prepared{
				args:   []gpu.Arg{x, y, gpu.Uint32(uint32(steps)), gpu.Pointer(out)},
				poison: l.poisoned(out, 8*int64(blocks*threads)),
				verify: func() (int64, error) { return l.equal(out, blocks*threads/32, want) },
			}, err
		},
	}
}

// matrixSubjects are dense products on the tensor cores. On compute capability 9.0
// only wgmma reaches their full rate; everywhere else mma.sync is what there is here.
func matrixSubjects(s sizes) []subject {
	_, perWarp, perWarpgroup := images()
	var all []subject
	for _, t := range []struct {
		name string
		k    int
	}{{"f16", 16}, {"bf16", 16}, {"tf32", 8}} {
		name := t.name
		if name == "f16" {
			name = "fp16"
		}
		sub := subject{name: "tensor-" + name, unit: FLOPsPerSecond, counts: "two operations per multiply-add, sums in 32 bits, dense"}
		for _, perSM := range []int{1, 2, 4, 8} {
			sub.shapes = append(sub.shapes, matrixShape(s, perWarp, "mma_"+t.name, fmt.Sprintf("m16n8k%d, 8 accumulators", t.k), perSM, 4, 16, 8, t.k, 8))
		}
		for _, perSM := range []int{1, 2, 3, 4} {
			sub.shapes = append(sub.shapes, matrixShape(s, perWarpgroup, "wgmma_"+t.name, fmt.Sprintf("m64n128k%d", t.k), perSM, 1, 64, 128, t.k, 1))
		}
		all = append(all, sub)
	}
	return all
}

// matrixShape has blocks of 128 threads that make units results of rows × columns,
// each in so many accumulators.
func matrixShape(s sizes, i image, entry, text string, perSM, units, rows, columns, k, accumulators int) shape {
	const threads = 128
	blocks := perSM * s.multiprocessors
	bytes := 4 * int64(blocks*units*rows*columns)
	return shape{
		image: i, entry: entry, config: line(blocks, threads),
		text:   perMultiprocessor(perSM, threads) + ", " + text,
		amount: 2 * float64(blocks*units) * float64(rows*columns*k) * float64(accumulators*s.products),
		prepare: func(l *lab) (prepared, error) {
			out, err := l.alloc(bytes)
			var want []word
			for _, v := range products(rows, columns, k, accumulators, s.products) {
				want = append(want, word(v))
			}
			return prepared{
				args:   []gpu.Arg{gpu.Uint32(uint32(s.products)), gpu.Pointer(out)},
				poison: l.poisoned(out, bytes),
				verify: func() (int64, error) { return l.equal(out, blocks*units, want) },
			}, err
		},
	}
}

// launchSubjects are what a launch costs at least, by timing mode.
func launchSubjects() []subject {
	var all []subject
	for _, m := range []string{"span", "batch:100", "graph:100", "submit"} {
		all = append(all, subject{
			name: "launch-" + m, unit: Microseconds, counts: "one empty kernel of one warp", mode: m,
			shapes: []shape{{entry: "empty", config: line(1, 32), text: "1 block of 32 threads",
				prepare: func(*lab) (prepared, error) {
					none := func() error { return nil }
					return prepared{poison: none, verify: func() (int64, error) { return 0, none() }}, nil
				}}},
		})
	}
	return all
}
