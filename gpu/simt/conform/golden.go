package conform

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Write keeps results as text: a line per form, in order of name, with the results
// in hexadecimal. The first lines, which start with #, say where they come from.
func Write(w io.Writer, device string, results map[string][]uint64) error {
	var names []string
	for n := range results {
		names = append(names, n)
	}
	slices.Sort(names)
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Results of gpu/simt/conform on %s, written by gpu/simt/conform/record.\n", device)
	for _, n := range names {
		b.WriteString(n)
		for _, v := range results[n] {
			b.WriteByte(' ')
			b.WriteString(strconv.FormatUint(v, 16))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// Read reads what Write wrote.
func Read(r io.Reader) (map[string][]uint64, error) {
	results := map[string][]uint64{}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		words := strings.Fields(s.Text())
		if len(words) != N+1 {
			return nil, fmt.Errorf("a line of %d words, want %d", len(words), N+1)
		}
		for _, w := range words[1:] {
			v, err := strconv.ParseUint(w, 16, 64)
			if err != nil {
				return nil, err
			}
			results[words[0]] = append(results[words[0]], v)
		}
	}
	return results, s.Err()
}
