//! Progress of a cell that several processes measure.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plan::Cell;
use results::{CellRecord, PreconditionRecord, RunEvent, Warning};
use run::{FileNews, MeetingId};

use super::live::RankProgress;
use super::meetings::Meetings;
use super::start_times::StageStarts;
use crate::message::{FailureMessage, MemberMessage};

/// Maximum number of different warnings kept per cell.
// A faulty or hostile process must not decide how much memory the leader uses.
const WARNINGS_MAX: usize = 1000;
const ROUNDS_AHEAD_MAX: usize = 4096;

pub(super) struct CellProgress {
    pub cell: u32,
    /// Number of workers in all processes.
    worker_count: usize,
    targets: BTreeSet<u32>,
    /// Number of processes that started the cell.
    pub rank_count: usize,
    /// Processes that are neither done nor lost.
    pub working: BTreeSet<u32>,
    /// Reported highest number of rounds, by process.
    pub max_rounds: BTreeMap<u32, u64>,
    pub meetings: Meetings,
    /// Operations per second of rounds that not all processes have reported yet.
    pub rounds: BTreeMap<u32, VecDeque<f64>>,
    /// Reported news of files, by process.
    pub news: BTreeMap<u32, Vec<FileNews>>,
    /// Processes that are ready for the next stage.
    pub ready: BTreeSet<u32>,
    pub stage_starts: StageStarts,
    /// Minimum time between the agreement on a start and the start, in nanoseconds.
    pub lead_ns: u64,
    /// The same minimum in round trips.
    pub lead_round_trips: u64,
    pub done: BTreeMap<u32, Vec<CellRecord>>,
    /// Preconditioning by target: sums over all processes, and the longest time.
    pub preconditions: BTreeMap<u32, PreconditionRecord>,
    pub failed: Option<(u32, FailureMessage)>,
    /// Time at which each lost process was lost, in nanoseconds of the leader's clock.
    pub lost_ns: BTreeMap<u32, u64>,
    pub live: RankProgress,
    /// `true` if the cell is to end early.
    pub is_cut_short: bool,
    /// Different warnings, with the processes that sent each.
    pub warnings: Vec<(Warning, Vec<u32>)>,
}

impl CellProgress {
    /// Creates the state of a cell that these processes start.
    pub fn new(cell: &Cell, ranks: Vec<u32>) -> Self {
        Self {
            cell: cell.index,
            worker_count: cell.workers.len(),
            targets: cell.target_indexes().collect(),
            rank_count: ranks.len(),
            working: ranks.into_iter().collect(),
            max_rounds: BTreeMap::new(),
            meetings: Meetings::default(),
            rounds: BTreeMap::new(),
            news: BTreeMap::new(),
            ready: BTreeSet::new(),
            stage_starts: StageStarts::default(),
            lead_ns: 0,
            lead_round_trips: 0,
            done: BTreeMap::new(),
            preconditions: BTreeMap::new(),
            failed: None,
            lost_ns: BTreeMap::new(),
            live: RankProgress::default(),
            is_cut_short: false,
            warnings: Vec::new(),
        }
    }

    /// `true` if a report is plausible for this cell.
    pub fn is_relevant(&self, report: &MemberMessage) -> bool {
        match report {
            MemberMessage::Armed | MemberMessage::Pong { .. } | MemberMessage::Begun { .. } => true,
            MemberMessage::News { .. } | MemberMessage::Level { .. } => true,
            MemberMessage::Meet { meeting } | MemberMessage::LeaveMeeting { meeting } => {
                Meetings::is_valid(*meeting)
            }
            MemberMessage::Preconditioned { targets } => targets
                .iter()
                .all(|it| self.targets.contains(&it.target_index)),
            // Limits how many rounds a process can be ahead of the others.
            MemberMessage::Round { .. } => {
                let mut waiting = self.rounds.values();
                waiting.all(|it| it.len() < ROUNDS_AHEAD_MAX)
            }
            MemberMessage::Measured { records, .. } => records
                .iter()
                .all(|it| it.index == self.cell && it.workers as usize <= self.worker_count),
            MemberMessage::Event { event } => match &**event {
                RunEvent::Interval { cell, .. } | RunEvent::Progress { cell, .. } => {
                    *cell == self.cell
                }
                _ => true,
            },
            _ => false,
        }
    }

