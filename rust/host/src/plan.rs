//! What each contract needs on the device: buffers, the kernel, and its launch.
//! The numbers are those of kernels/rust/first/*/kernel.toml.

use std::collections::BTreeMap;

pub type Dims = BTreeMap<String, u32>;

pub struct Plan {
    pub entry: &'static str,
    pub ptx: &'static str,
    pub inputs: Vec<Buffer>,
    pub out: usize, // elements
    pub params: Vec<Param>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Rows and edges of a graph that rowptr and indices must describe.
    pub graph: Option<(u32, u32)>,
}

pub struct Buffer {
    pub name: &'static str,
    pub elements: usize,
    pub float: bool,
}

pub enum Param {
    Input(usize),
    Output,
    Number(u32),
}

use Param::{Input, Number, Output};

pub fn of(op: &str, dims: &Dims) -> Result<Plan, String> {
    match op {
        "matmul" => {
            let [m, n, k] = take(op, dims, ["M", "N", "K"])?;
            Ok(Plan {
                entry: "matmul",
                ptx: include_str!("../../../kernels/rust/first/matmul/matmul.ptx"),
                inputs: vec![floats("a", &[m, k])?, floats("b", &[k, n])?],
                out: product(&[m, n])?,
                params: vec![Input(0), Input(1), Output, Number(m), Number(n), Number(k)],
                grid: [product(&[tiles(m, 16), tiles(n, 16)])? as u32, 1, 1],
                block: [16, 16, 1],
                graph: None,
            })
        }
        "gelu" => {
            let [r, d] = take(op, dims, ["R", "D"])?;
            let count = product(&[r, d])?;
            Ok(Plan {
                entry: "gelu",
                ptx: include_str!("../../../kernels/rust/first/gelu/gelu.ptx"),
                inputs: vec![floats("a", &[r, d])?, floats("b", &[d])?],
                out: count,
                params: vec![Input(0), Input(1), Output, Number(count as u32), Number(d)],
                grid: [tiles(count as u32, 256), 1, 1],
                block: [256, 1, 1],
                graph: None,
            })
        }
        "layernorm" => {
            let [r, d] = take(op, dims, ["R", "D"])?;
            Ok(Plan {
                entry: "layernorm",
                ptx: include_str!("../../../kernels/rust/first/layernorm/layernorm.ptx"),
                inputs: vec![floats("a", &[r, d])?, floats("b", &[d])?, floats("c", &[d])?],
                out: product(&[r, d])?,
                params: vec![Input(0), Input(1), Input(2), Output, Number(d)],
                grid: [r, 1, 1],
                block: [256, 1, 1],
                graph: None,
            })
        }
        "triangle" => {
            let [n, c] = take(op, dims, ["N", "C"])?;
            Ok(Plan {
                entry: "triangle",
                ptx: include_str!("../../../kernels/rust/first/triangle/triangle.ptx"),
                inputs: vec![floats("a", &[n, n, c])?, floats("b", &[n, n, c])?],
                out: product(&[n, n, c])?,
                params: vec![Input(0), Input(1), Output, Number(n), Number(c)],
                grid: [c, tiles(n, 16), tiles(n, 16)],
                block: [16, 16, 1],
                graph: None,
            })
        }
        "neighbor" => {
            let [n, f, e] = take(op, dims, ["N", "F", "E"])?;
            let count = product(&[n, f])?;
            let words = |name, elements| Buffer { name, elements, float: false };
            Ok(Plan {
                entry: "neighbor",
                ptx: include_str!("../../../kernels/rust/first/neighbor/neighbor.ptx"),
                inputs: vec![
                    floats("a", &[n, f])?,
                    Buffer { name: "b", elements: e as usize, float: true },
                    words("rowptr", n as usize + 1),
                    words("indices", e as usize),
                ],
                out: count,
                params: vec![Input(0), Input(1), Input(2), Input(3), Output, Number(count as u32), Number(f)],
                grid: [tiles(count as u32, 256), 1, 1],
                block: [256, 1, 1],
                graph: Some((n, e)),
            })
        }
        _ => Err(format!("unknown operation {op:?}: matmul, gelu, layernorm, triangle or neighbor")),
    }
}

/// take returns the dims of an operation in order. Only the edge count may be zero.
fn take<const N: usize>(op: &str, dims: &Dims, names: [&str; N]) -> Result<[u32; N], String> {
    let mut values = [0; N];
    for (value, name) in values.iter_mut().zip(names) {
        *value = *dims.get(name).ok_or_else(|| format!("the dims of {op} lack {name}"))?;
        if *value > i32::MAX as u32 || *value == 0 && name != "E" {
            return Err(format!("{name} = {value} is out of range"));
        }
    }
    if let Some(name) = dims.keys().find(|d| !names.contains(&d.as_str())) {
        return Err(format!("{op} has no dim {name}"));
    }
    Ok(values)
}

fn floats(name: &'static str, shape: &[u32]) -> Result<Buffer, String> {
    Ok(Buffer { name, elements: product(shape)?, float: true })
}

/// A product of dims, which the contracts bound by 2³¹−1.
fn product(dims: &[u32]) -> Result<usize, String> {
    dims.iter()
        .try_fold(1u32, |p, d| p.checked_mul(*d).filter(|p| *p <= i32::MAX as u32))
        .map(|p| p as usize)
        .ok_or_else(|| format!("the product of {dims:?} does not fit a signed 32-bit integer"))
}

fn tiles(n: u32, tile: u32) -> u32 {
    n / tile + u32::from(n % tile != 0)
}
