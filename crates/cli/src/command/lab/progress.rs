//! Progress of labs and published experiments.

use std::cell::RefCell;

use display::{DisplayKind, ExpectedPart, PartsDisplay};
use lab::recovery::Trial;
use lab::{FileSystemChoice, LabEvent, LabMeasurement, LabStep, LabWatcher, LabWorkload};
use results::{CellRecord, Phase, RunEvent, RunRecord, principal_phases};
use units::format;

use super::remarks::{alarm, name_of};
use crate::failure::CliError;
use crate::terminal::surroundings;

/// Shows the progress of a lab.
pub(super) struct LabProgress<'a> {
    // The trait gives `on_event` only a shared reference, and everything runs on one thread.
    parts: RefCell<PartsDisplay>,
    choices: &'a [FileSystemChoice],
    /// Empty for recovery trials.
    workloads: &'a [LabWorkload],
}

impl<'a> LabProgress<'a> {
    /// With `is_quiet`, shows nothing.
    pub fn new(
        is_quiet: bool,
        choices: &'a [FileSystemChoice],
        workloads: &'a [LabWorkload],
    ) -> Self {
        let kind = if is_quiet {
            DisplayKind::None
        } else {
            DisplayKind::Line
        };
        Self {
            parts: RefCell::new(PartsDisplay::new(kind, surroundings())),
            choices,
            workloads,
        }
    }

    /// Shows an event of a run that belongs to the lab.
    pub fn on_run_event(&self, event: &RunEvent) {
        self.parts.borrow_mut().on_event(event);
    }

    /// Hides the progress while `write` prints something else.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.parts.borrow().aside(write)
    }

    /// Returns the expected parts, one per job.
    fn expected(&self, jobs: &[LabMeasurement]) -> Vec<ExpectedPart> {
        let is_repeated = jobs.iter().any(|job| job.repetition > 0);
        let describe = |job: &LabMeasurement| {
            let number = job.repetition + 1;
            if self.workloads.is_empty() {
                let label = &self.choices[job.choice_index].label;
                return format!("{label}: trial {number}");
            }
            let name = name_of(job, self.choices, self.workloads);
            match is_repeated {
                true => format!("{name}, repetition {number}"),
                false => name,
            }
        };
        let part = |job: &LabMeasurement| ExpectedPart {
            description: describe(job),
            kind: job.workload_index,
        };
        jobs.iter().map(part).collect()
    }
}

impl LabWatcher for LabProgress<'_> {
    type Error = CliError;

    fn on_event(&self, event: LabEvent<'_>) {
        let mut parts = self.parts.borrow_mut();
        match event {
            LabEvent::Jobs(jobs) => parts.expect(self.expected(jobs)),
            LabEvent::Begin(index) => parts.begin(index),
            LabEvent::Step(step) => parts.step(&in_words(step)),
            LabEvent::Aged(aged) => {
                parts.say(&format!("  aged in {:.1} s: {aged}", aged.elapsed_s));
            }
            LabEvent::GuestLine(line) => {
                parts.tell(&format!("guest: {}", plan::printable(line)));
            }
            LabEvent::Failure(it) => parts.say(&alarm(it, self.choices)),
            LabEvent::Measured(record) => parts.done(&outcome(record)),
            LabEvent::RecoveryTested(trial) => parts.done(&in_short(trial)),
            LabEvent::End => parts.end(),
        }
    }
}

fn in_words(step: LabStep) -> String {
    let words = match step {
        LabStep::MeasureDevice => "measure the bare device, to find its peak",
        LabStep::MeasurePeak => "measure the target with direct I/O, to find its peak",
        LabStep::MakeFileSystem => "create the file system",
        LabStep::Age(None) => "aging",
        LabStep::Age(Some(share)) => return format!("aging {:.0} %", share * 100.0),
        LabStep::Sync => "sync the written data",
        LabStep::Unmount => "unmount",
        LabStep::StartGuest => "start the guest",
        LabStep::WriteUntilKilled => "write until the kernel is killed",
        LabStep::CheckSynced => "check the synced data",
    };
    words.to_owned()
}

/// Summarizes a job in a word or two: its rate, if it has a single one.
fn outcome(record: &RunRecord) -> String {
    let principal: Vec<&CellRecord> = principal_phases(&record.cells).collect();
    let [cell] = principal.as_slice() else {
        return "done".to_owned();
    };
    let rate = format::iops(cell.total.per_second);
    match cell.phase {
        Phase::Classic(_) => format!("{rate}/s"),
        _ => format!("{rate} IOPS"),
    }
}

/// Summarizes a trial in one line.
fn in_short(trial: &Trial) -> String {
    let killed = format!("killed after {} steps", trial.done_count);
    match &trial.mounted {
        Err(reason) => format!("{killed}, and not mounted again: {reason}"),
        Ok(mounted) => {
            let findings = &mounted.findings;
            format!(
                "{killed}; {} of {} promised files intact",
                findings.intact_count, findings.promised_count
            )
        }
    }
}
