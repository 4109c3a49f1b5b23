//! The first rows of a trace, as pgmeter understood them.

use trace::{NameId, TraceRequest, TraceSummary, TracedCall};
use units::format;

/// One line for each of the first rows, with times since the first.
pub(super) fn first_rows(summary: &TraceSummary, name: &dyn Fn(NameId) -> String) -> Vec<String> {
    let requests = summary.first_requests.iter();
    let first = requests.clone().map(|it| it.time_ns).next().unwrap_or(0);
    let requests = requests.map(|request| request_row(request, first, name));
    let calls = summary.first_calls.iter();
    let first = calls.clone().map(|it| it.time_ns).next().unwrap_or(0);
    let calls = calls.map(|call| call_row(call, first, name));
    requests.chain(calls).collect()
}

/// Time since the first row, exact to the nanosecond.
fn since(time_ns: i64, first_ns: i64) -> String {
    let ns = i128::from(time_ns) - i128::from(first_ns);
    let (sign, ns) = if ns < 0 { ("-", -ns) } else { ("+", ns) };
    format!("{sign}{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn request_row(request: &TraceRequest, first_ns: i64, name: &dyn Fn(NameId) -> String) -> String {
    let mut text = format!(
        "row {}: {} `{}` {} of {} bytes at byte {}",
        request.row,
        since(request.time_ns, first_ns),
        name(request.device),
        request.kind.name(),
        request.length_bytes,
        request.offset_bytes
    );
    if request.is_forced {
        text.push_str(", forced to the medium (FUA)");
    }
    if request.pid != 0 || request.process != NameId::UNKNOWN {
        let process = name(request.process);
        text.push_str(&format!(", process {} `{process}`", request.pid));
    }
    if let Some(ns) = request.latency_ns {
        text.push_str(&format!(", latency {}", format::latency_ns(ns)));
    }
    text
}

fn call_row(call: &TracedCall, first_ns: i64, name: &dyn Fn(NameId) -> String) -> String {
    let mut text = format!(
        "row {}: {} thread {} `{}`",
        call.row,
        since(call.time_ns, first_ns),
        call.thread,
        name(call.name)
    );
    if call.file != NameId::UNKNOWN {
        text.push_str(&format!(" on `{}`", name(call.file)));
    }
    if call.length_bytes > 0 {
        text.push_str(&format!(", {} bytes", call.length_bytes));
    }
    if let Some(offset) = call.offset_bytes {
        text.push_str(&format!(" at byte {offset}"));
    }
    if call.result == Some(-1) {
        text.push_str(", failed");
    }
    if let Some(ns) = call.duration_ns {
        text.push_str(&format!(", took {}", format::latency_ns(ns)));
    }
    text
}
