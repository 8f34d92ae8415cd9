package agreement

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mage/gpu"
)

// Output is what a case wrote.
type Output struct {
	Case, Entry string
	Grid, Block [3]uint32
	SHA256      string // of Bytes, in hex
	Bytes       []byte // nil when read from a file
}

// Run launches the case once on a device.
func (c Case) Run(dev gpu.Device, s gpu.Stream) (_ Output, err error) {
	o, err := c.open(dev, s)
	if err != nil {
		return Output{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if err := o.Poison(0xff); err != nil {
		return Output{}, err
	}
	if err := o.Run(); err != nil {
		return Output{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	all, err := o.Output()
	if err != nil {
		return Output{}, err
	}
	all = all[o.guard : len(all)-o.guard]
	sum := sha256.Sum256(all)
	return Output{c.Name, o.entry, o.grid, o.block, hex.EncodeToString(sum[:]), all}, nil
}

// RawName is the file that keeps the output of a case.
func RawName(name string) string {
	return strings.NewReplacer("/", "_", " ", "_", "=", "", ",", "_").Replace(name) + ".bin"
}

var outputHeader = []string{"case", "entry", "grid", "block", "sha256"}

// WriteOutputs writes a line per output, in the order of the launches.
func WriteOutputs(w io.Writer, outputs []Output) error {
	c := csv.NewWriter(w)
	_ = c.Write(outputHeader) // the error comes with Flush
	for _, o := range outputs {
		_ = c.Write([]string{o.Case, o.Entry, shape(o.Grid), shape(o.Block), o.SHA256})
	}
	c.Flush()
	return c.Error()
}

// ReadOutputs reads what WriteOutputs wrote.
func ReadOutputs(r io.Reader) ([]Output, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], outputHeader) {
		return nil, fmt.Errorf("outputs: want the columns %s", strings.Join(outputHeader, ", "))
	}
	var all []Output
	for _, row := range rows[1:] {
		o := Output{Case: row[0], Entry: row[1], SHA256: row[4]}
		for i, to := range []*[3]uint32{&o.Grid, &o.Block} {
			if _, err := fmt.Sscanf(row[2+i], "%dx%dx%d", &to[0], &to[1], &to[2]); err != nil {
				return nil, fmt.Errorf("outputs: %s: %q is not a size: %w", o.Case, row[2+i], err)
			}
		}
		all = append(all, o)
	}
	return all, nil
}

func shape(n [3]uint32) string { return fmt.Sprintf("%dx%dx%d", n[0], n[1], n[2]) }
