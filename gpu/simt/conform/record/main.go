// Command record runs the instruction forms of package conform on the first GPU and
// writes their results to a file, which the tests replay on the simulator:
//
//	go run ./gpu/simt/conform/record gpu/simt/conform/testdata/gpu.txt
package main

import (
	"fmt"
	"os"

	"mage/gpu/cuda"
	"mage/gpu/simt/conform"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: record FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	d, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer d.Close()
	results, err := conform.Run(d, conform.Forms())
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := conform.Write(f, d.Info().Name, results); err != nil {
		return err
	}
	return f.Close()
}
