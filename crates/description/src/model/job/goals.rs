//! Goals of a job, in both directions.

use units::{Bytes, Percent, Rate, Span};

use crate::model::defaults::{FLOOR_SETTLE_DEFAULT, FLOOR_WINDOW_DEFAULT, READING_DEFAULT};
use crate::model::keys::keys;
use plan::job::{
    DepthTarget, FlowShare, GoalMeasure, JobGoals, MinRate, PerDirection, RateFloor, SteadyGoal,
};

use super::{DirectionTable, JobTable, UntilSteadyTable};
use crate::flaw::ValueError;

/// Maximum number of readings that are judged together; results keep all of them.
const READINGS_MAX: usize = 100_000;

/// Largest `flow_weight`.
const WEIGHT_MAX: u32 = 1000;

keys! {
    read_floor, write_floor: JobTable => RateFloor {
        rate_min_window => window_ns,
        rate_min_settle => settle_ns,
    }
}

keys! {
    read_target, write_target: JobTable => DepthTarget {
        latency_target => latency_ns,
        latency_target_window => window_ns,
        latency_target_percent => percentile,
        latency_target_goes_on => goes_on,
    }
}

keys! {
    read_flow, write_flow: JobTable => FlowShare {
        flow_weight => weight,
        flow_group => group,
        flow_pause => pause_ns,
    }
}

keys! {
    read_steady, write_steady: UntilSteadyTable => SteadyGoal {
        measure => measure,
        slope => is_slope,
        ramp => ramp_ns,
        interval => interval_ns,
    }
}

/// Defaults of a minimum rate.
const FLOOR_DEFAULT: RateFloor = RateFloor {
    least: PerDirection {
        read: None,
        write: None,
    },
    window_ns: FLOOR_WINDOW_DEFAULT.0,
    settle_ns: FLOOR_SETTLE_DEFAULT.0,
};

/// Defaults of a latency target.
const TARGET_DEFAULT: DepthTarget = DepthTarget {
    latency_ns: 0,
    window_ns: 0,
    // The default of fio's `latency_percentile`.
    percentile: 100.0,
    goes_on: false,
};

const STEADY_DEFAULT: SteadyGoal = SteadyGoal {
    measure: GoalMeasure::Iops,
    is_slope: false,
    limit: 1.0,
    is_percent: true,
    window_ns: 0,
    ramp_ns: 0,
    interval_ns: READING_DEFAULT.0,
    group_index: None,
};

pub(super) fn goals(table: &JobTable) -> Result<JobGoals, ValueError> {
    let none = DirectionTable::default();
    let reads = table.reads.as_ref().unwrap_or(&none);
    let writes = table.writes.as_ref().unwrap_or(&none);
    let least = PerDirection {
        read: least(table, "reads", reads)?,
        write: least(table, "writes", writes)?,
    };
    let has_floor = least.read.is_some() || least.write.is_some();
    let latency_ns_max = |key, own: &DirectionTable| {
        let span = own.latency_max.or(table.latency_max);
        let read = span.map(|it| positive("latency_max", it)).transpose();
        read.map_err(|flaw| flaw.under_own(key, own.latency_max.is_some()))
    };
    Ok(JobGoals {
        rate_floor: has_floor.then(|| {
            read_floor(
                table,
                RateFloor {
                    least,
                    ..FLOOR_DEFAULT
                },
            )
        }),
        latency_ns_max: PerDirection {
            read: latency_ns_max("reads", reads)?,
            write: latency_ns_max("writes", writes)?,
        },
        depth_target: depth_target(table)?,
        steady: table.until_steady.as_ref().map(steady).transpose()?,
        flow: flow(table)?,
    })
}

fn positive(key: &'static str, span: Span) -> Result<u64, ValueError> {
    match span.0 {
        0 => {
            let help = format!("leave `{key}` out, or write `{key} = \"10ms\"`");
            Err(ValueError::new(key, format!("`{key}` is 0"), help))
        }
        ns => Ok(ns),
    }
}

/// The minimum rate of a direction: its own, or the job's.
fn least(
    table: &JobTable,
    key: &'static str,
    own: &DirectionTable,
) -> Result<Option<MinRate>, ValueError> {
    match (own.rate_min, own.byte_rate_min) {
        (None, None) => least_rate(table.rate_min, table.byte_rate_min),
        (rate, bytes) => least_rate(rate, bytes).map_err(|flaw| flaw.under(key)),
    }
}

fn least_rate(rate: Option<Rate>, bytes: Option<Bytes>) -> Result<Option<MinRate>, ValueError> {
    let (key, per_second, is_of_bytes) = match (rate, bytes) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let message = "there are both `rate_min` and `byte_rate_min`";
            return Err(ValueError::new(
                "byte_rate_min",
                message,
                "leave one of them out",
            ));
        }
        (Some(Rate(rate)), None) if rate.fract() != 0.0 => {
            let message = format!("`rate_min` is {rate}, not a whole number per second");
            let help = format!("write `rate_min = {}`", rate.ceil());
            return Err(ValueError::new("rate_min", message, help));
        }
        (Some(Rate(rate)), None) => ("rate_min", rate as u64, false),
        (None, Some(Bytes(bytes))) => ("byte_rate_min", bytes, true),
    };
    match per_second {
        0 => Err(ValueError::leave_out(
            key,
            format!("`{key}` is less than 1"),
        )),
        per_second => Ok(Some(MinRate {
            per_second,
            is_of_bytes,
        })),
    }
}

