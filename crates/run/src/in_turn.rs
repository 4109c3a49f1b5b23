//! Alternates between two runs cell by cell, so that disturbances affect both.

use std::path::{Path, PathBuf};
use std::time::Duration;

use plan::{Cell, Plan};
use results::{Alternation, RunEvent, Warning};

use crate::RunError;
use crate::drive::drive;
use crate::record_writer::RecordWriter;
use crate::run::RunSpec;
use crate::session::{Finished, RunOptions, Session};

/// Runs two plans with the same cells in turn (A B B A ...), each with its own record, and stores
/// both.
///
/// If both have the same targets, the targets are prepared once and used by both.
///
/// # Panics
/// The plans have different cells.
pub fn measure_alternately(specs: [RunSpec<'_>; 2], options: &RunOptions) -> [Finished; 2] {
    let [mut a, mut b] = specs;
    assert!(
        have_same_cells(a.plan, b.plan),
        "both plans come from the same workloads and options"
    );
    let is_shared = have_same_targets(a.plan, b.plan);
    let (mut writer_a, mut writer_b) = (RecordWriter::new(a.store), RecordWriter::new(b.store));
    a.warnings.extend(writer_a.warnings());
    b.warnings.extend(writer_b.warnings());
    let mut listen_a = |event: &RunEvent| {
        writer_a.on_event(event);
        (a.listener)(event);
    };
    let mut listen_b = |event: &RunEvent| {
        writer_b.on_event(event);
        (b.listener)(event);
    };
    let mut first = Session::new(a.plan, options, &mut listen_a);
    let mut second = Session::new(b.plan, options, &mut listen_b);
    first.record.workload_file = a.workload_file;
    second.record.workload_file = b.workload_file;
    while second.record.id == first.record.id {
        // IDs contain the start time in milliseconds, so wait for the next one.
        std::thread::sleep(Duration::from_millis(1));
        second.rename();
    }
    let [id_a, id_b] = [&first, &second].map(|session| session.record.id.clone());
    first.record.alternation = Some(Alternation::of("a", id_b));
    second.record.alternation = Some(Alternation::of("b", id_a));
    let mut sessions = [first, second];
    for session in &mut sessions {
        session.borrows_targets = is_shared;
    }
    let [a, b] = run_to_end(sessions, [a.warnings, b.warnings], is_shared);
    [writer_a.finish(a), writer_b.finish(b)]
}

fn run_to_end(
    mut sessions: [Session<'_>; 2],
    warnings: [Vec<Warning>; 2],
    is_shared: bool,
) -> [Finished; 2] {
    if let Err((side, error)) = begin(&mut sessions, warnings, is_shared) {
        return ended(sessions, side, error);
    }
    let driven = drive(&mut sessions);
    let failed = driven.outcomes.iter().any(Result::is_err);
    let mut conclusions = driven.conclusions.into_iter();
    let mut outcomes = driven.outcomes.into_iter();
    sessions.map(|mut session| {
        // A failure on the other side cuts this run short.
        session.is_cut_short |= failed;
        // Before the end of the session, which stores the verdicts in the record.
        session.conclude(conclusions.next().unwrap_or_default());
        session.finish(outcomes.next().unwrap_or(Ok(())))
    })
}

/// Admits and prepares the targets of both runs before their first cells.
fn begin(
    sessions: &mut [Session<'_>; 2],
    warnings: [Vec<Warning>; 2],
    is_shared: bool,
) -> Result<(), (usize, RunError)> {
    let mut sites = Vec::new();
    for (side, session) in sessions.iter_mut().enumerate() {
        let failed = |error| (side, error);
        crate::preflight::try_engines(session.plan).map_err(failed)?;
        session.connect_peers().map_err(failed)?;
        // The first run has already admitted the targets that both share.
        sites.push(match is_shared && side == 1 {
            true => Vec::new(),
            false => session.admit_all().map_err(failed)?,
        });
    }
    for (session, warnings) in sessions.iter_mut().zip(warnings) {
        session.start(warnings);
    }
    for (side, (session, admitted)) in sessions.iter_mut().zip(sites).enumerate() {
        session
            .prepare_all(admitted)
            .map_err(|error| (side, error))?;
    }
    Ok(())
}

/// Ends both runs after one of them could not start.
fn ended(sessions: [Session<'_>; 2], side: usize, error: RunError) -> [Finished; 2] {
    let mut error = Some(error);
    let mut indexes = 0..;
    sessions.map(|mut session| {
        let own = match indexes.next() == Some(side) {
            true => error.take(),
            false => None,
        };
        session.is_cut_short = true;
        session.end_early(own)
    })
}

fn have_same_cells(a: &Plan, b: &Plan) -> bool {
    let settings = |cell: &Cell| {
        let spec = cell.access_spec.clone();
        (
            cell.index,
            cell.repetition,
            cell.iodepth,
            cell.workload.clone(),
            spec,
        )
    };
    a.cells
        .iter()
        .map(settings)
        .eq(b.cells.iter().map(settings))
        && a.repetition_rule == b.repetition_rule
        && a.seed == b.seed
}

fn have_same_targets(a: &Plan, b: &Plan) -> bool {
    let paths = |plan: &Plan| -> Vec<PathBuf> {
        plan.targets.iter().map(|it| real_path(&it.path)).collect()
    };
    paths(a) == paths(b)
}

/// Path without symbolic links; also works for a file that does not exist yet.
fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    match (parent.canonicalize(), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}
