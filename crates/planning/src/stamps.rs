//! Checks that verified blocks can hold a stamp.

use plan::Diagnostic;
use plan::{Cell, LinePlan, PositionRule, WorkerPlan};

/// Size of the smallest block that holds a stamp, as in the crate `generate`; the block size
/// divides all sizes, replies and alignments.
const STAMPED_BYTES_MIN: u64 = 64;

/// Refuses verified requests that are not multiples of such a block.
///
/// # Errors
/// The first length that is too short for a stamp.
pub(super) fn check(cells: &[Cell]) -> Result<(), Diagnostic> {
    let workers = cells.iter().flat_map(|cell| &cell.workers);
    let unfit = workers
        .filter(|worker| worker.verify)
        .find_map(size_unfit_for_stamps);
    let Some((what, bytes)) = unfit else {
        return Ok(());
    };
    let message = format!(
        "verification needs multiples of {STAMPED_BYTES_MIN} bytes, not {what} of {bytes} bytes"
    );
    let help = format!("use a multiple of {STAMPED_BYTES_MIN} bytes");
    Err(Diagnostic::error("", message).help(help))
}

fn size_unfit_for_stamps(worker: &WorkerPlan) -> Option<(&'static str, u64)> {
    let line_sizes = |line: &LinePlan| {
        [
            ("requests", u64::from(line.size_bytes)),
            ("replies", u64::from(line.reply_bytes)),
            ("an alignment", u64::from(line.align_bytes)),
        ]
    };
    // Only Iometer's rule starts exactly at the span's first byte; other rules round it up.
    let starts = worker
        .spans
        .iter()
        .filter(|_| worker.position == PositionRule::Iometer)
        .map(|span| ("a start", span.start_bytes));
    let sectors = worker
        .spans
        .iter()
        .map(|span| ("a sector", u64::from(span.sector_bytes)));
    let lengths = worker.lines.iter().flat_map(line_sizes);
    lengths
        .chain(starts)
        .chain(sectors)
        .find(|(_, bytes)| !bytes.is_multiple_of(STAMPED_BYTES_MIN))
}
