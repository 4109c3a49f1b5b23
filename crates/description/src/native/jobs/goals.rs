//! What a job is to keep to, as keys of its table.

use units::{Bytes, Percent, Rate, Span};

use crate::model::defaults::{FLOOR_SETTLE_DEFAULT, FLOOR_WINDOW_DEFAULT, READING_DEFAULT};
use crate::model::{DirectionTable, JobTable, UntilSteadyTable};
use plan::job::{GoalMeasure, JobGoals, LeastRate, SteadyGoal};

use super::differing;

/// Puts them into a table.
pub(super) fn put(goals: &JobGoals, table: &mut JobTable) {
    if let Some(floor) = &goals.rate_floor {
        put_floor(floor.least.read, floor.least.write, table);
        table.rate_min_window = differing(Span(floor.window_ns), FLOOR_WINDOW_DEFAULT);
        table.rate_min_settle = differing(Span(floor.settle_ns), FLOOR_SETTLE_DEFAULT);
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
        table.latency_target = Some(Span(target.latency_ns));
        table.latency_target_window = differing(Span(target.window_ns), Span(0));
        table.latency_target_percent = differing(Percent(target.percentile), Percent(100.0));
        table.latency_target_goes_on = differing(target.goes_on, false);
    }
    table.until_steady = goals.steady.as_ref().map(steady);
    if let Some(flow) = &goals.flow {
        table.flow_weight = Some(flow.weight);
        table.flow_group = differing(flow.group, 0);
        table.flow_pause = differing(Span(flow.pause_ns), Span(0));
    }
}

fn put_floor(read: Option<LeastRate>, write: Option<LeastRate>, table: &mut JobTable) {
    let of = |least: LeastRate| match least.is_of_bytes {
        true => (None, Some(Bytes(least.per_second))),
        false => (Some(Rate(least.per_second as f64)), None),
    };
    if read == write {
        (table.rate_min, table.byte_rate_min) = read.map_or((None, None), of);
        return;
    }
    let put = |own: &mut Option<DirectionTable>, least: Option<LeastRate>| {
        if let Some(least) = least {
            let own = own.get_or_insert_default();
            (own.rate_min, own.byte_rate_min) = of(least);
        }
    };
    put(&mut table.reads, read);
    put(&mut table.writes, write);
}

fn steady(goal: &SteadyGoal) -> UntilSteadyTable {
    UntilSteadyTable {
        measure: differing(goal.measure, GoalMeasure::Iops),
        slope: differing(goal.is_slope, false),
        percent: goal.is_percent.then_some(Percent(goal.limit)),
        limit: (!goal.is_percent).then_some(goal.limit),
        window: Span(goal.window_ns),
        ramp: differing(Span(goal.ramp_ns), Span(0)),
        interval: differing(Span(goal.interval_ns), READING_DEFAULT),
        group: goal.group_index,
    }
}
