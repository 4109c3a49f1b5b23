//! State of a run, collected from its events. Pure: time is passed in.

use std::collections::BTreeMap;

use plan::{Cell, CurvePart, Plan};
use results::{
    CellNames, CellRecord, RateSearch, RateTrial, RunEvent, RunRecord, Status, SteadyVerdict,
    WarningLevel,
};

use crate::current::{CurrentCell, Preparation};
use crate::printable::printable;
use crate::row::{CellRow, DoneCell, rows};

/// Number of warnings kept for display; all are counted.
const WARNINGS_MAX: usize = 50;

/// State of a run, collected from its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunState {
    /// The run's id.
    pub id: String,
    /// Number of processes that share the run and their hosts; `None` for a single process.
    pub cluster: Option<String>,
    /// All cells in their order, done or not.
    pub cells: Vec<CellRow>,
    /// `true` if repetitions are added until the results are precise, so that more cells may
    /// follow.
    pub is_open_ended: bool,
    /// The cell that is being measured; none before the first.
    pub current: Option<CurrentCell>,
    /// The target that is being prepared; none while measuring.
    pub preparation: Option<Preparation>,
    /// The removal of files that is in progress; `None` if there is none.
    pub cleanup: Option<Cleanup>,
    /// The last warnings, oldest first.
    pub warnings: Vec<String>,
    /// Number of warnings so far.
    pub warning_count: u64,
    /// Outcome of the run; `None` while it is running.
    pub finished: Option<Status>,
    /// `true` if the user requested a stop.
    pub stopping: bool,
    /// Time of the last event, in nanoseconds since the display began.
    pub now_ns: u64,
    /// Number of cells announced by the run.
    pub(crate) count: usize,
    /// The searches for the highest rate, by the index of their peak.
    pub(crate) searches: BTreeMap<u32, RateSearch>,
    /// Time at which the last cell was completed, in nanoseconds.
    done_ns: Option<u64>,
    /// The plan, needed to name cells that are added later; `None` if none can be.
    plan: Option<Box<Plan>>,
}

/// Removal of a cell's files from a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleanup {
    /// The target's path.
    pub target: String,
    /// Files and directories removed so far.
    pub removed: u64,
}

impl RunState {
    /// Updates the state from an event at `now_ns`, in nanoseconds since the display began.
    pub fn apply(&mut self, event: &RunEvent, now_ns: u64) {
        self.now_ns = now_ns;
        match event {
            RunEvent::Started { record } => self.start(record),
            RunEvent::Prepare {
                target,
                done_bytes,
                total_bytes,
            } => {
                // Old files are removed before new ones are created.
                self.cleanup = None;
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
                self.count = *count as usize;
                self.current = Some(CurrentCell {
                    budget_end_ns: budget_left_ns.map(|left_ns| now_ns.saturating_add(left_ns)),
                    ..CurrentCell::new(*index, *count, what, now_ns)
                });
            }
            RunEvent::CellsAdded { cells, whats } => self.add(cells, whats),
            RunEvent::Progress { cell, .. } => {
                // Progress comes from a cell, so what precedes its work has ended.
                self.preparation = None;
                self.cleanup = None;
                let current = self.current.as_mut();
                if let Some(current) = current.filter(|current| current.index == *cell) {
                    current.progress(event, now_ns);
                }
            }
            RunEvent::Interval { interval, .. } => {
                if let Some(current) = &mut self.current {
                    current.interval = Some(interval.clone());
                }
            }
            RunEvent::Round { .. } => self.round(event),
            RunEvent::CellDone { record } => self.done(record),
            // Notes appear only in the report.
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

    fn start(&mut self, record: &RunRecord) {
        self.id = printable(&record.id);
        let cluster = record.cluster.as_ref().filter(|it| it.ranks > 1);
        self.cluster = cluster.map(|it| printable(&it.place()));
        let plan = &record.plan;
        let names = CellNames::of(plan);
        let titles = plan
            .cells
            .iter()
            .map(|cell| names.planned_title(cell, plan));
        self.is_open_ended = plan.repetition_rule.is_some();
        self.count = plan.cells.len();
        self.cells = rows(&plan.cells, titles, (&names, plan));
        // Only open-ended runs add cells, and a plan can be large.
        self.plan = self.is_open_ended.then(|| Box::new(plan.clone()));
    }

    fn add(&mut self, cells: &[Cell], descriptions: &[String]) {
        let Some(plan) = &self.plan else { return };
        let names = CellNames::of(plan);
        let added = rows(cells, descriptions.iter().cloned(), (&names, plan));
        self.cells.extend(added);
    }

    fn prepare(&mut self, target: &str, done_bytes: u64, total_bytes: u64) {
        let target = printable(target);
        let same = self.preparation.take();
        let same = same.filter(|known| known.target == target);
        let mut preparation =
            same.unwrap_or_else(|| Preparation::new(target, done_bytes, self.now_ns));
        preparation.progress(done_bytes, total_bytes, self.now_ns);
        self.preparation = Some(preparation);
    }

    /// Adds the current round, and how steady the last rounds were, to the cell's description.
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
        let name = self
            .cells
            .get(*cell as usize)
            .map(|row| row.description.clone());
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
            // Without a final verdict, the next round is already running.
            SteadyVerdict::NotYet => done.saturating_add(1),
            _ => *done,
        };
        let round = format!("round {round}/{rounds_max}");
        current.description = format!("{name}, {round}{state}");
        current.round = Some(round);
    }

    fn done(&mut self, record: &CellRecord) {
        self.note_search(record);
        let began_ns = self.current.as_ref().map(|current| current.since_ns);
        // From the end of the previous cell, so that preparation in between counts, too.
        let since_ns = self.done_ns.or(began_ns);
        let index = record.index as usize;
        let Some(row) = self.cells.get_mut(index) else {
            return;
        };
        // The records of all phases arrive after the last phase, so the first has the whole time.
        if row.took_ns.is_none() {
            row.took_ns = since_ns.map(|since_ns| self.now_ns.saturating_sub(since_ns));
        }
        self.done_ns = Some(self.now_ns);
        // A program with several phases has one record per phase: prefer the one with its own
        // results.
        if row.done.is_none() || record.phase_figures.is_some() {
            row.done = Some(DoneCell::of(record));
        }
    }

    /// Adds a cell's result to the search that it belongs to.
    fn note_search(&mut self, record: &CellRecord) {
        let first = record.first_index.unwrap_or(record.index);
        // Later repetitions use the rates that the first one tried; they are no new trials.
        if record.repetition > 0 {
            return;
        }
        if let Some(trial) = RateTrial::of(record) {
            let search = self.searches.get_mut(&first);
            search.into_iter().for_each(|it| it.trials.push(trial));
            return;
        }
        let limit = self.cells.iter().find_map(|row| match row.part {
            Some(CurvePart::Trial { limit, .. }) if row.first_index == first => Some(limit),
            _ => None,
        });
        let search = limit.and_then(|limit| RateSearch::of(record, limit, &[]));
        self.searches.extend(search.map(|search| (first, search)));
    }

    fn warn(&mut self, message: &str) {
        self.warning_count += 1;
        if self.warnings.len() == WARNINGS_MAX {
            // Memory must stay bounded, however long a run takes.
            self.warnings.remove(0);
        }
        self.warnings.push(printable(message));
    }
}
