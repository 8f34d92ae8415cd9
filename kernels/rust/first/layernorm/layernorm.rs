//! y = (x − mean) / √(variance + 1e-5) · gamma + beta, for each row of x (R×D);
//! the variance is centred and its divisor is D. gamma and beta are D long.
//!
//! The algorithm of cuda/first: one block of 256 threads owns a row, which is read
//! three times (mean, variance, result). Two passes for the moments, because
//! E[x²] − mean² cancels badly when |mean| ≫ deviation.

#![no_std]
#![feature(abi_ptx, asm_experimental_arch, core_intrinsics, stdsimd)]

use core::arch::nvptx::{_block_idx_x, _syncthreads, _thread_idx_x};
use core::arch::{asm, global_asm};
use core::intrinsics::fmaf32;

const THREADS: u32 = 256;
const FLOAT: u32 = 4; // bytes

// Rust knows no address spaces: one float per thread is declared in PTX, and
// reached with ld.shared and st.shared.
global_asm!(".shared .align 16 .b8 scratch[1024];");

/// The shared address of the scratch.
#[inline(always)]
unsafe fn scratch() -> u32 {
    let address: u32;
    asm!("mov.u32 {}, scratch;", out(reg32) address, options(pure, nomem, nostack));
    address
}

#[inline(always)]
unsafe fn store_shared(address: u32, value: f32) {
    asm!("st.shared.f32 [{}], {};", in(reg32) address, in(reg32) value, options(nostack));
}

// readonly, where nomem would let the load cross a barrier.
#[inline(always)]
unsafe fn load_shared(address: u32) -> f32 {
    let value: f32;
    asm!("ld.shared.f32 {}, [{}];", out(reg32) value, in(reg32) address,
        options(pure, readonly, nostack));
    value
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

#[inline(always)]
unsafe fn rsqrt(x: f32) -> f32 {
    let y: f32;
    asm!("rsqrt.approx.f32 {}, {};", out(reg32) y, in(reg32) x, options(pure, nomem, nostack));
    y
}

/// The sum of value over the block, for every thread: a tree in shared memory
/// that halves the number of active threads at each step.
#[inline(always)]
unsafe fn block_sum(value: f32) -> f32 {
    let t = _thread_idx_x() as u32;
    let first = scratch();
    let own = first + t * FLOAT;
    store_shared(own, value);
    _syncthreads();
    let mut half = THREADS / 2;
    while half > 0 {
        if t < half {
            store_shared(own, load_shared(own) + load_shared(own + half * FLOAT));
        }
        _syncthreads();
        half /= 2;
    }
    let sum = load_shared(first);
    _syncthreads(); // everyone has read the sum before scratch is used again
    sum
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn layernorm(
    a: *const f32,
    b: *const f32,
    c: *const f32,
    out: *mut f32,
    d: u32,
) {
    let first = _block_idx_x() as u32 * d;
    let t = _thread_idx_x() as u32;

    let mut sum = 0.0;
    let mut i = t;
    while i < d {
        sum += load(a, first + i);
        i += THREADS;
    }
    let mean = block_sum(sum) / d as f32;

    let mut squares = 0.0;
    let mut i = t;
    while i < d {
        let centred = load(a, first + i) - mean;
        squares = fmaf32(centred, centred, squares);
        i += THREADS;
    }
    let scale = rsqrt(block_sum(squares) / d as f32 + 1e-5);

    let mut i = t;
    while i < d {
        let normal = (load(a, first + i) - mean) * scale;
        *out.add((first + i) as usize) = fmaf32(normal, load(b, i), load(c, i));
        i += THREADS;
    }
}
