//! Programs of work on files, carried out: acts become requests, completions lead on.
//!
//! A worker's part of a phase is compiled once, before the phase begins, and then carried out
//! without allocation. What several workers share (which files exist, whose turn it is, how much
//! all of them did) lies in [`FileStates`], [`SharedTurns`] and [`Progress`].

mod code;
mod compile;
mod grown;
mod interpreter;
mod phase_end;
mod pick;
mod sampler;
mod slot;
mod states;
mod steps;
mod tokens;
mod trail;
mod walks;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex};

use plan::program::{Group, Program, ProgramPhase};

pub use compile::transaction_names;
pub use grown::{GrownTree, grown_trees};
pub use interpreter::{Amounts, CallFailure, Interpreter, Stamps, Straight, WallMark};
pub use phase_end::{PhaseEnd, TellRounds};
pub use pick::each_once;
pub use states::FileStates;
pub use steps::StepCounter;
pub use tokens::Waits;

/// Who works, and with what: all that a worker's part of a phase follows from.
#[derive(Debug)]
pub struct Seat<'a> {
    /// The program.
    pub program: &'a Program,
    /// The phase of it.
    pub phase: &'a ProgramPhase,
    /// The group of it.
    pub group: &'a Group,
    /// Which of the group's workers it is, 0-based.
    pub worker_index: u32,
    /// How many the group has.
    pub worker_count: u32,
    /// Flows in progress at once.
    pub slot_count: u32,
    /// The seed of this worker in this phase.
    pub seed: u64,
    /// The seed of all, from which the sizes of files follow.
    pub program_seed: u64,
    /// What is known of the files, by fileset.
    pub states: &'a [Arc<FileStates>],
    /// What the group's workers take in turn.
    pub shared: &'a SharedTurns,
    /// How far the group is.
    pub progress: &'a Arc<Progress>,
    /// How the phase ends for all of its workers.
    pub phase_end: &'a Arc<PhaseEnd>,
    /// What the workers of the phase wait for.
    pub waits: &'a Arc<Waits>,
    /// The engine's number of each way to open.
    pub way_codes: &'a [u64],
    /// Rounds of computing in a microsecond of a `burn`; see [`Interpreter::compute`].
    pub rounds_per_us: f64,
    /// Only the files are made that are there before the first phase, by picks in turn.
    pub initial: bool,
    /// What is counted as a transaction.
    pub unit: Unit,
    /// Whether requests say where in the file they go, so that its content can follow from that.
    pub is_checked: bool,
    /// Rounds that it does, whatever the group's quotas are; none where those say how many.
    pub rounds: Option<u64>,
}

/// What is counted as a transaction of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// What the program says, or else each round.
    #[default]
    Own,
    /// Each round.
    Round,
    /// Each round, which begins when it is due.
    DueRound,
}

/// Turns that the workers of a group take together, by pick and by deck.
#[derive(Debug, Default)]
pub struct SharedTurns {
    turns: Mutex<BTreeMap<(bool, usize), Arc<AtomicU32>>>,
}

/// How far the workers of a group are, together.
#[derive(Debug, Default)]
pub struct Progress {
    /// Amounts of the group's quotas, in their order.
    amounts: Box<[AtomicU64]>,
}

impl Progress {
    /// For a group with so many quotas.
    #[must_use]
    pub fn new(quota_count: usize) -> Self {
        Self {
            amounts: (0..quota_count).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
