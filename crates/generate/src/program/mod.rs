//! Interpreter for programs of work on files: acts become requests, and completions determine the
//! next ones.
//!
//! A worker's part of a phase is compiled once, before the phase begins, and then executed without
//! allocation. Workers share the existence of files, turns and amounts of work through
//! [`FileStates`], [`SharedTurnCounters`] and [`GroupProgress`].

mod code;
mod compile;
mod file_cursor;
mod grown;
mod interpreter;
mod phase_end;
mod pick;
mod sampler;
mod slot;
mod states;
mod steps;
mod tokens;
mod walks;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex};

use plan::program::{Group, Law, Program, ProgramPhase};

use crate::GenerateError;

pub use compile::transaction_names;
pub use grown::{GrownTree, grown_trees};
pub use interpreter::{Amounts, CallFailure, FastPath, Interpreter, StageTimes, StonewallProgress};
pub use phase_end::{MaxRoundsReporter, PhaseEnd};
pub use pick::each_once;
pub use states::FileStates;
pub use steps::StepCounter;
pub use tokens::{MeetingReport, MeetingReporter, PhaseWaits};

/// Returns the size in bytes of each file of a fileset whose sizes follow `law`. `seed` is the
/// [seed of the program](WorkerContext::program_seed), and `number` that of the fileset.
///
/// # Errors
///
/// Sizes cannot be drawn by this law.
pub fn file_sizes(
    law: &Law,
    seed: u64,
    number: u8,
) -> Result<impl Fn(u32) -> u64 + use<>, GenerateError> {
    let sizes = code::FileSizes::by_law(law)?;
    Ok(move |file| sizes.of(seed, number, file))
}

/// Context of a worker: everything that determines its part of a phase.
#[derive(Debug)]
pub struct WorkerContext<'a> {
    /// The program of which the worker executes a phase.
    pub program: &'a Program,
    /// Phase of the program.
    pub phase: &'a ProgramPhase,
    /// Group of the phase.
    pub group: &'a Group,
    /// Index of the worker in the group, 0-based.
    pub worker_index: u32,
    /// Number of workers in the group.
    pub worker_count: u32,
    /// Number of flows in progress at the same time.
    pub slot_count: u32,
    /// Seed of this worker in this phase.
    pub seed: u64,
    /// Seed of the program, which determines the sizes of files.
    pub program_seed: u64,
    /// State of the files, by fileset.
    pub states: &'a [Arc<FileStates>],
    /// Turns that the group's workers share.
    pub shared: &'a SharedTurnCounters,
    /// Progress of the group.
    pub progress: &'a Arc<GroupProgress>,
    /// End of the phase for all of its workers.
    pub phase_end: &'a Arc<PhaseEnd>,
    /// Tokens and meetings for which the workers of the phase wait.
    pub waits: &'a Arc<PhaseWaits>,
    /// The engine's code for each way to open.
    pub open_codes: &'a [u64],
    /// Rounds of computation per microsecond of a `burn`; see [`Interpreter::compute`].
    pub rounds_per_us: f64,
    /// `true` if only the files that exist before the first phase are created, by picks in turn.
    pub is_initial: bool,
    /// What counts as a transaction.
    pub unit: TransactionUnit,
    /// `true` if requests give their offset in the file, so that its content can depend on it.
    pub is_checked: bool,
    /// Number of rounds, regardless of the group's quotas; `None` if the quotas determine it.
    pub rounds: Option<u64>,
}

/// What counts as a transaction of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionUnit {
    /// The transactions that the program names, or else each round.
    #[default]
    Declared,
    /// Each round.
    Round,
    /// Each round, begun when it is due.
    DueRound,
}

/// Turns that the workers of a group share, by pick and by deck.
#[derive(Debug, Default)]
pub struct SharedTurnCounters {
    turns: Mutex<BTreeMap<(bool, usize), Arc<AtomicU32>>>,
}

/// Combined progress of the workers in a group.
#[derive(Debug, Default)]
pub struct GroupProgress {
    /// Amounts of the group's quotas, in order.
    amounts: Box<[AtomicU64]>,
}

impl GroupProgress {
    /// Progress for a group with `quota_count` quotas.
    #[must_use]
    pub fn new(quota_count: usize) -> Self {
        Self {
            amounts: (0..quota_count).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
