//! Options for rates, times and processes.

use super::super::settings::{CpuPolicy, FioSettings, SteadyEnd, SteadyMeasure, WhoEnds};
use super::super::values::{NumberUnit, OptionValue, cpus, floats, number};
use super::access::set;
use super::records::syncs;

pub(super) fn apply(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    let (rates, pauses) = (&mut settings.rates, &mut settings.pauses);
    let (goal, time) = (&mut settings.latency_goal, &mut settings.time);
    match name {
        "rate" => set(&mut rates.bytes_per_second, value),
        "rate_iops" => set(&mut rates.iops, value),
        "rate_min" => set(&mut rates.bytes_per_second_min, value),
        "rate_iops_min" => set(&mut rates.iops_min, value),
        "rate_cycle" => rates.window_ms = value.number(),
        "rate_process" => rates.is_poisson = value.text() == "poisson",
        "rate_ignore_thinktime" => rates.ignores_pauses = value.flag(),
        "thinktime" => pauses.pause_us = value.number(),
        "thinktime_spin" => pauses.spin_us = value.number(),
        "thinktime_blocks" => pauses.request_count = value.number().max(1),
        "thinktime_blocks_type" => pauses.counts_submitted = value.text() == "issue",
        "thinktime_iotime" => pauses.io_time_us = value.number(),
        "flow" => settings.flow.weight = value.signed(),
        "flow_id" => settings.flow.id = value.count(),
        "flow_sleep" => settings.flow.sleep_us = value.number(),
        "max_latency" => set(&mut goal.max_us, value),
        "latency_target" => goal.target_us = value.number(),
        "latency_window" => goal.window_us = value.number(),
        "latency_percentile" => goal.percentile = first_float(value),
        "latency_run" => goal.continues = value.flag(),
        "runtime" => time.runtime_us = value.number(),
        "time_based" => time.is_time_based = value.flag(),
        "ramp_time" => time.ramp_us = value.number(),
        "startdelay" => time.start_delay_us = value.range(),
        // As in fio, 0 loops mean one.
        "loops" => time.loops = value.count().max(1),
        "steadystate" => steady_state(settings, value.text())?,
        // These options may precede `steadystate`, so each of them creates the entry.
        "steadystate_duration" => steady(settings).window_us = value.number(),
        "steadystate_ramp_time" => steady(settings).ramp_us = value.number(),
        "steadystate_check_interval" => steady(settings).interval_us = value.number(),
        _ => return Ok(syncs(settings, name, value)),
    }
    Ok(true)
}

fn first_float(value: &OptionValue) -> f64 {
    match value {
        OptionValue::Floats(floats) => floats.first().copied().unwrap_or_default(),
        _ => 0.0,
    }
}

fn steady(settings: &mut FioSettings) -> &mut SteadyEnd {
    settings.steady_state.get_or_insert_default()
}

/// Reads `iops:0.5%`, `bw_slope:100` or `lat:500us`.
fn steady_state(settings: &mut FioSettings, text: &str) -> Result<(), String> {
    let (name, limit) = text.split_once(':').unwrap_or((text, "0.01%"));
    let kilo = settings.kilo.0;
    let steady = steady(settings);
    steady.measure = SteadyMeasure::of(name).ok_or("use iops, bw or lat, or one with `_slope`")?;
    steady.is_slope = name.ends_with("_slope");
    steady.is_percent = limit.ends_with('%');
    steady.limit = match steady.measure {
        SteadyMeasure::Bandwidth if !steady.is_percent => {
            number(limit, NumberUnit::Bytes { kilo })?.value as f64
        }
        // fio reads a time in microseconds, and then compares it with nanoseconds.
        SteadyMeasure::Latency if !steady.is_percent => {
            number(limit, NumberUnit::Microseconds)?.value as f64
        }
        _ => {
            let limit = floats(limit.trim_end_matches('%'), 0.0, 1e18)?;
            limit.first().copied().unwrap_or_default()
        }
    };
    Ok(())
}

pub(super) fn apply_process(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    let (process, grouping) = (&mut settings.process, &mut settings.grouping);
    match name {
        "numjobs" => process.clone_count = value.count(),
        "thread" => process.is_thread = value.flag(),
        "cpus_allowed" => process.cpus = cpus(value.text())?,
        "cpumask" => {
            let bits = value.number();
            process.cpus = (0..64).filter(|cpu| bits >> cpu & 1 == 1).collect();
        }
        "cpus_allowed_policy" => {
            process.cpu_policy = CpuPolicy::of(value.text()).unwrap_or_default();
        }
        "numa_cpu_nodes" => {
            process.numa_nodes = match value.text() {
                "all" => Vec::new(),
                nodes => cpus(nodes)?,
            }
        }
        // The option table limits the value to -20 to 19, so the cast keeps it.
        "nice" => process.nice = value.signed() as i32,
        "prio" => process.io_priority = Some(value.count()),
        "prioclass" => process.io_class = Some(value.count()),
        "stonewall" => grouping.waits_for_all = value.flag(),
        "new_group" => grouping.opens_group = value.flag(),
        "wait_for" => grouping.waits_for = Some(value.text().to_owned()),
        "group_reporting" => grouping.is_reported_together = value.flag(),
        "exitall" => grouping.ends_others = value.flag(),
        "exit_what" => grouping.ended_jobs = WhoEnds::of(value.text()).unwrap_or_default(),
        "exitall_on_error" => grouping.ends_all_on_error = value.flag(),
        "description" => grouping.description = Some(value.text().to_owned()),
        _ => return Ok(false),
    }
    Ok(true)
}
