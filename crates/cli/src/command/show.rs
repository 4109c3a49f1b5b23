//! `show`: a workload as pgmeter understands it, or the report of a stored run.

use report::{Format, render};
use results::RunRecord;
use workload::reference::template;
use workload::source::LoadOptions;
use workload::to_toml;

use crate::args::{KindArg, ShowArgs};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::input::find;
use crate::stored::{Place, names_a_run};
use crate::terminal::{Stream, print, print_document};

/// Prints the template, a built-in workload as it is written, a file as it is understood, and of a
/// run the report.
pub(crate) fn show(args: &ShowArgs, place: &Place) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        print_document(&Document::Data(template()))?;
        return Ok(Exit::Measured);
    };
    if args.kind.is_none()
        && let Ok(builtin) = workload::builtin::find(name)
    {
        print_document(&Document::Data(builtin.text.to_owned()))?;
        return Ok(Exit::Measured);
    }
    if args.kind.is_none() && names_a_run(name) {
        return show_run(&place.open_for(name)?.load(name)?);
    }
    let options = LoadOptions {
        kind: args.kind.map(KindArg::kind),
        ..LoadOptions::default()
    };
    let loaded = find(name, &options)?;
    for warning in &loaded.warnings {
        tell_text!("{warning}\n");
    }
    let texts: Vec<String> = loaded.workloads.iter().map(to_toml).collect();
    print_document(&Document::Data(texts.join("\n")))?;
    Ok(Exit::Measured)
}

/// Prints the report of a run.
pub(crate) fn show_run(record: &RunRecord) -> Result<Exit, Failure> {
    print(render(record, Format::Text, Stream::Output.page()))?;
    Ok(Exit::Measured)
}
