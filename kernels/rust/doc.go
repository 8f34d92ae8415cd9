// Package rust holds the device kernels written in Rust, the script that compiles
// them to PTX, and the tests of both. docs/rust.md describes the toolchain.
package rust
