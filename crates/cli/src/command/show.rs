//! `show`: a workload as pgmeter understands it.

use workload::to_toml;

use crate::args::ShowArgs;
use crate::failure::{Exit, Failure};
use crate::input::find;
use crate::output::print;

/// Prints a built-in workload as it is written, and a file as it is understood.
pub(crate) fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    if args.kind.is_none()
        && let Ok(builtin) = workload::builtin::find(&args.name)
    {
        print(builtin.text)?;
        return Ok(Exit::Measured);
    }
    let loaded = find(&args.name, args.kind, false)?;
    for warning in &loaded.warnings {
        eprintln!("{warning}");
    }
    let texts: Vec<String> = loaded.workloads.iter().map(to_toml).collect();
    print(&texts.join("\n"))?;
    Ok(Exit::Measured)
}
