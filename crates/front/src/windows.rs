//! Sums over the measured windows of a phase's workers.

use results::{CellRecord, LabelFigures, RoundFigures, RunRecord, WorkerWindow};

/// Totals of several workers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WorkerSum {
    /// Time from the first begin to the last end, in seconds.
    pub seconds: f64,
    /// CPU time of all workers, in seconds.
    pub cpu_seconds: f64,
    /// Bytes read and written.
    pub bytes: u64,
}

/// Progress of one worker, or of several together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkerProgress {
    /// Time since the window began, in nanoseconds.
    pub time_ns: u64,
    /// Number of repetitions begun.
    pub rounds: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

impl WorkerProgress {
    /// Progress at the stonewall or the time limit; `None` if the worker did not continue after it.
    pub fn at_wall(window: &WorkerWindow) -> Option<Self> {
        let wall = window.wall?;
        Some(Self {
            time_ns: wall.at_ns.saturating_sub(window.begin_ns),
            rounds: wall.rounds,
            bytes: wall.read_bytes + wall.written_bytes,
        })
    }

    /// Progress at the end of the window.
    pub const fn at_end(window: &WorkerWindow) -> Self {
        Self {
            time_ns: window.end_ns.saturating_sub(window.begin_ns),
            rounds: window.rounds,
            bytes: window.read_bytes + window.written_bytes,
        }
    }

    /// Sums of all workers, with the longest of their times; `None` without workers.
    pub fn sum(all: impl Iterator<Item = Self>) -> Option<Self> {
        all.reduce(|one, other| Self {
            time_ns: one.time_ns.max(other.time_ns),
            rounds: one.rounds + other.rounds,
            bytes: one.bytes + other.bytes,
        })
    }

    /// The time, in seconds.
    pub fn seconds(&self) -> f64 {
        self.time_ns as f64 / 1e9
    }
}

/// Windows of a phase's workers, in its first round.
pub fn windows(cell: &CellRecord) -> Vec<WorkerWindow> {
    let rounds = cell.phase_figures.iter().flat_map(|it| it.rounds.first());
    rounds.flat_map(windows_of).collect()
}

/// Windows of a round's workers.
pub fn windows_of(round: &RoundFigures) -> Vec<WorkerWindow> {
    let workers = round.workers.iter();
    workers.filter_map(|worker| worker.window).collect()
}

/// Time from the first begin to the last end, in nanoseconds.
pub fn window_ns(windows: &[WorkerWindow]) -> u64 {
    ns_between(windows, |it| it.begin_ns, |it| it.end_ns)
}

/// Time from the earliest `from` to the latest `to`, in nanoseconds.
pub fn ns_between(
    windows: &[WorkerWindow],
    from: fn(&WorkerWindow) -> u64,
    to: fn(&WorkerWindow) -> u64,
) -> u64 {
    let first_ns = windows.iter().map(from).min().unwrap_or(0);
    let last_ns = windows.iter().map(to).max().unwrap_or(0);
    last_ns.saturating_sub(first_ns)
}

impl WorkerSum {
    /// Totals of a phase, in its first round.
    pub fn of(cell: &CellRecord) -> Self {
        Self::of_windows(&windows(cell))
    }

    /// Totals of these windows.
    pub fn of_windows(windows: &[WorkerWindow]) -> Self {
        let processor_ns: u64 = windows.iter().map(|it| it.user_ns + it.system_ns).sum();
        Self {
            seconds: window_ns(windows) as f64 / 1e9,
            cpu_seconds: processor_ns as f64 / 1e9,
            bytes: windows
                .iter()
                .map(|it| WorkerProgress::at_end(it).bytes)
                .sum(),
        }
    }

    /// CPU time as a share of the elapsed time, in percent.
    pub fn percent(&self) -> f64 {
        // Without windows, both times are 0, and the result is 0 instead of NaN.
        self.cpu_seconds * 100.0 / self.seconds.max(1e-9)
    }
}

/// The phase with this name.
pub fn phase<'a>(record: &'a RunRecord, name: &str) -> Option<&'a CellRecord> {
    record.cells.iter().find(|cell| cell.phase.name() == name)
}

/// Rounds of a phase; empty if there is no such phase.
pub fn rounds<'a>(record: &'a RunRecord, phase: &str) -> &'a [RoundFigures] {
    let cell = self::phase(record, phase);
    let figures = cell.and_then(|cell| cell.phase_figures.as_ref());
    figures.map_or(&[], |figures| &figures.rounds)
}

/// Results under a label; `None` if there are none.
pub fn label<'a>(cell: &'a CellRecord, label: &str) -> Option<&'a LabelFigures> {
    let mut figures = cell.phase_figures.iter().flat_map(|it| &it.labels);
    figures.find(|it| it.label == label)
}

/// Sum of the results under several labels.
pub fn sum_of_labels<'a>(labels: impl Iterator<Item = &'a LabelFigures>) -> LabelFigures {
    labels.fold(LabelFigures::default(), |sum, it| LabelFigures {
        count: sum.count + it.count,
        bytes: sum.bytes + it.bytes,
        sum_ns: sum.sum_ns + it.sum_ns,
        max_ns: sum.max_ns.max(it.max_ns),
        ..sum
    })
}

/// Mean duration under a label, in milliseconds.
pub fn mean_ms(figures: &LabelFigures) -> f64 {
    figures.sum_ns as f64 / figures.count.max(1) as f64 / 1e6
}

/// Longest duration under a label, in nanoseconds; 0 if there are no results.
pub fn longest_ns(cell: &CellRecord, label: &str) -> u64 {
    self::label(cell, label).map_or(0, |it| it.max_ns)
}

/// The phases of each workload, in the order of the plan.
pub fn by_workload(record: &RunRecord) -> Vec<Vec<&CellRecord>> {
    let mut groups: Vec<Vec<&CellRecord>> = Vec::new();
    for cell in &record.cells {
        // A run finishes one workload before it starts the next, so only the last group can match.
        match groups.last_mut() {
            Some(last) if last[0].workload == cell.workload => last.push(cell),
            _ => groups.push(vec![cell]),
        }
    }
    groups
}
