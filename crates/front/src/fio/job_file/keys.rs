//! Keys of the workload itself: which of them fio has no option for.

use description::model::{Precondition, Repetitions, TestType, UntilChoice, Workload};
use plan::Diagnostic;
use plan::{CursorKind, PositionRule};

/// The source of a workload that was read from there.
const STANDARD_INPUT: &str = "standard input";

/// Refuses keys that change what is done, and names those that do not.
///
/// Texts that were made when the file of the name `origin` was read are not keys of it.
pub(super) fn check(workload: &Workload, origin: &str) -> Result<Option<Diagnostic>, Diagnostic> {
    is_work(workload)?;
    let refused = refused(workload)
        .into_iter()
        .chain(refused_of_jobs(workload));
    if let Some((key, _, reason, help)) =
        refused.into_iter().find(|(_, is_written, ..)| *is_written)
    {
        let message = format!("fio cannot do `{key}`: {reason}");
        return Err(Diagnostic::error("", message).help(help));
    }
    let names = left_out(workload, origin).into_iter();
    let names = names.filter(|(_, is_written)| *is_written);
    let names: Vec<String> = names.map(|(key, _)| format!("`{key}`")).collect();
    Ok((!names.is_empty()).then(|| {
        let message = format!("a job file of fio has no place for {}", names.join(", "));
        let help = "keep the workload file for `pgmeter run`";
        Diagnostic::warning("", message).help(help)
    }))
}

/// The workload without keys that say how it is measured, which would make its jobs endless.
pub(super) fn without_method(workload: &Workload) -> Workload {
    Workload {
        until: None,
        curve: None,
        find_rate: None,
        ..workload.clone()
    }
}

/// A workload has jobs or access specifications, and nothing that is still to be filled in.
fn is_work(workload: &Workload) -> Result<(), Diagnostic> {
    if let Some(base) = &workload.base {
        let message = format!("`use = \"{base}\"` has to be resolved first");
        return Err(Diagnostic::error("", message).help("convert the built-in workload itself"));
    }
    if workload.job.is_empty() && workload.access_spec.is_empty() {
        let name = plan::printable(workload.name_or_default());
        let message = format!("`{name}` works on many files, for which fio has no options");
        let help = "convert workloads of `[[access_spec]]` or `[[job]]`";
        return Err(Diagnostic::error("", message).help(help));
    }
    Ok(())
}

/// A key, whether it is written, why it is refused, and what to do.
type Refused = (&'static str, bool, &'static str, &'static str);

fn refused(workload: &Workload) -> [Refused; 5] {
    let write_size = "write `size` in its place";
    [
        (
            "times_memory",
            workload.times_memory.is_some(),
            "the size also depends on the free space of a target, which it does not look at",
            write_size,
        ),
        (
            "total_size",
            workload.total_size.is_some(),
            "it has a size for each job, not one for all of them",
            write_size,
        ),
        (
            "transactions_per_connection",
            workload.transactions_per_connection.is_some(),
            "it keeps its files open",
            "leave `transactions_per_connection` out",
        ),
        (
            "position",
            workload.position == Some(PositionRule::Iometer),
            "it uses its own random generator",
            "leave `position` out",
        ),
        (
            "test_type",
            !matches!(workload.test_type, None | Some(TestType::Normal)),
            "it goes through no test types",
            "leave `test_type` out, or write `iodepth` as a list",
        ),
    ]
}

/// The same of keys that are of all jobs together.
fn refused_of_jobs(workload: &Workload) -> [Refused; 2] {
    let has_jobs = !workload.job.is_empty();
    [
        (
            "operations",
            has_jobs && workload.operations.is_some(),
            "it counts the requests of each job separately",
            "write `operations` in each `[[job]]`",
        ),
        (
            "rate",
            has_jobs && workload.rate.is_some(),
            "each of its jobs has its own rate",
            "write `rate` in each `[[job]]`",
        ),
    ]
}

/// Keys around the work, and whether they are written.
fn left_out(workload: &Workload, origin: &str) -> [(&'static str, bool); 17] {
    let names = workload.job.iter().filter_map(|job| job.name.clone());
    let title = workload.title.as_deref().unwrap_or_default();
    let source = workload.source.as_deref().unwrap_or_default();
    let is_read = source.is_empty() || origin.ends_with(source) || source == STANDARD_INPUT;
    let is_once = matches!(workload.repetitions, None | Some(Repetitions::Count(1)));
    [
        (
            "title",
            !title.is_empty() && title != description::job_title(names),
        ),
        ("description", workload.description.is_some()),
        ("source", !is_read),
        ("curve", workload.curve == Some(true)),
        ("find_rate", workload.find_rate.is_some()),
        ("find_depth", workload.find_depth == Some(true)),
        ("until", workload.until == Some(UntilChoice::Steady)),
        ("steady", workload.steady.is_some()),
        (
            "precondition",
            !matches!(workload.precondition, None | Some(Precondition(0.0))),
        ),
        ("repetitions", !is_once),
        ("precision", workload.precision.is_some()),
        ("budget", workload.budget.is_some()),
        ("keep", workload.keep == Some(true)),
        ("cycling", workload.cycling.is_some()),
        ("iometer", workload.iometer.is_some()),
        (
            "arrivals",
            workload.arrivals.is_some() && workload.rate.is_none(),
        ),
        (
            "cursor",
            workload.cursor == Some(CursorKind::Shared) && !workload.job.is_empty(),
        ),
    ]
}

/// The keys that are refused or left out.
#[cfg(test)]
pub(super) fn names(workload: &Workload) -> Vec<&'static str> {
    let refused = refused(workload)
        .into_iter()
        .chain(refused_of_jobs(workload));
    let left_out = left_out(workload, "").into_iter().map(|(key, _)| key);
    refused.map(|(key, ..)| key).chain(left_out).collect()
}
