package ceiling

import (
	"fmt"
	"slices"

	"mage/gpu"
)

func l2Subjects(s sizes) []subject {
	read := subject{name: "l2-read", unit: BytesPerSecond, counts: "bytes read, passing by the L1"}
	copied := subject{name: "l2-copy", unit: BytesPerSecond, counts: "bytes read plus bytes written, passing by the L1"}
	for _, flight := range s.flight {
		for _, threads := range slices.Concat(s.threads, []int{1024}) {
			for _, perSM := range []int{1, 2, 4, 8} {
				blocks := perSM * s.multiprocessors
				bytes := int64(blocks) * int64(threads*flight*vector)
				if n := perSM * threads; n < s.resident/4 || n > s.resident {
					continue
				}
				if bytes <= s.l2 {
					read.shapes = append(read.shapes, l2Read(s, blocks, threads, flight))
				}
				if 2*bytes <= s.l2 {
					copied.shapes = append(copied.shapes, l2Copy(s, blocks, threads, flight))
				}
			}
		}
	}
	for _, sub := range []*subject{&read, &copied} {
		if len(sub.shapes) == 0 {
			sub.lacks = fmt.Sprintf("no grid that fills the device has buffers within %s, half of the L2", bytesText(s.l2))
		}
	}
	return []subject{read, copied}
}

// tilesOfABlock are those that a block of l2_read goes through in turn, where they fit.
const tilesOfABlock = 2

func l2Read(s sizes, blocks, threads, flight int) shape {
	tile := int64(threads * flight) // vectors
	tiles := min(tilesOfABlock, s.l2/(int64(blocks)*tile*vector))
	vectors := int64(blocks) * tile * tiles
	rounds := max(s.traffic/(vectors*vector), 1)
	passes := rounds * tiles
	return shape{
		entry: fmt.Sprintf("l2_read_%d", flight), config: line(blocks, threads),
		text:   tiled(blocks, threads, flight, vectors*vector),
		amount: float64(rounds * vectors * vector),
		prepare: func(l *lab) (prepared, error) {
			in, err := l.filled(vectors, wordsB)
			if err != nil {
				return prepared{}, err
			}
			out, err := l.alloc(4 * int64(blocks))
			want := make([]word, blocks)
			for b := range want {
				for t := range tiles {
					first := 4 * uint64((t*int64(blocks)+int64(b))*tile)
					want[b] += word(rounds) * (wordsB.sum(first+4*uint64(tile)) - wordsB.sum(first))
				}
			}
			return prepared{
				args:   []gpu.Arg{gpu.Pointer(in), gpu.Uint32(uint32(tiles)), gpu.Uint32(uint32(passes)), gpu.Pointer(out)},
				poison: l.poisoned(out, 4*int64(blocks)),
				verify: func() (int64, error) { return l.equal(out, 1, want) },
			}, err
		},
	}
}

func l2Copy(s sizes, blocks, threads, flight int) shape {
	vectors := int64(blocks) * int64(threads*flight)
	passes := max(s.traffic/(2*vectors*vector), 1)
	return shape{
		entry: fmt.Sprintf("l2_copy_%d", flight), config: line(blocks, threads),
		text:   tiled(blocks, threads, flight, 2*vectors*vector),
		amount: float64(2 * passes * vectors * vector),
		prepare: func(l *lab) (prepared, error) {
			in, err := l.filled(vectors, wordsB)
			if err != nil {
				return prepared{}, err
			}
			out, err := l.alloc(vectors * vector)
			want := affine{wordsB.m, wordsB.a + word(passes-1)}
			return l.written(out, vectors, want, gpu.Pointer(in), gpu.Pointer(out), gpu.Uint32(uint32(passes))), err
		},
	}
}

// sharedVectors are those of a block's tile, as in general.cu.
const sharedVectors = 2048

func sharedSubject(s sizes) subject {
	sub := subject{name: "shared-read", unit: BytesPerSecond, counts: "bytes read in vectors of 16 bytes, without bank conflicts"}
	for _, flight := range s.flight {
		for _, perSM := range []int{1, 2, 4, 6} {
			blocks, threads := perSM*s.multiprocessors, sharedVectors/flight
			if perSM*threads > s.resident {
				continue
			}
			each := word(s.sharedPasses) * wordsC.sum(4*sharedVectors)
			sub.shapes = append(sub.shapes, shape{
				entry: fmt.Sprintf("shared_read_%d", flight), config: line(blocks, threads),
				text:   perMultiprocessor(perSM, threads) + ", 32 KiB each",
				amount: float64(blocks) * float64(s.sharedPasses) * sharedVectors * vector,
				prepare: func(l *lab) (prepared, error) {
					out, err := l.alloc(4 * int64(blocks))
					return prepared{
						args:   []gpu.Arg{gpu.Uint32(wordsC.m), gpu.Uint32(wordsC.a), gpu.Uint32(uint32(s.sharedPasses)), gpu.Pointer(out)},
						poison: l.poisoned(out, 4*int64(blocks)),
						verify: func() (int64, error) { return l.equal(out, blocks, []word{each}) },
					}, err
				},
			})
		}
	}
	return sub
}
