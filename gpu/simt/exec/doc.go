// Package exec executes programs: blocks spread over cores, warps of 32 lanes in
// lockstep that diverge at branches and meet again at immediate post-dominators,
// barriers, memory with its checks, and counts.
//
// It must not know PTX text, devices or streams. What it finds wrong it reports as
// findings and carries on where a GPU would fault; it stops with an error only
// where a kernel cannot go on: a trap, a deadlock, or no end in sight.
package exec
