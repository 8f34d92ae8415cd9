package simt_test

import (
	"bytes"
	"strings"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
	"mage/gpu/verdict"
)

// storeAt stores 7 at out + offset.
const storeAt = `.visible .entry k(.param .u64 out, .param .s64 offset) {
.reg .b64 %d<4>; .reg .b32 %r<2>;
ld.param.u64 %d1, [out]; ld.param.s64 %d2, [offset]; add.s64 %d3, %d1, %d2;
mov.u32 %r1, 7; st.global.u32 [%d3], %r1; ret;
}`

// TestGuardZones: the host reads and writes the zones around a buffer, a kernel
// that does is found out, by the name of the buffer, and changes nothing.
func TestGuardZones(t *testing.T) {
	const guard, size = 256, 64
	for _, x := range []struct {
		offset int64
		want   string // in the finding; "" for none
	}{
		{0, ""}, {size - 4, ""}, {size, "0 bytes past the end of buffer out (64 bytes)"},
		{-4, "4 bytes before the start of buffer out (64 bytes)"}, {size + guard, "256 bytes past the end"},
	} {
		r := newRig(t, simt.Options{MemoryBytes: 4 << 10}, storeAt)
		r.alloc(16) // a neighbour on either side
		p, err := r.device.AllocNamed("buffer out", size+2*guard, guard)
		if err != nil {
			t.Fatal(err)
		}
		r.alloc(16)
		if err := r.device.Fill(p, 0x5a, size+2*guard); err != nil {
			t.Fatal(err)
		}
		err = r.run(1, 1, 0, gpu.Pointer(p+guard), gpu.Int64(x.offset))
		found := r.device.Findings()
		if x.want == "" && (err != nil || len(found) > 0) {
			t.Errorf("offset %d: %v", x.offset, err)
		}
		if x.want != "" && (err == nil || len(found) != 1 || found[0].Kind != verdict.OutOfBounds || !strings.Contains(found[0].Detail, x.want)) {
			t.Errorf("offset %d: %v, findings %+v, want %q", x.offset, err, found, x.want)
		}
		all := make([]byte, size+2*guard)
		if err := r.device.Download(all, p); err != nil {
			t.Fatal(err)
		}
		want := bytes.Repeat([]byte{0x5a}, len(all))
		if x.want == "" {
			copy(want[guard+x.offset:], []byte{7, 0, 0, 0})
		}
		if !bytes.Equal(all, want) {
			t.Errorf("offset %d: the buffer and its zones hold %x", x.offset, all)
		}
		// Beyond the zones nothing is mapped for the host either.
		if r.device.Fill(p, 0, size+2*guard+1) == nil || r.device.Download(all[:4], p-4) == nil {
			t.Error("the host reaches past the zones")
		}
		if err := r.device.Free(p + guard); err == nil {
			t.Error("memory was freed by another address than its first")
		}
		if err := r.device.Free(p); err != nil {
			t.Error(err)
		}
		// All of it is given back: with the neighbours, this is all there is.
		if _, err := r.device.Alloc(4<<10 - 128); err != nil {
			t.Error(err)
		}
	}
}
