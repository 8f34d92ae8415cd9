package roofline

import "strings"

// TensorCores says whether tensor cores multiplied matrices during a launch, from
// counters of Nsight Compute; nil where no counter tells.
//
// That their pipe was busy does not tell: HFMA2.MMA passes through it too, with which
// compilers load constants into registers. On an H200 the cycles of the pipe in kernels
// without a matrix go with the HFMA2 that they executed, as a test of package capture
// shows. What tells is the operations by type (sm__ops_path_tensor_…), or the pipe
// without the others (sm__pipe_tensor_type_hmma_…): a difference, so that its least and
// greatest over the SMs scatter around zero. A pipe that was never busy tells, too.
func TensorCores(get Get, names []string) *bool {
	var operations, matrices, pipe evidence
	for _, name := range names {
		n, _, ok := get(name)
		if !ok {
			continue
		}
		switch {
		case strings.Contains(name, "ops_path_tensor") && strings.HasSuffix(name, ".sum"):
			operations.add(n)
		case strings.Contains(name, "pipe_tensor_type"):
			if strings.Contains(name, ".sum") || strings.Contains(name, ".avg") {
				matrices.add(n)
			}
		case strings.Contains(name, "pipe_tensor"):
			pipe.add(n)
		}
	}
	for _, e := range []evidence{operations, matrices} {
		if e.known {
			return &e.positive
		}
	}
	if pipe.known && !pipe.positive {
		return &pipe.positive
	}
	return nil
}

// evidence is whether there are readings, and one above zero.
type evidence struct{ known, positive bool }

func (e *evidence) add(n float64) {
	e.known, e.positive = true, e.positive || n > 0
}
