//! `show`: a workload as pgmeter understands it, or the report of a stored run.

use report::{Format, render};
use results::RunRecord;
use workload::source::LoadOptions;
use workload::to_toml;

use crate::args::{KindArg, ShowArgs};
use crate::failure::{Exit, Failure};
use crate::input::find;
use crate::output::{page, print};
use crate::stored::{Place, names_a_run};

/// Prints a built-in workload as it is written, a file as it is understood, and of a run the
/// report.
pub(crate) fn show(args: &ShowArgs, place: &Place) -> Result<Exit, Failure> {
    if args.kind.is_none()
        && let Ok(builtin) = workload::builtin::find(&args.name)
    {
        print(builtin.text)?;
        return Ok(Exit::Measured);
    }
    if args.kind.is_none() && names_a_run(&args.name) {
        return show_run(&place.open_for(&args.name)?.load(&args.name)?);
    }
    let options = LoadOptions {
        kind: args.kind.map(KindArg::kind),
        ..LoadOptions::default()
    };
    let loaded = find(&args.name, &options)?;
    for warning in &loaded.warnings {
        tell!("{warning}");
    }
    let texts: Vec<String> = loaded.workloads.iter().map(to_toml).collect();
    print(&texts.join("\n"))?;
    Ok(Exit::Measured)
}

/// Prints the report of a run.
pub(crate) fn show_run(record: &RunRecord) -> Result<Exit, Failure> {
    let page = page(&std::io::stdout());
    print(&render(record, Format::Text, page))?;
    Ok(Exit::Measured)
}
