//! Whether the page cache was measured, or devices were.

use plan::{CacheMode, EngineKind};
use results::{CellRecord, Claim, RunRecord};
use units::format;

/// Below this share of the bytes read, the devices cannot have served them.
const DEVICE_SHARE_MIN: f64 = 0.9;

/// What served the I/O of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cached {
    /// In a sentence.
    pub said: String,
    /// Whether it was the page cache.
    pub is_cached: bool,
}

/// What served the I/O of all runs of a workload; none where nothing was done.
pub(super) fn cached(columns: &[&[RunRecord]], names: &[&str]) -> Option<Cached> {
    let records = columns.iter().copied().flatten();
    let done = |cell: &&CellRecord| cell.engine != EngineKind::Null && cell.total.count > 0;
    let cells: Vec<&CellRecord> = records.flat_map(|run| &run.cells).filter(done).collect();
    let through: Vec<&CellRecord> = cells
        .iter()
        .copied()
        .filter(|cell| cell.cache != CacheMode::Direct)
        .collect();
    let said = |said: String, is_cached| Some(Cached { said, is_cached });
    match (cells.len(), through.len()) {
        (0, _) => None,
        (_, 0) => said(direct(columns, names), false),
        _ => {
            let (words, is_cached) = served(&through);
            said(
                format!("Requests went through the page cache: {words}."),
                is_cached,
            )
        }
    }
}

/// That direct I/O was asked for, and on which file systems some of it was not direct.
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
        (true, _) => "Requests went past the page cache (direct I/O).".to_owned(),
        (false, false) => format!(
            "Requests went past the page cache (direct I/O), but on {} all or some of them went \
             through it.",
            cached.join(", ")
        ),
        (false, true) => "Requests asked for direct I/O, but all or some of them went through the \
                          page cache."
            .to_owned(),
    }
}

/// What the devices gave of what was read through the page cache, where that is known.
fn served(through: &[&CellRecord]) -> (String, bool) {
    let known = through.iter().filter_map(|cell| {
        let read_bytes = cell.operation("read")?.bytes;
        Some((read_bytes, cell.device.as_ref()?.read_bytes))
    });
    let (read, device) = known.fold((0_u64, 0_u64), |sum, it| {
        (sum.0.saturating_add(it.0), sum.1.saturating_add(it.1))
    });
    let share = device as f64 / read as f64;
    if read > 0 && share >= DEVICE_SHARE_MIN {
        let words = format!("the devices served what was read ({})", format::size(read));
        return (words, false);
    }
    if is_synced(through) {
        let words = match read {
            0 => "what was written was synced to the devices".to_owned(),
            read => format!(
                "the devices served {:.1} % of the {} read, and what was written was synced to \
                 them",
                share * 100.0,
                format::size(read)
            ),
        };
        return (words, false);
    }
    let words = match read {
        0 => "memory was measured; what was written reached devices later, if ever".to_owned(),
        read => format!(
            "the devices served {:.1} % of the {} read, so memory was measured",
            share * 100.0,
            format::size(read)
        ),
    };
    (words, true)
}

/// Whether something was written, and all that wrote was synced within the measured time.
fn is_synced(through: &[&CellRecord]) -> bool {
    let count = |cell: &CellRecord, name: &str| cell.operation(name).map_or(0, |it| it.count);
    let mut writing = through
        .iter()
        .filter(|cell| count(cell, "write") > 0)
        .peekable();
    let is_synced = |cell: &&CellRecord| count(cell, "fsync") + count(cell, "fdatasync") > 0;
    writing.peek().is_some() && writing.all(is_synced)
}
