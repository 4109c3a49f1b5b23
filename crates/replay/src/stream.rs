//! The stream of a job that replays recorded requests.

use plan::job::{
    BlockRule, ReadWriteMix, RecordedKind, RecordedPlan, RecordedRequest, SizeRule, StreamEnd,
    StreamPlan,
};

/// A stream that issues the requests of the plan, once.
pub fn recorded_stream(plan: &RecordedPlan) -> StreamPlan {
    let changes = plan.has(RecordedKind::Write) || plan.has(RecordedKind::Trim);
    let mix = match (plan.has(RecordedKind::Read), changes) {
        // The log gives the kind of each request, so the share is only a placeholder.
        (true, true) => ReadWriteMix::Both { read_percent: 50.0 },
        (false, true) => ReadWriteMix::Write,
        (_, false) => ReadWriteMix::Read,
    };
    let end = StreamEnd {
        // A log of syncs alone moves no bytes, and planning replaces 0 with the size of the files.
        bytes: plan.bytes.max(1),
        requests: None,
        loops: Some(1),
        starts_over: false,
    };
    StreamPlan::sequential(mix, blocks(&plan.acts), end)
}

/// Reads and writes, which need buffers, and syncs. A trim may be far larger.
fn transfers(requests: &[RecordedRequest]) -> impl Iterator<Item = &RecordedRequest> {
    let requests = requests.iter();
    requests.filter(|it| it.kind != RecordedKind::Trim)
}

/// Lengths of reads and writes, in bytes.
pub fn recorded_lengths(requests: &[RecordedRequest]) -> impl Iterator<Item = u32> {
    let lengths = transfers(requests).map(|it| it.length_bytes);
    lengths.filter(|it| *it > 0)
}

/// The range of request sizes, and the greatest common divisor of sizes and offsets.
fn blocks(requests: &[RecordedRequest]) -> BlockRule {
    let numbers = transfers(requests).flat_map(|it| [u64::from(it.length_bytes), it.offset_bytes]);
    // Planning compares this unit with the alignment that direct I/O needs. A unit beyond 32 bits
    // is only possible without lengths.
    let unit = numbers.fold(0, common_divisor).max(1) as u32;
    let min_bytes = recorded_lengths(requests).min().unwrap_or(unit);
    BlockRule {
        sizes: SizeRule::Range {
            min_bytes,
            max_bytes: recorded_lengths(requests).max().unwrap_or(unit),
            unit_bytes: unit,
        },
        align_bytes: unit,
    }
}

/// The greatest common divisor of both numbers.
pub const fn common_divisor(mut first: u64, mut second: u64) -> u64 {
    while second != 0 {
        (first, second) = (second, first % second);
    }
    first
}
