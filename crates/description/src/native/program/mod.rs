//! Programs as tables of a workload file, which read back to the same program.
//!
//! A program has numbers where a file has names: handles are named after the filesets that their
//! files are from, and what has no name of its own is numbered.

mod acts;
mod calls;
mod laws;
mod names;
mod phases;
mod sets;
#[cfg(test)]
mod tests;

use crate::check::program;
use crate::model::Workload;
use names::Names;
use plan::CacheMode;
use plan::{Diagnostic, printable};

/// Something of a program that a workload file has no words for.
struct Unsaid(String);

impl Unsaid {
    fn diagnostic(self, workload: &Workload) -> Diagnostic {
        let name = printable(workload.name_or_default());
        let message = format!("`{name}` cannot be converted: {}", self.0);
        Diagnostic::error("", message).help("run the file itself")
    }
}

/// The workload with the program that another program's file stands for in tables.
///
/// # Errors
/// What tables cannot say.
pub(super) fn in_tables(workload: &Workload) -> Result<Workload, Diagnostic> {
    let mut written = workload.clone();
    if workload.built.is_none() {
        return Ok(written);
    }
    let program = program(workload).map_err(|flaw| flaw.diagnostic(""))?;
    let names = Names::of(&program);
    let is_direct = workload.cache == Some(CacheMode::Direct);
    let said = |unsaid: Unsaid| unsaid.diagnostic(workload);
    if program.lasting.is_some() {
        let unsaid = Unsaid("its files outlast the run".to_owned());
        return Err(said(unsaid));
    }
    written.fileset = sets::filesets(&program, &names).map_err(said)?;
    written.way = sets::ways(&program, &names, is_direct);
    written.tokens = sets::tokens(&program, &names);
    (written.phase, written.rounds) = phases::parts(&program, &names).map_err(said)?;
    written.built = None;
    // The phases have them.
    written.run_time = None;
    written.ramp_time = None;
    let mut groups = program.groups();
    if groups.all(|group| group.workers.is_some()) {
        written.workers = None;
    }
    match crate::check::program(&written) {
        Ok(_) => Ok(written),
        Err(flaw) => Err(Unsaid(flaw.message).diagnostic(workload)),
    }
}
