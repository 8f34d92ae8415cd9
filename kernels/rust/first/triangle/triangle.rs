//! O_ijc = Σ_k A_ikc · B_jkc: A, B and O are N×N×C, row-major.
//!
//! The algorithm of cuda/first: each channel c is a product A_c · B_cᵀ of N×N
//! matrices whose elements lie C apart, computed as in the tiled matmul: a block
//! per channel and 16×16 tile of O, k in tiles of 16 staged in shared memory.

#![no_std]
#![feature(abi_ptx, asm_experimental_arch, core_intrinsics, stdsimd)]

use core::arch::nvptx::{
    _block_idx_x, _block_idx_y, _block_idx_z, _syncthreads, _thread_idx_x, _thread_idx_y,
};
use core::arch::{asm, global_asm};
use core::intrinsics::fmaf32;

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
pub unsafe extern "ptx-kernel" fn triangle(a: *const f32, b: *const f32, out: *mut f32, n: u32, c: u32) {
    // The channel is grid x, which reaches 2³¹−1: y and z end at 65535, enough
    // for tiles of N (N² is below 2³¹). Neighbouring blocks then share sectors of
    // memory, since channels are adjacent there.
    let channel = _block_idx_x() as u32;
    let j0 = _block_idx_y() as u32 * TILE;
    let i0 = _block_idx_z() as u32 * TILE;
    let (tx, ty) = (_thread_idx_x() as u32, _thread_idx_y() as u32);

    let (tile_a, tile_b) = tiles();
    let own = (ty * TILE + tx) * FLOAT;
    let row_a = tile_a + ty * TILE * FLOAT;
    let row_b = tile_b + tx * TILE * FLOAT;

    let mut sum = 0.0;
    let mut k0 = 0;
    while k0 < n {
        // Outside the matrices zero is staged, so every thread reaches both
        // barriers and the inner loop needs no bounds.
        let k = k0 + tx;
        let (ia, jb) = (i0 + ty, j0 + ty);
        let from_a = if ia < n && k < n { load(a, (ia * n + k) * c + channel) } else { 0.0 };
        let from_b = if jb < n && k < n { load(b, (jb * n + k) * c + channel) } else { 0.0 };
        store_shared(tile_a + own, from_a);
        store_shared(tile_b + own, from_b);
        _syncthreads(); // both tiles are complete before anyone reads them
        let mut kk = 0;
        while kk < TILE {
            let x = load_shared(row_a + kk * FLOAT);
            let y = load_shared(row_b + kk * FLOAT);
            sum = fmaf32(x, y, sum);
            kk += 1;
        }
        _syncthreads(); // everyone has read them before they are overwritten
        k0 += TILE;
    }
    let (i, j) = (i0 + ty, j0 + tx);
    if i < n && j < n {
        *out.add(((i * n + j) * c + channel) as usize) = sum;
    }
}
