//! What a run leaves: the output and the timing record, in a directory of the
//! run's own and as copies at the root of the input directory.

use crate::arguments::Arguments;
use crate::cuda::Device;
use crate::inputs::Request;
use crate::json::quote;
use crate::measure::Measurement;
use crate::plan::Plan;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn write(
    arguments: &Arguments,
    request: &Request,
    plan: &Plan,
    device: &Device,
    result: &Measurement,
) -> Result<(), String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Nanoseconds have a fixed width, so names sort by time.
    let run_id = format!("{:020}-{}", since.as_nanos(), std::process::id());
    let timing = timing(arguments, request, plan, device, result, &run_id);

    let root = &arguments.directory;
    let own = root.join("rust-runs").join(&run_id);
    let made = fs::create_dir_all(root.join("rust-runs")).and_then(|()| fs::create_dir(&own));
    made.map_err(|e| format!("making rust-runs/{run_id}: {e}"))?;
    for directory in [own.as_path(), root.as_path()] {
        whole(directory, "rust-output.bin", &result.output)?;
        whole(directory, "rust-timing.json", timing.as_bytes())?;
    }
    Ok(())
}

/// A file appears whole or not at all.
fn whole(directory: &Path, name: &str, data: &[u8]) -> Result<(), String> {
    let draft = directory.join(format!(".{name}.{}", std::process::id()));
    let written = fs::write(&draft, data).and_then(|()| fs::rename(&draft, directory.join(name)));
    written.map_err(|e| {
        let _ = fs::remove_file(&draft);
        format!("writing {name}: {e}")
    })
}

fn timing(
    arguments: &Arguments,
    request: &Request,
    plan: &Plan,
    device: &Device,
    result: &Measurement,
    run_id: &str,
) -> String {
    let dims: Vec<String> =
        request.dims.iter().map(|(name, size)| format!("{}: {size}", quote(name))).collect();
    let samples: Vec<String> = result.samples_us.iter().map(|us| format!("{us}")).collect();
    let mean = result.samples_us.iter().sum::<f64>() / result.samples_us.len() as f64;
    let fields = [
        ("run_id", quote(run_id)),
        ("op", quote(&request.op)),
        ("dims", format!("{{{}}}", dims.join(", "))),
        ("precision", quote("fp32")),
        ("iterations", result.samples_us.len().to_string()),
        ("warmup", request.warmup.to_string()),
        ("mode", quote(arguments.mode.name())),
        ("operations", arguments.batch.to_string()), // of one sample
        ("instrument", quote("cuda-event")),
        ("samples_us", format!("[{}]", samples.join(", "))), // per operation
        ("event_mean_us", format!("{mean}")),
        ("capture", arguments.capture.to_string()),
        ("implementation", quote("rust/first")),
        ("source_sha256", quote(source_hash(plan.ptx))),
        ("device", quote(&device.name)),
        ("driver", quote(&device.driver_version)),
    ];
    let lines: Vec<String> =
        fields.iter().map(|(name, value)| format!("  {}: {value}", quote(name))).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// The hash of the kernel's source, which the header of the PTX names.
fn source_hash(ptx: &str) -> &str {
    ptx.lines().find_map(|line| line.strip_prefix("// source-sha256: ")).unwrap_or("")
}
