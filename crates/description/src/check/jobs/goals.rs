//! What a job is to keep to, from its table.

use units::{Bytes, Rate, Span};

use crate::model::defaults::{FLOOR_SETTLE_DEFAULT, FLOOR_WINDOW_DEFAULT, READING_DEFAULT};
use crate::model::{DirectionTable, JobTable, UntilSteadyTable};
use plan::job::{
    DepthTarget, FlowShare, GoalMeasure, JobGoals, LeastRate, PerDirection, RateFloor, SteadyGoal,
};

use super::super::Flaw;

/// Readings that are judged together at most, which results keep.
const READINGS_MAX: usize = 100_000;

/// The largest weight in a flow.
const WEIGHT_MAX: u32 = 1000;

/// The goals of a table.
pub(super) fn goals(table: &JobTable) -> Result<JobGoals, Flaw> {
    let none = DirectionTable::default();
    let reads = table.reads.as_ref().unwrap_or(&none);
    let writes = table.writes.as_ref().unwrap_or(&none);
    let least = PerDirection {
        read: least(table, reads)?,
        write: least(table, writes)?,
    };
    let is_asked = least.read.is_some() || least.write.is_some();
    let latency_ns_max = |own: &DirectionTable| {
        let span = own.latency_max.or(table.latency_max);
        span.map(|it| positive("latency_max", it)).transpose()
    };
    Ok(JobGoals {
        rate_floor: is_asked.then(|| RateFloor {
            least,
            window_ns: table.rate_min_window.unwrap_or(FLOOR_WINDOW_DEFAULT).0,
            settle_ns: table.rate_min_settle.unwrap_or(FLOOR_SETTLE_DEFAULT).0,
        }),
        latency_ns_max: PerDirection {
            read: latency_ns_max(reads)?,
            write: latency_ns_max(writes)?,
        },
        depth_target: depth_target(table)?,
        steady: table.until_steady.as_ref().map(steady).transpose()?,
        flow: flow(table)?,
    })
}

fn positive(key: &'static str, span: Span) -> Result<u64, Flaw> {
    match span.0 {
        0 => {
            let help = format!("leave `{key}` out, or write `{key} = \"10ms\"`");
            Err(Flaw::new(key, format!("`{key}` is 0"), help))
        }
        ns => Ok(ns),
    }
}

/// The least rate of a direction: its own, or the job's.
fn least(table: &JobTable, own: &DirectionTable) -> Result<Option<LeastRate>, Flaw> {
    let said = match (own.rate_min, own.byte_rate_min) {
        (None, None) => (table.rate_min, table.byte_rate_min),
        own => own,
    };
    let (key, per_second, is_of_bytes) = match said {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let message = "there are both `rate_min` and `byte_rate_min`";
            return Err(Flaw::new("byte_rate_min", message, "leave one of them out"));
        }
        (Some(Rate(rate)), None) => ("rate_min", rate as u64, false),
        (None, Some(Bytes(bytes))) => ("byte_rate_min", bytes, true),
    };
    match per_second {
        0 => Err(Flaw::new(
            key,
            format!("`{key}` is less than 1"),
            format!("leave `{key}` out"),
        )),
        per_second => Ok(Some(LeastRate {
            per_second,
            is_of_bytes,
        })),
    }
}

fn depth_target(table: &JobTable) -> Result<Option<DepthTarget>, Flaw> {
    let Some(latency) = table.latency_target else {
        return Ok(None);
    };
    let percent = table.latency_target_percent.map_or(100.0, |it| it.0);
    if !(percent > 0.0 && percent <= 100.0) {
        let key = "latency_target_percent";
        let message = format!("`{key}` is {percent}, not above 0 and up to 100");
        return Err(Flaw::new(key, message, format!("write `{key} = 99.9`")));
    }
    Ok(Some(DepthTarget {
        latency_ns: positive("latency_target", latency)?,
        window_ns: table.latency_target_window.unwrap_or_default().0,
        percentile: percent,
        goes_on: table.latency_target_goes_on.unwrap_or(false),
    }))
}

fn steady(table: &UntilSteadyTable) -> Result<SteadyGoal, Flaw> {
    let key = "until_steady";
    let flaw = |message: &str, help: &str| Err(Flaw::new(key, message, help));
    let (limit, is_percent) = match (table.percent, table.limit) {
        (Some(_), Some(_)) => {
            return flaw(
                "there are both a `percent` and a `limit`",
                "leave one of them out",
            );
        }
        (percent, None) => (percent.map_or(1.0, |it| it.0), true),
        (None, Some(limit)) => (limit, false),
    };
    if !(limit > 0.0 && limit.is_finite()) {
        return flaw("nothing is as steady as that", "write `percent = 1`");
    }
    let goal = SteadyGoal {
        measure: table.measure.unwrap_or(GoalMeasure::Iops),
        is_slope: table.slope.unwrap_or(false),
        limit,
        is_percent,
        window_ns: table.window.0,
        ramp_ns: table.ramp.unwrap_or_default().0,
        interval_ns: table.interval.unwrap_or(READING_DEFAULT).0,
        group_index: table.group,
    };
    if goal.interval_ns == 0 || !goal.window_ns.is_multiple_of(goal.interval_ns) {
        return flaw(
            "its `window` is not a multiple of its `interval`",
            "write a `window` of so many whole seconds",
        );
    }
    match goal.reading_count() {
        _ if goal.window_ns == 0 => flaw("its `window` is 0", "write `window = \"60s\"`"),
        1 if goal.is_slope => flaw(
            "a single reading has no slope",
            "write a longer `window`, or a shorter `interval`",
        ),
        count if count > READINGS_MAX => flaw(
            "more readings are to be steady than results keep",
            "write a longer `interval`",
        ),
        _ => Ok(goal),
    }
}

fn flow(table: &JobTable) -> Result<Option<FlowShare>, Flaw> {
    let Some(weight) = table.flow_weight else {
        return Ok(None);
    };
    if !(1..=WEIGHT_MAX).contains(&weight) {
        let message = format!("`flow_weight` is {weight}, not from 1 to {WEIGHT_MAX}");
        return Err(Flaw::new("flow_weight", message, "write `flow_weight = 1`"));
    }
    Ok(Some(FlowShare {
        group: table.flow_group.unwrap_or(0),
        weight,
        pause_ns: table.flow_pause.unwrap_or_default().0,
    }))
}
