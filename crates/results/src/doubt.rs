//! Finds doubtful results. Pure: the same record always gives the same warnings.

mod cluster;
mod device;
mod limits;
mod open_loop;
mod processor;
mod samples;
mod short;
mod stretch;
mod whole_run;

pub use cluster::{doubt_cluster, host_difference_warning};
pub use device::memory_target_warnings;
pub(crate) use device::{cache_read_share, cache_write_share};
pub use limits::used_bytes;
pub(crate) use processor::advice as processor_advice;
pub use processor::cpus_used_by_others;
pub use short::{MEASURED_NS_MIN, lengthening_options, short_run_warning};
pub use whole_run::{load_warning, store_io_warning};

use plan::{Cell, ContentPlan, Plan, TargetKind};
use units::Span;

use crate::over_time::end_rates;
use crate::{
    CellRecord, Environment, IntervalRecord, Phase, StandstillCause, Status, SteadyRecord,
    SteadyVerdict,
};
use crate::{Warning, WarningCode};

/// From this share on, the machine's CPUs count as busy.
const MACHINE_BUSY_SHARE: f64 = 0.95;
/// Minimum number of samples beyond a percentile.
pub const SAMPLES_BEYOND_MIN: u64 = 10;
/// An interval is late if it is longer than the median interval by this share of the median. For
/// intervals shorter than a second, the limit is this share of a second, because a shorter delay is
/// not visible.
const LATE_SHARE: f64 = 0.5;
const LATE_BASE_NS_MIN: f64 = 1e9;

/// All warnings about the results of one cell.
#[must_use]
pub fn doubt(cell: &CellRecord, environment: &Environment, plan: &Plan) -> Vec<Warning> {
    let planned = plan.cell(cell.index);
    let figure_findings = [
        outcome(cell),
        stood_still(cell),
        io_errors(cell, plan),
        short_transfers(cell),
        device::cache_served_reads(cell),
        device::cache_absorbed_writes(cell),
        device::other_io(cell, planned, environment, plan),
        processor::cpu_wait_warning(cell, environment),
        processor::worker_cpu_bound(cell, environment),
        processor::saturated(cell, environment),
        open_loop::rate_not_reached(cell),
        open_loop::replay_late(cell),
        open_loop::responses_censored(cell),
        processor::steal_time(cell),
        interval_late(cell),
        warm_up(cell),
        not_steady(cell),
        samples::few_operations(cell, planned),
    ];
    // These warnings come from the plan or hold for all phases of a program.
    let plan_findings = [
        device::file_smaller_than_memory(cell, planned, environment, plan),
        compressible_content(planned),
        ring_flags_missing(cell),
        samples::few_samples(cell),
    ];
    let limits = limits::limits_in_force(cell, planned, environment, plan);
    let figure_findings = figure_findings.into_iter().flatten();
    let figure_findings =
        figure_findings.map(|(code, message)| (code, message_with_phase(cell, message)));
    let plan_findings = plan_findings.into_iter().chain(limits).flatten();
    figure_findings
        .chain(plan_findings)
        .map(|(code, message)| Warning::of_cell(code, cell.index, message))
        .collect()
}

/// Adds the phase to a message. All phases of a program are records of one cell, and a warning
/// names only the cell.
fn message_with_phase(cell: &CellRecord, message: String) -> String {
    match &cell.phase {
        Phase::Classic(phase) => format!("phase {phase}: {message}"),
        _ => message,
    }
}

/// All warnings about the machine that do not need a measurement.
#[must_use]
pub fn environment_warnings(environment: &Environment) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if environment.clock.stable == Some(false) {
        let source = &environment.clock.source;
        let message = format!(
            "the clock source `{source}` is not synchronized across CPUs; latencies may be \
             wrong"
        );
        warnings.push(Warning::of_run(WarningCode::ClockUnstable, message));
    }
    warnings
}

type Finding = Option<(WarningCode, String)>;

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.05 {
        "less than 0.1 %".to_owned()
    } else if percent < 10.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// `true` if the cell only lets time pass, without workers.
fn is_idle(cell: &CellRecord) -> bool {
    cell.workers == 0
}

