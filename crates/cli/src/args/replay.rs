//! Arguments of `run` for the replay of a trace, and arguments that select its requests.

use clap::{Args, ValueEnum};
use plan::job::AddressMap;
use replay::TraceSelection;
use trace::{TraceOptions, TracedKind};
use units::{Percent, Span};

use super::check::{LayerArg, TimeUnitArg};
use super::count::within;

/// Limits of `--speed`.
const SPEED_MIN: f64 = 0.001;
const SPEED_MAX: f64 = 1e6;

/// Arguments of a replay.
#[derive(Debug, Args, Default, Clone, PartialEq)]
pub(crate) struct ReplayArgs {
    /// Replay a trace at this multiple of its speed, such as `2x`
    #[arg(long, value_name = "TIMES", value_parser = speed, conflicts_with = "pace")]
    pub speed: Option<f64>,
    /// When the requests of a trace start; by default, at their recorded times
    #[arg(long, value_name = "WHEN")]
    pub pace: Option<PaceArg>,
    /// How addresses of a trace become addresses of the target; by default `1:1` on a device that
    /// is large enough, and `compact` elsewhere
    #[arg(long, value_name = "HOW")]
    pub map: Option<MapArg>,
    #[command(flatten)]
    pub selection: TraceSelectionArgs,
}

/// Arguments that select requests of a trace.
#[derive(Debug, Args, Default, Clone, PartialEq)]
pub(crate) struct TraceSelectionArgs {
    /// Begin at this time after the first request of a trace
    #[arg(long, value_name = "SPAN")]
    pub from: Option<Span>,
    /// End at this time after the first request of a trace
    #[arg(long, value_name = "SPAN")]
    pub to: Option<Span>,
    /// Use at most this many requests of a trace
    #[arg(long, value_name = "N", value_parser = within(1, u64::MAX))]
    pub first: Option<u64>,
    /// Use only these kinds of requests of a trace
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    pub only: Vec<TracedKindArg>,
    /// Use only the requests to this device, volume or file of a trace; repeatable
    #[arg(long, value_name = "NAME")]
    pub device: Vec<String>,
    /// Use only the requests of this process of a trace, by name or number; repeatable
    #[arg(long, value_name = "NAME|PID")]
    pub process: Vec<String>,
    /// Use only this share of the 1 MiB regions of a trace, such as `10%`
    #[arg(long, value_name = "PERCENT")]
    pub sample: Option<Percent>,
    /// Requests of a trace that count; by default, issued ones if the trace has any, otherwise
    /// queued ones
    #[arg(long, value_name = "LAYER")]
    pub layer: Option<LayerArg>,
    /// Unit of the times of a trace whose format does not define it
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<TimeUnitArg>,
}

impl TraceSelectionArgs {
    /// How the trace is read.
    pub fn reading(&self) -> TraceOptions {
        TraceOptions {
            layer: self.layer.map(Into::into),
            time_unit: self.time_unit.map(Into::into),
            ..TraceOptions::default()
        }
    }

    /// The requests that are selected.
    pub fn selection(&self) -> TraceSelection {
        TraceSelection {
            from_ns: self.from.map_or(0, |it| it.0),
            to_ns: self.to.map(|it| it.0),
            first: self.first,
            kinds: self.only.iter().map(|kind| (*kind).into()).collect(),
            devices: self.device.clone(),
            processes: self.process.clone(),
            sample_percent: self.sample.map(|it| it.0),
        }
    }
}

impl ReplayArgs {
    /// The speed of the replay; `None` to start each request as soon as a slot is free.
    pub fn speed(&self) -> Option<f64> {
        match self.pace {
            Some(PaceArg::AsFast) => None,
            _ => Some(self.speed.unwrap_or(1.0)),
        }
    }
}

/// Parses a speed such as `2x` or `0.5`.
fn speed(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('x').unwrap_or(text);
    match number.parse::<f64>() {
        Ok(speed) if (SPEED_MIN..=SPEED_MAX).contains(&speed) => Ok(speed),
        _ => Err(format!(
            "write a number from {SPEED_MIN} to {SPEED_MAX}, such as `2x` or `0.5x`"
        )),
    }
}

/// Start times of the requests of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaceArg {
    /// At their recorded times
    Recorded,
    /// In their order, each as soon as a slot of the queue is free
    AsFast,
}

/// Mappings of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MapArg {
    /// Only the used ranges, rounded to 1 MiB, one after the other
    Compact,
    /// The same addresses
    #[value(name = "1:1")]
    OneToOne,
    /// The remainder after division by `--size`
    Wrap,
    /// Divided so that the whole trace fits into `--size`
    Scale,
    /// The first used byte becomes the first byte of the target
    Shift,
}

impl From<MapArg> for AddressMap {
    fn from(map: MapArg) -> Self {
        match map {
            MapArg::Compact => Self::Compact,
            MapArg::OneToOne => Self::OneToOne,
            MapArg::Wrap => Self::Wrap,
            MapArg::Scale => Self::Scale,
            MapArg::Shift => Self::Shift,
        }
    }
}

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TracedKindArg {
    /// Reads
    Reads,
    /// Writes
    Writes,
    /// Discards (trims)
    Discards,
    /// Flushes of the cache of the device
    Flushes,
}

impl From<TracedKindArg> for TracedKind {
    fn from(kind: TracedKindArg) -> Self {
        match kind {
            TracedKindArg::Reads => Self::Read,
            TracedKindArg::Writes => Self::Write,
            TracedKindArg::Discards => Self::Discard,
            TracedKindArg::Flushes => Self::Flush,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_positive_numbers_with_or_without_x() {
        assert_eq!(speed("2x"), Ok(2.0));
        assert_eq!(speed("0.5"), Ok(0.5));
        for invalid in ["", "x", "0", "-1x", "nan", "2y", "1e9"] {
            assert!(speed(invalid).is_err(), "{invalid}");
        }
    }
}
