//! `runs`: the results store.

mod list;

use store::{Imported, Store, StoreError};

use crate::args::{RunsAction, RunsArgs};
use crate::command::show::show_run;
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::output::write_new;
use crate::stored::{Place, read_text, refused};
use crate::terminal::print;

/// Lists the stored runs, or does what is asked with some of them.
pub(crate) fn runs(args: &RunsArgs, place: &Place) -> Result<Exit, Failure> {
    let Some(action) = &args.action else {
        return list::list(&args.list, place);
    };
    match action {
        RunsAction::Show { run } => return show_run(&place.open_for(run)?.load(run)?),
        RunsAction::Rm { runs, force } => remove(runs, *force, place)?,
        RunsAction::Note { run, text } => {
            place.open_for(run)?.set_note(run, text)?;
        }
        RunsAction::Tag { run, tags } => change_tags(run, tags, place, Store::add_tag)?,
        RunsAction::Untag { run, tags } => change_tags(run, tags, place, Store::remove_tag)?,
        RunsAction::Export { run, output } => {
            let record = place.open_for(run)?.export(run)?;
            write_new(output.as_deref(), &Document::Json(record))?;
        }
        RunsAction::Import { files } => import(files, place)?,
    }
    Ok(Exit::Measured)
}

fn remove(runs: &[String], force: bool, place: &Place) -> Result<(), Failure> {
    let Some(first) = runs.first() else {
        return Ok(());
    };
    let mut store = place.open_for(first)?;
    // All are found before any is removed, after which `last` would be another.
    let mut ids = Vec::new();
    for run in runs {
        let id = store.resolve(run)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for id in ids {
        print(format!("removed {}\n", store.remove(&id, force)?))?;
    }
    Ok(())
}

type ChangeTag = fn(&mut Store, &str, &str) -> Result<String, StoreError>;

fn change_tags(
    run: &str,
    tags: &[String],
    place: &Place,
    change: ChangeTag,
) -> Result<(), Failure> {
    let mut store = place.open_for(run)?;
    for tag in tags {
        change(&mut store, run, tag)?;
    }
    Ok(())
}

fn import(files: &[std::path::PathBuf], place: &Place) -> Result<(), Failure> {
    let mut store = place.open()?;
    for file in files {
        let text = read_text(file)?;
        let told = match store.import(text.as_bytes()) {
            Ok(Imported::New(id)) => format!("imported {id}\n"),
            Ok(Imported::AlreadyThere(id)) => format!("{id} was there already, the same\n"),
            Err(error @ (StoreError::Unreadable(_) | StoreError::BadRecord { .. })) => {
                return Err(refused(file, &error));
            }
            Err(error) => return Err(error.into()),
        };
        print(told)?;
    }
    Ok(())
}
