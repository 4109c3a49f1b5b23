//! Checks the keys of the workload itself for those without an equivalent in fio.

use description::model::{Precondition, Repetitions, TestType, UntilChoice, Workload};
use plan::Diagnostic;
use plan::{CursorKind, PositionRule};

/// `source` of a workload that was read from standard input.
const STANDARD_INPUT: &str = "standard input";

/// Keys that a job file can express, except for `arrivals` and `cursor`, which depend on others.
/// All other keys are refused or left out.
pub(super) const EXPRESSIBLE_KEYS: [&str; 26] = [
    "name",
    "use",
    "targets",
    "engine",
    "cache",
    "iodepth",
    "workers",
    "size",
    "start",
    "run_time",
    "ramp_time",
    "operations",
    "new_file",
    "seed",
    "cpus",
    "verify",
    "warm",
    "content",
    "sqpoll",
    "iopoll",
    "batch",
    "rate",
    "job",
    "access_spec",
    "worker",
    "part",
];

/// Refuses keys that change the requests; returns a warning that names the others.
///
/// A title or source that was generated when the file `origin` was read does not count.
pub(super) fn check(workload: &Workload, origin: &str) -> Result<Option<Diagnostic>, Diagnostic> {
    check_convertible(workload)?;
    let refused = refused(workload)
        .into_iter()
        .chain(refused_job_keys(workload));
    if let Some((key, _, reason, help)) =
        refused.into_iter().find(|(_, is_written, ..)| *is_written)
    {
        let message = format!("fio cannot do `{key}`: {reason}");
        return Err(Diagnostic::error("", message).help(help));
    }
    let names: Vec<String> = left_out(workload, origin)
        .map(|key| format!("`{key}`"))
        .collect();
    Ok((!names.is_empty()).then(|| {
        let message = format!("a fio job file cannot express {}", names.join(", "));
        let help = "keep the workload file for `pgmeter run`";
        Diagnostic::warning("", message).help(help)
    }))
}

/// The workload without keys about the method of measurement, which would make its jobs endless.
pub(super) fn without_method(workload: &Workload) -> Workload {
    Workload {
        until: None,
        curve: None,
        find_rate: None,
        ..workload.clone()
    }
}

/// Checks that a workload has jobs or access specifications and no unresolved `use`.
fn check_convertible(workload: &Workload) -> Result<(), Diagnostic> {
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

/// A key, `true` if it is used, the reason for the refusal, and the help.
type KeySupport = (&'static str, bool, &'static str, &'static str);

fn refused(workload: &Workload) -> [KeySupport; 5] {
    let write_size = "write `size` instead";
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
            "it has no test types",
            "leave `test_type` out, or write `iodepth` as a list",
        ),
    ]
}

/// Refused keys that apply to all jobs together.
fn refused_job_keys(workload: &Workload) -> [KeySupport; 2] {
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

/// Written keys that a job file cannot express, in the order of the reference page.
fn left_out<'a>(
    workload: &'a Workload,
    origin: &'a str,
) -> impl Iterator<Item = &'static str> + 'a {
    let keys = workload.written_keys().into_iter();
    keys.filter(move |key| is_left_out(workload, origin, key))
}

fn is_left_out(workload: &Workload, origin: &str, key: &str) -> bool {
    match key {
        "title" => {
            let names = workload.job.iter().filter_map(|job| job.name.clone());
            let title = workload.title.as_deref().unwrap_or_default();
            !title.is_empty() && title != description::job_title(names)
        }
        "source" => {
            let source = workload.source.as_deref().unwrap_or_default();
            !source.is_empty() && !origin.ends_with(source) && source != STANDARD_INPUT
        }
        "curve" => workload.curve == Some(true),
        "find_depth" => workload.find_depth == Some(true),
        "keep" => workload.keep == Some(true),
        "until" => workload.until == Some(UntilChoice::Steady),
        "precondition" => workload.precondition != Some(Precondition(0.0)),
        "repetitions" => workload.repetitions != Some(Repetitions::Count(1)),
        "arrivals" => workload.rate.is_none(),
        "cursor" => workload.cursor == Some(CursorKind::Shared) && !workload.job.is_empty(),
        // Their other values are refused.
        "position" | "test_type" => false,
        _ => !EXPRESSIBLE_KEYS.contains(&key),
    }
}
