//! The table of a contest.

use std::collections::BTreeMap;
use std::time::Duration;

use lab::Layout;
use report::{Better, Extra};
use results::{
    LabColumn, LabRecord, LabSection, RunRecord, Status, Timestamp, WarningCode, WarningLevel,
};

use super::super::run::has_failure;
use super::contest::{Contest, Costs, Done, Entrant, Held};
use crate::failure::Exit;

const MIB: f64 = 1_048_576.0;

/// What a cost is called, which values are the better ones, and how it is read.
type Cost = (&'static str, Better, fn(&Costs) -> Option<f64>);

const SPLIT: &str = "aged: files in several extents, %";

/// Those that end in `s` are times.
const COSTS: [Cost; 12] = [
    ("sync afterwards, s", Better::Lower, |costs| {
        seconds(costs.sync)
    }),
    ("user writes, MiB", Better::Neither, |costs| {
        mebibytes(costs.user_written_bytes)
    }),
    ("device writes, MiB", Better::Lower, |costs| {
        mebibytes(costs.device_written_bytes)
    }),
    ("device per user byte", Better::Lower, |costs| {
        let (device, user) = costs.device_written_bytes.zip(costs.user_written_bytes)?;
        (user > 0).then(|| device as f64 / user as f64)
    }),
    ("segments cleaned", Better::Neither, |costs| {
        costs.cleaned_segments.map(|count| count as f64)
    }),
    ("cleaning wrote, MiB", Better::Neither, |costs| {
        mebibytes(costs.cleaning_written_bytes)
    }),
    ("trimmed, MiB", Better::Neither, |costs| {
        mebibytes(costs.trimmed_bytes)
    }),
    ("mkfs, s", Better::Lower, |costs| seconds(costs.mkfs)),
    ("unmount, s", Better::Lower, |costs| seconds(costs.unmount)),
    ("aged: full, %", Better::Neither, |costs| {
        costs.aged.map(|aged| aged.full_percent)
    }),
    ("aged: extents per file", Better::Lower, |costs| {
        layout(costs).map(|it| it.extents_per_file())
    }),
    (SPLIT, Better::Lower, |costs| {
        layout(costs).map(|it| it.split_percent())
    }),
];

fn layout(costs: &Costs) -> Option<Layout> {
    costs.aged.and_then(|aged| aged.layout)
}

fn seconds(span: Option<Duration>) -> Option<f64> {
    span.map(|span| span.as_secs_f64())
}

fn mebibytes(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|bytes| bytes as f64 / MIB)
}

/// The contest as a record: a section for each workload, file systems in columns.
pub(crate) fn record(
    contest: &Contest,
    held: &Held,
    (start, title): (LabRecord, String),
) -> LabRecord {
    let choices = &contest.asked.choices;
    let columns = choices.iter().zip(&held.described);
    let columns = columns.map(|(choice, described)| {
        let described = described.clone();
        LabColumn {
            name: choice.label.clone(),
            behind: described.unwrap_or_else(|| "not mounted".to_owned()),
        }
    });
    let notes = contest.entrants.iter().flat_map(|entrant| &entrant.notes);
    let all: Vec<usize> = (0..choices.len()).collect();
    let section = |(workload_index, entrant): (usize, &Entrant)| LabSection {
        heading: entrant.name.clone(),
        runs: all
            .iter()
            .map(|choice_index| {
                let done = of_job(held, workload_index, *choice_index);
                done.map(|done| done.record.id.clone()).collect()
            })
            .collect(),
        figures: costs(held, workload_index, &all),
        words: Vec::new(),
    };
    LabRecord {
        finished_at: Some(Timestamp::now()),
        title,
        is_of_guests: contest.asked.host.is_some(),
        remarks: contest.asked.remarks(),
        columns: columns.collect(),
        alarms: [&held.alarms[..], &shortfalls(contest, held)].concat(),
        sections: contest.entrants.iter().enumerate().map(section).collect(),
        notes: notes
            .chain(&held.notes)
            .cloned()
            .chain(doubts(&held.done))
            .collect(),
        runs: held.done.iter().map(|done| done.record.clone()).collect(),
        ..start
    }
}

