//! `show`: prints a workload as pgmeter understands it, or the report of a stored run.

use description::builtin::Builtin;
use description::reference::template;
use description::{to_tables, to_toml};
use front::LoadOptions;
use planning::ShownWorkload;
use report::{ShownRepetitions, SideBySide, TableFormat, VerdictPosition, render_text};

use super::lab::stored::with_runs;
use super::runs::list::{list_of, text_of};
use crate::args::{JsonArg, ShowArgs};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::format::repetitions;
use crate::input::{FoundWorkloads, find};
use crate::stored::{StoreLocation, names_a_run};
use crate::terminal::OutputStream;

/// Prints the template, a built-in workload as written, a workload file as parsed, or the report of
/// a run.
pub(crate) fn show(args: &ShowArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    // With `--as`, the name can only be a file.
    let builtin = args.name.as_deref().filter(|_| args.kind.is_none());
    let builtin = builtin.and_then(|name| description::builtin::find(name).ok());
    let name = args.name.as_deref().filter(|_| builtin.is_none());
    if let Some(run) = name.filter(|name| args.kind.is_none() && names_a_run(name)) {
        return show_stored((run, repetitions(args.all)), location, &args.json);
    }
    let output = args.json.open()?;
    let shown = shown(args, builtin.as_ref())?;
    for warning in &shown.warnings {
        tell_text!("{warning}\n");
    }
    output.give(&shown, || OutputText::Data(shown.toml.clone()))?;
    Ok(Exit::Success)
}

/// Returns the template, a built-in workload as written, or a workload file as parsed.
fn shown(args: &ShowArgs, builtin: Option<&Builtin>) -> Result<ShownWorkload, CliError> {
    let Some(name) = &args.name else {
        return Ok(ShownWorkload {
            name: None,
            toml: template(),
            workloads: Vec::new(),
            warnings: Vec::new(),
        });
    };
    let options = LoadOptions {
        kind: args.kind,
        ..LoadOptions::default()
    };
    let loaded = match builtin {
        Some(builtin) => FoundWorkloads::builtin(builtin.name)?,
        None => find(name, options)?,
    };
    let toml = match builtin {
        Some(builtin) => builtin.text.to_owned(),
        None => {
            let understood = loaded.workloads.iter().map(to_toml);
            understood.collect::<Result<Vec<_>, _>>()?.join("\n")
        }
    };
    let tables = loaded.workloads.iter().map(to_tables);
    Ok(ShownWorkload {
        name: Some(name.clone()),
        toml,
        workloads: tables.collect::<Result<_, _>>()?,
        warnings: loaded.warnings,
    })
}

/// Prints the report of a stored run, the table of a lab, or the runs of a lab without a record. As
/// JSON, prints the underlying records.
pub(crate) fn show_stored(
    (name, repetitions): (&str, ShownRepetitions),
    place: &StoreLocation,
    json: &JsonArg,
) -> Result<Exit, CliError> {
    let output = json.open()?;
    let store = place.open_for(name)?;
    let page = || OutputStream::Output.page();
    match store.find(name)? {
        store::FoundName::Run(id) => {
            let run = store.load(&id)?;
            let text = || {
                OutputText::prose(render_text(
                    &run,
                    repetitions,
                    VerdictPosition::First,
                    page(),
                ))
            };
            output.give(&run, text)?;
        }
        store::FoundName::Lab(id) => {
            let lab = with_runs(&id, &store)?;
            let text = || OutputText::prose(SideBySide::of(&lab).render(TableFormat::Text, page()));
            output.give(&lab, text)?;
        }
        store::FoundName::Tagged { tag, ids } => {
            tell!("there is no table of `{tag}` in the store; these are its runs");
            let runs = list_of(&store, &ids)?;
            output.give(&runs, || OutputText::prose(text_of(&runs)))?;
        }
    }
    Ok(Exit::Success)
}
