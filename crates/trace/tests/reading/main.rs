//! Reads small traces of every format, whole and damaged.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod binary;
mod blocks;
mod containers;
mod hostile;
mod order;
mod strace;
mod tables;

use std::io::Read;

use trace::{
    TraceBatch, TraceError, TraceLayer, TraceOptions, TraceReader, TraceRequest, TracedCall,
    TracedKind,
};

/// A trace that was read to its end.
struct WholeTrace {
    format: &'static str,
    requests: Vec<TraceRequest>,
    calls: Vec<TracedCall>,
    notices: String,
    devices: Vec<String>,
    processes: Vec<String>,
    call_files: Vec<String>,
    backward_count: u64,
    unmatched_count: u64,
}

fn read_parts(parts: &[&[u8]], options: TraceOptions) -> Result<WholeTrace, TraceError> {
    let inputs = parts
        .iter()
        .map(|part| -> Box<dyn Read + '_> { Box::new(*part) });
    let mut reader = TraceReader::open(inputs.collect(), options)?;
    let (mut all, mut batch) = (TraceBatch::default(), TraceBatch::default());
    while reader.read(&mut batch)? {
        all.requests.append(&mut batch.requests);
        all.calls.append(&mut batch.calls);
    }
    let text = |id| reader.names().text(id);
    Ok(WholeTrace {
        format: reader.format_name(),
        devices: all.requests.iter().map(|it| text(it.device)).collect(),
        processes: all.requests.iter().map(|it| text(it.process)).collect(),
        call_files: all.calls.iter().map(|it| text(it.file)).collect(),
        notices: reader.notices().join("\n"),
        backward_count: reader.backward_count(),
        unmatched_count: reader.unmatched_count(),
        requests: all.requests,
        calls: all.calls,
    })
}

fn read(bytes: impl AsRef<[u8]>) -> WholeTrace {
    read_parts(&[bytes.as_ref()], TraceOptions::default()).unwrap()
}

fn read_layer(bytes: &[u8], layer: TraceLayer) -> WholeTrace {
    let options = TraceOptions {
        layer: Some(layer),
        ..TraceOptions::default()
    };
    read_parts(&[bytes], options).unwrap()
}

/// Time, offset, length and kind of every request.
fn rows(trace: &WholeTrace) -> Vec<(i64, u64, u64, TracedKind)> {
    let row = |it: &TraceRequest| (it.time_ns, it.offset_bytes, it.length_bytes, it.kind);
    trace.requests.iter().map(row).collect()
}
