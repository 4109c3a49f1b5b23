//! Changes of one property of a fitted workload.

use units::format;

use crate::error::FitError;
use crate::model::{FittedPhase, MixLine};

/// Sizes stay multiples of this, in bytes.
const SIZE_UNIT: f64 = 512.0;
const SIZE_BYTES_MAX: f64 = (16 << 20) as f64;
const SPAN_BYTES_MAX: f64 = (1_u64 << 62) as f64;
const RATE_MAX: f64 = 1e9;

/// A property that can be changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WhatIf {
    /// The mean size of requests is multiplied.
    Size(f64),
    /// The rate is multiplied.
    Rate(f64),
    /// The address space is multiplied.
    Span(f64),
    /// The share of reads becomes this one, in percent.
    Read(f64),
}

/// The property of a phase before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhatIfChange {
    /// The property.
    pub property: &'static str,
    /// Its value in the trace.
    pub before: String,
    /// Its value in the workload.
    pub after: String,
}

impl WhatIf {
    /// Changes a phase.
    ///
    /// # Errors
    /// The result would leave the limits of workloads, or the change is impossible.
    pub fn apply(self, phase: &mut FittedPhase) -> Result<WhatIfChange, FitError> {
        let change = |property, before, after| WhatIfChange {
            property,
            before,
            after,
        };
        let bytes = |bytes: f64| format!("{bytes:.1} B");
        match self {
            Self::Size(factor) => {
                let before = phase.mean_bytes();
                scale_sizes(phase, factor)?;
                Ok(change(
                    "mean size",
                    bytes(before),
                    bytes(phase.mean_bytes()),
                ))
            }
            Self::Rate(factor) => {
                let before = phase.rate;
                phase.rate = within("the rate", before * factor, RATE_MAX)?;
                let text = |rate: f64| format!("{}/s", format::iops(rate));
                Ok(change("rate", text(before), text(phase.rate)))
            }
            Self::Span(factor) => {
                let before = phase.size_bytes;
                let after = within("the span", before as f64 * factor, SPAN_BYTES_MAX)?;
                let longest = phase.lines.iter().map(|line| line.size_bytes).max();
                let after = (after as u64).next_multiple_of(1 << 20);
                phase.size_bytes = after.max(longest.unwrap_or(0).into());
                let text = format::size;
                Ok(change("span", text(before), text(phase.size_bytes)))
            }
            Self::Read(percent) => {
                let before = phase.read_percent();
                set_reads(phase, percent)?;
                let text = |share: f64| format!("{share:.2} %");
                Ok(change("reads", text(before), text(phase.read_percent())))
            }
        }
    }
}

fn within(what: &'static str, value: f64, max: f64) -> Result<f64, FitError> {
    match value > 0.0 && value <= max {
        true => Ok(value),
        false => Err(FitError::OutOfRange {
            what,
            value: format!("{value:.3}"),
        }),
    }
}

/// Each line becomes one or two lines with the neighboring multiples of 512 bytes, whose shares
/// give the exact mean.
fn scale_sizes(phase: &mut FittedPhase, factor: f64) -> Result<(), FitError> {
    let mut lines = Vec::new();
    for line in &phase.lines {
        let wanted = f64::from(line.size_bytes) * factor;
        let lower = ((wanted / SIZE_UNIT).floor() * SIZE_UNIT).max(SIZE_UNIT);
        let upper = lower + SIZE_UNIT;
        within("the size of requests", upper, SIZE_BYTES_MAX)?;
        let upper_share = ((wanted - lower) / SIZE_UNIT).clamp(0.0, 1.0);
        for (size, share) in [(lower, 1.0 - upper_share), (upper, upper_share)] {
            if share > 1e-6 {
                lines.push(MixLine {
                    size_bytes: size as u32,
                    of_percent: line.of_percent * share,
                    ..*line
                });
            }
        }
    }
    phase.lines = lines;
    Ok(())
}

/// Reads and writes keep their sizes; their shares change.
fn set_reads(phase: &mut FittedPhase, percent: f64) -> Result<(), FitError> {
    if !(0.0..=100.0).contains(&percent) {
        return Err(FitError::OutOfRange {
            what: "the share of reads",
            value: format!("{percent} %"),
        });
    }
    let before = phase.read_percent();
    if before <= 0.0 && percent > 0.0 {
        return Err(FitError::OneKind("writes"));
    }
    if before >= 100.0 && percent < 100.0 {
        return Err(FitError::OneKind("reads"));
    }
    let read_factor = if before > 0.0 { percent / before } else { 0.0 };
    let write_factor = match before < 100.0 {
        true => (100.0 - percent) / (100.0 - before),
        false => 0.0,
    };
    for line in &mut phase.lines {
        let reads = line.of_percent * line.read_percent / 100.0 * read_factor;
        let writes = line.of_percent * (1.0 - line.read_percent / 100.0) * write_factor;
        line.of_percent = reads + writes;
        line.read_percent = match reads + writes > 0.0 {
            true => 100.0 * reads / (reads + writes),
            false => line.read_percent,
        };
    }
    phase.lines.retain(|line| line.of_percent > 1e-6);
    Ok(())
}