fn depth_target(table: &JobTable) -> Result<Option<DepthTarget>, ValueError> {
    let Some(latency) = table.latency_target else {
        return Ok(None);
    };
    let target = read_target(table, TARGET_DEFAULT);
    let percent = target.percentile;
    if !(percent > 0.0 && percent <= 100.0) {
        let key = "latency_target_percent";
        let message = format!("`{key}` is {percent}, not above 0 and up to 100");
        return Err(ValueError::new(
            key,
            message,
            format!("write `{key} = 99.9`"),
        ));
    }
    positive("latency_target", latency)?;
    Ok(Some(target))
}

fn steady(table: &UntilSteadyTable) -> Result<SteadyGoal, ValueError> {
    let flaw = |message: &str, help: &str| Err(ValueError::new("until_steady", message, help));
    let (limit, is_percent) = match (table.percent, table.limit) {
        (Some(_), Some(_)) => {
            let message = "there are both a `percent` and a `limit`";
            return flaw(message, "leave one of them out");
        }
        (percent, None) => (percent.map_or(1.0, |it| it.0), true),
        (None, Some(limit)) => (limit, false),
    };
    if !(limit > 0.0 && limit.is_finite()) {
        return flaw("no results are that steady", "write `percent = 1`");
    }
    let goal = SteadyGoal {
        limit,
        is_percent,
        window_ns: table.window.0,
        group_index: table.group,
        ..read_steady(table, STEADY_DEFAULT)
    };
    if goal.interval_ns == 0 || !goal.window_ns.is_multiple_of(goal.interval_ns) {
        let help = "write a `window` that is a multiple of `interval`, by default 1 s";
        return flaw("its `window` is not a multiple of its `interval`", help);
    }
    match goal.reading_count() {
        _ if goal.window_ns == 0 => flaw("its `window` is 0", "write `window = \"60s\"`"),
        1 if goal.is_slope => {
            let help = "write a longer `window`, or a shorter `interval`";
            flaw("a single reading has no slope", help)
        }
        count if count > READINGS_MAX => {
            let message = "the `window` has more readings than results can store";
            flaw(message, "write a longer `interval`")
        }
        _ => Ok(goal),
    }
}

fn flow(table: &JobTable) -> Result<Option<FlowShare>, ValueError> {
    let Some(weight) = table.flow_weight else {
        return Ok(None);
    };
    if !(1..=WEIGHT_MAX).contains(&weight) {
        let message = format!("`flow_weight` is {weight}, not from 1 to {WEIGHT_MAX}");
        return Err(ValueError::new(
            "flow_weight",
            message,
            "write `flow_weight = 1`",
        ));
    }
    Ok(Some(read_flow(table, FlowShare::default())))
}

/// Writes the goals to a table.
pub(super) fn put(goals: &JobGoals, table: &mut JobTable) {
    if let Some(floor) = &goals.rate_floor {
        put_floor(floor.least.read, floor.least.write, table);
        write_floor(floor, &FLOOR_DEFAULT, table);
    }
    let most = &goals.latency_ns_max;
    if most.read == most.write {
        table.latency_max = most.read.map(Span);
    } else {
        for (own, ns) in [
            (&mut table.reads, most.read),
            (&mut table.writes, most.write),
        ] {
            if let Some(ns) = ns {
                own.get_or_insert_default().latency_max = Some(Span(ns));
            }
        }
    }
    if let Some(target) = &goals.depth_target {
        write_target(target, &TARGET_DEFAULT, table);
    }
    table.until_steady = goals.steady.as_ref().map(|goal| {
        let mut table = UntilSteadyTable {
            percent: goal.is_percent.then_some(Percent(goal.limit)),
            limit: (!goal.is_percent).then_some(goal.limit),
            window: Span(goal.window_ns),
            group: goal.group_index,
            ..UntilSteadyTable::default()
        };
        write_steady(goal, &STEADY_DEFAULT, &mut table);
        table
    });
    if let Some(flow) = &goals.flow {
        write_flow(flow, &FlowShare::default(), table);
    }
}

fn put_floor(read: Option<MinRate>, write: Option<MinRate>, table: &mut JobTable) {
    let of = |least: MinRate| match least.is_of_bytes {
        true => (None, Some(Bytes(least.per_second))),
        false => (Some(Rate(least.per_second as f64)), None),
    };
    if read == write {
        (table.rate_min, table.byte_rate_min) = read.map_or((None, None), of);
        return;
    }
    let put = |own: &mut Option<DirectionTable>, least: Option<MinRate>| {
        if let Some(least) = least {
            let own = own.get_or_insert_default();
            (own.rate_min, own.byte_rate_min) = of(least);
        }
    };
    put(&mut table.reads, read);
    put(&mut table.writes, write);
}
