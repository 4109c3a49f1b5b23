//! `show`: a workload as pgmeter understands it, or the report of a stored run.

use description::builtin::Builtin;
use description::reference::template;
use description::source::{LoadOptions, load_builtin};
use description::{in_tables, to_toml};
use planning::ShownWorkload;
use report::{Repetitions, SideBySide, TableFormat, render_text};
use store::Found;

use super::lab::stored::with_runs;
use super::runs::list::{list_of, text_of};
use crate::args::{JsonArg, KindArg, ShowArgs};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::format::repetitions;
use crate::input::find;
use crate::stored::{Place, names_a_run};
use crate::terminal::Stream;

/// Prints the template, a built-in workload as it is written, a file as it is understood, and of a
/// run the report.
pub(crate) fn show(args: &ShowArgs, place: &Place) -> Result<Exit, Failure> {
    let builtin = args.name.as_deref().filter(|_| args.kind.is_none());
    let builtin = builtin.and_then(|name| description::builtin::find(name).ok());
    let name = args.name.as_deref().filter(|_| builtin.is_none());
    if let Some(run) = name.filter(|name| args.kind.is_none() && names_a_run(name)) {
        return show_stored((run, repetitions(args.all)), place, &args.json);
    }
    let output = args.json.open()?;
    let shown = shown(args, builtin.as_ref())?;
    for warning in &shown.warnings {
        tell_text!("{warning}\n");
    }
    output.give(&shown, || Document::Data(shown.toml.clone()))?;
    Ok(Exit::Measured)
}

/// The template, a built-in workload as it is written, or a file as it is understood.
fn shown(args: &ShowArgs, builtin: Option<&Builtin>) -> Result<ShownWorkload, Failure> {
    let Some(name) = &args.name else {
        return Ok(ShownWorkload {
            name: None,
            toml: template(),
            workloads: Vec::new(),
            warnings: Vec::new(),
        });
    };
    let options = LoadOptions {
        kind: args.kind.and_then(KindArg::source),
        ..LoadOptions::default()
    };
    let loaded = match builtin {
        Some(builtin) => load_builtin(builtin.name)?.into(),
        None => find(name, args.kind, &options)?,
    };
    let toml = match builtin {
        Some(builtin) => builtin.text.to_owned(),
        None => {
            let understood = loaded.workloads.iter().map(to_toml);
            understood.collect::<Result<Vec<_>, _>>()?.join("\n")
        }
    };
    let in_tables = loaded.workloads.iter().map(in_tables);
    Ok(ShownWorkload {
        name: Some(name.clone()),
        toml,
        workloads: in_tables.collect::<Result<_, _>>()?,
        warnings: loaded.warnings,
    })
}

/// Prints the report of a stored run, the table of a lab, or the runs of a lab that has none; or
/// what they are made of.
pub(crate) fn show_stored(
    (name, repetitions): (&str, Repetitions),
    place: &Place,
    json: &JsonArg,
) -> Result<Exit, Failure> {
    let output = json.open()?;
    let store = place.open_for(name)?;
    let page = || Stream::Output.page();
    match store.find(name)? {
        Found::Run(id) => {
            let run = store.load(&id)?;
            let text = || Document::prose(render_text(&run, repetitions, page()));
            output.give(&run, text)?;
        }
        Found::Lab(id) => {
            let lab = with_runs(&id, &store)?;
            let text = || Document::prose(SideBySide::of(&lab).render(TableFormat::Text, page()));
            output.give(&lab, text)?;
        }
        Found::Tagged { tag, ids } => {
            tell!("there is no table of `{tag}` in the store; these are its runs");
            let runs = list_of(&store, &ids)?;
            output.give(&runs, || Document::prose(text_of(&runs)))?;
        }
    }
    Ok(Exit::Measured)
}
