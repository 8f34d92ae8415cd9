// Package launch compares the host time to submit an empty kernel from Go and
// from C++, through the same driver, the same PTX and the same kind of stream.
//
//	go test -run - -bench . ./bench/launch
//
// It holds benchmarks only: a time is never asserted.
package launch
