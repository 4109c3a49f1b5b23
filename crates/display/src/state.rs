//! What is known of a run from its events so far. Pure: time is passed in.

use results::{
    CellNames, CellRecord, IntervalRecord, Phase, RunEvent, Status, SteadyVerdict, WarningLevel,
};

/// So many points of the past are kept; when there are more, every second one goes.
const HISTORY_MAX: usize = 512;
/// So many warnings are kept for showing; all are counted.
const WARNINGS_MAX: usize = 50;

/// What is known of a run from its events so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// The run's id.
    pub id: String,
    /// The cells in their order, done or not.
    pub cells: Vec<CellRow>,
    /// Whether cells are repeated until they are precise, so that there may be more of them.
    pub is_open_ended: bool,
    /// The cell that is being measured; none before the first.
    pub current: Option<Current>,
    /// The target that is being prepared; none while measuring.
    pub preparation: Option<Preparation>,
    /// What is being removed; none while nothing is.
    pub cleanup: Option<Cleanup>,
    /// The last warnings, oldest first.
    pub warnings: Vec<String>,
    /// How many warnings there were.
    pub warning_count: u64,
    /// How the run ended; none while it goes on.
    pub finished: Option<Status>,
    /// Whether the user asked for the end.
    pub stopping: bool,
    /// Time since the display began, in nanoseconds.
    pub now_ns: u64,
}

/// What a cell made on a target, being removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleanup {
    /// The target's path.
    pub target: String,
    /// Files and directories removed so far.
    pub removed: u64,
}

/// A cell in the list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellRow {
    /// The cell in a few words.
    pub what: String,
    /// Its figures, once it is done.
    pub done: Option<DoneCell>,
}

/// The figures of a cell that is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoneCell {
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Failed operations.
    pub errors: u64,
    /// How the cell ended.
    pub status: Status,
}

impl DoneCell {
    pub(crate) fn of(record: &CellRecord) -> Self {
        Self {
            iops: record.total.per_second,
            bytes_per_second: record.total.bytes_per_second,
            p99_ns: record.total.latency.percentiles_ns.p99,
            errors: record.total.errors,
            status: record.status,
        }
    }
}

/// The cell that is being measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Current {
    /// 0-based.
    pub index: u32,
    /// How many cells there are, as far as that is known.
    pub count: u32,
    /// Until when repetitions are added, in nanoseconds of the display's time; none where `count`
    /// is all there are.
    pub budget_end_ns: Option<u64>,
    /// The cell in a few words.
    pub what: String,
    /// Ramp or measure; none before the first figures.
    pub phase: Option<Phase>,
    /// Time spent in the phase, in nanoseconds.
    pub elapsed_ns: u64,
    /// The phase's length in nanoseconds; 0 when not known.
    pub total_ns: u64,
    /// Operations per second, lately.
    pub iops: f64,
    /// Bytes per second, lately.
    pub bytes_per_second: f64,
    /// 99th percentile of the latency, lately, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Failed operations so far.
    pub errors: u64,
    /// Operations per second over the cell's time, ramp included, oldest first.
    pub iops_history: History,
    /// Bytes per second over the cell's time, ramp included, oldest first.
    pub bandwidth_history: History,
    /// The last complete interval.
    pub interval: Option<IntervalRecord>,
}

impl Current {
    fn new(index: u32, count: u32, what: &str) -> Self {
        Self {
            index,
            count,
            budget_end_ns: None,
            what: printable(what),
            phase: None,
            elapsed_ns: 0,
            total_ns: 0,
            iops: 0.0,
            bytes_per_second: 0.0,
            p99_ns: None,
            errors: 0,
            iops_history: History::default(),
            bandwidth_history: History::default(),
            interval: None,
        }
    }

    /// The share of the phase that is over, from 0 to 1; none when its length is not known.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        share(self.elapsed_ns, self.total_ns)
    }
}

