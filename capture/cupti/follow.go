package cupti

import "mage/capture"

// Follow reads the kernels of traces that are still being written.
func (Backend) Follow(dir string) func(func(*capture.Kernel)) {
	type id struct {
		file   string
		number uint64
	}
	var files capture.Growing
	names := map[id]string{}
	return func(seen func(*capture.Kernel)) {
		files.Each(dir, traces, func(file string, text []byte) {
			if len(text) < 2 || text[0] != 'N' && text[0] != 'K' {
				return
			}
			l := &line{rest: string(text[2:])}
			k := id{file, l.u64()}
			if text[0] == 'N' {
				names[k] = demangled(l.text())
				return
			}
			if span := l.span(); l.err == nil {
				launch := &capture.Kernel{Name: names[k]}
				if span.timed() {
					launch.DurationUS = new(span.us())
				}
				seen(launch)
			}
		})
	}
}
