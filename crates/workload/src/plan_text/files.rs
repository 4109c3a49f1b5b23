//! What a cell does with many files, for people.

use units::Bytes;
use units::format::size;

use crate::classics::fs_mark::{FsMarkPlan, Subdirectories, SyncMethod};
use crate::plan::{Cell, FilePlan};
use crate::program::Program;

/// The sentences about a cell's files, what is done first.
pub(super) fn sentences(cell: &Cell, files: &FilePlan) -> Vec<String> {
    let mut sentences = match files {
        FilePlan::FsMark(plan) => fs_mark(plan),
        FilePlan::Program(program) => of_program(program),
    };
    let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
    let bytes = spans.fold(0_u64, |sum, span| sum.saturating_add(span.size_bytes));
    sentences.push(format!("the files take up to {} at once", size(bytes)));
    sentences
}

/// What stands above the sentences.
pub(super) fn heading(cell: &Cell, files: &FilePlan) -> String {
    match (files, &cell.access_spec) {
        (FilePlan::Program(program), Some(title)) if program.pool.is_some() => {
            format!("files as {title} has them")
        }
        (FilePlan::Program(_), _) => "files, and what is done to them".to_owned(),
        (classic, _) => format!("files as {} has them", classic.name()),
    }
}

fn of_program(program: &Program) -> Vec<String> {
    let mut sentences = program.words();
    if program.space_needed().is_growing {
        let sentence = "files grow for as long as a phase lasts, which is counted as one round";
        sentences.push(sentence.to_owned());
    }
    sentences
}

fn fs_mark(plan: &FsMarkPlan) -> Vec<String> {
    let directories = match plan.subdirectories {
        Subdirectories::None => String::new(),
        Subdirectories::RoundRobin { count, .. } | Subdirectories::ByTime { count } => {
            format!(" in {count} subdirectories")
        }
    };
    let durable = match plan.sync_method {
        SyncMethod::None => "nothing is synced",
        SyncMethod::Fsync => "each is synced before it is closed",
        SyncMethod::SyncFirst => "then sync all, and the first file anew",
        SyncMethod::PostReverse => "then sync each, from the last to the first",
        SyncMethod::SyncPostReverse => "then sync all, and each from the last to the first",
        SyncMethod::Post => "then sync each, from the first to the last",
        SyncMethod::SyncPost => "then sync all, and each from the first to the last",
    };
    let times = match (plan.until_full, plan.iterations) {
        (true, _) => "again and again until the file system is full".to_owned(),
        (false, 1) => "once".to_owned(),
        (false, count) => format!("{count} times"),
    };
    let kept = if plan.is_kept { "kept" } else { "removed" };
    vec![
        format!(
            "each of {} threads: create {} files of {}{directories}; {durable}",
            plan.thread_count,
            plan.file_count,
            Bytes(plan.size_bytes)
        ),
        format!("{times}; the files of an iteration are {kept}"),
    ]
}
