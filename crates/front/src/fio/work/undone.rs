//! What fio knows and jobs here do not yet: said before anything is made.

use plan::Diagnostic;

use super::super::jobs::{Job, JobSet};
use super::super::settings::{ByDirection, Checksum, Direction, Engine, Settings, ZoneMode};
use super::super::values::Distribution;

/// All that is not done, where it stands.
///
/// # Errors
/// With line, option and help.
pub(super) fn check(set: &JobSet) -> Result<(), Diagnostic> {
    let jobs = set.sections().filter_map(|jobs| jobs.first());
    let undone = jobs.filter_map(|job| {
        let (option, help) = of_settings(&job.settings)?;
        Some(told(set, job, option, help))
    });
    match Diagnostic::all(undone.collect()) {
        Some(error) => Err(error),
        None => super::goals::check(set),
    }
}

fn told(set: &JobSet, job: &Job, option: &str, help: &str) -> Diagnostic {
    let place = set.place_of(job, option);
    let name = option.split(", ").next().unwrap_or(option);
    let message = format!("`{name}` with this value is not done here");
    place.error(message).help(help)
}

/// What is not done, and what to do instead.
type Undone = (&'static str, &'static str);

fn of_settings(it: &Settings) -> Option<Undone> {
    of_access(it)
        .or_else(|| of_rest(it))
        .or_else(|| of_names(it))
        .or_else(|| of_replay(it))
}

/// A log says when its requests are due and what they are.
fn of_replay(it: &Settings) -> Option<Undone> {
    it.replay.read.as_ref()?;
    let rates = &it.rates;
    let (bytes, iops) = (&rates.bytes_per_second, &rates.iops);
    first_of(&[
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

fn first_of(cases: &[(bool, &'static str, &'static str)]) -> Option<Undone> {
    let found = cases.iter().find(|(is_so, ..)| *is_so);
    found.map(|(_, option, help)| (*option, *help))
}

fn of_access(it: &Settings) -> Option<Undone> {
    let access = &it.access;
    let is_trim = matches!(access.direction, Direction::Trim | Direction::TrimAndWrite);
    let has_center = |law: &Distribution| {
        matches!(
            law,
            Distribution::Zipf(_, Some(_))
                | Distribution::Pareto(_, Some(_))
                | Distribution::Normal(_, Some(_))
        )
    };
    first_of(&[
        (
            is_trim,
            "rw, readwrite",
            "leave trims out: files have none, and devices are not trimmed",
        ),
        (
            has_center(&it.order.distribution),
            "random_distribution",
            "leave the center out",
        ),
    ])
}

/// Work on names moves nothing, and its calls have no depth.
fn of_names(it: &Settings) -> Option<Undone> {
    let engine = it.engine.engine;
    if !matches!(
        engine,
        Engine::FileCreate | Engine::FileStat | Engine::FileDelete
    ) {
        return None;
    }
    let (goal, rates) = (&it.latency_goal, &it.rates);
    let is_set = |it: &ByDirection<u64>| it.read > 0 || it.write > 0;
    let help = "leave it out of a job that works on names";
    first_of(&[
        (is_set(&goal.max_us), "max_latency", help),
        (goal.target_us > 0, "latency_target", help),
        (is_set(&rates.bytes_per_second_min), "rate_min", help),
        (is_set(&rates.iops_min), "rate_iops_min", help),
        (it.steady_state.is_some(), "steadystate, ss", help),
    ])
}

fn of_rest(it: &Settings) -> Option<Undone> {
    first_of(&[
        (
            it.space.zone_mode == ZoneMode::Zoned,
            "zonemode",
            "use `zonemode=strided`",
        ),
        (
            it.flow.weight < 0,
            "flow",
            "use weights from 1 on; fio has shared by weights since 3.26",
        ),
    ])
}
