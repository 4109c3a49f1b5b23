//! Restrictions on a process that `serve` starts for its page. `serve` passes them in an
//! environment variable, and this process refuses everything else.

use std::path::Path;

use plan::facts::{SystemFacts, TargetFacts};
use plan::{Plan, TargetKind};
use rustix::process::{Resource, Rlimit, setrlimit};
use units::printable;
use web::{BOUNDS_VARIABLE, Bounds};

use crate::failure::{CliError, Exit};

/// Limit on the address space of a process that only answers a question, in bytes.
const MEMORY_BYTES_MAX: u64 = 2 << 30;
/// Limit on the workers of all cells of a plan for a page.
const WORKERS_MAX: usize = 20_000;

/// Returns the restrictions of this process; `None` if a user started it.
///
/// # Errors
/// If the variable is set but cannot be parsed. Nothing is allowed then.
pub(crate) fn bounds() -> Result<Option<Bounds>, CliError> {
    let Some(text) = std::env::var_os(BOUNDS_VARIABLE) else {
        return Ok(None);
    };
    let text = text.to_string_lossy();
    let bounds = Bounds::of_text(&text);
    let refused = |message| CliError::new(Exit::Usage, message, None);
    bounds.map(Some).map_err(refused)
}

/// Limits the memory of a process that only answers a question for a page.
pub(crate) fn limit_this_process() -> Result<(), CliError> {
    if bounds()?.is_some_and(|bounds| bounds.is_question) {
        let limit = Rlimit {
            current: Some(MEMORY_BYTES_MAX),
            // Without the hard limit, the process could raise its own limit again.
            maximum: Some(MEMORY_BYTES_MAX),
        };
        // This fails only if a lower limit is already in force.
        let _ = setrlimit(Resource::As, limit);
    }
    Ok(())
}

/// Refuses targets that the page may not use, before any access to them.
///
/// # Errors
/// For the first target outside the bounds.
pub(crate) fn admit<'a>(targets: impl IntoIterator<Item = &'a Path>) -> Result<(), CliError> {
    let Some(bounds) = bounds()? else {
        return Ok(());
    };
    let mut targets = targets.into_iter();
    match targets.find(|path| !bounds.admits(path)) {
        Some(path) => Err(refusal(path)),
        None => Ok(()),
    }
}

/// Refuses a plan with a target that the page may not use.
///
/// # Errors
/// For the first target outside the bounds.
pub(crate) fn admit_plan(plan: &Plan) -> Result<(), CliError> {
    let touched = plan.targets.iter().filter(|it| it.kind.is_path());
    admit(touched.map(|target| target.path.as_path()))
}

fn refusal(path: &Path) -> CliError {
    let path = path.display().to_string();
    let message = format!(
        "the target `{}` is outside the targets of `serve`",
        printable(&path)
    );
    let help = "choose a target below a directory given with `pgmeter serve --target`".to_owned();
    CliError::new(Exit::Usage, message, Some(help))
}

/// Refuses processes on other hosts: the page may measure only on this machine.
///
/// # Errors
/// If this process was started for a page.
pub(crate) fn refuse_processes() -> Result<(), CliError> {
    match bounds()? {
        None => Ok(()),
        Some(_) => {
            let message = "a page cannot start a run of several processes".to_owned();
            let help = "start it on the command line".to_owned();
            Err(CliError::new(Exit::Usage, message, Some(help)))
        }
    }
}

/// Returns facts about targets. Targets that a page may not use get placeholders and are not
/// probed.
pub(crate) fn facts_within_bounds(wanted: &[String]) -> Result<SystemFacts, CliError> {
    let Some(bounds) = bounds()? else {
        return Ok(storage::system_facts(wanted, None));
    };
    let (within, beyond): (Vec<String>, Vec<String>) = wanted
        .iter()
        .cloned()
        .partition(|path| bounds.admits(Path::new(path)));
    let mut facts = storage::system_facts(&within, None);
    let unknown = beyond.iter();
    let unknown = unknown.map(|path| TargetFacts::placeholder(path, TargetKind::Directory));
    facts.targets.extend(unknown);
    Ok(facts)
}

/// Refuses a plan with more workers than a page may plan.
///
/// # Errors
/// States the size of the plan.
pub(crate) fn refuse_large(plan: &Plan) -> Result<(), CliError> {
    let workers: usize = plan
        .cells
        .iter()
        // A cell without workers still takes memory in the plan.
        .map(|cell| cell.workers.len().max(1))
        .sum();
    if workers <= WORKERS_MAX || bounds()?.is_none() {
        return Ok(());
    }
    let cells = plan.cells.len();
    let message = format!(
        "the plan has {workers} workers in {cells} cells, but a page may plan at most \
         {WORKERS_MAX}"
    );
    let help = "use fewer workers or repetitions, or the command line".to_owned();
    Err(CliError::new(Exit::Usage, message, Some(help)))
}
