package conform

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
)

// Golden is what is kept of an outcome: the results of the first sets, and a hash
// per group of all sets. A group that differs can be shown in full by record -show.
type Golden struct {
	Refused string
	Results [][]uint64 // by result: Kept values
	Groups  []uint32
}

// Group is the number of sets per hash.
const Group = 256

// Kept is the number of sets of which the results themselves are kept. Of
// approximations that is all that can be compared; set has many forms.
func (f Form) Kept() int {
	switch {
	case f.Bound != nil:
		return 512
	case strings.HasPrefix(f.Name, "mma"):
		return 256 // eight warps
	case strings.HasPrefix(f.Name, "set"):
		return 32
	}
	return 128
}

// Golden returns what is kept of an outcome.
func (f Form) Golden(o Outcome) Golden {
	if o.Refused != nil {
		return Golden{Refused: strings.Join(strings.Fields(o.Refused.Error()), " ")}
	}
	var g Golden
	for _, r := range o.Results {
		g.Results = append(g.Results, r[:f.Kept()])
	}
	if f.Bound != nil {
		return g
	}
	for at := 0; at < Sets; at += Group {
		var b []byte
		for _, r := range o.Results {
			for _, v := range r[at : at+Group] {
				b = binary.LittleEndian.AppendUint64(b, v)
			}
		}
		g.Groups = append(g.Groups, crc32.ChecksumIEEE(b))
	}
	return g
}

// Write keeps outcomes as text. The first lines, which start with #, say where they
// come from. Of each form there is one line of fields separated by tabs: its name;
// for each result its values in hexadecimal, separated by spaces, or of predicates
// all in one number; and the hashes of the groups. Of one that was refused there are
// "refused" and the reason.
func Write(w io.Writer, device string, forms []Form, outcomes []Outcome) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Results of gpu/simt/conform on %s, written by gpu/simt/conform/record.\n", device)
	for i, o := range outcomes {
		f := forms[i]
		g := f.Golden(o)
		b.WriteString(f.Name)
		if g.Refused != "" {
			fmt.Fprintf(b, "\trefused\t%s\n", g.Refused)
			continue
		}
		for k, r := range g.Results {
			b.WriteByte('\t')
			if f.Results[k] == "pred" {
				for at := 0; at < len(r); at += 4 {
					fmt.Fprintf(b, "%x", r[at]|r[at+1]<<1|r[at+2]<<2|r[at+3]<<3)
				}
				continue
			}
			for n, v := range r {
				if n > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(strconv.FormatUint(v, 16))
			}
		}
		b.WriteByte('\t')
		for n, v := range g.Groups {
			if n > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.FormatUint(uint64(v), 16))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// Read reads what Write wrote, by name of the form.
func Read(r io.Reader, forms []Form) (map[string]Golden, error) {
	byName := map[string]Form{}
	for _, f := range forms {
		byName[f.Name] = f
	}
	all := map[string]Golden{}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		fields := strings.Split(s.Text(), "\t")
		f, ok := byName[fields[0]]
		if !ok {
			return nil, fmt.Errorf("%q is no form: the file is of another version", fields[0])
		}
		g, err := f.parse(fields[1:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all[f.Name] = g
	}
	return all, s.Err()
}

func (f Form) parse(fields []string) (Golden, error) {
	var g Golden
	if len(fields) == 2 && fields[0] == "refused" {
		g.Refused = fields[1]
		return g, nil
	}
	if len(fields) != len(f.Results)+1 {
		return g, fmt.Errorf("%d fields, want %d", len(fields), len(f.Results)+1)
	}
	for i, t := range f.Results {
		var r []uint64
		if t == "pred" {
			for _, c := range fields[i] {
				v, err := strconv.ParseUint(string(c), 16, 4)
				if err != nil {
					return g, err
				}
				r = append(r, v&1, v>>1&1, v>>2&1, v>>3)
			}
		} else {
			for _, w := range strings.Fields(fields[i]) {
				v, err := strconv.ParseUint(w, 16, 64)
				if err != nil {
					return g, err
				}
				r = append(r, v)
			}
		}
		if len(r) == 0 || len(r) > Sets {
			return g, fmt.Errorf("%d values of result %d", len(r), i)
		}
		g.Results = append(g.Results, r)
	}
	for _, w := range strings.Fields(fields[len(f.Results)]) {
		v, err := strconv.ParseUint(w, 16, 32)
		if err != nil {
			return g, err
		}
		g.Groups = append(g.Groups, uint32(v))
	}
	return g, nil
}
