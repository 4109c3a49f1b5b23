//! How far a cell is that several processes measure.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plan::Cell;
use results::{CellRecord, PreconditionRecord, RunEvent, Warning};
use run::FileNews;

use super::beginnings::Beginnings;
use super::live::Live;
use crate::message::{Failed, Report};

/// So many different warnings of a cell are kept.
const WARNINGS_MAX: usize = 1000;
const ROUNDS_AHEAD_MAX: usize = 4096;

/// How far a cell is.
pub(super) struct Course {
    pub cell: u32,
    /// Workers of all processes together.
    worker_count: usize,
    targets: BTreeSet<u32>,
    /// How many processes began it.
    pub rank_count: usize,
    /// Who is neither done nor lost.
    pub working: BTreeSet<u32>,
    /// Who of them has told how many rounds were done at most, and how many that are.
    pub levels: BTreeMap<u32, u64>,
    /// Operations a second of the rounds that not all of them have told yet.
    pub rounds: BTreeMap<u32, VecDeque<f64>>,
    /// Who of them has told what became of files, and what that was.
    pub news: BTreeMap<u32, Vec<FileNews>>,
    /// Who of them is ready for the next stage.
    pub armed: BTreeSet<u32>,
    pub beginnings: Beginnings,
    /// Least time between the agreement on a start and the start, in nanoseconds.
    pub lead_ns: u64,
    /// The same in round trips.
    pub lead_trips: u64,
    pub done: BTreeMap<u32, Vec<CellRecord>>,
    /// What was written before it, by target: of all processes together, the longest time.
    pub preconditions: BTreeMap<u32, PreconditionRecord>,
    pub failed: Option<(u32, Failed)>,
    /// Who was lost, and when, in nanoseconds of the leader's clock.
    pub lost_ns: BTreeMap<u32, u64>,
    pub live: Live,
    /// Whether it is to end before it is over.
    pub is_cut: bool,
    /// Warnings by what they say, and who said so.
    pub warnings: Vec<(Warning, Vec<u32>)>,
}

impl Course {
    /// Of a cell that these begin.
    pub fn new(cell: &Cell, ranks: Vec<u32>) -> Self {
        Self {
            cell: cell.index,
            worker_count: cell.workers.len(),
            targets: cell.target_indexes().collect(),
            rank_count: ranks.len(),
            working: ranks.into_iter().collect(),
            levels: BTreeMap::new(),
            rounds: BTreeMap::new(),
            news: BTreeMap::new(),
            armed: BTreeSet::new(),
            beginnings: Beginnings::default(),
            lead_ns: 0,
            lead_trips: 0,
            done: BTreeMap::new(),
            preconditions: BTreeMap::new(),
            failed: None,
            lost_ns: BTreeMap::new(),
            live: Live::default(),
            is_cut: false,
            warnings: Vec::new(),
        }
    }

    /// Whether a report can be of this cell.
    pub fn is_of_it(&self, report: &Report) -> bool {
        match report {
            Report::Armed | Report::Pong { .. } | Report::Begun { .. } => true,
            Report::News { .. } | Report::Level { .. } => true,
            Report::Preconditioned { targets } => targets
                .iter()
                .all(|it| self.targets.contains(&it.target_index)),
            // Nobody may be so many rounds ahead of the others.
            Report::Round { .. } => {
                let mut waiting = self.rounds.values();
                waiting.all(|it| it.len() < ROUNDS_AHEAD_MAX)
            }
            Report::Measured { records, .. } => records
                .iter()
                .all(|it| it.index == self.cell && it.workers as usize <= self.worker_count),
            Report::Event { event } => match &**event {
                RunEvent::Interval { cell, .. } | RunEvent::Progress { cell, .. } => {
                    *cell == self.cell
                }
                _ => true,
            },
            _ => false,
        }
    }

    /// Takes note of what one wrote before the cell.
    pub fn note_preconditioned(&mut self, targets: Vec<PreconditionRecord>) {
        for written in targets {
            let sum = self.preconditions.entry(written.target_index);
            let sum = sum.or_insert_with(|| PreconditionRecord {
                bytes: 0,
                errors: 0,
                ..written.clone()
            });
            sum.bytes = sum.bytes.saturating_add(written.bytes);
            sum.errors = sum.errors.saturating_add(written.errors);
            sum.time_ns = sum.time_ns.max(written.time_ns);
        }
    }

    /// Whether all that are at work are ready for the next stage.
    pub fn is_ready(&self) -> bool {
        !self.working.is_empty() && self.armed.len() == self.working.len()
    }

    /// Whether all that are at work have told how many rounds were done.
    pub fn has_levels(&self) -> bool {
        !self.working.is_empty() && self.levels.len() == self.working.len()
    }

    /// Whether all that are at work have told what became of files.
    pub fn has_news(&self) -> bool {
        !self.working.is_empty() && self.news.len() == self.working.len()
    }

    /// Takes note of a round that one has done.
    pub fn note_round(&mut self, rank: u32, per_second: f64) {
        self.rounds.entry(rank).or_default().push_back(per_second);
    }

    /// Operations a second of all in the next round that all have told.
    pub fn take_round(&mut self) -> Option<f64> {
        let has_told = |rank| self.rounds.get(rank).is_some_and(|it| !it.is_empty());
        if self.working.is_empty() || !self.working.iter().all(has_told) {
            return None;
        }
        let rates = self.rounds.values_mut().filter_map(VecDeque::pop_front);
        // What is not finite cannot be said.
        Some(rates.sum::<f64>().clamp(0.0, f64::MAX))
    }

    /// One that waits for the others.
    pub fn waiting(&self) -> Option<u32> {
        self.armed.iter().chain(self.news.keys()).next().copied()
    }

    pub fn is_over(&self) -> bool {
        self.working.is_empty()
    }

    /// Takes what one measured, which then has nothing left to do.
    pub fn note_done(&mut self, rank: u32, records: Vec<CellRecord>, failure: Option<Failed>) {
        self.leave(rank);
        self.done.insert(rank, records);
        // Whoever was told to end may not have got far.
        if let (Some(failed), false) = (failure, self.is_cut) {
            self.failed.get_or_insert((rank, failed));
        }
    }

    pub fn note_lost(&mut self, rank: u32, at_ns: u64) {
        self.leave(rank);
        self.lost_ns.insert(rank, at_ns);
    }

    fn leave(&mut self, rank: u32) {
        self.working.remove(&rank);
        self.armed.remove(&rank);
        self.news.remove(&rank);
        self.rounds.remove(&rank);
        self.levels.remove(&rank);
    }
}

/// Takes note of who has told a warning.
pub(super) fn note_warning(all: &mut Vec<(Warning, Vec<u32>)>, rank: u32, warning: Warning) {
    let place = all.iter().position(|(it, _)| *it == warning);
    match place {
        Some(place) => all[place].1.push(rank),
        None if all.len() < WARNINGS_MAX => all.push((warning, vec![rank])),
        None => {}
    }
}
