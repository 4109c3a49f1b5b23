//! What workers of a phase did when, added up.

use results::{CellRecord, RoundFigures, RunRecord, WorkerWindow};

/// What all workers of a phase came to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sum {
    /// From the first beginning to the last end, in seconds.
    pub seconds: f64,
    /// Processor time of all, in seconds.
    pub processor_seconds: f64,
    /// Bytes read and written.
    pub bytes: u64,
}

/// The windows of a phase's workers, of its first round.
pub fn windows(cell: &CellRecord) -> Vec<WorkerWindow> {
    let rounds = cell.phase_figures.iter().flat_map(|it| it.rounds.first());
    rounds.flat_map(windows_of).collect()
}

/// The windows of a round's workers.
pub fn windows_of(round: &RoundFigures) -> Vec<WorkerWindow> {
    let workers = round.workers.iter();
    workers.filter_map(|worker| worker.window).collect()
}

impl Sum {
    /// That of a phase.
    pub fn of(cell: &CellRecord) -> Self {
        let windows = windows(cell);
        let begin_ns = windows.iter().map(|it| it.begin_ns).min().unwrap_or(0);
        let end_ns = windows.iter().map(|it| it.end_ns).max().unwrap_or(0);
        let processor_ns: u64 = windows.iter().map(|it| it.user_ns + it.system_ns).sum();
        Self {
            seconds: end_ns.saturating_sub(begin_ns) as f64 / 1e9,
            processor_seconds: processor_ns as f64 / 1e9,
            bytes: windows
                .iter()
                .map(|it| it.read_bytes + it.written_bytes)
                .sum(),
        }
    }

    /// Processor time as a share of the time, in percent.
    pub fn percent(&self) -> f64 {
        self.processor_seconds * 100.0 / self.seconds.max(1e-9)
    }
}

/// The rounds of a phase; none where there was no such phase.
pub fn rounds<'a>(record: &'a RunRecord, phase: &str) -> &'a [RoundFigures] {
    let is_its = |cell: &&CellRecord| cell.phase.name() == phase;
    let cell = record.cells.iter().find(is_its);
    let figures = cell.and_then(|cell| cell.phase_figures.as_ref());
    figures.map_or(&[], |figures| &figures.rounds)
}

/// The longest that something of a label took, in nanoseconds.
pub fn longest_ns(cell: &CellRecord, label: &str) -> u64 {
    let figures = cell.phase_figures.iter().flat_map(|it| &it.labels);
    let mut own = figures.filter(|it| it.label == label);
    own.next().map_or(0, |it| it.max_ns)
}

/// The phases of each workload, in the order of the plan.
pub fn by_workload(record: &RunRecord) -> Vec<Vec<&CellRecord>> {
    let mut found: Vec<Vec<&CellRecord>> = Vec::new();
    for cell in &record.cells {
        match found.last_mut() {
            Some(last) if last[0].workload == cell.workload => last.push(cell),
            _ => found.push(vec![cell]),
        }
    }
    found
}
