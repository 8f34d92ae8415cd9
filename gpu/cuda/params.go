package cuda

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"regexp"
	"strings"
)

// paramCounts is how many parameters each kernel of an image takes, as far as the
// image says so; none for a fatbin. Asking the driver for one parameter after
// another would end with a call that fails, and compute-sanitizer reports failing
// calls as errors of the program.
func paramCounts(image []byte) map[string]int {
	if isPTX(image) {
		return ptxParams(image)
	}
	return cubinParams(image)
}

var (
	ptxComment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	ptxEntry   = regexp.MustCompile(`\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?`)
	ptxParam   = regexp.MustCompile(`\.param\b`)
)

// ptxParams reads the parameter lists of the entries (PTX ISA, ".entry").
func ptxParams(image []byte) map[string]int {
	counts := map[string]int{}
	for _, m := range ptxEntry.FindAllSubmatch(ptxComment.ReplaceAll(image, nil), -1) {
		counts[string(m[1])] = len(ptxParam.FindAll(m[2], -1))
	}
	return counts
}

// Attributes in a cubin's section .nv.info.KERNEL that describe one parameter, and
// the format of attributes that carry their length. The format has no document:
// this is what cuobjdump --dump-elf calls them.
const (
	infoParam   = 0x17 // EIATTR_KPARAM_INFO
	infoParamV2 = 0x45 // EIATTR_KPARAM_INFO_V2, from compute capability 10.0 on
	infoSized   = 0x04 // EIFMT_SVAL
)

// cubinParams counts the descriptions of parameters of each kernel. A kernel that
// takes none has a section without any.
func cubinParams(image []byte) map[string]int {
	counts := map[string]int{}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return counts
	}
	for _, s := range f.Sections {
		name, ok := strings.CutPrefix(s.Name, ".nv.info.")
		if !ok {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		if n, ok := describedParams(data); ok {
			counts[name] = n
		}
	}
	return counts
}

// describedParams walks over the attributes: format, attribute, then 16 bits that
// are the value, or the number of bytes that follow.
func describedParams(data []byte) (n int, ok bool) {
	for len(data) > 0 {
		if len(data) < 4 {
			return 0, false
		}
		format, attribute, size := data[0], data[1], 0
		if format == infoSized {
			size = int(binary.LittleEndian.Uint16(data[2:]))
			if attribute == infoParam || attribute == infoParamV2 {
				n++
			}
		}
		if data = data[4:]; size > len(data) {
			return 0, false
		}
		data = data[size:]
	}
	return n, true
}

// params is how many parameters the function takes, by the newest driver (CUDA
// 13.2) or by its image.
func (f *function) params() (int, bool) {
	if count := f.module.device.api.cuFuncGetParamCount; count != nil {
		var n uint64
		if count(f.handle, &n) == 0 {
			return int(n), true
		}
	}
	n, ok := f.module.params[f.name]
	return n, ok
}
