//! Arguments of `fit`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use fit::WhatIf;

use super::count::within;
use super::replay::TraceSelectionArgs;

pub(super) const HELP: &str = "\
Prints the distance of each property between the trace and requests of the fitted workload, \
and the distance that chance alone gives. A property is good up to 0.05 beyond chance, fair \
up to 0.15, and otherwise poor.\n\
Exits with 0 whatever the verdict is.";

/// Limits of the factors of `--scale`.
const FACTOR_MIN: f64 = 0.001;
const FACTOR_MAX: f64 = 1000.0;

/// Arguments of `fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Trace, or `-` for standard input; several files are parts of one trace
    #[arg(value_name = "TRACE", required = true, value_hint = ValueHint::FilePath)]
    pub traces: Vec<String>,
    /// File for the workload; an existing file is not replaced
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Maximum number of phases; each becomes a part of the workload
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = within(1_u64, 16))]
    pub phases: u64,
    /// Maximum number of sizes and kinds of a phase
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = within(1_u64, 64))]
    pub lines: u64,
    /// Multiply the mean `size` of requests, the `rate`, or the `span` of addresses; repeatable
    #[arg(long, value_name = "size|rate|span=TIMES", value_parser = scale)]
    pub scale: Vec<WhatIf>,
    /// Set the share of reads, in percent
    #[arg(long, value_name = "read=PERCENT", value_parser = set)]
    pub set: Vec<WhatIf>,
    /// Seed of the requests that are compared with the trace
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten, next_help_heading = "Requests of the trace")]
    pub selection: TraceSelectionArgs,
}

/// Parses a change such as `rate=2x`.
fn scale(text: &str) -> Result<WhatIf, String> {
    let wanted = format!(
        "write `size=1.2`, `rate=2x` or `span=4x`, with a factor from {FACTOR_MIN} to {FACTOR_MAX}"
    );
    let (key, factor) = text.split_once('=').ok_or(&wanted)?;
    let factor = factor.strip_suffix('x').unwrap_or(factor);
    let factor: f64 = factor.parse().map_err(|_| &wanted)?;
    if !(FACTOR_MIN..=FACTOR_MAX).contains(&factor) {
        return Err(wanted);
    }
    match key {
        "size" => Ok(WhatIf::Size(factor)),
        "rate" => Ok(WhatIf::Rate(factor)),
        "span" => Ok(WhatIf::Span(factor)),
        _ => Err(wanted),
    }
}

/// Parses `read=80`.
fn set(text: &str) -> Result<WhatIf, String> {
    let wanted = "write `read=80`, with a percentage from 0 to 100";
    let percent = text.strip_prefix("read=").ok_or(wanted)?;
    let percent = percent.strip_suffix('%').unwrap_or(percent);
    match percent.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(WhatIf::Read(percent)),
        _ => Err(wanted.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_parsed_and_others_are_explained() {
        assert_eq!(scale("size=1.2"), Ok(WhatIf::Size(1.2)));
        assert_eq!(scale("rate=2x"), Ok(WhatIf::Rate(2.0)));
        assert_eq!(scale("span=4x"), Ok(WhatIf::Span(4.0)));
        assert_eq!(set("read=80"), Ok(WhatIf::Read(80.0)));
        for text in ["size", "size=", "size=0", "size=1e9", "depth=2", "rate=nan"] {
            assert!(scale(text).unwrap_err().contains("`rate=2x`"), "{text}");
        }
        for text in ["read=101", "write=5", "read=x"] {
            assert!(set(text).unwrap_err().contains("`read=80`"), "{text}");
        }
    }
}
