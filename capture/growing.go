package capture

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Growing reads lines of files while they are written.
type Growing struct{ at map[string]int64 }

// atOnce is how much is read of a file in one go; what remains is for the next.
const atOnce = 4 << 20

// Each calls f for every whole line that came since the last call to the files in
// dir whose names match the pattern.
func (g *Growing) Each(dir, pattern string, f func(file string, line []byte)) {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // a bad pattern matches nothing
	for _, name := range names {
		path := filepath.Join(dir, name)
		text := g.read(path)
		end := bytes.LastIndexByte(text, '\n') + 1
		if end == 0 && len(text) < atOnce {
			continue
		}
		if end == 0 {
			end = len(text) // of a line that is no line
		}
		if g.at == nil {
			g.at = map[string]int64{}
		}
		g.at[path] += int64(end)
		for line := range bytes.Lines(text[:end]) {
			f(name, bytes.TrimRight(line, "\r\n"))
		}
	}
}

func (g *Growing) read(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.NewSectionReader(f, g.at[path], atOnce)) // an error ends what there is
	return text
}
