//! Removing runs and labs.

use store::{Filter, FoundName, RunRow, RunStatus, RunsRemoved, Store, StoreError};
use units::printable;

use crate::args::JsonArg;
use crate::failure::CliError;
use crate::stored::StoreLocation;
use crate::terminal::{StandardOutput, print};

/// Runs and labs to remove, without duplicates.
#[derive(Debug, Default)]
struct RunsToRemove {
    runs: Vec<String>,
    labs: Vec<String>,
}

/// Removes the named runs, and labs with all their runs. With `is_dry_run`, only lists them.
pub(super) fn remove(
    names: &[String],
    (force, is_dry_run): (bool, bool),
    place: &StoreLocation,
    json: &JsonArg,
) -> Result<(), CliError> {
    let output = json.open()?;
    let Some(first) = names.first() else {
        return Ok(());
    };
    let mut store = place.open_for(first)?;
    // Resolve all names before removing anything, because `last` would then mean another run.
    let removal = found(names, &store)?;
    if is_dry_run {
        if !output.takes_stdout() {
            print_all(&removal, force, &store)?;
        }
        return output.write(&RunsRemoved {
            removed: removal.runs,
            labs: removal.labs,
            is_dry_run,
        });
    }
    refuse_running(&removal, force, &store)?;
    let mut done = RunsRemoved::default();
    let outcome = remove_all(&removal, force, &mut store, (&mut done, output.stdout()));
    // Report the removed runs even if an error stopped the removal.
    output.write(&done).and(outcome)
}

fn remove_all(
    removal: &RunsToRemove,
    force: bool,
    store: &mut Store,
    (done, stdout): (&mut RunsRemoved, StandardOutput),
) -> Result<(), CliError> {
    let report = |text: String| match stdout {
        StandardOutput::Free => print(text),
        StandardOutput::Taken => Ok(()),
    };
    for id in &removal.runs {
        let id = store.remove(id, force)?;
        report(format!("removed {id}\n"))?;
        done.removed.push(id);
    }
    // If a run cannot be removed, its lab keeps its name for another attempt.
    for id in &removal.labs {
        store.remove_lab(id)?;
        report(format!("removed lab {id}\n"))?;
        done.labs.push(id.clone());
    }
    Ok(())
}

fn found(names: &[String], store: &Store) -> Result<RunsToRemove, CliError> {
    let all: Vec<String> = store
        .list(&Filter::default())?
        .into_iter()
        .map(|run| run.id)
        .collect();
    let mut removal = RunsToRemove::default();
    for name in names {
        let runs = match store.find(name)? {
            FoundName::Run(id) => vec![id],
            FoundName::Tagged { ids, .. } => ids,
            FoundName::Lab(id) => {
                let labs = store.labs()?;
                let lab = labs.into_iter().find(|lab| lab.id == id);
                let mut runs = lab.map_or(Vec::new(), |lab| lab.run_ids);
                // The user may have removed some of them separately.
                runs.retain(|run| all.contains(run));
                if !removal.labs.contains(&id) {
                    removal.labs.push(id);
                }
                runs
            }
        };
        for id in runs {
            if !removal.runs.contains(&id) {
                removal.runs.push(id);
            }
        }
    }
    Ok(removal)
}

/// If one run is still running, removes none: half a lab is useless.
fn refuse_running(removal: &RunsToRemove, force: bool, store: &Store) -> Result<(), CliError> {
    // `Store::remove` refuses a single running run with the same error.
    if force || removal.runs.len() < 2 {
        return Ok(());
    }
    let runs = rows(removal, store)?;
    match runs.iter().find(|run| run.status == RunStatus::Running) {
        Some(run) => Err(StoreError::Running { id: run.id.clone() }.into()),
        None => Ok(()),
    }
}

fn rows(removal: &RunsToRemove, store: &Store) -> Result<Vec<RunRow>, CliError> {
    let mut runs = store.list(&Filter::default())?;
    runs.retain(|run| removal.runs.contains(&run.id));
    Ok(runs)
}

fn print_all(removal: &RunsToRemove, force: bool, store: &Store) -> Result<(), CliError> {
    let mut text = String::new();
    for run in rows(removal, store)? {
        let workloads = run.workloads.join(", ");
        let would = match run.status {
            RunStatus::Running if !force => "would not remove, because it is running:",
            _ => "would remove",
        };
        let cells = match run.cell_count {
            1 => "1 cell".to_owned(),
            count => format!("{count} cells"),
        };
        let line = format!("{would} {} ({workloads}, {cells})", run.id);
        text.push_str(&printable(&line));
        text.push('\n');
    }
    for lab in store.labs()? {
        if removal.labs.contains(&lab.id) {
            let line = format!("would remove lab {} ({})", lab.id, lab.title);
            text.push_str(&printable(&line));
            text.push('\n');
        }
    }
    print(text)
}
