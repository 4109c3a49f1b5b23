//! Rejects settings of fio that pgmeter does not support, before any file is created.

use plan::Diagnostic;
use plan::job::SpaceWork;

use super::super::jobs::{FioJob, JobSet};
use super::super::settings::{ByDirection, Checksum, Direction, FioSettings, SizeAmount, ZoneMode};
use super::super::values::RandomDistribution;
use super::files::space_work;

/// Checks all jobs for unsupported settings.
///
/// # Errors
/// All unsupported settings, each with its line, option and help.
pub(super) fn check(set: &JobSet) -> Result<(), Diagnostic> {
    let jobs = set.sections().filter_map(|jobs| jobs.first());
    let undone = jobs.filter_map(|job| {
        let (option, help) = of_settings(&job.settings)?;
        Some(unsupported_value(set, job, option, help))
    });
    match Diagnostic::all(undone.collect()) {
        Some(error) => Err(error),
        None => super::goals::check(set),
    }
}

fn unsupported_value(set: &JobSet, job: &FioJob, option: &str, help: &str) -> Diagnostic {
    let location = set.place_of(job, option);
    let name = option.split(", ").next().unwrap_or(option);
    let message = format!("`{name}` with this value is not supported");
    location.error(message).help(help)
}

/// An unsupported option, and its help.
type UnsupportedOption = (&'static str, &'static str);

fn of_settings(it: &FioSettings) -> Option<UnsupportedOption> {
    unsupported_access(it)
        .or_else(|| unsupported_rest(it))
        .or_else(|| unsupported_names(it))
        .or_else(|| unsupported_space(it))
        .or_else(|| unsupported_replay(it))
}

/// A replayed log gives the times and kinds of its requests.
fn unsupported_replay(it: &FioSettings) -> Option<UnsupportedOption> {
    it.replay.read.as_ref()?;
    let rates = &it.rates;
    let (bytes, iops) = (&rates.bytes_per_second, &rates.iops);
    first_match(&[
        (
            it.verify.checksum != Checksum::None,
            "verify",
            "leave it out of a job with `read_iolog`",
        ),
        (
            bytes.read + bytes.write + iops.read + iops.write > 0,
            "rate, rate_iops",
            "leave it out of a job with `read_iolog`, or use `replay_time_scale`",
        ),
        (
            it.pauses.pause_us > 0,
            "thinktime",
            "leave it out of a job with `read_iolog`: its requests have their times",
        ),
    ])
}

fn first_match(cases: &[(bool, &'static str, &'static str)]) -> Option<UnsupportedOption> {
    let found = cases.iter().find(|(is_so, ..)| *is_so);
    found.map(|(_, option, help)| (*option, *help))
}

fn unsupported_access(it: &FioSettings) -> Option<UnsupportedOption> {
    let has_center = |law: &RandomDistribution| {
        matches!(
            law,
            RandomDistribution::Zipf(_, Some(_))
                | RandomDistribution::Pareto(_, Some(_))
                | RandomDistribution::Normal(_, Some(_))
        )
    };
    first_match(&[(
        has_center(&it.order.distribution),
        "random_distribution",
        "leave the center out",
    )])
}

/// Operations on whole files transfer nothing and have no queue depth.
fn unsupported_names(it: &FioSettings) -> Option<UnsupportedOption> {
    if !it.engine.engine.works_on_names() {
        return None;
    }
    let (goal, rates) = (&it.latency_goal, &it.rates);
    let is_set = |it: &ByDirection<u64>| it.read > 0 || it.write > 0;
    let help = "leave it out of a job that works on whole files";
    first_match(&[
        (is_set(&goal.max_us), "max_latency", help),
        (goal.target_us > 0, "latency_target", help),
        (is_set(&rates.bytes_per_second_min), "rate_min", help),
        (is_set(&rates.iops_min), "rate_iops_min", help),
        (it.steady_state.is_some(), "steadystate, ss", help),
    ])
}

/// Calls on the space of files, which move no data.
fn unsupported_space(it: &FioSettings) -> Option<UnsupportedOption> {
    let work = space_work(it)?;
    let is_write = it.access.direction == Direction::Write;
    first_match(&[
        (
            work == SpaceWork::Truncate && !is_write,
            "rw, readwrite",
            "use `rw=write` or `rw=randwrite`, because `ftruncate` has no reads and trims",
        ),
        (
            it.verify.kind().is_some(),
            "verify",
            "leave it out, because no data moves",
        ),
        (
            it.engine.never_waits,
            "nowait",
            "leave it out, because no data moves",
        ),
    ])
}

fn unsupported_rest(it: &FioSettings) -> Option<UnsupportedOption> {
    let is_in_zones = |amount: SizeAmount| matches!(amount, SizeAmount::Zones(_));
    let verifies = it.verify.kind().is_some();
    first_match(&[
        (
            it.verify.skips_writes && !(verifies && it.verify.reads_back),
            "verify_only",
            "add `verify=crc32c`, and leave `do_verify` out",
        ),
        (
            it.space.io_size.is_some_and(is_in_zones),
            "io_size, io_limit",
            "write it in bytes or percent, because zoned devices are not supported",
        ),
        (
            is_in_zones(it.space.zone_skip),
            "zoneskip",
            "write it in bytes, because zoned devices are not supported",
        ),
        (
            it.space.zone_mode == ZoneMode::Zoned,
            "zonemode",
            "use `zonemode=strided`",
        ),
        (
            it.flow.weight < 0,
            "flow",
            "use weights of at least 1, as in fio since 3.26",
        ),
    ])
}
