package roofline

// FromContract is what the mathematics of one operation asks of a device at least:
// flops on a unit ("" where the unit is not known), compulsory bytes of which some
// are the output's, and the size of the device's L2.
//
// Every byte passes through the L2 at least once. To DRAM it need not go: with a hot
// cache as much as the L2 holds may stay there, and with a cold one as much of the
// output (see package floor, which makes the same allowance).
func FromContract(unit Resource, flops, bytes, written, l2 float64, cold bool) Work {
	var w Work
	if unit != "" && flops > 0 {
		w.Demands = append(w.Demands, Demand{Resource: unit, Amount: Amount{flops, Contract}})
	}
	if bytes <= 0 {
		return w
	}
	part := written / bytes
	w.Demands = append(w.Demands, Demand{Resource: L2, Amount: Amount{bytes, Contract}, Writes: &part})
	read := bytes - written
	if cold {
		written = max(0, written-l2)
	} else {
		// Which of them stay is not known: in proportion.
		left := max(0, bytes-l2) / bytes
		read, written = read*left, written*left
	}
	if read+written > 0 && l2 > 0 {
		writes := written / (read + written)
		w.Demands = append(w.Demands, Demand{Resource: DRAM, Amount: Amount{read + written, Contract}, Writes: &writes})
	} else {
		w.Unknown = append(w.Unknown, "bytes of DRAM: the L2 may hold everything")
	}
	return w
}

// UnitOf is the unit that a precision mode of a contract allows: of tf32, fp16 and
// bf16 the tensor cores; "" for others.
func UnitOf(precision string) Resource {
	switch precision {
	case "fp32":
		return FP32
	case "tf32":
		return TensorTF32
	case "fp16":
		return TensorFP16
	case "bf16":
		return TensorBF16
	}
	return ""
}
