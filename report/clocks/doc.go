// Command clocks prints, for one kernel read by several instruments in one
// session, what each of them says: the table of docs/profiling.md.
//
//	go run ./report/clocks RECORD…
//
// The records are of one session, with the modes span, batch, graph and kernel, and
// captures by cupti and ncu (mage run SPEC --capture cupti). It is the one place
// where times of different instruments stand side by side: their disagreement is
// what it measures.
package main
