//! The live line of a recording, and the removal of a file that would be no trace.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use display::{DisplayKind, StepLine};
use record::RecordProgress;
use units::format::{bandwidth, count, iops, span};

use crate::terminal::{OutputStream, surroundings};

/// Time between two updates of the live line.
const LIVE_PERIOD: Duration = Duration::from_secs(1);
/// The live line.
pub(super) struct LiveRecording {
    line: StepLine,
    /// `requests` or `calls`.
    noun: &'static str,
    shown: Instant,
    last: RecordProgress,
}

impl LiveRecording {
    pub(super) fn new(is_quiet: bool, noun: &'static str) -> Self {
        // A line per second would fill a log file.
        let kind = match is_quiet || !OutputStream::Error.is_terminal() {
            true => DisplayKind::None,
            false => DisplayKind::Line,
        };
        Self {
            line: StepLine::new(kind, surroundings()),
            noun,
            shown: Instant::now(),
            last: RecordProgress::default(),
        }
    }

    pub(super) fn show(&mut self, progress: &RecordProgress) {
        if self.shown.elapsed() < LIVE_PERIOD {
            return;
        }
        self.shown = Instant::now();
        self.line.show(&live_text(self.noun, &self.last, progress));
        self.last = *progress;
    }
}

/// Rates since the last line.
fn live_text(noun: &str, last: &RecordProgress, now: &RecordProgress) -> String {
    let ns = now.elapsed_ns.saturating_sub(last.elapsed_ns).max(1) as f64;
    let rate = |now: u64, last: u64| (now - last) as f64 * 1e9 / ns;
    format!(
        "{}  {} {noun}/s  {}  lost {}  own CPU {}",
        span(now.elapsed_ns),
        iops(rate(now.request_count, last.request_count)),
        bandwidth(rate(now.bytes, last.bytes)),
        count(now.lost_count),
        percent((now.cpu_ns - last.cpu_ns) as f64 / ns)
    )
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Removes a file that is no trace.
pub(super) fn remove(output: &Path) {
    // The error that follows is what the user needs to see.
    let _ = fs::remove_file(output);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two seconds of a recording.
    pub(in super::super) fn progress() -> RecordProgress {
        RecordProgress {
            elapsed_ns: 2_000_000_000,
            request_count: 3000,
            bytes: 3 << 20,
            event_count: 6000,
            lost_count: 6,
            cpu_ns: 30_000_000,
        }
    }

    #[test]
    fn the_live_line_shows_rates_since_the_last_line() {
        let last = RecordProgress {
            elapsed_ns: 1_000_000_000,
            request_count: 1000,
            bytes: 1 << 20,
            cpu_ns: 10_000_000,
            ..RecordProgress::default()
        };
        let text = live_text("requests", &last, &progress());
        let wanted = "0:02  2.000k requests/s  2.000 MiB/s  lost 6  own CPU 2.0 %";
        assert!(text.starts_with(wanted), "{text}");
    }
}
