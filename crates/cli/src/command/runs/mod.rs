//! `runs`: the results store.

mod import;
pub(super) mod list;
mod remove;
mod row;

use report::ShownRepetitions;
use store::{Store, StoreError};

use crate::args::{RunsAction, RunsArgs};
use crate::command::show::show_stored;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::write_new;
use crate::stored::StoreLocation;

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
        RunsAction::Import { files, json } => import::import(files, location, json)?,
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
