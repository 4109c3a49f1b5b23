//! What this process may use where a page asked for its work: `serve` says so in a variable of the
//! environment, and this process refuses everything else.

use std::path::Path;

use plan::facts::{SystemFacts, TargetFacts};
use plan::{Plan, TargetKind};
use rustix::process::{Resource, Rlimit, setrlimit};
use units::printable;
use web::{BOUNDS, Bounds};

use crate::failure::{Exit, Failure};

/// Address space of a process that answers a question, in bytes.
const MEMORY_BYTES_MAX: u64 = 2 << 30;
/// Workers of all cells of a plan that a page may see.
const WORKERS_MAX: usize = 20_000;

/// The bounds of this process; none where a user started it.
///
/// # Errors
/// When the variable is there and cannot be read: then nothing is allowed.
pub(crate) fn bounds() -> Result<Option<Bounds>, Failure> {
    let Some(text) = std::env::var_os(BOUNDS) else {
        return Ok(None);
    };
    let text = text.to_string_lossy();
    let bounds = Bounds::of_text(&text);
    let refused = |message| Failure::new(Exit::Usage, message, None);
    bounds.map(Some).map_err(refused)
}

/// Limits the memory of a process that answers a question of a page.
pub(crate) fn limit_this_process() -> Result<(), Failure> {
    if bounds()?.is_some_and(|bounds| bounds.is_question) {
        let limit = Rlimit {
            current: Some(MEMORY_BYTES_MAX),
            maximum: Some(MEMORY_BYTES_MAX),
        };
        // A lower limit holds already where this one is refused.
        let _ = setrlimit(Resource::As, limit);
    }
    Ok(())
}

/// Refuses targets that the page may not use, before anything looks at them.
///
/// # Errors
/// The first of them.
pub(crate) fn admit<'a>(targets: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let Some(bounds) = bounds()? else {
        return Ok(());
    };
    let mut targets = targets.into_iter();
    match targets.find(|path| !bounds.admits(path)) {
        Some(path) => Err(refusal(path)),
        None => Ok(()),
    }
}

/// Refuses a plan that touches what the page may not use.
///
/// # Errors
/// The first target of that kind.
pub(crate) fn admit_plan(plan: &Plan) -> Result<(), Failure> {
    let touched = plan.targets.iter().filter(|it| it.kind.is_path());
    admit(touched.map(|target| target.path.as_path()))
}

fn refusal(path: &Path) -> Failure {
    let path = path.display().to_string();
    let message = format!(
        "the target `{}` is not beneath what `serve` offers",
        printable(&path)
    );
    let help = "choose a target beneath a directory that `pgmeter serve --target` names".to_owned();
    Failure::new(Exit::Usage, message, Some(help))
}

/// Refuses processes on other hosts: a page measures on this machine.
///
/// # Errors
/// Where a page asked for this run.
pub(crate) fn refuse_processes() -> Result<(), Failure> {
    match bounds()? {
        None => Ok(()),
        Some(_) => {
            let message = "a page cannot start a run of several processes".to_owned();
            let help = "start it on the command line".to_owned();
            Err(Failure::new(Exit::Usage, message, Some(help)))
        }
    }
}

/// Facts of targets; of those that a page may not use nothing is found out.
pub(crate) fn facts_within(wanted: &[String]) -> Result<SystemFacts, Failure> {
    let Some(bounds) = bounds()? else {
        return Ok(target::system_facts(wanted, None));
    };
    let (within, beyond): (Vec<String>, Vec<String>) = wanted
        .iter()
        .cloned()
        .partition(|path| bounds.admits(Path::new(path)));
    let mut facts = target::system_facts(&within, None);
    let unknown = beyond.iter();
    let unknown = unknown.map(|path| TargetFacts::placeholder(path, TargetKind::Directory));
    facts.targets.extend(unknown);
    Ok(facts)
}

/// Refuses a plan that is too large for a page.
///
/// # Errors
/// With its size.
pub(crate) fn refuse_large(plan: &Plan) -> Result<(), Failure> {
    let workers: usize = plan
        .cells
        .iter()
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
    Err(Failure::new(Exit::Usage, message, Some(help)))
}
