package cupti

import "fmt"

// record reads a line that CUPTI's own record gave.
func (r *reader) record(letter byte, l *line) error {
	t := r.t
	if letter == 'K' || letter == 'C' || letter == 'F' {
		t.settled = false // calls alone, after the last context, are not missed
	}
	switch letter {
	case 'K':
		number := l.u64()
		name, ok := r.names[number]
		if !ok && l.err == nil {
			return fmt.Errorf("a kernel of the name %d, which no line gave", number)
		}
		t.kernels = append(t.kernels, kernel{
			name: name, span: l.span(), place: l.place(), grid: l.triple(), block: l.triple(),
			registers: l.u32(), static: l.u32(), dynamic: l.u32(), local: l.u32(), graphNode: l.graphNode(),
		})
	case 'C':
		t.copies = append(t.copies, copied{
			kind: l.u32(), from: l.u32(), to: l.u32(), bytes: l.u64(), span: l.span(), place: l.place(), graphNode: l.graphNode(),
		})
	case 'F':
		t.fills = append(t.fills, filled{memory: l.u32(), bytes: l.u64(), span: l.span(), place: l.place(), graphNode: l.graphNode()})
	case 'D', 'R':
		id := [2]uint32{1, l.u32()}
		if letter == 'R' {
			id[0] = 2
		}
		name := r.calls[id]
		if name == "" {
			name = fmt.Sprintf("%s call %d", [...]string{1: "driver", 2: "runtime"}[id[0]], id[1])
		}
		t.calls = append(t.calls, call{name: name, span: l.span(), thread: l.u32(), correlation: l.u32(), result: l.u32()})
	case 'M':
		t.allocations = append(t.allocations, allocation{
			operation: l.u32(), memory: l.u32(), bytes: l.u64(), address: l.u64(), time: l.u64(), place: l.place(),
		})
	case 'O':
		l.u32()
		if s := l.span(); s.end > s.start {
			t.overheadNS += s.end - s.start
		}
	default:
		return fmt.Errorf("a line of the letter %q, which this version does not know", letter)
	}
	return nil
}

func (l *line) span() span           { return span{l.u64(), l.u64()} }
func (l *line) place() place         { return place{l.u32(), l.u32(), l.u32(), l.u32()} }
func (l *line) graphNode() graphNode { return graphNode{l.u32(), l.u64()} }