/// What the jobs of a workload cost beside it on each of these file systems, as far as it is known.
pub(crate) fn costs(held: &Held, workload_index: usize, choices: &[usize]) -> Vec<Extra> {
    let samples = |choice_index: &usize, of: fn(&Costs) -> Option<f64>| {
        of_job(held, workload_index, *choice_index)
            .filter_map(|done| of(&done.costs))
            .collect()
    };
    let extras = COSTS.iter().map(|(label, better, of)| Extra {
        label: (*label).to_owned(),
        samples: choices.iter().map(|index| samples(index, *of)).collect(),
        better: *better,
        is_time: label.ends_with(", s"),
    });
    let is_known = |extra: &Extra| extra.samples.iter().any(|samples| !samples.is_empty());
    extras.filter(is_known).collect()
}

/// What became of a workload on a file system.
fn of_job(held: &Held, workload_index: usize, choice_index: usize) -> impl Iterator<Item = &Done> {
    let is_it = move |done: &&Done| {
        done.job.workload_index == workload_index && done.job.choice_index == choice_index
    };
    held.done.iter().filter(is_it)
}

/// Which jobs did other work than those beside them: operations failed, or files ran out.
pub(crate) fn shortfalls(contest: &Contest, held: &Held) -> Vec<String> {
    let mut alarms = Vec::new();
    for done in &held.done {
        let label = &contest.asked.choices[done.job.choice_index].label;
        let job = format!(
            "{}, repetition {}",
            contest.entrants[done.job.workload_index].name,
            done.job.repetition + 1
        );
        if let Some((count, kinds)) = failures(&done.record) {
            alarms.push(format!(
                "{label}: {count} operations of {job}, failed ({kinds})"
            ));
        }
        let warnings = done.record.warnings.iter();
        let depleted = warnings.filter(|it| it.code == WarningCode::PoolDepleted);
        alarms.extend(depleted.map(|it| format!("{label}: {job}: {}", it.message)));
    }
    alarms
}

/// How many operations of a run failed, if any did, and how.
fn failures(record: &RunRecord) -> Option<(u64, String)> {
    let count: u64 = record.cells.iter().map(|it| it.total.errors).sum();
    let errors = record.cells.iter().flat_map(|cell| &cell.errors);
    let mut kinds: Vec<&str> = errors.map(|error| error.message.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    (count > 0).then(|| (count, kinds.join(", ")))
}

/// Which warnings the runs had, each once with how many had it.
fn doubts(done: &[Done]) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for done in done {
        let mut codes: Vec<&WarningCode> = done
            .record
            .warnings
            .iter()
            .filter(|warning| warning.level() == WarningLevel::Warning)
            .map(|warning| &warning.code)
            .collect();
        codes.sort();
        codes.dedup();
        for code in codes {
            *counts.entry(code.to_string()).or_default() += 1;
        }
    }
    if counts.is_empty() {
        return None;
    }
    let told = "`pgmeter show RUN` prints them.";
    if let [_] = done {
        let codes: Vec<&str> = counts.keys().map(String::as_str).collect();
        return Some(format!("Warnings: {}; {told}", codes.join(", ")));
    }
    let each: Vec<String> = counts
        .iter()
        .map(|(code, count)| format!("{code} ({count})"))
        .collect();
    Some(format!(
        "Warnings of the {} runs, and how many had each: {}; {told}",
        done.len(),
        each.join(", ")
    ))
}

/// What the exit code says of a contest.
pub(crate) fn exit(held: &Held, is_stopped: bool) -> Exit {
    let records = || held.done.iter().map(|done| &done.record);
    if !held.alarms.is_empty() {
        return Exit::System;
    }
    if is_stopped || records().any(|record| record.status == Status::Interrupted) {
        return Exit::Interrupted;
    }
    if records().any(has_failure) {
        return Exit::Failed;
    }
    Exit::Measured
}

#[cfg(test)]
mod tests {
    use results::Warning;

    use super::*;
    use crate::command::run::tests::complete_record;

    #[test]
    fn a_lab_whose_target_went_away_has_failed_as_a_run_would() {
        let record = complete_record();
        let mut held = Held::default();
        let job = lab::Job {
            choice_index: 0,
            workload_index: 0,
            repetition: 0,
        };
        held.done.push(Done {
            job,
            record,
            costs: Costs::default(),
        });
        assert_eq!(exit(&held, false), Exit::Measured);
        let lost = Warning::of_cell(WarningCode::TargetLost, 0, "gone");
        held.done[0].record.warnings.push(lost);
        assert_eq!(exit(&held, false), Exit::Failed);
    }
}
