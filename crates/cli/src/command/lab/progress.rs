//! How far labs and published experiments are.

use std::cell::RefCell;

use display::{ExpectedPart, Kind, Parts};
use lab::recovery::Trial;
use lab::{Choice, Job, LabEvent, LabStep, LabWatcher, LabWorkload};
use results::{CellRecord, Phase, RunEvent, RunRecord, principal_phases};
use units::format;

use super::remarks::{alarm, name_of};
use crate::failure::Failure;
use crate::terminal::surroundings;

/// Shows how far a lab is.
pub(super) struct LabProgress<'a> {
    parts: RefCell<Parts>,
    choices: &'a [Choice],
    /// None where recovery is tried.
    workloads: &'a [LabWorkload],
}

impl<'a> LabProgress<'a> {
    /// Shows nothing where nobody is to be told.
    pub fn new(is_quiet: bool, choices: &'a [Choice], workloads: &'a [LabWorkload]) -> Self {
        let kind = if is_quiet { Kind::None } else { Kind::Line };
        Self {
            parts: RefCell::new(Parts::new(kind, surroundings())),
            choices,
            workloads,
        }
    }

    /// Shows what happens in a run that is part of the lab.
    pub fn hear_run(&self, event: &RunEvent) {
        self.parts.borrow_mut().hear(event);
    }

    /// Lets something be written that is no part of this.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.parts.borrow().aside(write)
    }

    /// Parts that are to come, one for each job.
    fn expected(&self, jobs: &[Job]) -> Vec<ExpectedPart> {
        let is_repeated = jobs.iter().any(|job| job.repetition > 0);
        let what = |job: &Job| {
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
        let part = |job: &Job| ExpectedPart {
            what: what(job),
            kind: job.workload_index,
        };
        jobs.iter().map(part).collect()
    }
}

impl LabWatcher for LabProgress<'_> {
    type Error = Failure;

    fn hear(&self, event: LabEvent<'_>) {
        let mut parts = self.parts.borrow_mut();
        match event {
            LabEvent::Jobs(jobs) => parts.expect(self.expected(jobs)),
            LabEvent::Begin(index) => parts.begin(index),
            LabEvent::Step(step) => parts.step(&in_words(step)),
            LabEvent::Aged(aged) => {
                parts.say(&format!("  aged in {:.1} s: {aged}", aged.elapsed_s));
            }
            LabEvent::GuestSaid(line) => {
                parts.tell(&format!("guest: {}", plan::printable(line)));
            }
            LabEvent::Alarm(it) => parts.say(&alarm(it, self.choices)),
            LabEvent::Measured(record) => parts.done(&outcome(record)),
            LabEvent::Tried(trial) => parts.done(&in_short(trial)),
            LabEvent::End => parts.end(),
        }
    }
}

fn in_words(step: LabStep) -> String {
    let words = match step {
        LabStep::MeasureDevice => "measure the bare device, to find its peak",
        LabStep::MeasurePeak => "measure the target past the page cache, to find its peak",
        LabStep::MakeFileSystem => "make the file system",
        LabStep::Age(None) => "aging",
        LabStep::Age(Some(share)) => return format!("aging {:.0} %", share * 100.0),
        LabStep::Sync => "make durable what was written",
        LabStep::Unmount => "unmount",
        LabStep::StartGuest => "start the guest",
        LabStep::WriteUntilKilled => "write until the kernel is killed",
        LabStep::LookForSynced => "look for what was synced",
    };
    words.to_owned()
}

/// What a job came to, in a word or two: its rate, where it has one.
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

/// What a trial came to, in a line.
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
