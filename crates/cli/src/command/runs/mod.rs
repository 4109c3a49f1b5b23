//! `runs`: the results store.

pub(super) mod list;
mod remove;
mod row;

use std::path::{Path, PathBuf};

use report::ShownRepetitions;
use store::{Imported, ImportedRun, RunsImported, Store, StoreError};

use crate::args::{JsonArg, RunsAction, RunsArgs};
use crate::command::show::show_stored;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::write_new;
use crate::stored::{StoreLocation, read_text, refused};
use crate::terminal::print;

/// Lists the stored runs, or applies an action to some of them.
pub(crate) fn runs(args: &RunsArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    let Some(action) = &args.action else {
        return list::list(&args.list, location);
    };
    match action {
        RunsAction::Show { run, json } => {
            return show_stored((run, ShownRepetitions::Means), location, json);
        }
        RunsAction::Rm {
            runs,
            dry_run,
            force,
            json,
        } => remove::remove(runs, (*force, *dry_run), location, json)?,
        RunsAction::Note { run, text } => {
            location.open_for(run)?.set_note(run, text)?;
        }
        RunsAction::Tag { run, tags } => change_tags(run, tags, location, Store::add_tag)?,
        RunsAction::Untag { run, tags } => change_tags(run, tags, location, Store::remove_tag)?,
        RunsAction::Export { run, output } => {
            let record = location.open_for(run)?.export(run)?;
            write_new(output.as_deref(), &OutputText::Json(record))?;
        }
        RunsAction::Import { files, json } => import(files, location, json)?,
    }
    Ok(Exit::Success)
}

type ChangeTag = fn(&mut Store, &str, &str) -> Result<String, StoreError>;

/// Adds tags to a run, or removes them.
pub(super) fn change_tags(
    run: &str,
    tags: &[String],
    location: &StoreLocation,
    change: ChangeTag,
) -> Result<(), CliError> {
    let mut store = location.open_for(run)?;
    for tag in tags {
        change(&mut store, run, tag)?;
    }
    Ok(())
}

fn import(files: &[PathBuf], location: &StoreLocation, json: &JsonArg) -> Result<(), CliError> {
    let output = json.open()?;
    let mut store = location.open()?;
    let mut done = RunsImported::default();
    // Each record has its own transaction, so the imported ones stay after an error.
    let outcome = files.iter().try_for_each(|file| -> Result<(), CliError> {
        let imported = import_file(file, &mut store)?;
        if !output.takes_stdout() {
            print(match &imported {
                Imported::New(id) => format!("imported {id}\n"),
                Imported::AlreadyStored(id) => format!("{id} is in the store already\n"),
            })?;
        }
        let file = file.to_string_lossy().into_owned();
        done.imported.push(ImportedRun::of(file, imported));
        Ok(())
    });
    // Report the imported records even if an error stopped the import.
    output.write(&done).and(outcome)
}

fn import_file(file: &Path, store: &mut Store) -> Result<Imported, CliError> {
    let text = read_text(file)?;
    store.import(text.as_bytes()).map_err(|error| match error {
        StoreError::Unreadable(_) | StoreError::BadRecord { .. } => refused(file, &error),
        error => error.into(),
    })
}
