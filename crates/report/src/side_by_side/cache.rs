//! Detects whether the page cache served a workload, or the devices.

use plan::{CacheMode, EngineKind};
use results::{CellRecord, Claim, RunRecord};
use units::format;

/// Below this share of the bytes read, some were not served by the devices.
// The warning `cache-served-reads` has the same limit.
const DEVICE_SHARE_MIN: f64 = 0.9;

/// What served the I/O of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IoServedBy {
    /// Description in a sentence.
    pub sentence: String,
    /// `true` if the page cache served it.
    pub is_cached: bool,
}

/// Returns what served the I/O of all runs of a workload; `None` if there was no I/O.
pub(super) fn cached(columns: &[&[RunRecord]], names: &[&str]) -> Option<IoServedBy> {
    let records = columns.iter().copied().flatten();
    // The null engine makes no system call, so it has no I/O.
    let done = |cell: &&CellRecord| cell.engine != EngineKind::Null && cell.total.count > 0;
    let cells: Vec<&CellRecord> = records.flat_map(|run| &run.cells).filter(done).collect();
    let through: Vec<&CellRecord> = cells
        .iter()
        .copied()
        .filter(|cell| cell.cache != CacheMode::Direct)
        .collect();
    let served_by = |sentence: String, is_cached| {
        Some(IoServedBy {
            sentence,
            is_cached,
        })
    };
    match (cells.len(), through.len()) {
        (0, _) => None,
        (_, 0) => served_by(direct(columns, names), false),
        _ => {
            let (words, is_cached) = describe_cache_share(&through);
            served_by(
                format!("Requests went through the page cache: {words}."),
                is_cached,
            )
        }
    }
}

/// Describes direct I/O, and file systems on which some of it went through the page cache.
fn direct(columns: &[&[RunRecord]], names: &[&str]) -> String {
    let is_cached = |run: &RunRecord| {
        let mut warnings = run.warnings.iter();
        warnings.any(|warning| warning.contradicts(Claim::BypassedCache))
    };
    let used = names
        .iter()
        .zip(columns)
        .filter(|(_, runs)| !runs.is_empty());
    let (cached, past): (Vec<_>, Vec<_>) = used.partition(|(_, runs)| runs.iter().any(is_cached));
    let cached: Vec<&str> = cached.into_iter().map(|(name, _)| *name).collect();
    match (cached.is_empty(), past.is_empty()) {
        (true, _) => "Requests bypassed the page cache (direct I/O).".to_owned(),
        (false, false) => format!(
            "Requests bypassed the page cache (direct I/O), but on {} all or some of them went \
             through it.",
            cached.join(", ")
        ),
        (false, true) => "Direct I/O was requested, but all or some requests went through the \
                          page cache."
            .to_owned(),
    }
}

/// Describes how much of the data read through the page cache came from devices, where known.
fn describe_cache_share(through: &[&CellRecord]) -> (String, bool) {
    let traffic = through.iter().filter_map(|cell| {
        let read_bytes = cell.operation("read")?.bytes;
        Some((read_bytes, cell.device.as_ref()?.read_bytes))
    });
    let (read, device) = traffic.fold((0_u64, 0_u64), |sum, it| {
        (sum.0.saturating_add(it.0), sum.1.saturating_add(it.1))
    });
    // Read-ahead and other programs can make it larger than 1.
    let share = device as f64 / read as f64;
    if read > 0 && share >= DEVICE_SHARE_MIN {
        let words = format!("the devices served the data read ({})", format::size(read));
        return (words, false);
    }
    if is_synced(through) {
        let words = match read {
            0 => "written data was synced to the devices".to_owned(),
            read => format!(
                "the devices served {:.1} % of the {} read, and written data was synced to \
                 them",
                share * 100.0,
                format::size(read)
            ),
        };
        return (words, false);
    }
    let words = match read {
        0 => "memory was measured; written data reached devices later, if ever".to_owned(),
        read => format!(
            "the devices served {:.1} % of the {} read, so memory was measured",
            share * 100.0,
            format::size(read)
        ),
    };
    (words, true)
}

/// Returns `true` if there were writes, and all cells with writes also synced within the measured
/// time.
fn is_synced(through: &[&CellRecord]) -> bool {
    let count = |cell: &CellRecord, name: &str| cell.operation(name).map_or(0, |it| it.count);
    let mut writing = through
        .iter()
        .filter(|cell| count(cell, "write") > 0)
        .peekable();
    let is_synced = |cell: &&CellRecord| count(cell, "fsync") + count(cell, "fdatasync") > 0;
    writing.peek().is_some() && writing.all(is_synced)
}
