// Command record runs the instruction forms of package conform on the first GPU and
// writes the results to a file, which the tests replay on the simulator:
//
//	go run ./gpu/simt/conform/record gpu/simt/conform/testdata/gpu.txt
//
// A form that the driver refuses is kept as refused. With -show, it prints operands
// and results of the forms whose names follow (an asterisk ends a prefix) instead,
// of all sets or of one group of them.
package main

import (
	"flag"
	"fmt"
	"os"

	"mage/gpu/cuda"
	"mage/gpu/simt/conform"
)

func main() {
	show := flag.Bool("show", false, "print operands and results of the forms named by the arguments")
	group := flag.Int("group", -1, "with -show: one group of sets, -1 for all")
	flag.Parse()
	var err error
	switch {
	case *show && flag.NArg() > 0:
		err = print(flag.Args(), *group)
	case !*show && flag.NArg() == 1:
		err = record(flag.Arg(0))
	default:
		fmt.Fprintln(os.Stderr, "usage: record FILE | record -show [-group N] FORM...")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(path string) error {
	d, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer d.Close()
	forms := conform.Forms()
	outcomes, failure := conform.Run(d, forms)
	refused := 0
	for i, o := range outcomes {
		if o.Refused != nil {
			refused++
			fmt.Printf("refused: %s: %v\n", forms[i].Name, o.Refused)
		}
	}
	fmt.Printf("%d of %d forms, %d refused\n", len(outcomes), len(forms), refused)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := conform.Write(f, d.Info().Name, forms, outcomes); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return failure
}

func print(names []string, group int) error {
	d, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer d.Close()
	forms := conform.Select(conform.Forms(), names)
	outcomes, failure := conform.Run(d, forms)
	for i, o := range outcomes {
		f := forms[i]
		if o.Refused != nil {
			fmt.Printf("%s refused: %v\n", f.Name, o.Refused)
			continue
		}
		from, to := 0, conform.Sets
		if group >= 0 {
			from, to = group*conform.Group, (group+1)*conform.Group
		}
		for k := from; k < to; k++ {
			fmt.Print(f.Name, " set ", k, ":")
			for n := range f.Operands {
				fmt.Printf(" %#x", f.Values(n)[k])
			}
			fmt.Print(" ->")
			for n := range f.Results {
				fmt.Printf(" %#x", o.Results[n][k])
			}
			fmt.Println()
		}
	}
	return failure
}