/// A target that is being prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    /// The target's path.
    pub target: String,
    /// Bytes written so far.
    pub done_bytes: u64,
    /// Bytes to write.
    pub total_bytes: u64,
    /// When it began, in nanoseconds of the display's time.
    pub since_ns: u64,
    /// Bytes that were there when it began, which say nothing about the speed.
    first_bytes: u64,
}

impl Preparation {
    /// The share that is done, from 0 to 1; none when there is nothing to do.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        share(self.done_bytes, self.total_bytes)
    }

    /// Bytes per second since the beginning; none at the beginning.
    #[must_use]
    pub fn bytes_per_second(&self, now_ns: u64) -> Option<f64> {
        let elapsed_ns = now_ns.saturating_sub(self.since_ns);
        let written = self.done_bytes.saturating_sub(self.first_bytes);
        (elapsed_ns > 0 && written > 0).then(|| written as f64 * 1e9 / elapsed_ns as f64)
    }

    /// Time until all is done at the speed so far, in nanoseconds; none at the beginning.
    #[must_use]
    pub fn left_ns(&self, now_ns: u64) -> Option<u64> {
        let rate = self.bytes_per_second(now_ns)?;
        let left = self.total_bytes.saturating_sub(self.done_bytes);
        Some((left as f64 * 1e9 / rate) as u64)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 / whole as f64).clamp(0.0, 1.0))
}

/// Points of the past at even distances, which double when there are too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    points: Vec<u64>,
    /// Values that make one point.
    step: u32,
    /// Values of the point that is not complete.
    pending: Vec<u64>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            step: 1,
            pending: Vec::new(),
        }
    }
}

impl History {
    fn push(&mut self, value: f64) {
        // The cast saturates and makes 0 of what is not a number.
        self.pending.push(value as u64);
        if self.pending.len() < self.step as usize {
            return;
        }
        self.points.push(mean(&self.pending));
        self.pending.clear();
        if self.points.len() >= HISTORY_MAX {
            self.points = self.points.chunks(2).map(mean).collect();
            self.step *= 2;
        }
    }

    /// The points, oldest first, at most `limit`: neighbors are averaged where there are more.
    #[must_use]
    pub fn points(&self, limit: usize) -> Vec<u64> {
        let chunk = self.points.len().div_ceil(limit.max(1)).max(1);
        self.points.chunks(chunk).map(mean).collect()
    }
}

fn mean(values: &[u64]) -> u64 {
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    u64::try_from(sum / values.len().max(1) as u128).unwrap_or(u64::MAX)
}

impl State {
    /// Takes note of an event at a time in nanoseconds since the display began.
    pub fn apply(&mut self, event: &RunEvent, now_ns: u64) {
        self.now_ns = now_ns;
        match event {
            RunEvent::Started { record } => {
                self.id = printable(&record.id);
                let plan = &record.plan;
                let names = CellNames::of(plan);
                let cells = plan.cells.iter();
                let titles = cells.map(|cell| printable(&names.planned_title(cell, plan)));
                self.is_open_ended = plan.repetition_rule.is_some();
                self.cells = titles.map(|what| CellRow { what, done: None }).collect();
            }
            RunEvent::Prepare {
                target,
                done_bytes,
                total_bytes,
            } => {
                self.prepare(target, *done_bytes, *total_bytes);
            }
            RunEvent::Cleanup { target, removed } => {
                self.cleanup = Some(Cleanup {
                    target: printable(target),
                    removed: *removed,
                });
            }
            RunEvent::CellStarted {
                index,
                count,
                what,
                budget_left_ns,
            } => {
                self.preparation = None;
                self.cleanup = None;
                self.current = Some(Current {
                    budget_end_ns: budget_left_ns.map(|left_ns| now_ns.saturating_add(left_ns)),
                    ..Current::new(*index, *count, what)
                });
            }
            RunEvent::CellsAdded { whats, .. } => {
                self.cells.extend(whats.iter().map(|what| CellRow {
                    what: printable(what),
                    done: None,
                }));
            }
            RunEvent::Progress { .. } => self.progress(event),
            RunEvent::Interval { interval, .. } => {
                if let Some(current) = &mut self.current {
                    current.interval = Some(interval.clone());
                }
            }
            RunEvent::Round { .. } => self.round(event),
            RunEvent::CellDone { record } => self.done(record),
            // What is only worth knowing stands in the report.
            RunEvent::Warning { warning } if warning.level() == WarningLevel::Warning => {
                self.warn(&warning.message);
            }
            RunEvent::Warning { .. } => {}
            RunEvent::Finished { status } => {
                self.cleanup = None;
                self.finished = Some(*status);
            }
            _ => {}
        }
    }

