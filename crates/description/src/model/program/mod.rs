//! Work on many files in the workload's own tables: filesets, ways, phases, rounds.
//!
//! The tables use names, which are replaced by numbers when they are resolved to a program. Each
//! table converts in both directions: from the file to the program and back.

mod act;
mod amount;
mod built;
mod call;
mod fileset;
mod group;
mod law;
mod names;
mod open_mode;
mod phase;
mod pick;
mod place;
mod rounds;
#[cfg(test)]
mod tests;
mod tokens;
mod verbs;

use crate::flaw::ValueError;
use crate::model::Workload;
pub use act::{ActChoice, ActTable, BareVerb, BranchTable};
pub use amount::{AmountChoice, PositionChoice, PositionTable};
pub use fileset::{FilesetTable, GrownTable, NestedTable};
pub use group::GroupTable;
pub use law::{BandTable, FractionalAmount, LawChoice, LawTable, LawUnit};
use names::ProgramNames;
pub use open_mode::OpenModeTable;
pub use phase::{BeforeChoice, PhaseTable};
pub use pick::PickChoice;
use plan::program::Program;
use plan::{CacheMode, EngineKind};
use plan::{Diagnostic, printable};
pub use rounds::RoundsTable;
pub use tokens::TokensTable;

/// Part of a program that a workload file cannot express.
struct NotExpressible(String);

fn not_expressible<T>(reason: impl Into<String>) -> Result<T, NotExpressible> {
    Err(NotExpressible(reason.into()))
}

/// The groups of all phases, followed by the groups of all rounds.
fn groups(workload: &Workload) -> impl Iterator<Item = &GroupTable> {
    let round_phases = workload.rounds.iter().flat_map(|rounds| &rounds.phase);
    let phases = workload.phase.iter().chain(round_phases);
    phases.flat_map(|phase| &phase.group)
}

/// Resolves the program that a workload describes, except for values that depend on the targets.
/// Groups without a number of workers get the workload's number, if it is written.
///
/// # Errors
/// The first unknown name, key without effect, or act that cannot be done.
pub fn program(workload: &Workload) -> Result<Program, ValueError> {
    if let Some(built) = &workload.built {
        return built::program(workload, built);
    }
    if workload.workers.is_some() && groups(workload).all(|group| group.workers.is_some()) {
        let message = "`workers` does not apply: every group has its own";
        return Err(ValueError::leave_out("workers", message));
    }
    let mut names = ProgramNames::written(workload)?;
    let mut program = Program::default();
    // Before the phases: the largest file decides the default of `piece`.
    for (index, table) in workload.fileset.iter().enumerate() {
        let fileset = table.fileset(&names);
        let fileset = fileset.map_err(|flaw| flaw.within("fileset", index))?;
        program.filesets.push(fileset);
    }
    program.ways = open_mode::ways(workload)?;
    let locations = rounds::places(workload)?;
    for place in &locations {
        let part = rounds::part(*place, workload, &mut names, &program.filesets)?;
        program.parts.push(part);
    }
    // Reading the phases has collected the labels.
    program.labels = names.labels;
    program.attributes = names.attributes;
    for (index, table) in workload.tokens.iter().enumerate() {
        let tokens = table
            .tokens()
            .map_err(|flaw| flaw.within("tokens", index))?;
        program.tokens.push(tokens);
    }
    let program = sized(workload, program)?;
    program
        .check()
        .and_then(|()| program.check_depth(deepest(workload)))
        .map_err(|flaw| place::placed(workload, &locations, flaw))?;
    Ok(program)
}

/// The program with its files scaled to the workload's `size` or `total_size`.
///
/// # Errors
/// If the program replays recorded calls, whose amounts are fixed.
fn sized(workload: &Workload, program: Program) -> Result<Program, ValueError> {
    let (key, sized) = match (workload.size, workload.total_size) {
        (None, None) => return Ok(program),
        (Some(size), _) => ("size", program.with_mean_size(size.0)),
        (None, Some(total)) => ("total_size", program.with_total_size(total.0)),
    };
    if program.groups().any(|group| group.trace.is_some()) {
        let message = format!("`{key}` does not apply to recorded calls: their amounts are fixed");
        return Err(ValueError::leave_out(key, message));
    }
    Ok(sized)
}

/// Largest number of flows that a thread of a worker has in progress at the same time.
fn deepest(workload: &Workload) -> u32 {
    let engine = workload.engine.unwrap_or(EngineKind::Psync);
    // With such an engine, each flow in progress is a separate thread.
    if engine.is_synchronous() {
        return 1;
    }
    let depths = workload.iodepth.as_ref();
    let depths = depths.map_or(&[][..], |it| it.as_slice());
    depths.iter().copied().max().unwrap_or(1)
}

/// Converts the program of another program's file to tables, which read back to the same program.
/// Handles are named after the filesets of their files; unnamed items are numbered.
///
/// # Errors
/// If tables cannot express the program.
pub(crate) fn program_to_tables(workload: &Workload) -> Result<Workload, Diagnostic> {
    if workload.built.is_none() {
        return Ok(workload.clone());
    }
    let program = program(workload).map_err(|flaw| flaw.diagnostic(""))?;
    written(workload, &program).map_err(|NotExpressible(what)| {
        let name = printable(workload.name_or_default());
        let message = format!("`{name}` cannot be converted: {what}");
        Diagnostic::error("", message).help("run the file itself")
    })
}

fn written(workload: &Workload, program: &Program) -> Result<Workload, NotExpressible> {
    if program.lasting.is_some() {
        return not_expressible("its files outlast the run");
    }
    let names = ProgramNames::of(program);
    let filesets = program.filesets.iter().zip(&names.filesets);
    let filesets = filesets.map(|(set, name)| FilesetTable::of(set, name, &names));
    let tokens = program.tokens.iter().zip(&names.tokens);
    let tokens = tokens.map(|(tokens, name)| TokensTable::of(tokens, name));
    let (phase, rounds) = rounds::written_parts(program, &names)?;
    let is_direct = workload.cache == Some(CacheMode::Direct);
    let mut groups = program.groups();
    let written = Workload {
        fileset: filesets.collect::<Result<_, _>>()?,
        way: open_mode::written_ways(program, &names, is_direct),
        tokens: tokens.collect(),
        phase,
        rounds,
        built: None,
        // The phases have these keys.
        run_time: None,
        ramp_time: None,
        workers: workload
            .workers
            .filter(|_| groups.any(|group| group.workers.is_none())),
        ..workload.clone()
    };
    // Tables have limits that the other program may not have.
    self::program(&written).map_err(|flaw| NotExpressible(flaw.message))?;
    Ok(written)
}
