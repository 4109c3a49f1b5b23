//! Reads the requests of a trace that are replayed into memory.

use std::collections::HashMap;

use plan::job::{RecordedKind, RecordedRequest};
use plan::{Diagnostic, DiagnosticCode};
use trace::{NameId, TraceBatch, TraceError, TraceReader, TraceRequest, TracedKind};
use units::format;
use units::printable;

use crate::extents::{UsedRange, UsedRanges};
use crate::select::Selector;
use crate::{ReplayOptions, TRACE_REQUESTS_MAX};

/// Reads and writes are split into pieces of this size, which a buffer can hold, in bytes.
const TRANSFER_BYTES_MAX: u64 = 16 << 20;
/// The same for discards, which need no buffer.
const DISCARD_BYTES_MAX: u64 = 1 << 30;
/// Number of devices that an error lists.
const LISTED_NAMES: usize = 5;

/// A device, volume or file of a trace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TracedDevice {
    /// First byte that is read or written.
    pub start_bytes: u64,
    /// Largest end of a request that is replayed.
    pub end_bytes: u64,
}

/// Requests that are replayed, with their places in the trace.
#[derive(Debug, Default)]
pub(crate) struct CollectedTrace {
    pub format_name: &'static str,
    /// In order of time. Times count from the start of the replayed part, `part_index` is the
    /// number of the device, and offsets count from its start, as in the trace.
    pub requests: Vec<RecordedRequest>,
    pub devices: Vec<TracedDevice>,
    /// Bytes that are read or written, with requests rounded outward.
    pub extents: UsedRanges,
    /// Longest time between two requests, and the row of the later one.
    pub longest_pause: (u64, u64),
    notices: Vec<String>,
    counts: RequestCounts,
    unit: u64,
}

/// Numbers of requests that warnings mention.
#[derive(Debug, Default)]
struct RequestCounts {
    /// Requests of the trace.
    seen: u64,
    /// Requests that are selected.
    taken: u64,
    /// Reads and writes without length, and commands that move no data.
    empty: u64,
    /// Requests that were rounded outward, and the bytes that this adds.
    rounded: u64,
    rounding_bytes: u64,
    /// Writes through the cache of the device.
    forced: u64,
}

/// Reads a trace to its end or to the end of the selection.
///
/// # Errors
/// The trace cannot be read, or has no or too many requests to replay.
pub(crate) fn collect(
    mut reader: TraceReader<'_>,
    options: &ReplayOptions,
    unit: u64,
) -> Result<CollectedTrace, Diagnostic> {
    let mut collected = CollectedTrace {
        format_name: reader.format_name(),
        unit,
        ..CollectedTrace::default()
    };
    let mut selector = Selector::new(&options.selection);
    let mut device_indexes: HashMap<NameId, u32> = HashMap::new();
    // Of all requests, for a message about a device that does not occur.
    let mut seen_devices: Vec<NameId> = Vec::new();
    let mut begin_ns = None;
    let mut batch = TraceBatch::default();
    'trace: while reader.read(&mut batch).map_err(unreadable)? {
        for request in &batch.requests {
            collected.counts.seen += 1;
            if seen_devices.len() < LISTED_NAMES && !seen_devices.contains(&request.device) {
                seen_devices.push(request.device);
            }
            let begin_ns = *begin_ns.get_or_insert(request.time_ns);
            // A late row of an unsorted trace may be from before the first one.
            let at_ns = i128::from(request.time_ns) - i128::from(begin_ns);
            let at_ns = u64::try_from(at_ns).unwrap_or(0);
            if selector.is_over(at_ns, collected.counts.taken) {
                break 'trace;
            }
            if selector.takes(request, at_ns, reader.names()) {
                let next = device_indexes.len() as u32;
                let device = *device_indexes.entry(request.device).or_insert(next);
                let due_ns = at_ns - options.selection.from_ns;
                collected.add(request, device, due_ns);
            }
        }
    }
    collected.notices = reader.notices();
    collected.check(options, &device_names(&reader, &seen_devices))?;
    Ok(collected)
}

/// Printable names of devices that occurred, for messages.
fn device_names(reader: &TraceReader<'_>, devices: &[NameId]) -> Vec<String> {
    let names = devices.iter().map(|id| reader.names().text(*id));
    let names = names.filter(|name| !name.is_empty());
    names.map(|name| printable(&name).into_owned()).collect()
}

