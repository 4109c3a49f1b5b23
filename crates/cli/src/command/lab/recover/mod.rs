//! `lab recover`: kills kernels while they write, then checks that synced data survived.

mod table;

use std::sync::atomic::Ordering;

use lab::recovery::RecoveryTrials;
use lab::{FileSystemChoice, LabMedium, MediumKind};
use report::SideBySide;
use results::LabRecord;

use super::progress::LabProgress;
use super::stored::{keep, page_name, page_of_lab};
use crate::args::{LabRecoverArgs, TableFormatArg, VmArg};
use crate::failure::{CliError, Exit};
use crate::pages::TablePage;
use crate::signals::stop_flag;
use crate::stored::StoreLocation;
use crate::usage::command_words;

/// Runs the trials and prints how much data survived.
pub(super) fn recover(
    args: &LabRecoverArgs,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let json = args.table.open()?;
    let mut page = TablePage::open(&args.page, location, args.table.quiet)?;
    // The record contains the start time and the state of the machine, so it precedes the trials.
    let start = LabRecord::new(storage::environment(&[]), command_words());
    let directory = args.place.dir.clone();
    let directory = directory.unwrap_or_else(lab::default_directory);
    let trials = trials(args, &directory)?;
    let progress = LabProgress::new(args.table.quiet, &trials.choices, &[]);
    let stop = stop_flag(on_second_interrupt)?;
    let outcome = trials.run(&directory, &progress, &stop)?;
    let record = table::record(&trials, &outcome, start);
    let table = SideBySide::of(&record);
    let render = |format, page| table.render_measured(format, page);
    let printed = args.table.print(json, &record, render);
    if !args.no_db && !outcome.trials.is_empty() {
        keep(&record, location, args.table.quiet);
    }
    if args.table.format()? == TableFormatArg::Html || outcome.trials.is_empty() {
        page.skip_automatic_page();
    }
    let paged = page.finish(&page_name(&record), || page_of_lab(&record));
    printed.and(paged)?;
    Ok(outcome.verdict(stop.load(Ordering::Relaxed)).into())
}

/// Reads the arguments, and refuses those that are sure to fail.
fn trials(args: &LabRecoverArgs, directory: &std::path::Path) -> Result<RecoveryTrials, CliError> {
    let choices = FileSystemChoice::read_all(&args.fs)?;
    let medium = LabMedium {
        kind: MediumKind::Loop,
        size_bytes: args.image_size.0,
        overwrite_devices: Vec::new(),
    };
    // Another kind of guest would make this pattern fail to compile.
    let VmArg::Uml = args.vm;
    let host = lab::vm::check(&choices, &medium, directory, args.vm_memory.0)?;
    Ok(RecoveryTrials {
        choices,
        medium,
        host,
        trial_count: args.trials,
        seed: args.seed,
        really_syncs: !args.no_fsync,
    })
}
