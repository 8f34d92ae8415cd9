// Command record launches the cases of package agreement on the first GPU, each
// once, and writes what they computed:
//
//	record -out DIR                   outputs.csv and, of small outputs, the bytes
//	record -out DIR -sets small,probe only some; under Nsight Compute, which then
//	                                  counts the launches in the order of outputs.csv
//
// It needs the driver and nothing else.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mage/agreement"
	"mage/gpu/cuda"
	"mage/kernels"
	"mage/kernels/triton"
)

// rawBytes is the largest output that is kept as it is.
const rawBytes = 256 << 10

func main() {
	out := flag.String("out", "", "directory to write to")
	sets := flag.String("sets", "small,tails,edge,medium,default,probe", "which cases")
	dir := flag.String("kernels", "", "directory of more kernels")
	match := flag.String("match", "", "only cases whose name holds this")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, strings.Split(*sets, ","), *dir, *match); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(out string, sets []string, dir, match string) error {
	ks, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		return err
	}
	if dir != "" {
		more, err := kernels.Load(os.DirFS(dir), dir)
		if err != nil {
			return err
		}
		ks = append(ks, more...)
	}
	families := slices.DeleteFunc(slices.Clone(sets), func(s string) bool { return s == "probe" })
	cases, err := agreement.KernelCases(ks, families...)
	if err != nil {
		return err
	}
	index, err := triton.Compiled()
	if err != nil {
		return err
	}
	compiled, err := agreement.TritonCases(index, families...)
	if err != nil {
		return err
	}
	cases = append(cases, compiled...)
	if slices.Contains(sets, "probe") {
		cases = append(cases, agreement.ProbeCases()...)
	}
	cases = slices.DeleteFunc(cases, func(c agreement.Case) bool { return !strings.Contains(c.Name, match) })
	return record(out, cases)
}

func record(out string, cases []agreement.Case) error {
	dev, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(out, "raw"), 0o755); err != nil {
		return err
	}
	info, err := json.MarshalIndent(dev.Info(), "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "device.json"), append(info, '\n'), 0o644); err != nil {
		return err
	}
	var outputs []agreement.Output
	for _, c := range cases {
		o, err := c.Run(dev, stream)
		if err != nil {
			return err
		}
		outputs = append(outputs, o)
		if len(o.Bytes) <= rawBytes && c.Set != "probe" {
			if err := os.WriteFile(filepath.Join(out, "raw", agreement.RawName(c.Name)), o.Bytes, 0o644); err != nil {
				return err
			}
		}
	}
	f, err := os.Create(filepath.Join(out, "outputs.csv"))
	if err != nil {
		return err
	}
	if err := agreement.WriteOutputs(f, outputs); err != nil {
		return err
	}
	return f.Close()
}
