//! Y_if = Σ_{e in row i} w_e · X_{s_e,f}: X is N×F, the edges of row i are
//! rowptr[i] … rowptr[i+1]−1, edge e has weight b[e] and source row indices[e].
//!
//! The algorithm of cuda/first: one thread per (row, feature) adds one edge at a
//! time. Threads of a row walk the same edges and read adjacent features, so reads
//! of X are contiguous. No atomics: each output has one writer, in a fixed order.

#![no_std]
#![feature(abi_ptx, asm_experimental_arch, core_intrinsics, stdsimd)]

use core::arch::asm;
use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};
use core::intrinsics::{fmaf32, unchecked_div, unchecked_rem};

/// Element i of an input. Nothing writes it while the kernel runs, which CUDA C++
/// says with `const` and `__restrict__`, and which is what nomem claims here.
#[inline(always)]
unsafe fn load(base: *const f32, i: u32) -> f32 {
    let value: f32;
    asm!("{{ .reg .u64 g; cvta.to.global.u64 g, {}; ld.global.nc.f32 {}, [g]; }}",
        in(reg64) base.add(i as usize), out(reg32) value, options(pure, nomem, nostack));
    value
}

/// The same for an array of indices.
#[inline(always)]
unsafe fn load_index(base: *const u32, i: u32) -> u32 {
    let value: u32;
    asm!("{{ .reg .u64 g; cvta.to.global.u64 g, {}; ld.global.nc.u32 {}, [g]; }}",
        in(reg64) base.add(i as usize), out(reg32) value, options(pure, nomem, nostack));
    value
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn neighbor(
    a: *const f32,
    b: *const f32,
    rowptr: *const u32,
    indices: *const u32,
    out: *mut f32,
    count: u32,
    f: u32,
) {
    // Unsigned: count is below 2³¹, but the last block may pass it.
    let i = _block_idx_x() as u32 * _block_dim_x() as u32 + _thread_idx_x() as u32;
    if i >= count {
        return;
    }
    let (row, feature) = (unchecked_div(i, f), unchecked_rem(i, f));
    let end = load_index(rowptr, row + 1);
    let mut sum = 0.0;
    let mut e = load_index(rowptr, row);
    while e < end {
        sum = fmaf32(load(b, e), load(a, load_index(indices, e) * f + feature), sum);
        e += 1;
    }
    *out.add(i as usize) = sum;
}
