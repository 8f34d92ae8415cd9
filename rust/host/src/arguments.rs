//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

pub const USAGE: &str =
    "usage: mage-rust-host INPUT_DIR [--iterations N] [--mode span|batch|graph] [--batch N] [--capture]";

#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    Span,
    Batch,
    Graph,
}

pub struct Arguments {
    pub directory: PathBuf,
    /// Replaces the number in input.json.
    pub iterations: Option<usize>,
    pub mode: Mode,
    /// Operations that share one sample.
    pub batch: usize,
    pub capture: bool,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Span => "span",
            Mode::Batch => "batch",
            Mode::Graph => "graph",
        }
    }
}

pub fn parse(mut list: impl Iterator<Item = OsString>) -> Result<Arguments, String> {
    let mut directory = None;
    let (mut iterations, mut batch, mut mode, mut capture) = (None, None, Mode::Span, false);
    while let Some(argument) = list.next() {
        match argument.to_str() {
            Some("--iterations") => iterations = Some(count("--iterations", list.next())?),
            Some("--batch") => batch = Some(count("--batch", list.next())?),
            Some("--capture") => capture = true,
            Some("--mode") => {
                let name = list.next().unwrap_or_default();
                mode = match name.to_str() {
                    Some("span") => Mode::Span,
                    Some("batch") => Mode::Batch,
                    Some("graph") => Mode::Graph,
                    _ => return Err(format!("--mode {name:?}: want span, batch or graph")),
                };
            }
            Some(other) if other.starts_with("--") => return Err(format!("unknown flag {other}")),
            _ if directory.is_none() => directory = Some(PathBuf::from(argument)),
            _ => return Err(format!("more than one input directory: {argument:?}")),
        }
    }
    let batch = match (mode, batch) {
        (Mode::Span, Some(_)) => return Err("--batch needs --mode batch or --mode graph".to_string()),
        (Mode::Span, None) => 1,
        (_, given) => given.unwrap_or(100),
    };
    let directory = directory.ok_or("the input directory is missing")?;
    Ok(Arguments { directory, iterations, mode, batch, capture })
}

fn count(flag: &str, value: Option<OsString>) -> Result<usize, String> {
    let text = value.unwrap_or_default();
    match text.to_str().and_then(|t| t.parse::<usize>().ok()) {
        Some(n) if (1..=1_000_000).contains(&n) => Ok(n),
        _ => Err(format!("{flag} {text:?}: want a number between 1 and 1000000")),
    }
}
