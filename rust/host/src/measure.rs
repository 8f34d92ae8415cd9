//! The measurement: upload, warm-up, samples, and the output with its guards.
//! The order of calls in each mode is that of Mage's own timing.

use crate::arguments::{Arguments, Mode};
use crate::cuda::Device;
use crate::inputs::Request;
use crate::plan::{Param, Plan};

/// Before and after the output; a kernel that writes there is wrong.
const GUARD: usize = 4096;
/// Every byte of the output before it is computed: as float32, NaN.
const POISON: u8 = 0xFF;

pub struct Measurement {
    pub output: Vec<u8>,
    pub samples_us: Vec<f64>, // per operation
}

pub fn measure(
    device: &Device,
    plan: &Plan,
    buffers: &[Vec<u8>],
    request: &Request,
    arguments: &Arguments,
) -> Result<Measurement, String> {
    let mut inputs = Vec::new();
    for data in buffers {
        let address = device.alloc(data.len())?;
        device.upload(address, data)?;
        inputs.push(address);
    }
    let bytes = plan.out * 4;
    let guarded = device.alloc(bytes + 2 * GUARD)?;
    device.fill(guarded, POISON, bytes + 2 * GUARD)?;

    let values = plan.params.iter().map(|p| match p {
        Param::Input(i) => inputs[*i],
        Param::Output => guarded + GUARD as u64,
        Param::Number(n) => *n as u64,
    });
    let mut launch = device.bind(plan.ptx, plan.entry, plan.grid, plan.block, values.collect())?;
    let mut submit = || device.submit(&mut launch);
    for _ in 0..request.warmup {
        submit()?;
    }
    device.wait()?;

    let n = arguments.batch;
    let graph = if arguments.mode == Mode::Graph {
        let graph = device.capture(|| (0..n).try_for_each(|_| submit()))?;
        for _ in 0..request.warmup.clamp(1, 3) {
            device.replay(&graph)?; // the first one uploads it
        }
        device.wait()?;
        Some(graph)
    } else {
        None
    };

    let (start, end) = (device.event()?, device.event()?);
    let iterations = arguments.iterations.unwrap_or(request.iterations);
    let mut samples_us = Vec::with_capacity(iterations);
    if arguments.capture {
        device.profiler(true)?;
    }
    for _ in 0..iterations {
        device.wait()?;
        device.record(&start)?;
        match &graph {
            Some(graph) => device.replay(graph)?,
            None => (0..n).try_for_each(|_| submit())?,
        }
        device.record(&end)?;
        samples_us.push(device.elapsed(&start, &end)? / n as f64);
    }
    device.wait()?;
    if arguments.capture {
        device.profiler(false)?;
    }

    let mut all = vec![0; bytes + 2 * GUARD];
    device.download(guarded, &mut all)?;
    if all[..GUARD].iter().chain(&all[GUARD + bytes..]).any(|b| *b != POISON) {
        return Err("the kernel wrote outside of its output".to_string());
    }
    Ok(Measurement { output: all[GUARD..GUARD + bytes].to_vec(), samples_us })
}