fn outcome(cell: &CellRecord) -> Finding {
    if cell.status == Status::Interrupted && cell.run_time_ns == 0 && !is_idle(cell) {
        let message = "the run was interrupted before anything was measured";
        return Some((WarningCode::NothingMeasured, message.to_owned()));
    }
    if cell.total.count == 0 && !is_idle(cell) {
        let message = match cell.standstills.is_empty() {
            true if cell.run_time_ns == 0 && cell.ramp_time_ns > 0 => format!(
                "all work was done during the ramp of {}, so there is nothing to report",
                Span(cell.ramp_time_ns)
            ),
            true => "no operation succeeded, so there is nothing to report".to_owned(),
            false => "nothing is left once that time is excluded".to_owned(),
        };
        return Some((WarningCode::NothingMeasured, message));
    }
    // [`stood_still`] reports cells that are not valid.
    (cell.status != Status::Complete && cell.is_valid()).then(|| {
        let seconds = cell.run_time_ns as f64 / 1e9;
        let message = format!("the cell ended early; its results cover {seconds:.1} s");
        (WarningCode::CellCutShort, message)
    })
}

fn stood_still(cell: &CellRecord) -> Finding {
    let first = cell.standstills.first()?;
    let cause = match first.cause {
        StandstillCause::Stopped => "the run was stopped, frozen or paused",
        StandstillCause::Suspended => "the machine was suspended",
    };
    let seconds = |ns: u64| ns as f64 / 1e9;
    let lengths_ns = cell.standstills.iter().map(|it| it.length_ns);
    // Other processes may send any numbers.
    let length_ns = lengths_ns.fold(0, u64::saturating_add);
    let count = match cell.standstills.len() {
        1 => String::new(),
        count => format!(", {count} times"),
    };
    let outcome = match cell.is_valid() {
        true => "that time is excluded from the results",
        false => "the results are not valid",
    };
    let message = format!(
        "{cause} for {:.1} s{count}, {:.1} s after the measurement began; {outcome}",
        seconds(length_ns),
        seconds(first.at_ns),
    );
    Some((WarningCode::StoodStill, message))
}

fn io_errors(cell: &CellRecord, plan: &Plan) -> Finding {
    // In an open loop, requests may fail after the end of the measurement.
    let due = cell.open_loop.as_ref().map_or(0, |it| it.errors);
    // A request may be in both counts, so they are not added.
    let errors = cell.total.errors.max(due);
    (errors > 0).then(|| {
        let causes: Vec<String> = cell
            .errors
            .iter()
            .map(|cause| format!("{} x {} ({})", cause.count, cause.operation, cause.message))
            .collect();
        let noun = if errors == 1 {
            "operation"
        } else {
            "operations"
        };
        let detail = if causes.is_empty() {
            String::new()
        } else {
            format!(": {}", causes.join(", "))
        };
        (
            WarningCode::IoErrors,
            format!("{errors} {noun} failed{detail}{}", lost_peers(cell, plan)),
        )
    })
}

/// Names of the TCP peers with failed operations. A failed connection is not used again.
fn lost_peers(cell: &CellRecord, plan: &Plan) -> String {
    let is_peer = |index: u32| {
        let target = plan.targets.get(index as usize);
        target.is_some_and(|it| it.kind == TargetKind::Network)
    };
    let lost = cell.target_figures.iter().filter(|figures| {
        let mut operations = figures.operations.values();
        is_peer(figures.target_index) && operations.any(|it| it.errors > 0)
    });
    let names: Vec<String> = lost.map(|it| format!("`{}`", it.target)).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            "; connections to {} that failed were not opened again",
            names.join(", ")
        ),
    }
}

fn short_transfers(cell: &CellRecord) -> Finding {
    let short = cell.total.short_count;
    (short > 0).then(|| {
        let message = format!("{short} operations moved fewer bytes than requested");
        (WarningCode::ShortTransfers, message)
    })
}

fn compressible_content(planned: Option<&Cell>) -> Finding {
    let content = planned?.workers.iter().find_map(|worker| {
        let writes = match worker.job.as_deref() {
            Some(job) => job.stream.mix.writes() && job.names.is_none(),
            None => worker.lines.iter().any(|line| line.read_percent < 100.0),
        };
        match worker.content {
            _ if !writes => None,
            ContentPlan::Zero => Some("zeros, which compress to nothing"),
            ContentPlan::Repeating => Some("one byte repeated, which compresses to nothing"),
            ContentPlan::PseudoRandom | ContentPlan::Constant => {
                Some("one block over and over, which can be deduplicated")
            }
            _ => None,
        }
    })?;
    let message = format!(
        "the data written is {content}; some devices and file systems benefit from \
                           that"
    );
    Some((WarningCode::CompressibleContent, message))
}

