//! Checks that verified blocks can hold a stamp.

use plan::Diagnostic;
use plan::job::JobPlan;
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
    let mut unfit = workers
        .filter(|worker| worker.verify)
        .filter_map(|worker| Some((worker, size_unfit_for_stamps(worker)?)));
    let Some((worker, (what, bytes))) = unfit.next() else {
        return Ok(());
    };
    let of_job = match worker.job {
        Some(_) => format!(", as the job `{}` has", worker.name),
        None => String::new(),
    };
    let message = format!(
        "verification needs multiples of {STAMPED_BYTES_MIN} bytes, not {what} of {bytes} bytes\
         {of_job}"
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
        .chain(worker.job.iter().flat_map(|job| job_sizes(job)))
        .chain(starts)
        .chain(sectors)
        .find(|(_, bytes)| !bytes.is_multiple_of(STAMPED_BYTES_MIN))
}

fn job_sizes(job: &JobPlan) -> impl Iterator<Item = (&'static str, u64)> {
    let blocks = &job.stream.blocks;
    let rules = [&blocks.read, &blocks.write].into_iter();
    let sizes = rules.clone().flat_map(|rule| rule.sizes.all_bytes());
    let sizes = sizes.map(|bytes| ("requests", u64::from(bytes)));
    let alignments = rules.map(|rule| ("an alignment", u64::from(rule.align_bytes)));
    let starts = job.files.iter().map(|part| ("a start", part.start_bytes));
    sizes.chain(alignments).chain(starts)
}
