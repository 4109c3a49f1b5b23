//! Checks ranges of the keys of workloads and workers.

use std::collections::HashSet;

use units::Bytes;

use crate::model::limits::time;
use crate::model::{ContentChoice, OneOrMany, Repetitions, Worker, Workload};
use crate::overlay::sets_amount;
use plan::{PositionRule, printable};

use crate::flaw::ValueError;

/// Maximum number of requests in flight per worker.
///
/// Source: `IORING_MAX_ENTRIES` of Linux, the largest submission queue.
pub const IODEPTH_MAX: u32 = 32_768;

/// Maximum number of workers: each is a thread with a ring, its buffers and its histograms.
pub const WORKERS_MAX: u32 = 1024;

/// Maximum number of repetitions.
const REPETITIONS_MAX: u32 = 1000;

/// Largest `precision` in percent of the mean; a wider interval says nothing.
const PRECISION_MAX: f64 = 50.0;

/// Maximum number of targets per worker, as in Iometer.
const TARGETS_MAX: usize = 2048;

/// Maximum number of elements in other lists; real files have a few dozen.
const ELEMENTS_MAX: usize = 10_000;

/// Maximum number of parts in a pack.
const PARTS_MAX: usize = 1000;

/// Largest offset in a file: offsets are signed 64-bit numbers.
const OFFSET_MAX: u64 = i64::MAX as u64;

pub(crate) fn check(workload: &Workload) -> Result<(), ValueError> {
    let depths = workload
        .iodepth
        .as_ref()
        .map_or(&[][..], OneOrMany::as_slice);
    if workload.iodepth.is_some() && depths.is_empty() {
        return Err(ValueError::new(
            "iodepth",
            "`iodepth` is an empty list",
            "write `iodepth = 1`",
        ));
    }
    depths.iter().try_for_each(|depth| iodepth(*depth))?;
    range("workers", workload.workers, 1, WORKERS_MAX)?;
    repetitions(workload)?;
    range("batch", workload.batch, 1, IODEPTH_MAX)?;
    amount(workload)?;
    check_varied(workload)?;
    if workload.operations == Some(0) {
        let help = "leave `operations` out to end by time";
        return Err(ValueError::new(
            "operations",
            "`operations` is 0, not at least 1",
            help,
        ));
    }
    if workload.operations.is_some_and(|count| count > OFFSET_MAX) {
        let message = "`operations` is too large for any run";
        return Err(ValueError::new(
            "operations",
            message,
            "leave `operations` out to end by time",
        ));
    }
    if workload.cpus.as_ref().is_some_and(|cpus| cpus.0.is_empty()) {
        return Err(ValueError::new(
            "cpus",
            "`cpus` is an empty list",
            "leave `cpus` out",
        ));
    }
    time("run_time", workload.run_time)?;
    time("ramp_time", workload.ramp_time)?;
    position("size", workload.size)?;
    position("start", workload.start)?;
    content(workload.content.as_ref())?;
    names(workload)?;
    lists(workload)?;
    check_distinct_targets(workload)?;
    for (index, worker) in workload.worker.iter().enumerate() {
        check_worker(worker).map_err(|flaw| flaw.within("worker", index))?;
    }
    refuse_distribution_with_iometer(workload)
}

fn repetitions(workload: &Workload) -> Result<(), ValueError> {
    if let Some(Repetitions::Count(count)) = workload.repetitions {
        range("repetitions", Some(count), 1, REPETITIONS_MAX)?;
    }
    if let Some(precision) = workload.precision
        && !(precision.0 > 0.0 && precision.0 <= PRECISION_MAX)
    {
        let message = format!("`precision` is {precision}, not above 0 % and at most 50 %");
        return Err(ValueError::new(
            "precision",
            message,
            "write `precision = \"2%\"`",
        ));
    }
    time("budget", workload.budget)?;
    if workload.budget == Some(units::Span(0)) {
        let help = "write `budget = \"10m\"`";
        return Err(ValueError::new("budget", "`budget` is 0", help));
    }
    Ok(())
}

/// Checks a complete workload: a precision has no effect if the number of repetitions is fixed.
pub fn check_whole(workload: &Workload) -> Result<(), ValueError> {
    if workload.repetitions == Some(Repetitions::Auto) {
        return Ok(());
    }
    let keys = [
        ("precision", workload.precision.is_some()),
        ("budget", workload.budget.is_some()),
    ];
    let written = keys.into_iter().find(|(_, is_written)| *is_written);
    written.map_or(Ok(()), |(key, _)| {
        let message = format!("`{key}` needs `repetitions = \"auto\"`");
        Err(ValueError::new(key, message, "add `--repetitions auto`"))
    })
}

