//! Filesets, ways, phases and rounds as a program: names become numbers, defaults are put in.

mod acts;
mod built;
mod calls;
mod laws;
mod names;
mod paths;
mod patterns;
mod phases;
mod place;
mod sets;
#[cfg(test)]
mod tests;
mod trees;
mod waits;

use super::Flaw;
use crate::model::Workload;
pub(crate) use calls::{largest, usual_align, usual_piece, usual_turn, usual_which};
use names::{Handles, Names};
pub(crate) use patterns::usual_names;
use plan::EngineKind;
use plan::program::{FilesetPlan, Program};
pub(crate) use sets::usual_way;

/// Turns acts into those of a program.
struct Writer<'a> {
    names: &'a mut Names,
    handles: &'a Handles,
    filesets: &'a [FilesetPlan],
}

/// The program that a workload describes, without what only its targets decide: groups that do not
/// say how many workers they have get as many as the workload, where that says how many.
///
/// # Errors
/// The first name that nobody has, key without effect, or act that cannot be done.
pub fn program(workload: &Workload) -> Result<Program, Flaw> {
    if let Some(built) = &workload.built {
        return built::program(workload, &built.program);
    }
    let mut groups = phases::groups(workload);
    if workload.workers.is_some() && groups.all(|group| group.workers.is_some()) {
        let message = "`workers` does not apply: every group says how many it has";
        return Err(Flaw::new("workers", message, "leave `workers` out"));
    }
    let mut names = Names::of(workload)?;
    let filesets = sets::filesets(workload)?;
    let ways = sets::ways(workload)?;
    let (parts, places) = phases::parts(workload, &mut names, &filesets)?;
    let program = Program {
        labels: names.labels,
        filesets,
        ways,
        tokens: waits::tokens(workload)?,
        parts,
        ..Program::default()
    };
    let program = sized(workload, program)?;
    program
        .check()
        .and_then(|()| program.check_depth(deepest(workload)))
        .map_err(|flaw| place::placed(workload, &places, flaw))?;
    Ok(program)
}

/// The program with its files scaled to the workload's `size` or `total_size`.
///
/// # Errors
/// Recorded calls, which say themselves how much they move.
fn sized(workload: &Workload, program: Program) -> Result<Program, Flaw> {
    let (key, sized) = match (workload.size, workload.total_size) {
        (None, None) => return Ok(program),
        (Some(size), _) => ("size", program.with_mean_size(size.0)),
        (None, Some(total)) => ("total_size", program.with_total_size(total.0)),
    };
    if program.groups().any(|group| group.trace.is_some()) {
        let message = format!("`{key}` does not apply to recorded calls: they say what they move");
        return Err(Flaw::new(key, message, format!("leave `{key}` out")));
    }
    Ok(sized)
}

/// The most flows that a thread of a worker has in progress at once.
fn deepest(workload: &Workload) -> u32 {
    let engine = workload.engine.unwrap_or(EngineKind::Psync);
    if engine.is_one_at_a_time() {
        return 1;
    }
    let depths = workload.iodepth.as_ref();
    let depths = depths.map_or(&[][..], |it| it.as_slice());
    depths.iter().copied().max().unwrap_or(1)
}
