//! What workers of a phase did when, added up.

use results::{CellRecord, LabelFigures, RoundFigures, RunRecord, WorkerWindow};

/// What workers came to together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sum {
    /// From the first beginning to the last end, in seconds.
    pub seconds: f64,
    /// Processor time of all, in seconds.
    pub processor_seconds: f64,
    /// Bytes read and written.
    pub bytes: u64,
}

/// How far a worker came, or several together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reached {
    /// In how long, from the beginning of its window.
    pub time_ns: u64,
    /// How often it began what it repeats.
    pub rounds: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

impl Reached {
    /// When the others' end came, or its own time, where it went on behind that.
    pub fn at_wall(window: &WorkerWindow) -> Option<Self> {
        let wall = window.wall?;
        Some(Self {
            time_ns: wall.at_ns.saturating_sub(window.begin_ns),
            rounds: wall.rounds,
            bytes: wall.read_bytes + wall.written_bytes,
        })
    }

    /// At the end of its window.
    pub const fn at_end(window: &WorkerWindow) -> Self {
        Self {
            time_ns: window.end_ns.saturating_sub(window.begin_ns),
            rounds: window.rounds,
            bytes: window.read_bytes + window.written_bytes,
        }
    }

    /// What all of them did in the longest of their times; none where there are none.
    pub fn together(all: impl Iterator<Item = Self>) -> Option<Self> {
        all.reduce(|one, other| Self {
            time_ns: one.time_ns.max(other.time_ns),
            rounds: one.rounds + other.rounds,
            bytes: one.bytes + other.bytes,
        })
    }

    /// The time in seconds.
    pub fn seconds(&self) -> f64 {
        self.time_ns as f64 / 1e9
    }
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

/// From the first beginning to the last end, in nanoseconds.
pub fn window_ns(windows: &[WorkerWindow]) -> u64 {
    ns_between(windows, |it| it.begin_ns, |it| it.end_ns)
}

/// From the first of some moments to the last of others, in nanoseconds.
pub fn ns_between(
    windows: &[WorkerWindow],
    from: fn(&WorkerWindow) -> u64,
    to: fn(&WorkerWindow) -> u64,
) -> u64 {
    let first_ns = windows.iter().map(from).min().unwrap_or(0);
    let last_ns = windows.iter().map(to).max().unwrap_or(0);
    last_ns.saturating_sub(first_ns)
}

impl Sum {
    /// That of a phase, in its first round.
    pub fn of(cell: &CellRecord) -> Self {
        Self::of_windows(&windows(cell))
    }

    /// That of workers.
    pub fn of_windows(windows: &[WorkerWindow]) -> Self {
        let processor_ns: u64 = windows.iter().map(|it| it.user_ns + it.system_ns).sum();
        Self {
            seconds: window_ns(windows) as f64 / 1e9,
            processor_seconds: processor_ns as f64 / 1e9,
            bytes: windows.iter().map(|it| Reached::at_end(it).bytes).sum(),
        }
    }

    /// Processor time as a share of the time, in percent.
    pub fn percent(&self) -> f64 {
        self.processor_seconds * 100.0 / self.seconds.max(1e-9)
    }
}

/// The phase of that name.
pub fn phase<'a>(record: &'a RunRecord, name: &str) -> Option<&'a CellRecord> {
    record.cells.iter().find(|cell| cell.phase.name() == name)
}

/// The rounds of a phase; none where there was no such phase.
pub fn rounds<'a>(record: &'a RunRecord, phase: &str) -> &'a [RoundFigures] {
    let cell = self::phase(record, phase);
    let figures = cell.and_then(|cell| cell.phase_figures.as_ref());
    figures.map_or(&[], |figures| &figures.rounds)
}

/// What was counted under a label; none where nothing was.
pub fn label<'a>(cell: &'a CellRecord, label: &str) -> Option<&'a LabelFigures> {
    let mut figures = cell.phase_figures.iter().flat_map(|it| &it.labels);
    figures.find(|it| it.label == label)
}

/// What was counted under several labels.
pub fn together<'a>(labels: impl Iterator<Item = &'a LabelFigures>) -> LabelFigures {
    labels.fold(LabelFigures::default(), |sum, it| LabelFigures {
        count: sum.count + it.count,
        bytes: sum.bytes + it.bytes,
        sum_ns: sum.sum_ns + it.sum_ns,
        max_ns: sum.max_ns.max(it.max_ns),
        ..sum
    })
}

/// How long something of a label took in the mean, in milliseconds.
pub fn mean_ms(figures: &LabelFigures) -> f64 {
    figures.sum_ns as f64 / figures.count.max(1) as f64 / 1e6
}

/// The longest that something of a label took, in nanoseconds.
pub fn longest_ns(cell: &CellRecord, label: &str) -> u64 {
    self::label(cell, label).map_or(0, |it| it.max_ns)
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
