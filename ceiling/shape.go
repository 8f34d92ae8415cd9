package ceiling

import (
	"fmt"
	"strings"

	"mage/gpu"
)

// shape is one kernel at one size: how to set it up, and how to tell that it did
// what it should.
type shape struct {
	image   image
	entry   string
	config  gpu.Config
	text    string
	amount  float64 // bytes or FLOPs of one launch
	streams int64   // bytes of all its buffers in DRAM; 0 where it is not about DRAM
	prepare func(*lab) (prepared, error)
}

// prepared is a shape on the device.
type prepared struct {
	args []gpu.Arg
	// poison overwrites the result, verify compares it and counts the elements.
	poison func() error
	verify func() (int64, error)
}

// subject is one ceiling: what it is of, and the shapes to try.
type subject struct {
	name   string
	unit   Unit
	counts string
	shapes []shape
	// mode to time the shapes in; empty: batches of a millisecond or two.
	mode string
	// lacks says why there is no shape.
	lacks string
}

// subjects are all ceilings, in the order in which they are measured and shown.
func subjects(s sizes) []subject {
	all := dramSubjects(s)
	all = append(all, l2Subjects(s)...)
	all = append(all, sharedSubject(s))
	all = append(all, chainSubjects(s)...)
	all = append(all, matrixSubjects(s)...)
	return append(all, launchSubjects()...)
}

// Names lists all ceilings.
func Names() []string {
	var out []string
	for _, s := range subjects(sizes{multiprocessors: 1}) {
		out = append(out, s.name)
	}
	return out
}

// poisoned overwrites a buffer.
func (l *lab) poisoned(p gpu.Ptr, bytes int64) func() error {
	return func() error { return l.dev.Fill(p, 0xa5, bytes) }
}

// tiled says what a grid of tiles looks like.
func tiled(blocks, threads, flight int, bytes int64) string {
	return fmt.Sprintf("%s blocks of %d threads, %d × 16 B in flight, %s", grouped(blocks), threads, flight, bytesText(bytes))
}

// perMultiprocessor says what a resident grid looks like.
func perMultiprocessor(blocks, threads int) string {
	return fmt.Sprintf("%d × %d threads per multiprocessor", blocks, threads)
}

func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u00a0" + s[i:]
	}
	return s
}

// bytesText is a size in decimal units with three digits.
func bytesText(n int64) string {
	x, units := float64(n), []string{"B", "kB", "MB", "GB", "TB"}
	for len(units) > 1 && x >= 999.5 {
		x, units = x/1000, units[1:]
	}
	s := fmt.Sprintf("%.3g", x)
	return strings.TrimSuffix(s, ".0") + " " + units[0]
}