    fn prepare(&mut self, target: &str, done_bytes: u64, total_bytes: u64) {
        let target = printable(target);
        let same = self
            .preparation
            .as_ref()
            .filter(|known| known.target == target);
        let (since_ns, first_bytes) = same.map_or((self.now_ns, done_bytes), |known| {
            (known.since_ns, known.first_bytes)
        });
        self.preparation = Some(Preparation {
            target,
            done_bytes,
            total_bytes,
            since_ns,
            first_bytes,
        });
    }

    fn progress(&mut self, event: &RunEvent) {
        let RunEvent::Progress {
            cell,
            phase,
            elapsed_ns,
            total_ns,
            iops,
            bytes_per_second,
            p99_ns,
            errors,
        } = event
        else {
            return;
        };
        self.preparation = None;
        let Some(current) = self
            .current
            .as_mut()
            .filter(|current| current.index == *cell)
        else {
            return;
        };
        current.phase = Some(phase.clone());
        (current.elapsed_ns, current.total_ns) = (*elapsed_ns, *total_ns);
        (current.iops, current.bytes_per_second) = (*iops, *bytes_per_second);
        (current.p99_ns, current.errors) = (*p99_ns, *errors);
        current.iops_history.push(*iops);
        current.bandwidth_history.push(*bytes_per_second);
    }

    /// Names the cell by the round that it is in and by how steady the last ones were.
    fn round(&mut self, event: &RunEvent) {
        let RunEvent::Round {
            cell,
            done,
            rounds_max,
            verdict,
            range_share,
            excursion_share,
        } = event
        else {
            return;
        };
        let name = self.cells.get(*cell as usize).map(|row| row.what.clone());
        let current = self.current.as_mut().filter(|it| it.index == *cell);
        let (Some(name), Some(current)) = (name, current) else {
            return;
        };
        let state = match (verdict, range_share.zip(*excursion_share)) {
            (SteadyVerdict::Steady, _) => ", steady".to_owned(),
            (SteadyVerdict::NotSteady, _) => ", not steady".to_owned(),
            (SteadyVerdict::NotYet, None) => String::new(),
            (SteadyVerdict::NotYet, Some((range, line))) => format!(
                ", not yet steady: range {:.0} %, line {:.0} %",
                range * 100.0,
                line * 100.0
            ),
        };
        let round = match verdict {
            SteadyVerdict::NotYet => done.saturating_add(1),
            _ => *done,
        };
        current.what = format!("{name}, round {round}/{rounds_max}{state}");
    }

    fn done(&mut self, record: &CellRecord) {
        let index = record.index as usize;
        // Of a classic program's phases, the one that its own figures stand with.
        let is_told = |row: &CellRow| row.done.is_none() || record.classic.is_some();
        if let Some(row) = self.cells.get_mut(index).filter(|row| is_told(row)) {
            row.done = Some(DoneCell::of(record));
        }
    }

    fn warn(&mut self, message: &str) {
        self.warning_count += 1;
        if self.warnings.len() == WARNINGS_MAX {
            self.warnings.remove(0);
        }
        self.warnings.push(printable(message));
    }
}

/// `text` with everything in it visible.
fn printable(text: &str) -> String {
    units::printable(text).into_owned()
}
