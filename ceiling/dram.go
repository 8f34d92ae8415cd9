package ceiling

import (
	"fmt"

	"mage/gpu"
)

// stream is one way of going through DRAM.
type stream struct {
	name, counts string
	buffers      int     // of the same size
	moves        float64 // bytes per byte of a buffer
	prepare      func(l *lab, vectors int64, blocks int) (prepared, error)
}

// The words of the buffers that are read.
var (
	wordsB = affine{2654435761, 12345}
	wordsC = affine{40503, 7}
)

const triadS = 3

func dramSubjects(s sizes) []subject {
	var all []subject
	for _, k := range []stream{
		{"read", "bytes read", 1, 1, prepareRead},
		{"write", "bytes written", 1, 1, prepareWrite},
		{"copy", "bytes read plus bytes written", 2, 2, prepareCopy},
		{"triad", "bytes read (two thirds) plus bytes written", 3, 3, prepareTriad},
	} {
		sub := subject{name: "dram-" + k.name, unit: BytesPerSecond, counts: k.counts}
		for _, bytes := range s.dram {
			for _, flight := range s.flight {
				for _, threads := range s.threads {
					for _, grid := range s.dramGrids {
						sub.shapes = append(sub.shapes, k.shape(s, bytes, flight, threads, grid*256/threads))
					}
				}
			}
		}
		if len(sub.shapes) == 0 {
			sub.lacks = "the size of the memory is unknown"
		}
		all = append(all, sub)
	}
	return all
}

// shape has a block per tile, or so many resident blocks per multiprocessor, of
// which each takes equally many tiles.
func (k stream) shape(s sizes, bytes int64, flight, threads, perSM int) shape {
	tile := int64(threads * flight)
	vectors := bytes / vector / tile * tile
	blocks := int(vectors / tile)
	if perSM > 0 {
		blocks = perSM * s.multiprocessors
		vectors = max(1, vectors/(tile*int64(blocks))) * tile * int64(blocks)
	}
	return shape{
		entry: fmt.Sprintf("%s_%d", k.name, flight), config: line(blocks, threads),
		text:   tiled(blocks, threads, flight, vectors*vector*int64(k.buffers)),
		amount: k.moves * float64(vectors*vector), streams: vectors * vector * int64(k.buffers),
		prepare: func(l *lab) (prepared, error) { return k.prepare(l, vectors, blocks) },
	}
}

func prepareRead(l *lab, vectors int64, blocks int) (prepared, error) {
	in, err := l.filled(vectors, wordsB)
	if err != nil {
		return prepared{}, err
	}
	out, err := l.alloc(4 * int64(blocks))
	return prepared{
		args:   []gpu.Arg{gpu.Pointer(in), gpu.Uint32(uint32(vectors)), gpu.Pointer(out)},
		poison: l.poisoned(out, 4*int64(blocks)),
		verify: func() (int64, error) { return l.addsUp(out, blocks, wordsB.sum(uint64(4*vectors))) },
	}, err
}

// addsUp compares the sum of what every block added up.
func (l *lab) addsUp(out gpu.Ptr, blocks int, want word) (int64, error) {
	got, err := l.words(out, blocks)
	if err != nil {
		return 0, err
	}
	var total word
	for _, v := range got {
		total += v
	}
	if total != want {
		return 0, wrongf("the words read add up to %#x, the closed form says %#x", total, want)
	}
	return int64(blocks), nil
}

func prepareWrite(l *lab, vectors int64, _ int) (prepared, error) {
	out, err := l.alloc(vectors * vector)
	return l.written(out, vectors, wordsC, gpu.Pointer(out), gpu.Uint32(uint32(vectors)), gpu.Uint32(wordsC.m), gpu.Uint32(wordsC.a)), err
}

func prepareCopy(l *lab, vectors int64, _ int) (prepared, error) {
	in, err := l.filled(vectors, wordsB)
	if err != nil {
		return prepared{}, err
	}
	out, err := l.alloc(vectors * vector)
	return l.written(out, vectors, wordsB, gpu.Pointer(in), gpu.Pointer(out), gpu.Uint32(uint32(vectors))), err
}

func prepareTriad(l *lab, vectors int64, _ int) (prepared, error) {
	b, err := l.filled(vectors, wordsB)
	if err != nil {
		return prepared{}, err
	}
	c, err := l.filled(vectors, wordsC)
	if err != nil {
		return prepared{}, err
	}
	out, err := l.alloc(vectors * vector)
	want := affine{wordsB.m + triadS*wordsC.m, wordsB.a + triadS*wordsC.a}
	return l.written(out, vectors, want, gpu.Pointer(b), gpu.Pointer(c), gpu.Uint32(triadS), gpu.Pointer(out), gpu.Uint32(uint32(vectors))), err
}

// written is a shape whose result is a buffer of affine words.
func (l *lab) written(out gpu.Ptr, vectors int64, want affine, args ...gpu.Arg) prepared {
	return prepared{
		args: args, poison: l.poisoned(out, vectors*vector),
		verify: func() (int64, error) { return l.expect(out, vectors, want) },
	}
}
