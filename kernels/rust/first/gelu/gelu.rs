//! y = ½ z (1 + tanh(√(2/π) (z + 0.044715 z³))), z = x + bias: x is R×D, bias is D.
//!
//! The algorithm of cuda/first: bias and activation are one kernel, one element
//! per thread, so x is read once and y written once, with nothing in between.

#![no_std]
#![feature(abi_ptx, asm_experimental_arch, core_intrinsics, stdsimd)]

use core::arch::asm;
use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};
use core::intrinsics::{fmaf32, unchecked_rem};

const SQRT_2_OVER_PI: f32 = 0.797_884_560_802_865_4;

/// The hardware's approximate tanh, as in cuda/first. The PTX ISA promises a
/// relative error of 2⁻¹¹ only, which would not meet the contract for every z;
/// the gate decides on the GPU at hand.
#[inline(always)]
unsafe fn tanh_approx(x: f32) -> f32 {
    let y: f32;
    asm!("tanh.approx.f32 {}, {};", out(reg32) y, in(reg32) x, options(pure, nomem, nostack));
    y
}

/// Element i of an input. Nothing writes it while the kernel runs, which CUDA C++
/// says with `const` and `__restrict__`, and which is what nomem claims here.
#[inline(always)]
unsafe fn load(base: *const f32, i: u32) -> f32 {
    let value: f32;
    asm!("{{ .reg .u64 g; cvta.to.global.u64 g, {}; ld.global.nc.f32 {}, [g]; }}",
        in(reg64) base.add(i as usize), out(reg32) value, options(pure, nomem, nostack));
    value
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn gelu(a: *const f32, b: *const f32, out: *mut f32, count: u32, d: u32) {
    // Unsigned: count is below 2³¹, but the last block may pass it.
    let i = _block_idx_x() as u32 * _block_dim_x() as u32 + _thread_idx_x() as u32;
    if i >= count {
        return;
    }
    let z = load(a, i) + load(b, unchecked_rem(i, d));
    // Rust contracts nothing by itself: the fused steps that a CUDA compiler
    // makes of the same formula are written out.
    let inner = fmaf32(0.044715 * z * z, z, z);
    let t = tanh_approx(SQRT_2_OVER_PI * inner);
    *out.add(i as usize) = 0.5 * z * (1.0 + t);
}
