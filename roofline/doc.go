// Package roofline says which ceiling of a device an operation is near: bytes and
// FLOPs against time, under roofs that were measured.
//
// The model is that of Williams, Waterman and Patterson, "Roofline: an insightful
// visual performance model for multicore architectures" (CACM 52(4), 2009), with
// more than one level of memory as in Yang, Kurth and Williams, "Hierarchical
// roofline analysis for GPUs" (CCPE 32(20), 2020). See [Place].
//
// A caller fills in a [Work] with what it knows and where each number is from:
//
//	w, _ := roofline.FromCounters(get)        // of Nsight Compute
//	w := roofline.FromContract(…)             // of the mathematics, at least
//	p := roofline.Place(w, file.Roofs())      // file is a *ceiling.File
//	p.String()                                // one line, "unknown" where not measured
//
// What was not measured stays unknown, and numbers of different instruments are not
// put together without saying so. The package must not know who measured.
package roofline
