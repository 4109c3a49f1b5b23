//! Counts of a trace: the document of `check TRACE`, and its text.

mod rows;
mod text;

use schemars::JsonSchema;
use serde::Serialize;
use trace::{CallCount, CountsByKind, NameId, TraceLayer, TraceReader, TraceSummary, TracedKind};
use units::{JsonDocument, printable};

pub use text::trace_text;

/// Counts of a trace, and what pgmeter understood.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckedTrace {
    /// Files of the trace; `-` is standard input.
    pub files: Vec<String>,
    /// Format, recognized by the content.
    pub recognized_as: String,
    /// Point on the way of requests whose events count; `None` for calls and empty traces.
    pub layer: Option<&'static str>,
    /// Number of events at each point, if the trace has several.
    pub layers: Vec<TraceLayerCount>,
    /// Number of requests.
    pub request_count: u64,
    /// Number of calls.
    pub call_count: u64,
    /// Time from the first to the last event in nanoseconds; `None` without events.
    pub span_ns: Option<u64>,
    /// Mean number of events per second; `None` if the span is 0.
    pub events_per_second: Option<f64>,
    /// Mean number of bytes read and written per second; `None` if the span is 0.
    pub bytes_per_second: Option<f64>,
    /// Largest number of events within a second of the trace's clock.
    pub busiest_second_count: u64,
    /// Requests by kind.
    pub kinds: Vec<TraceKindCount>,
    /// Devices, volumes or files, the busiest first.
    pub devices: Vec<TraceDevice>,
    /// Processes, the busiest first; empty if the trace has none.
    pub processes: Vec<TraceProcess>,
    /// System calls by name, the most frequent first.
    pub system_calls: Vec<TraceCallCount>,
    /// System calls by file, the most frequent first.
    pub files_of_calls: Vec<TraceCallCount>,
    /// Number of threads that made calls.
    pub thread_count: u64,
    /// Largest length of a request in bytes.
    pub length_bytes_max: u64,
    /// Number of different bytes that are read or written.
    pub touched_bytes: u64,
    /// Number of different bytes that a replay would write or discard.
    pub written_bytes: u64,
    /// Extents were rounded outward to this size before they were counted; 0 if the two numbers
    /// above are exact.
    pub rounding_bytes: u64,
    /// Latencies, if the trace has them.
    pub latency: Option<TraceLatency>,
    /// How often time runs backward in the file.
    pub backward_count: u64,
    /// Number of completions without a request.
    pub unmatched_completion_count: u64,
    /// Number of reads and writes without length.
    pub empty_count: u64,
    /// Number of rows or records that cannot be read.
    pub invalid_row_count: u64,
    /// Number of events that the recording program lost.
    pub lost_event_count: u64,
    /// The first rows as pgmeter understood them.
    pub first_rows: Vec<String>,
    /// Guesses, invalid rows and other doubts.
    pub notices: Vec<String>,
}

impl JsonDocument for CheckedTrace {
    const FORMAT: &'static str = "pgmeter-check-trace/1";
}

/// Events at one point on the way of requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceLayerCount {
    /// `queue`, `issue` or `completion`.
    pub layer: &'static str,
    /// Number of events.
    pub count: u64,
}

/// Requests of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceKindCount {
    /// `read`, `write`, `discard`, `flush` or `other`.
    pub kind: &'static str,
    /// Number of requests.
    pub count: u64,
    /// Sum of their lengths.
    pub bytes: u64,
}

/// Requests on one device, volume or file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceDevice {
    /// Name in the trace.
    pub name: String,
    /// Number of requests.
    pub count: u64,
    /// Requests by kind.
    pub kinds: Vec<TraceKindCount>,
    /// End of the last byte that a request touches: the smallest possible size.
    pub end_bytes: u64,
    /// Number of different bytes that are read or written.
    pub touched_bytes: u64,
    /// Number of different bytes that are written or discarded.
    pub written_bytes: u64,
}

/// Requests of one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceProcess {
    /// Process number; 0 if it was not recorded.
    pub pid: u32,
    /// Name, if it was recorded.
    pub name: String,
    /// Number of requests.
    pub count: u64,
    /// Requests by kind.
    pub kinds: Vec<TraceKindCount>,
}

/// Calls of one name, or on one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceCallCount {
    /// Name of the call, or path of the file.
    pub name: String,
    /// Number of calls.
    pub count: u64,
    /// Number of calls that failed.
    pub failed: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

/// Latencies of requests.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceLatency {
    /// Number of requests whose latency is known.
    pub count: u64,
    /// Mean in nanoseconds.
    pub mean_ns: f64,
    /// Maximum in nanoseconds.
    pub max_ns: u64,
}

