//! The input directory: what is asked for, and the buffers.

use crate::json::{self, Json};
use crate::plan::{Buffer, Dims, Plan};
use std::fs;
use std::path::Path;

pub struct Request {
    pub op: String,
    pub dims: Dims,
    pub warmup: usize,
    pub iterations: usize,
}

pub fn read_request(directory: &Path) -> Result<Request, String> {
    let text = fs::read_to_string(directory.join("input.json")).map_err(|e| format!("input.json: {e}"))?;
    request(&text).map_err(|problem| format!("input.json: {problem}"))
}

fn request(text: &str) -> Result<Request, String> {
    let object = json::parse(text)?;
    let need = |key: &str| object.get(key).ok_or(format!("{key:?} is missing"));
    let count = |key: &str| need(key)?.count().ok_or(format!("{key:?} is not a count"));
    let op = match need("op")? {
        Json::Text(name) => name.clone(),
        _ => return Err("\"op\" is not a text".to_string()),
    };
    let mut dims = Dims::new();
    match need("dims")? {
        Json::Object(fields) => {
            for (name, value) in fields {
                let size = value.count().ok_or(format!("the dim {name:?} is not a count"))?;
                dims.insert(name.clone(), size);
            }
        }
        _ => return Err("\"dims\" is not an object".to_string()),
    }
    let (warmup, iterations) = (count("warmup")? as usize, count("iterations")? as usize);
    if iterations == 0 {
        return Err("\"iterations\" is 0".to_string());
    }
    Ok(Request { op, dims, warmup, iterations })
}

/// Reads every buffer of the plan and checks what the kernels rely on.
pub fn read_buffers(directory: &Path, plan: &Plan) -> Result<Vec<Vec<u8>>, String> {
    let mut all = Vec::new();
    for buffer in &plan.inputs {
        let file = format!("{}.bin", buffer.name);
        let data = fs::read(directory.join(&file)).map_err(|e| format!("{file}: {e}"))?;
        check_buffer(buffer, &data).map_err(|problem| format!("{file}: {problem}"))?;
        all.push(data);
    }
    if let Some((rows, edges)) = plan.graph {
        check_graph(&words(&all[2]), &words(&all[3]), rows, edges)?;
    }
    Ok(all)
}

fn check_buffer(buffer: &Buffer, data: &[u8]) -> Result<(), String> {
    if data.len() != buffer.elements * 4 {
        return Err(format!("it has {} bytes, want {}", data.len(), buffer.elements * 4));
    }
    if buffer.float {
        if let Some(i) = words(data).iter().position(|w| !f32::from_bits(*w).is_finite()) {
            return Err(format!("element {i} is not finite"));
        }
    }
    Ok(())
}

/// Row pointers that fall or an index out of range would read outside the buffers.
fn check_graph(rowptr: &[u32], indices: &[u32], rows: u32, edges: u32) -> Result<(), String> {
    if rowptr[0] != 0 || rowptr[rows as usize] != edges || rowptr.windows(2).any(|w| w[0] > w[1]) {
        return Err(format!("rowptr.bin: it does not rise from 0 to {edges}"));
    }
    if let Some(e) = indices.iter().position(|s| *s >= rows) {
        return Err(format!("indices.bin: edge {e} has the source {}, of {rows} rows", indices[e]));
    }
    Ok(())
}

fn words(data: &[u8]) -> Vec<u32> {
    data.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
}
