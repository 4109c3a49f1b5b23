//! Counts of a whole trace.

use foldhash::HashMap;

use crate::event::{TraceBatch, TraceRequest, TracedCall, TracedKind};
use crate::names::NameId;
use crate::touched::TouchedExtents;

/// Number of rows that are kept as examples.
const FIRST_ROWS: usize = 3;
/// Limits of memory. Further processes and devices count as [`NameId::OVERFLOW`].
const KEYS_MAX: usize = 1 << 14;
const SECOND_NS: i64 = 1_000_000_000;

/// Number of requests and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestCount {
    /// Number of requests.
    pub count: u64,
    /// Sum of their lengths in bytes.
    pub bytes: u64,
}

/// Requests by kind, in the order of [`TracedKind::ALL`].
pub type CountsByKind = [RequestCount; TracedKind::ALL.len()];

/// Calls of one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCount {
    /// Number of calls.
    pub count: u64,
    /// Number of calls that failed.
    pub failed: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

/// Counts of a trace. Add its batches in order.
#[derive(Debug, Default)]
pub struct TraceSummary {
    /// Requests by kind.
    pub kinds: CountsByKind,
    /// Requests by device and kind.
    pub devices: HashMap<NameId, CountsByKind>,
    /// End of the last byte by device.
    pub ends_bytes: HashMap<NameId, u64>,
    /// Requests by process and kind.
    pub processes: HashMap<(u32, NameId), CountsByKind>,
    /// Calls by name.
    pub calls: HashMap<NameId, CallCount>,
    /// Calls by thread.
    pub threads: HashMap<u32, CallCount>,
    /// Calls by file, for calls on files.
    pub files: HashMap<NameId, CallCount>,
    /// The first requests.
    pub first_requests: Vec<TraceRequest>,
    /// The first calls.
    pub first_calls: Vec<TracedCall>,
    /// Number of requests with a latency, their sum and their maximum in nanoseconds.
    pub latencies: (u64, u128, u64),
    /// Largest length of a request in bytes.
    pub length_bytes_max: u64,
    /// Number of reads and writes without length.
    pub empty_count: u64,
    /// Largest number of requests or calls within a second of the trace's clock.
    pub second_count_max: u64,
    /// Times of the first and the last event.
    times_ns: Option<(i64, i64)>,
    /// The current second and its number of events.
    second: (i64, u64),
    touched: TouchedExtents,
    written: TouchedExtents,
}

impl TraceSummary {
    /// Adds requests and calls.
    pub fn add(&mut self, batch: &TraceBatch) {
        for request in &batch.requests {
            self.add_request(request);
        }
        for call in &batch.calls {
            self.add_call(call);
        }
    }

    fn add_request(&mut self, request: &TraceRequest) {
        if self.first_requests.len() < FIRST_ROWS {
            self.first_requests.push(*request);
        }
        self.add_time(request.time_ns);
        let kind = request.kind as usize;
        let added = RequestCount {
            count: 1,
            // A read past the end moves nothing.
            bytes: match request.kind {
                TracedKind::Other => 0,
                _ => request.length_bytes,
            },
        };
        self.kinds[kind].add(added);
        let device = bounded(&self.devices, request.device, NameId::OVERFLOW);
        self.devices.entry(device).or_default()[kind].add(added);
        let end = self.ends_bytes.entry(device).or_default();
        *end = (*end).max(request.end_bytes());
        let process = (request.pid, request.process);
        let process = bounded(&self.processes, process, (0, NameId::OVERFLOW));
        self.processes.entry(process).or_default()[kind].add(added);
        let (start, end) = (request.offset_bytes, request.end_bytes());
        match request.kind {
            TracedKind::Read => {
                self.touched.add(device, start, end);
                self.empty_count += u64::from(start == end);
            }
            TracedKind::Write => {
                self.touched.add(device, start, end);
                self.written.add(device, start, end);
                self.empty_count += u64::from(start == end);
            }
            TracedKind::Discard => self.written.add(device, start, end),
            TracedKind::Flush | TracedKind::Other => {}
        }
        self.length_bytes_max = self.length_bytes_max.max(added.bytes);
        if let Some(ns) = request.latency_ns {
            let (count, sum, max) = self.latencies;
            self.latencies = (count + 1, sum + u128::from(ns), max.max(ns));
        }
    }