/// Refuses several keys for the amount of data.
fn amount(workload: &Workload) -> Result<(), ValueError> {
    let (key, is_twice) = match (workload.times_memory, workload.total_size) {
        (None, None) => return Ok(()),
        (Some(_), total) => ("times_memory", total.is_some()),
        (None, Some(Bytes(0))) => {
            return Err(ValueError::new(
                "total_size",
                "`total_size` is 0",
                "leave it out",
            ));
        }
        (None, Some(_)) => ("total_size", false),
    };
    let message = match (is_twice, sets_amount(workload)) {
        (true, _) => "`times_memory` and `total_size` are both written".to_owned(),
        (false, true) => format!("`{key}` and a size or a number of files are both written"),
        (false, false) => return Ok(()),
    };
    Err(ValueError::new(key, message, "leave one of them out"))
}

fn check_worker(worker: &Worker) -> Result<(), ValueError> {
    if let Some(depth) = worker.iodepth {
        iodepth(depth)?;
    }
    range("count", worker.count, 1, WORKERS_MAX)?;
    position("size", worker.size)?;
    position("start", worker.start)?;
    targets(worker.targets.as_ref())?;
    at_most(
        "access_specs",
        worker.access_specs.as_ref().map_or(0, Vec::len),
        ELEMENTS_MAX,
    )?;
    content(worker.content.as_ref())
}

/// Limits the length of lists: longer ones would make a plan that no run could finish.
fn lists(workload: &Workload) -> Result<(), ValueError> {
    targets(workload.targets.as_ref())?;
    let depths = workload
        .iodepth
        .as_ref()
        .map_or(0, |depths| depths.as_slice().len());
    at_most("iodepth", depths, ELEMENTS_MAX)?;
    at_most("worker", workload.worker.len(), WORKERS_MAX as usize)?;
    at_most("access_spec", workload.access_spec.len(), ELEMENTS_MAX)?;
    // 1024 tables with 2048 targets each would pass both other limits.
    let own = workload
        .worker
        .iter()
        .filter_map(|worker| worker.targets.as_ref());
    let own_count = own.map(|targets| targets.as_slice().len()).sum();
    at_most("worker", own_count, ELEMENTS_MAX).map_err(|flaw| {
        let message = format!("the workers name {own_count} targets, more than {ELEMENTS_MAX}");
        ValueError { message, ..flaw }
    })?;
    at_most("part", workload.part.len(), PARTS_MAX)
}

/// Checks that a workload that is one of several says in which settings it differs.
fn check_varied(workload: &Workload) -> Result<(), ValueError> {
    let Some(varied) = &workload.varied else {
        return Ok(());
    };
    if varied.settings.is_empty() {
        let help = "add `{ key = \"KEY\", value = \"VALUE\" }`, or leave out `varied`";
        return Err(ValueError::new("varied", "`settings` is empty", help));
    }
    let mut keys = HashSet::new();
    match varied.settings.iter().find(|it| !keys.insert(&it.key)) {
        None => Ok(()),
        Some(again) => {
            let message = format!("`settings` has two values for `{}`", printable(&again.key));
            Err(ValueError::new("varied", message, "leave one of them out"))
        }
    }
}

fn targets(targets: Option<&OneOrMany<String>>) -> Result<(), ValueError> {
    let targets = targets.map_or(&[][..], OneOrMany::as_slice);
    // Paths are C strings for the kernel, so a zero byte would cut them.
    if targets.iter().any(|target| target.contains('\0')) {
        return Err(ValueError::new(
            "targets",
            "a target's name has a zero byte",
            "take it out",
        ));
    }
    at_most("targets", targets.len(), TARGETS_MAX)
}

/// Checks that targets are distinct. Iometer allows its configurations to name a target twice; it
/// is used once.
fn check_distinct_targets(workload: &Workload) -> Result<(), ValueError> {
    if workload.iometer.is_some() {
        return Ok(());
    }
    // A worker uses every entry, so a repeated target would get twice the requests in flight.
    let twice = |targets: &Option<OneOrMany<String>>| {
        repeated_target(targets.as_ref().map_or(&[][..], OneOrMany::as_slice))
    };
    if let Some(flaw) = twice(&workload.targets) {
        return Err(flaw);
    }
    let workers = workload.worker.iter().enumerate();
    let mut flaws = workers.filter_map(|(index, worker)| {
        twice(&worker.targets).map(|flaw| flaw.within("worker", index))
    });
    flaws.next().map_or(Ok(()), Err)
}

