package exec

import (
	"math/bits"

	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// count notes one executed instruction.
func count(c *verdict.Counters, in *program.Inst, mask uint32) {
	n := int64(bits.OnesCount32(mask))
	c.Instructions[in.Class]++
	c.Lanes += n
	if in.Flops == 0 {
		return
	}
	f := n * int64(in.Flops)
	switch in.Class {
	case verdict.Float16:
		c.FLOPs16 += f
	case verdict.Float64:
		c.FLOPs64 += f
	case verdict.Matrix:
		c.FLOPsMatrix += int64(in.Flops)
	case verdict.SpecialFunction:
		c.SpecialOperations += f
		c.FLOPs32 += f
	case verdict.AtomicAccess:
		switch in.Memory.Size {
		case 8:
			c.FLOPs64 += f
		case 2:
			c.FLOPs16 += f
		default:
			c.FLOPs32 += f
		}
	default:
		c.FLOPs32 += f
	}
}
