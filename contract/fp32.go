package contract

// fp32 holds what every strict single-precision contract has in common.
type fp32 struct{}

// Precision returns FP32.
func (fp32) Precision() Precision { return FP32 }

// Tolerance is 1e-4, relative and absolute. docs/contracts.md says why.
func (fp32) Tolerance() Tolerance { return Tolerance{Rtol: 1e-4, Atol: 1e-4} }