/// The error for the first target that the list repeats, even if it is written in another form.
pub fn repeated_target(targets: &[String]) -> Option<ValueError> {
    let mut seen = HashSet::new();
    // Only the text is compared: this crate accesses no files, so it cannot follow links.
    let again = targets.iter().find(|target| !seen.insert(plain(target)))?;
    let message = format!("target `{}` is given twice", plan::printable(plain(again)));
    Some(ValueError::new("targets", message, "name each target once"))
}

/// The path without a leading `./` and trailing slashes.
fn plain(path: &str) -> &str {
    let mut bare = path;
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest.trim_start_matches('/');
    }
    match bare.trim_end_matches('/') {
        "" if path.starts_with('/') => "/",
        "" if path.starts_with('.') => ".",
        bare => bare,
    }
}

pub(crate) fn at_most(key: &'static str, count: usize, most: usize) -> Result<(), ValueError> {
    if count <= most {
        return Ok(());
    }
    let message = format!("`{key}` has {count} elements, more than {most}");
    Err(ValueError::new(key, message, "use fewer"))
}

pub(crate) fn iodepth(depth: u32) -> Result<(), ValueError> {
    if (1..=IODEPTH_MAX).contains(&depth) {
        return Ok(());
    }
    let message = format!("`iodepth` is {depth}, not from 1 to {IODEPTH_MAX}");
    let help = if depth == 0 {
        "write `iodepth = 1` for one request at a time"
    } else {
        "spread the requests over several workers"
    };
    Err(ValueError::new("iodepth", message, help))
}

pub(crate) fn range(
    key: &'static str,
    value: Option<u32>,
    min: u32,
    max: u32,
) -> Result<(), ValueError> {
    match value {
        Some(value) if !(min..=max).contains(&value) => {
            let message = format!("`{key}` is {value}, not from {min} to {max}");
            let near = value.clamp(min, max);
            Err(ValueError::new(
                key,
                message,
                format!("write `{key} = {near}`"),
            ))
        }
        _ => Ok(()),
    }
}

pub(crate) fn position(key: &'static str, value: Option<units::Bytes>) -> Result<(), ValueError> {
    match value {
        Some(value) if value.0 > OFFSET_MAX => {
            let message = format!("`{key}` is {value}, more than a file can have");
            Err(ValueError::new(key, message, "write less than 8EiB"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn content(content: Option<&ContentChoice>) -> Result<(), ValueError> {
    match content {
        Some(ContentChoice::Reducible(shares))
            // `content = {}` has the form of this variant, but states no share.
            if shares.compress.is_none() && shares.dedupe.is_none() =>
        {
            let help = "write `content = { compress = 50, dedupe = 20 }`";
            Err(ValueError::new("content", "`content` sets no share", help))
        }
        _ => Ok(()),
    }
}

fn names(workload: &Workload) -> Result<(), ValueError> {
    for (key, value) in [("name", &workload.name), ("title", &workload.title)] {
        match value {
            // Reports show both in one line of a table.
            Some(text) if text.trim().is_empty() || text.chars().any(char::is_control) => {
                let message = format!("`{key}` is not one line of text");
                return Err(ValueError::new(key, message, format!("leave `{key}` out")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses distributions and sequences together with Iometer's own choice of offsets.
fn refuse_distribution_with_iometer(workload: &Workload) -> Result<(), ValueError> {
    if workload.position != Some(PositionRule::Iometer) {
        return Ok(());
    }
    for (spec_index, spec) in workload.access_spec.iter().enumerate() {
        for (line_index, line) in spec.line.iter().enumerate() {
            let key = match (&line.distribution, &line.sequence) {
                (Some(_), _) => "distribution",
                (_, Some(_)) => "sequence",
                _ => continue,
            };
            let message = format!("`{key}` cannot be used with `position = \"iometer\"`");
            let flaw = ValueError::new(key, message, format!("take out `{key}`"));
            return Err(flaw
                .within("line", line_index)
                .within("access_spec", spec_index));
        }
    }
    Ok(())
}