pub(crate) fn unreadable(error: TraceError) -> Diagnostic {
    let diagnostic = Diagnostic::error("", error.to_string());
    match error.help() {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

impl CollectedTrace {
    /// Adds a request that is selected.
    fn add(&mut self, request: &TraceRequest, device: u32, due_ns: u64) {
        let last_ns = self.requests.last().map_or(due_ns, |it| it.due_ns);
        // Times never decrease, also if the trace is sorted within a window only.
        let due_ns = due_ns.max(last_ns);
        if due_ns - last_ns > self.longest_pause.0 {
            self.longest_pause = (due_ns - last_ns, request.row);
        }
        let (kind, piece_bytes) = match request.kind {
            TracedKind::Read => (RecordedKind::Read, TRANSFER_BYTES_MAX),
            TracedKind::Write => (RecordedKind::Write, TRANSFER_BYTES_MAX),
            TracedKind::Discard => (RecordedKind::Trim, DISCARD_BYTES_MAX),
            TracedKind::Flush => (RecordedKind::Fdatasync, 1),
            TracedKind::Other => {
                self.counts.empty += 1;
                return;
            }
        };
        let is_flush = kind == RecordedKind::Fdatasync;
        let (start, end) = match is_flush {
            true => (0, 0),
            false => self.rounded(kind, request),
        };
        if start == end && !is_flush {
            self.counts.empty += 1;
            return;
        }
        self.counts.taken += 1;
        // Beyond the limit, requests are only counted, for the message.
        if self.requests.len() as u64 > TRACE_REQUESTS_MAX {
            return;
        }
        self.counts.forced += u64::from(request.is_forced && kind == RecordedKind::Write);
        if device as usize >= self.devices.len() {
            self.devices.push(TracedDevice {
                start_bytes: u64::MAX,
                end_bytes: 0,
            });
        }
        if kind != RecordedKind::Trim && !is_flush {
            let known = &mut self.devices[device as usize];
            known.start_bytes = known.start_bytes.min(start);
            known.end_bytes = known.end_bytes.max(end);
            self.extents.add(UsedRange {
                device,
                start_bytes: start,
                end_bytes: end,
            });
        }
        let mut offset = start;
        loop {
            let length = (end - offset).min(piece_bytes);
            self.requests.push(RecordedRequest {
                due_ns,
                kind,
                part_index: device,
                length_bytes: length as u32,
                offset_bytes: offset,
            });
            offset += length;
            // A large discard has up to 4096 pieces.
            if offset >= end || self.requests.len() as u64 > TRACE_REQUESTS_MAX {
                return;
            }
        }
    }

    /// Start and end of a request in units of direct I/O: outward, but inward for a discard, which
    /// must not remove more than was discarded.
    fn rounded(&mut self, kind: RecordedKind, request: &TraceRequest) -> (u64, u64) {
        let (unit, start, end) = (self.unit, request.offset_bytes, request.end_bytes());
        if start == end {
            return (start, end);
        }
        let down = |bytes: u64| bytes / unit * unit;
        let up = |bytes: u64| bytes.div_ceil(unit).saturating_mul(unit);
        if kind == RecordedKind::Trim {
            return (up(start), down(end).max(up(start)));
        }
        let (low, high) = (down(start), up(end));
        let added = (start - low) + (high - end);
        self.counts.rounded += u64::from(added > 0);
        self.counts.rounding_bytes += added;
        (low, high)
    }

    /// Largest end of a request, all devices together.
    pub fn end_bytes(&self) -> u64 {
        let ends = self.devices.iter().map(|it| it.end_bytes);
        ends.max().unwrap_or(0)
    }

    /// Refuses a trace with no or too many requests.
    fn check(&self, options: &ReplayOptions, devices: &[String]) -> Result<(), Diagnostic> {
        let seen = self.counts.seen;
        if self.requests.len() as u64 > TRACE_REQUESTS_MAX {
            let taken = self.counts.taken;
            let message = format!(
                "the replay has {taken} requests, and at most {TRACE_REQUESTS_MAX} fit in memory"
            );
            // One digit is enough, and rounding down keeps it within the limit.
            let percent = (TRACE_REQUESTS_MAX as f64 / taken as f64 * 90.0).max(0.01);
            let help = format!(
                "replay the beginning with `--first {TRACE_REQUESTS_MAX}`, or a part of its \
                 regions with `--sample {percent:.2}%`"
            );
            return Err(Diagnostic::error("", message).help(help));
        }
        if !self.requests.is_empty() {
            return Ok(());
        }
        let message = match seen {
            // Without any request, notices say which rows were left out.
            0 => match self.notices.as_slice() {
                [] => "the trace has no requests".to_owned(),
                notices => format!("the trace has no requests: {}", notices.join("; ")),
            },
            _ => format!("none of the {seen} requests of the trace are selected"),
        };
        let help = match (seen, options.selection.devices.is_empty(), devices) {
            (1.., false, [_, ..]) => {
                format!("the trace has the devices `{}`", devices.join("`, `"))
            }
            _ => "`pgmeter check` shows the devices, processes and times of a trace".to_owned(),
        };
        Err(Diagnostic::error("", message).help(help))
    }

    /// What the user should know about the replay.
    pub fn warnings(&self, file: &str) -> Vec<Diagnostic> {
        let counts = &self.counts;
        let mut warnings: Vec<Diagnostic> = self
            .notices
            .iter()
            .map(|notice| Diagnostic::warning(file, notice))
            .collect();
        if counts.rounded > 0 {
            let message = format!(
                "{} of {} requests are rounded outward to {} bytes, the unit of direct I/O, which \
                 adds {}",
                counts.rounded,
                counts.taken,
                self.unit,
                format::size(counts.rounding_bytes)
            );
            let warning = Diagnostic::warning(file, message).code(DiagnosticCode::AlignmentRaised);
            warnings.push(warning);
        }
        if counts.empty > 0 {
            let message = format!(
                "{} requests are left out, because they move no data",
                counts.empty
            );
            warnings.push(Diagnostic::warning(file, message));
        }
        if counts.forced > 0 {
            let message = format!(
                "{} writes went through the cache of the device (FUA), and are replayed as plain \
                 writes",
                counts.forced
            );
            warnings.push(Diagnostic::warning(file, message));
        }
        warnings
    }
}
