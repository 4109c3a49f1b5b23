//! Whether the page cache was measured, or devices were.

use results::{CellRecord, RunRecord, WarningCode};
use units::format;
use workload::plan::{CacheMode, EngineKind};

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
        (_, 0) => said(
            format!(
                "Requests went past the page cache (direct I/O){}.",
                but(columns, names)
            ),
            false,
        ),
        _ => {
            let (words, is_cached) = served(&through);
            said(
                format!("Requests went through the page cache: {words}."),
                is_cached,
            )
        }
    }
}

/// Which file systems took direct I/O and went through the page cache all the same.
fn but(columns: &[&[RunRecord]], names: &[&str]) -> String {
    let is_cached = |run: &RunRecord| {
        let mut codes = run.warnings.iter().map(|it| &it.code);
        codes.any(|code| *code == WarningCode::DirectNotHonored)
    };
    let columns = names.iter().zip(columns);
    let cached = columns.filter(|(_, runs)| runs.iter().any(is_cached));
    let cached: Vec<&str> = cached.map(|(name, _)| *name).collect();
    match cached.is_empty() {
        true => String::new(),
        false => format!(
            ", but not on {}, which does not honor it",
            cached.join(", ")
        ),
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
