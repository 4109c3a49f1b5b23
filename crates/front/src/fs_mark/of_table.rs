//! Output of the original for a run of the table, in which each stage of an iteration is a phase.

use description::classics::fs_mark::{FsMarkPlan, REMOVE, SYNC, SYNC_ALL};
use plan::program::Program;
use results::{CellRecord, RoundFigures, RunRecord};
use units::printable;

use super::rows::{Banner, CTIME, Rows};
use crate::TableText;

/// Output of fs_mark for its table.
pub const TEXT: TableText = TableText {
    title: "fs-mark",
    text: of_table,
};

/// The output with columns for each kind of call, like `-v`; `None` if the calls were not measured.
fn of_table(record: &RunRecord, program: &Program, phases: &[&CellRecord]) -> Option<String> {
    let plan = &FsMarkPlan::of_program(program)?;
    let rounds = iterations(plan, phases);
    // Records of format 1 lack the times of the threads.
    if rounds.is_empty() || rounds.iter().any(|round| round.workers.is_empty()) {
        return None;
    }
    let command: Vec<String> = record
        .command
        .iter()
        .map(|word| printable(word).into_owned())
        .collect();
    let started_at = phases.first().and_then(|phase| phase.started_at);
    let started_at = started_at.unwrap_or(record.started_at);
    let banner = Banner {
        command: &command,
        // In UTC, since a record does not contain its time zone.
        started_at: &started_at.strftime(CTIME).to_string(),
        plan,
        is_verbose: true,
    };
    let mut rows = Rows::new(plan.clone(), banner.is_verbose);
    let rows: String = rounds.iter().map(|round| rows.next(round)).collect();
    Some(banner.text() + &rows)
}

/// Completed iterations with the results of all phases. Older records have all results in the first
/// phase.
pub fn iterations(plan: &FsMarkPlan, phases: &[&CellRecord]) -> Vec<RoundFigures> {
    let Some((first, others)) = phases.split_first() else {
        return Vec::new();
    };
    let mut rounds = rounds(first).to_vec();
    for phase in others {
        let more = self::rounds(phase);
        for (round, more) in rounds.iter_mut().zip(more) {
            add(round, phase.phase.name(), more);
        }
    }
    rounds.retain(|round| has_rate(plan, round));
    rounds
}

/// `true` if the round has all of its files; the rate of an incomplete round is meaningless.
pub(super) fn has_rate(plan: &FsMarkPlan, round: &RoundFigures) -> bool {
    round.file_count >= u64::from(plan.file_count) * u64::from(plan.thread_count)
}

fn rounds(phase: &CellRecord) -> &[RoundFigures] {
    let figures = phase.phase_figures.as_ref();
    figures.map_or(&[], |figures| &figures.rounds)
}

fn add(round: &mut RoundFigures, phase: &str, more: &RoundFigures) {
    // The original's loop time includes the syncs but not the removal.
    if [SYNC_ALL, SYNC].contains(&phase) {
        round.time_ns += more.time_ns;
    }
    match phase {
        SYNC_ALL => {
            round.sync_ns = Some(more.time_ns);
            for worker in &mut round.workers {
                worker.time_ns += more.time_ns;
            }
        }
        SYNC | REMOVE => {
            let kind = if phase == SYNC { "fsync" } else { "unlink" };
            for (worker, more) in round.workers.iter_mut().zip(&more.workers) {
                if phase == SYNC {
                    worker.time_ns += more.time_ns;
                }
                let times = more.calls.get_key_value(kind);
                worker
                    .calls
                    .extend(times.map(|(kind, times)| (kind.clone(), *times)));
            }
        }
        _ => {}
    }
    round.space = more.space.or(round.space);
}
