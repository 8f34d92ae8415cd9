// Package lanes computes single instructions on the 32 lanes of a warp: the
// arithmetic of PTX, in the rounding modes, with the saturation and with the
// flushing of subnormals that an instruction asks for.
//
// It must not know instructions as text, memory, control flow or checks. Scalar
// functions state the semantics of one lane; vectors of them are what a warp
// executes. Results of IEEE operations are exact to the bit; approximations are
// computed to the last bit or two, well inside the bounds of the PTX manual.
package lanes
