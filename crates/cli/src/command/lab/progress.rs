//! How far labs and published experiments are.

use std::cell::RefCell;

use display::{ExpectedPart, Kind, Parts};
use lab::Job;
use results::{CellRecord, Phase, RunRecord, principal_phases};
use units::format;

use crate::terminal::surroundings;

/// What tells how far it is; nothing where nobody is to be told.
pub(super) fn progress(is_quiet: bool) -> RefCell<Parts> {
    let kind = if is_quiet { Kind::None } else { Kind::Line };
    RefCell::new(Parts::new(kind, surroundings()))
}

/// Parts that are to come, one for each job; `name` says what it is besides the repetition.
pub(super) fn parts(jobs: &[Job], name: impl Fn(&Job) -> String) -> Vec<ExpectedPart> {
    let is_repeated = jobs.iter().any(|job| job.repetition > 0);
    let part = |job: &Job| {
        let repetition = match is_repeated {
            true => format!(", repetition {}", job.repetition + 1),
            false => String::new(),
        };
        ExpectedPart {
            what: name(job) + &repetition,
            kind: job.workload_index,
        }
    };
    jobs.iter().map(part).collect()
}

/// What a job came to, in a word or two: its rate, where it has one.
pub(super) fn outcome(record: &RunRecord) -> String {
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
