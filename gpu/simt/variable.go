package simt

import (
	"encoding/binary"
	"fmt"
	"math"

	"mage/gpu/simt/ptx"
	"mage/unavailable"
)

// rename gives the positions of a module the name of its first kernel, since PTX
// text carries none: "gelu.ptx:34" says more than "ptx:34".
func rename(m *ptx.Module) {
	name := ""
	for _, f := range m.Functions {
		if f.Entry && f.Body != nil {
			name = f.Name + ".ptx"
			break
		}
	}
	if name == "" {
		return
	}
	var block func(b *ptx.Block)
	block = func(b *ptx.Block) {
		for _, s := range b.Statements {
			switch s := s.(type) {
			case *ptx.Block:
				block(s)
			case *ptx.Instruction:
				s.Pos.File = name
				for i := range s.Operands {
					s.Operands[i].Pos.File = name
				}
			case *ptx.Variable:
				s.Pos.File = name
			case *ptx.Label:
				s.Pos.File = name
			}
		}
	}
	for _, f := range m.Functions {
		f.Pos.File = name
		if f.Body != nil {
			block(f.Body)
		}
	}
}

// place allocates the module's variables, then fills them: an initializer may hold
// the address of any other.
func (m *module) place() error {
	for _, v := range m.symbols.Module.Variables {
		if v.Space != "global" && v.Space != "const" {
			continue
		}
		n := size(v)
		if n < 0 || v.Linkage == ptx.Extern {
			return fmt.Errorf("%s: variable %s is not defined here", v.Pos, v.Name)
		}
		a, err := m.device.memory.Alloc(n)
		if err != nil {
			return err
		}
		a.Name = "variable " + v.Name
		clear(a.Data) // without an initializer a variable is zero
		a.MarkWritten(0, n)
		m.owned = append(m.owned, a)
		m.symbols.Address[v.Name] = a.Base
	}
	i := 0
	for _, v := range m.symbols.Module.Variables {
		if v.Space != "global" && v.Space != "const" {
			continue
		}
		a := m.owned[i]
		i++
		if v.Init != nil {
			if _, err := m.fill(a.Data, v, v.Init, 0); err != nil {
				return err
			}
		}
		a.ReadOnly = v.Space == "const"
	}
	return nil
}

// size is the bytes of a variable, -1 if they are not known.
func size(v *ptx.Variable) int64 {
	n := int64(ptx.SizeOf(v.Type) * max(v.Vector, 1))
	for i, d := range v.Dims {
		if d < 0 && i == 0 && v.Init != nil && v.Init.List != nil {
			d = int64(len(v.Init.List))
		}
		if d < 0 || d > 0 && n > math.MaxInt32/d*2 {
			return -1
		}
		n *= d
	}
	return n
}

// fill writes an initializer from an offset on and returns where it ends.
func (m *module) fill(data []byte, v *ptx.Variable, init *ptx.Initializer, at int) (int, error) {
	if init.List != nil {
		for _, e := range init.List {
			var err error
			if at, err = m.fill(data, v, e, at); err != nil {
				return 0, err
			}
		}
		return at, nil
	}
	n := ptx.SizeOf(v.Type)
	if at+n > len(data) {
		return 0, fmt.Errorf("%s: too many initial values for %s", v.Pos, v.Name)
	}
	bits, err := m.initial(v, init.Value)
	if err != nil {
		return 0, err
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	copy(data[at:at+n], b[:])
	return at + n, nil
}

func (m *module) initial(v *ptx.Variable, o ptx.Operand) (uint64, error) {
	switch o.Kind {
	case ptx.Integer:
		return o.Bits, nil
	case ptx.Float:
		x := math.Float64frombits(o.Bits)
		if o.Single {
			x = float64(math.Float32frombits(uint32(o.Bits)))
		}
		switch ptx.SizeOf(v.Type) {
		case 8:
			return math.Float64bits(x), nil
		case 4:
			return uint64(math.Float32bits(float32(x))), nil
		}
	case ptx.Name:
		if a, ok := m.symbols.Address[o.Name]; ok {
			return a + uint64(o.Offset), nil
		}
	}
	return 0, unavailable.New("the module on the simulator",
		fmt.Sprintf("%s: it does not know this initial value of %s", o.Pos, v.Name), gpuRemedy)
}
