//! C = A·B: A is M×K, B is K×N, C is M×N, all row-major.
//!
//! The algorithm of cuda/first: a block computes a 16×16 tile of C, one output
//! per thread, and walks K in tiles of 16 that the whole block stages in shared
//! memory. Each staged value is used 16 times, so global traffic falls 16-fold.

#![no_std]
#![feature(abi_ptx, asm_experimental_arch, core_intrinsics, stdsimd)]

use core::arch::nvptx::{_block_idx_x, _syncthreads, _thread_idx_x, _thread_idx_y};
use core::arch::{asm, global_asm};
use core::intrinsics::{fmaf32, unchecked_div, unchecked_rem};

const TILE: u32 = 16;
const FLOAT: u32 = 4; // bytes

// Rust knows no address spaces: the two tiles of 16×16 floats are declared in
// PTX, and reached with ld.shared and st.shared.
global_asm!(".shared .align 16 .b8 tile_a[1024];", ".shared .align 16 .b8 tile_b[1024];");

/// The shared addresses of the tiles.
#[inline(always)]
unsafe fn tiles() -> (u32, u32) {
    let (a, b): (u32, u32);
    asm!("mov.u32 {}, tile_a;", out(reg32) a, options(pure, nomem, nostack));
    asm!("mov.u32 {}, tile_b;", out(reg32) b, options(pure, nomem, nostack));
    (a, b)
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

#[no_mangle]
pub unsafe extern "ptx-kernel" fn matmul(
    a: *const f32,
    b: *const f32,
    out: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    // The tiles of C are numbered along one grid dimension: only x reaches 2³¹−1,
    // and y would end at 65535 tiles of rows.
    let block = _block_idx_x() as u32;
    let (tx, ty) = (_thread_idx_x() as u32, _thread_idx_y() as u32);
    let tiles_n = (n + TILE - 1) / TILE;
    let row = unchecked_div(block, tiles_n) * TILE + ty;
    let col = unchecked_rem(block, tiles_n) * TILE + tx;

    let (tile_a, tile_b) = tiles();
    let own = (ty * TILE + tx) * FLOAT;
    let row_a = tile_a + ty * TILE * FLOAT;
    let col_b = tile_b + tx * FLOAT;

    let mut sum = 0.0;
    let mut k0 = 0;
    while k0 < k {
        // Elements outside the matrices are staged as zero, so the inner loop
        // needs no bounds and every thread reaches both barriers.
        let (ka, kb) = (k0 + tx, k0 + ty);
        let from_a = if row < m && ka < k { load(a, row * k + ka) } else { 0.0 };
        let from_b = if col < n && kb < k { load(b, kb * n + col) } else { 0.0 };
        store_shared(tile_a + own, from_a);
        store_shared(tile_b + own, from_b);
        _syncthreads(); // both tiles are complete before anyone reads them
        let mut i = 0;
        while i < TILE {
            let x = load_shared(row_a + i * FLOAT);
            let y = load_shared(col_b + i * TILE * FLOAT);
            sum = fmaf32(x, y, sum);
            i += 1;
        }
        _syncthreads(); // everyone has read them before they are overwritten
        k0 += TILE;
    }
    if row < m && col < n {
        *out.add((row * n + col) as usize) = sum;
    }
}
