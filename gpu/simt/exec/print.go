package exec

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// maxPrinted is what a launch may print, as much as CUDA's buffer holds by default.
const maxPrinted = 1 << 20

// print is vprintf: a format and the arguments, each at its natural alignment, at
// addresses that lie in parameters of the call. It returns their number.
func (w *warp) print(in *program.Inst, mask uint32) {
	b := w.block
	size := b.launch.Program.LocalBytes
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 {
			continue
		}
		local := b.local[(w.id*lanes.Width+lane)*size:]
		format := fetch(local[in.Regs.A:], 8)
		p := printer{warp: w, in: in, lane: lane, args: fetch(local[in.Regs.B:], 8)}
		text := p.text(p.str(format))
		put(local[in.Regs.C:], 4, uint64(p.count))
		if room := maxPrinted - len(b.printed); room > 0 {
			b.printed = append(b.printed, text[:min(len(text), room)]...)
		}
	}
}

// trap says why a lane traps: the assertion that failed, if it is one.
func (w *warp) trap(in *program.Inst, lane int) string {
	if in.Regs.A < 0 {
		return "trap"
	}
	local := w.block.local[(w.id*lanes.Width+lane)*w.block.launch.Program.LocalBytes:]
	p := printer{warp: w, in: in, lane: lane}
	return fmt.Sprintf("assertion failed: %s (%s:%d)", p.str(fetch(local[in.Regs.A:], 8)),
		base(p.str(fetch(local[in.Regs.B:], 8))), uint32(fetch(local[in.Regs.C:], 4)))
}

// printer formats for one lane.
type printer struct {
	warp  *warp
	in    *program.Inst
	lane  int
	args  uint64 // address of the next argument
	count int
}

// bytes returns up to n bytes at a generic address, fewer at the end of memory.
func (p *printer) bytes(address uint64, n int) []byte {
	w := p.warp
	b := w.block
	space, at := program.Window(address)
	var all []byte
	switch space {
	case program.Shared:
		all = b.shared
	case program.Local:
		size := b.launch.Program.LocalBytes
		from := (w.id*lanes.Width + p.lane) * size
		all = b.local[from : from+size]
	case program.EntryParam:
		all = b.launch.Params
	default:
		a := b.launch.Memory.Find(address)
		if a == nil {
			break
		}
		all, at = a.Data[:a.Size], address-a.Base
	}
	if at >= uint64(len(all)) {
		b.report(p.in, w, p.lane, verdict.Finding{Kind: verdict.OutOfBounds, Space: space.String(), Address: address, Bytes: n, Detail: "printf reads there"}, "")
		return nil
	}
	return all[at:min(at+uint64(n), uint64(len(all)))]
}

// str is the string at an address.
func (p *printer) str(address uint64) string {
	s := p.bytes(address, maxPrinted)
	if i := bytes.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return string(s)
}

// next reads an argument of 4 or 8 bytes.
func (p *printer) next(n int) uint64 {
	p.args = (p.args + uint64(n) - 1) &^ uint64(n-1)
	b := p.bytes(p.args, n)
	p.args += uint64(n)
	p.count++
	if len(b) < n {
		return 0
	}
	return fetch(b, n)
}

// text is the format with its conversions replaced.
func (p *printer) text(format string) string {
	var out strings.Builder
	for {
		before, rest, more := strings.Cut(format, "%")
		out.WriteString(before)
		if !more {
			return out.String()
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("-+ #0123456789.*hljztLI", r) })
		if n < 0 {
			return out.String() + "%" + rest
		}
		out.WriteString(p.convert(rest[:n], rest[n]))
		format = rest[n+1:]
	}
}

// convert formats one argument. spec is what stands between the percent sign and the
// verb: flags, width and precision, which Go writes alike, and a size.
func (p *printer) convert(spec string, verb byte) string {
	size := 4
	if strings.Contains(spec, "ll") || strings.ContainsAny(spec, "ljzt") {
		size = 8
	}
	narrow := strings.Count(spec, "h")
	spec = strings.Trim(spec, "hljztLI")
	for strings.Contains(spec, "*") {
		spec = strings.Replace(spec, "*", fmt.Sprint(int32(p.next(4))), 1)
	}
	if tooWide(spec) {
		return "%" + spec + string(verb)
	}
	write := func(verb string, v any) string { return fmt.Sprintf("%"+spec+verb, v) }
	switch verb {
	case '%':
		return "%"
	case 'd', 'i':
		return write("d", int64(lanes.Extend(p.next(size), 8*size>>narrow, true)))
	case 'u':
		return write("d", lanes.Extend(p.next(size), 8*size>>narrow, false))
	case 'o', 'x', 'X':
		return write(string(verb), lanes.Extend(p.next(size), 8*size>>narrow, false))
	case 'c':
		return write("s", string([]byte{byte(p.next(4))}))
	case 'p':
		return write("s", fmt.Sprintf("%#x", p.next(8)))
	case 's':
		return write("s", p.str(p.next(8)))
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		v := math.Float64frombits(p.next(8))
		if math.IsInf(v, 0) || v != v {
			return fmt.Sprintf("%"+strings.TrimLeft(strings.Split(spec, ".")[0], "0")+"s", strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+")))
		}
		if verb == 'a' || verb == 'A' {
			verb += 'x' - 'a'
		} else if !strings.Contains(spec, ".") {
			spec += ".6"
		}
		return write(string(verb), v)
	}
	return "%" + spec + string(verb)
}

// tooWide tells a width or precision that would only fill the buffer.
func tooWide(spec string) bool {
	digits := 0
	for _, c := range spec {
		if c < '0' || c > '9' {
			digits = 0
			continue
		}
		if digits++; digits > 4 {
			return true
		}
	}
	return false
}

// printedBlock is what a block printed.
type printedBlock struct {
	block uint64
	text  []byte
}

// joined is what blocks printed, in order of their numbers.
func joined(all []printedBlock) []byte {
	slices.SortFunc(all, func(a, b printedBlock) int { return int(int64(a.block) - int64(b.block)) })
	var text []byte
	for _, p := range all {
		text = append(text, p.text...)
	}
	return text[:min(len(text), maxPrinted)]
}