fn ring_flags_missing(cell: &CellRecord) -> Finding {
    let missing = &cell.engine_notes.ring.as_ref()?.missing;
    (!missing.is_empty()).then(|| {
        let message = format!(
            "this kernel does not support io_uring's {}",
            missing.join(", ")
        );
        (WarningCode::RingFlagsMissing, message)
    })
}

fn interval_late(cell: &CellRecord) -> Finding {
    // Intervals next to a standstill are long for another reason than load.
    let stood = |interval: &&IntervalRecord| {
        let end_ns = interval.at_ns.saturating_add(interval.length_ns);
        let mut standstills = cell.standstills.iter();
        standstills.any(|it| {
            let still_end_ns = it.at_ns.saturating_add(it.length_ns);
            interval.at_ns <= still_end_ns && it.at_ns <= end_ns
        })
    };
    let mut lengths: Vec<u64> = cell
        .intervals
        .iter()
        .filter(|interval| !stood(interval))
        .map(|interval| interval.length_ns)
        .collect();
    if lengths.len() < 3 {
        return None;
    }
    // The last interval lasts until a request completes.
    lengths.pop();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2] as f64;
    let limit = median + LATE_SHARE * median.max(LATE_BASE_NS_MIN);
    let late = lengths
        .iter()
        .filter(|&&length| length as f64 > limit)
        .count();
    (late > 0).then(|| {
        let of = lengths.len() + 1;
        let busy = cell.cpu.machine.map(|machine| machine.busy);
        let cause = match busy.filter(|busy| *busy >= MACHINE_BUSY_SHARE) {
            Some(busy) => format!(": the CPUs were {} busy", percent(busy)),
            None => String::new(),
        };
        let message = format!(
            "{late} of {of} intervals were longer than planned{cause}; their rates use their true \
             length"
        );
        (WarningCode::IntervalLate, message)
    })
}

fn warm_up(cell: &CellRecord) -> Finding {
    if cell.steady.is_some() || !cell.is_valid() {
        // The rounds are repeated until the warm-up is over.
        return None;
    }
    let within = cell.within.as_ref()?;
    let warm_up = within.significant_warm_up()?;
    let seconds = warm_up.length_ns as f64 / 1e9;
    let message = format!(
        "the first {seconds:.1} s of the measurement were still warm-up: {} per second with them, \
         {} without",
        units::format::iops(within.mean),
        units::format::iops(warm_up.settled_mean),
    );
    Some((WarningCode::WarmUp, message))
}

fn not_steady(cell: &CellRecord) -> Finding {
    if let Some(steady) = &cell.steady {
        return rounds_not_steady(steady);
    }
    let within = cell.within.as_ref()?;
    within.drift.filter(|it| it.is_beyond)?;
    let [start, end] = end_rates(cell, within)?;
    let verb = if end > start { "rose" } else { "fell" };
    let by = (start > 0.0).then(|| format!(" by {}", percent((end / start - 1.0).abs())));
    let message = format!(
        "the rate {verb}{} during the measurement: {} per second in its first fifth, {} in its \
         last",
        by.unwrap_or_default(),
        units::format::iops(start),
        units::format::iops(end),
    );
    Some((WarningCode::NotSteady, message))
}

/// Warning about a cell that did not become steady.
fn rounds_not_steady(steady: &SteadyRecord) -> Finding {
    if steady.verdict != SteadyVerdict::NotSteady {
        return None;
    }
    let count = steady.rounds.len();
    let message = match (steady.shares(), &steady.window) {
        (Some((range, line)), Some(window)) => format!(
            "not steady after {count} rounds: the last {} differ by {} ({} is allowed) and their \
             trend changes by {} ({} is allowed), {:+.1} % per round",
            window.values.len(),
            percent(range),
            percent(steady.rule.range_max),
            percent(line),
            percent(steady.rule.excursion_max),
            window.slope_per_round / window.average * 100.0,
        ),
        _ => format!("not steady after {count} rounds"),
    };
    Some((WarningCode::NotSteady, message))
}