    fn add_call(&mut self, call: &TracedCall) {
        if self.first_calls.len() < FIRST_ROWS {
            self.first_calls.push(*call);
        }
        self.add_time(call.time_ns);
        let added = CallCount {
            count: 1,
            failed: u64::from(call.result == Some(-1)),
            bytes: call.length_bytes,
        };
        let name = bounded(&self.calls, call.name, NameId::OVERFLOW);
        self.calls.entry(name).or_default().add(added);
        let thread = bounded(&self.threads, call.thread, 0);
        self.threads.entry(thread).or_default().add(added);
        if call.file != NameId::UNKNOWN {
            let file = bounded(&self.files, call.file, NameId::OVERFLOW);
            self.files.entry(file).or_default().add(added);
        }
    }

    fn add_time(&mut self, time_ns: i64) {
        let (first, last) = self.times_ns.unwrap_or((time_ns, time_ns));
        self.times_ns = Some((first.min(time_ns), last.max(time_ns)));
        let second = time_ns.div_euclid(SECOND_NS);
        self.second = match self.second {
            (current, count) if current == second => (current, count + 1),
            _ => (second, 1),
        };
        self.second_count_max = self.second_count_max.max(self.second.1);
    }

    /// Number of requests.
    #[must_use]
    pub fn request_count(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }

    /// Number of calls.
    #[must_use]
    pub fn call_count(&self) -> u64 {
        self.calls.values().map(|call| call.count).sum()
    }

    /// Time from the first to the last event in nanoseconds; `None` without events.
    #[must_use]
    pub fn span_ns(&self) -> Option<u64> {
        let (first, last) = self.times_ns?;
        u64::try_from(i128::from(last) - i128::from(first)).ok()
    }

    /// Number of different bytes that are read or written, on a device or on all.
    pub fn touched_bytes(&mut self, device: Option<NameId>) -> u64 {
        let most = self.moved_bytes(device, &[TracedKind::Read, TracedKind::Write]);
        self.touched.bytes(device).min(most)
    }

    /// Number of different bytes that are written or discarded, on a device or on all.
    pub fn written_bytes(&mut self, device: Option<NameId>) -> u64 {
        let most = self.moved_bytes(device, &[TracedKind::Write, TracedKind::Discard]);
        self.written.bytes(device).min(most)
    }

    /// Bytes of all requests of these kinds, which limit the different ones: rounded extents may
    /// contain far more.
    fn moved_bytes(&self, device: Option<NameId>, kinds: &[TracedKind]) -> u64 {
        let counts = match device {
            Some(device) => self.devices.get(&device),
            None => Some(&self.kinds),
        };
        let bytes = |kind: &TracedKind| counts.map_or(0, |it| it[*kind as usize].bytes);
        kinds.iter().map(bytes).fold(0, u64::saturating_add)
    }

    /// Size to which extents were rounded outward before counting; 0 if the numbers are exact.
    #[must_use]
    pub fn rounding_bytes(&self) -> u64 {
        let touched = self.touched.rounding_bytes();
        touched.max(self.written.rounding_bytes())
    }
}

impl RequestCount {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl CallCount {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// `key`, or the key for the rest if the map is full.
fn bounded<K: Eq + std::hash::Hash, V>(map: &HashMap<K, V>, key: K, rest: K) -> K {
    match map.len() < KEYS_MAX || map.contains_key(&key) {
        true => key,
        false => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TraceLayer;

    #[test]
    fn rounded_extents_never_exceed_the_bytes_of_all_requests() {
        let mut summary = TraceSummary::default();
        let mut batch = TraceBatch::default();
        for index in 0..200_000_u64 {
            let mut request = TraceRequest::new(TracedKind::Write, TraceLayer::Issue, 0);
            // Scattered, so that the extents are too many to be kept.
            request.offset_bytes = (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12) & !511;
            request.length_bytes = 512;
            batch.requests.push(request);
        }
        summary.add(&batch);
        assert!(summary.rounding_bytes() > 512);
        assert_eq!(summary.touched_bytes(None), 200_000 * 512);
        assert_eq!(summary.written_bytes(Some(NameId::UNKNOWN)), 200_000 * 512);
    }
}
