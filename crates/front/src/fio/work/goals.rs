//! Goals of jobs: limits that must be met, and conditions that end a job.

use plan::Diagnostic;
use plan::job::{DepthTarget, FlowShare, GoalMeasure, JobGoals, MinRate, RateFloor, SteadyGoal};

use super::super::jobs::{FioJob, JobSet};
use super::super::settings::{ByDirection, Direction, FioSettings, SteadyMeasure};

/// Grace period of fio before the minimum rate applies.
const GRACE_NS: u64 = 2_000_000_000;

/// Goals of a job.
///
/// # Errors
/// Goals that contradict each other or cannot be checked.
pub(super) fn of(job: &FioJob) -> Result<JobGoals, Diagnostic> {
    let settings = &*job.settings;
    Ok(JobGoals {
        rate_floor: rate_floor(job)?,
        latency_ns_max: {
            let max_ns = |us: u64| Some(us.saturating_mul(1000)).filter(|it| *it > 0);
            let max_us = settings.latency_goal.max_us.map(|us| max_ns(*us));
            max_us.planned(settings.access.direction == Direction::Trim)
        },
        depth_target: depth_target(settings),
        steady: steady(job)?,
        flow: flow(settings),
    })
}

fn rate_floor(job: &FioJob) -> Result<Option<RateFloor>, Diagnostic> {
    let rates = &job.settings.rates;
    let least = |bytes: u64, iops: u64| match (bytes, iops) {
        (0, 0) => None,
        (0, per_second) => Some(MinRate {
            per_second,
            is_of_bytes: false,
        }),
        (per_second, _) => Some(MinRate {
            per_second,
            is_of_bytes: true,
        }),
    };
    let (bytes, iops) = (&rates.bytes_per_second_min, &rates.iops_min);
    let least = ByDirection {
        read: least(bytes.read, iops.read),
        write: least(bytes.write, iops.write),
        trim: least(bytes.trim, iops.trim),
    };
    let least = least.planned(job.settings.access.direction == Direction::Trim);
    let is_above = |least: &ByDirection<u64>, most: &ByDirection<u64>| {
        let sides = [(least.read, most.read), (least.write, most.write)];
        sides.iter().any(|(least, most)| *most > 0 && least > most)
    };
    // fio rejects this, too (`fixup_options`).
    if is_above(bytes, &rates.bytes_per_second) || is_above(iops, &rates.iops) {
        let message = "a minimum rate is above the rate limit of the job";
        let error = job.position.error(message);
        return Err(error.help("use a larger `rate`, or a smaller `rate_min`"));
    }
    let has_floor = least.read.is_some() || least.write.is_some();
    Ok(has_floor.then(|| RateFloor {
        least,
        window_ns: rates.window_ms.saturating_mul(1_000_000),
        settle_ns: GRACE_NS,
    }))
}

/// The job's share in its flow. Jobs with the same `flow_id` share, even in different groups.
fn flow(settings: &FioSettings) -> Option<FlowShare> {
    let flow = &settings.flow;
    // 0 means no flow. `undone` has rejected negative weights.
    let weight = u32::try_from(flow.weight).ok().filter(|it| *it > 0)?;
    Some(FlowShare {
        group: flow.id,
        weight,
        pause_ns: flow.sleep_us.saturating_mul(1000),
    })
}

fn depth_target(settings: &FioSettings) -> Option<DepthTarget> {
    let goal = &settings.latency_goal;
    (goal.target_us > 0).then(|| DepthTarget {
        latency_ns: goal.target_us.saturating_mul(1000),
        window_ns: goal.window_us.saturating_mul(1000),
        percentile: goal.percentile,
        goes_on: goal.continues,
    })
}

fn steady(job: &FioJob) -> Result<Option<SteadyGoal>, Diagnostic> {
    let requested = job.settings.steady_state.as_ref();
    // Without a window (`ss_dur`), fio does not check the steady state.
    let Some(requested) = requested.filter(|it| it.window_us > 0) else {
        return Ok(None);
    };
    let goal = SteadyGoal {
        measure: match requested.measure {
            SteadyMeasure::Iops => GoalMeasure::Iops,
            SteadyMeasure::Bandwidth => GoalMeasure::Bandwidth,
            SteadyMeasure::Latency => GoalMeasure::Latency,
        },
        is_slope: requested.is_slope,
        limit: requested.limit,
        is_percent: requested.is_percent,
        window_ns: requested.window_us.saturating_mul(1000),
        ramp_ns: requested.ramp_us.saturating_mul(1000),
        interval_ns: requested.interval_us.saturating_mul(1000),
        // In fio, jobs with `group_reporting` reach the steady state together, by their sums.
        group_index: match job.settings.grouping.is_reported_together {
            true => u32::try_from(job.group_index).ok(),
            false => None,
        },
    };
    let error = |message: &str, help: &str| Err(job.position.error(message).help(help));
    if goal.interval_ns == 0 || !goal.window_ns.is_multiple_of(goal.interval_ns) {
        let message = "the steady-state duration is not a multiple of the interval of readings";
        return error(message, "use a multiple of `ss_interval` for `ss_dur`");
    }
    if goal.is_slope && goal.reading_count() < 2 {
        let message = "a single reading has no slope";
        return error(message, "use at least twice `ss_interval` for `ss_dur`");
    }
    if goal.reading_count() > READINGS_MAX {
        let message = format!("the steady state covers more than {READINGS_MAX} readings");
        return error(&message, "use a longer `ss_interval`");
    }
    Ok(Some(goal))
}

/// Maximum number of readings in a window; results store all of them.
const READINGS_MAX: usize = 100_000;

/// Checks that all jobs of a group have the same steady state, or none.
///
/// # Errors
/// A job whose steady state differs from that of its group.
pub(super) fn check(set: &JobSet) -> Result<(), Diagnostic> {
    let requested = |job: &FioJob| {
        let requested = job.settings.steady_state.clone();
        requested.filter(|it| it.window_us > 0)
    };
    // fio compares whole groups, even without `group_reporting` (`td_steadystate_init`).
    for group in &set.groups {
        let jobs = &set.jobs[group.jobs.clone()];
        let Some(first) = jobs.first() else { continue };
        if let Some(other) = jobs.iter().find(|job| requested(job) != requested(first)) {
            let source_line = set.place_of(other, "steadystate, ss");
            let message = "jobs of one group have different steady states";
            let error = source_line.error(message);
            return Err(error.help("use the same `steadystate`, or put `new_group` between jobs"));
        }
    }
    Ok(())
}
