//! Runs one contract on an input directory: the first kernels in Rust, submitted
//! by a native process that does nothing else.
//!
//!     mage-rust-host INPUT_DIR [--iterations N] [--mode span|batch|graph] [--batch N] [--capture]
//!
//! Reads input.json and the buffers beside it, writes the output and a timing
//! record into a fresh directory rust-runs/<run id>, and copies of both as
//! rust-output.bin and rust-timing.json. Exit codes: 0 done, 1 the run failed,
//! 2 wrong arguments or inputs, 3 no CUDA driver or device.

mod arguments;
mod cuda;
mod inputs;
mod json;
mod measure;
mod plan;
mod record;

use std::process::exit;

/// Why the program ends, with its exit code.
pub enum Failure {
    Run(String),
    Input(String),
    Unavailable(String),
}

fn main() {
    let arguments = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(a) => a,
        Err(problem) => {
            eprintln!("mage-rust-host: {problem}\n{}", arguments::USAGE);
            exit(2);
        }
    };
    let (code, text) = match run(&arguments) {
        Ok(()) => return,
        Err(Failure::Run(text)) => (1, text),
        Err(Failure::Input(text)) => (2, text),
        Err(Failure::Unavailable(text)) => (3, text),
    };
    eprintln!("mage-rust-host: {text}");
    exit(code);
}

fn run(arguments: &arguments::Arguments) -> Result<(), Failure> {
    // Everything about the inputs is checked before the device is touched.
    let request = inputs::read_request(&arguments.directory).map_err(Failure::Input)?;
    let plan = plan::of(&request.op, &request.dims).map_err(Failure::Input)?;
    let buffers = inputs::read_buffers(&arguments.directory, &plan).map_err(Failure::Input)?;

    let driver = cuda::Driver::open().map_err(Failure::Unavailable)?;
    let device = driver.first_device().map_err(Failure::Unavailable)?;
    let result = measure::measure(&device, &plan, &buffers, &request, arguments).map_err(Failure::Run)?;
    record::write(arguments, &request, &plan, &device, &result).map_err(Failure::Run)
}