impl CheckedTrace {
    /// The document of a trace that was read to its end.
    #[must_use]
    pub fn new(files: Vec<String>, reader: &TraceReader<'_>, summary: &mut TraceSummary) -> Self {
        let name = |id: NameId| printable(&reader.names().text(id)).into_owned();
        let span_ns = summary.span_ns();
        let seconds = span_ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9);
        let (requests, calls) = (summary.request_count(), summary.call_count());
        let of_calls = summary.calls.values().map(|call| call.bytes).sum::<u64>();
        let [reads, writes] = [TracedKind::Read, TracedKind::Write].map(|kind| kind as usize);
        let moved = summary.kinds[reads].bytes + summary.kinds[writes].bytes + of_calls;
        let (latency_count, latency_sum, latency_max) = summary.latencies;
        let layers = [TraceLayer::Queue, TraceLayer::Issue, TraceLayer::Complete];
        let layers = layers.map(|layer| TraceLayerCount {
            layer: layer.name(),
            count: reader.layer_count(layer),
        });
        let layer = reader.layer().filter(|layer| *layer != TraceLayer::Request);
        Self {
            recognized_as: reader.format_name().to_owned(),
            layer: layer.map(TraceLayer::name),
            layers: layers.into_iter().filter(|layer| layer.count > 0).collect(),
            request_count: requests,
            call_count: calls,
            span_ns,
            events_per_second: seconds.map(|seconds| (requests + calls) as f64 / seconds),
            bytes_per_second: seconds.map(|seconds| moved as f64 / seconds),
            busiest_second_count: summary.second_count_max,
            kinds: kind_counts(&summary.kinds),
            devices: devices(summary, &name),
            processes: processes(summary, &name),
            system_calls: call_counts(summary.calls.iter(), &name),
            files_of_calls: call_counts(summary.files.iter(), &name),
            thread_count: summary.threads.len() as u64,
            length_bytes_max: summary.length_bytes_max,
            touched_bytes: summary.touched_bytes(None),
            written_bytes: summary.written_bytes(None),
            rounding_bytes: summary.rounding_bytes(),
            latency: (latency_count > 0).then(|| TraceLatency {
                count: latency_count,
                mean_ns: latency_sum as f64 / latency_count as f64,
                max_ns: latency_max,
            }),
            backward_count: reader.backward_count(),
            unmatched_completion_count: reader.unmatched_count(),
            empty_count: summary.empty_count,
            invalid_row_count: reader.invalid_rows(),
            lost_event_count: reader.lost_events(),
            first_rows: rows::first_rows(summary, &name),
            notices: reader.notices(),
            files,
        }
    }
}

/// Kinds without requests are left out.
fn kind_counts(counts: &CountsByKind) -> Vec<TraceKindCount> {
    let rows = TracedKind::ALL.iter().zip(counts);
    let rows = rows.filter(|(_, row)| row.count > 0);
    rows.map(|(kind, row)| TraceKindCount {
        kind: kind.name(),
        count: row.count,
        bytes: row.bytes,
    })
    .collect()
}

fn total(counts: &CountsByKind) -> u64 {
    counts.iter().map(|row| row.count).sum()
}

fn devices(summary: &mut TraceSummary, name: &dyn Fn(NameId) -> String) -> Vec<TraceDevice> {
    let counts: Vec<(NameId, CountsByKind)> = summary
        .devices
        .iter()
        .map(|(id, counts)| (*id, *counts))
        .collect();
    let mut rows: Vec<TraceDevice> = counts
        .into_iter()
        .map(|(id, counts)| TraceDevice {
            name: name(id),
            count: total(&counts),
            kinds: kind_counts(&counts),
            end_bytes: summary.ends_bytes.get(&id).copied().unwrap_or(0),
            touched_bytes: summary.touched_bytes(Some(id)),
            written_bytes: summary.written_bytes(Some(id)),
        })
        .collect();
    rows.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    rows
}

fn processes(summary: &TraceSummary, name: &dyn Fn(NameId) -> String) -> Vec<TraceProcess> {
    let known = |(pid, id): &&(u32, NameId)| *pid != 0 || *id != NameId::UNKNOWN;
    // Without any process, the only row would be that of unknown ones.
    if !summary.processes.keys().any(|key| known(&key)) {
        return Vec::new();
    }
    let rows = summary.processes.iter();
    let mut rows: Vec<TraceProcess> = rows
        .map(|((pid, id), counts)| TraceProcess {
            pid: *pid,
            name: name(*id),
            count: total(counts),
            kinds: kind_counts(counts),
        })
        .collect();
    rows.sort_by(|a, b| {
        let by_name = || (a.pid, &a.name).cmp(&(b.pid, &b.name));
        b.count.cmp(&a.count).then_with(by_name)
    });
    rows
}

fn call_counts<'a>(
    counts: impl Iterator<Item = (&'a NameId, &'a CallCount)>,
    name: &dyn Fn(NameId) -> String,
) -> Vec<TraceCallCount> {
    let mut rows: Vec<TraceCallCount> = counts
        .map(|(id, call)| TraceCallCount {
            name: name(*id),
            count: call.count,
            failed: call.failed,
            bytes: call.bytes,
        })
        .collect();
    rows.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    rows
}

#[cfg(test)]
mod tests;