    /// Records the preconditioning that a process did before the cell.
    pub fn note_preconditioned(&mut self, targets: Vec<PreconditionRecord>) {
        for written in targets {
            let sum = self.preconditions.entry(written.target_index);
            let sum = sum.or_insert_with(|| PreconditionRecord {
                bytes: 0,
                errors: 0,
                ..written.clone()
            });
            // Absurd numbers of a faulty process must not end the leader.
            sum.bytes = sum.bytes.saturating_add(written.bytes);
            sum.errors = sum.errors.saturating_add(written.errors);
            // The processes write at the same time.
            sum.time_ns = sum.time_ns.max(written.time_ns);
        }
    }

    /// `true` if all working processes are ready for the next stage.
    pub fn is_ready(&self) -> bool {
        !self.working.is_empty() && self.ready.len() == self.working.len()
    }

    /// `true` if all working processes have reported their highest number of rounds.
    pub fn has_levels(&self) -> bool {
        !self.working.is_empty() && self.max_rounds.len() == self.working.len()
    }

    /// A meeting at which the workers of all working processes have arrived.
    pub fn take_meeting(&mut self) -> Option<MeetingId> {
        self.meetings.take_complete(&self.working)
    }

    /// `true` if all working processes have reported their news of files.
    pub fn has_news(&self) -> bool {
        !self.working.is_empty() && self.news.len() == self.working.len()
    }

    /// Records a round that a process has finished.
    pub fn note_round(&mut self, rank: u32, per_second: f64) {
        self.rounds.entry(rank).or_default().push_back(per_second);
    }

    /// Operations per second of all processes in the next round that all have reported.
    pub fn take_round(&mut self) -> Option<f64> {
        let has_reported = |rank| self.rounds.get(rank).is_some_and(|it| !it.is_empty());
        if self.working.is_empty() || !self.working.iter().all(has_reported) {
            return None;
        }
        let rates = self.rounds.values_mut().filter_map(VecDeque::pop_front);
        // JSON has no infinity, so the sum is clamped.
        Some(rates.sum::<f64>().clamp(0.0, f64::MAX))
    }

    /// A process that waits for the others.
    pub fn waiting(&self) -> Option<u32> {
        self.ready.iter().chain(self.news.keys()).next().copied()
    }

    pub fn is_over(&self) -> bool {
        self.working.is_empty()
    }

    /// Stores the records of a process, which then has no work left.
    pub fn note_done(
        &mut self,
        rank: u32,
        records: Vec<CellRecord>,
        failure: Option<FailureMessage>,
    ) {
        self.leave(rank);
        self.done.insert(rank, records);
        // A failure after a stop order is not reported, because the process may not have got far.
        if let (Some(failed), false) = (failure, self.is_cut_short) {
            self.failed.get_or_insert((rank, failed));
        }
    }

    pub fn note_lost(&mut self, rank: u32, at_ns: u64) {
        self.leave(rank);
        self.lost_ns.insert(rank, at_ns);
    }

    fn leave(&mut self, rank: u32) {
        self.working.remove(&rank);
        self.ready.remove(&rank);
        self.news.remove(&rank);
        self.rounds.remove(&rank);
        self.max_rounds.remove(&rank);
        self.meetings.remove(rank);
    }
}

/// Records which processes sent a warning.
pub(super) fn note_warning(all: &mut Vec<(Warning, Vec<u32>)>, rank: u32, warning: Warning) {
    let position = all.iter().position(|(it, _)| *it == warning);
    match position {
        Some(place) => all[place].1.push(rank),
        None if all.len() < WARNINGS_MAX => all.push((warning, vec![rank])),
        None => {}
    }
}
