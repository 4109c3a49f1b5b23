//! Results of goals: queue depths, steady states, and the reasons why jobs ended.

use plan::job::GoalMeasure;
use results::{GoalKind, MismatchFigures, MissedGoal, SteadyReading, SteadyReadings};

use super::super::{FioJob, JobSet};
use super::reported::measured;
use super::scaled::{ByteScale, Prefixes, Quantity, scaled};
use super::tree::JsonTree;

/// Messages for standard error about jobs of a wave that missed a goal or read wrong content.
pub(in crate::fio) fn complaints(set: &JobSet, cell: &results::CellRecord) -> String {
    let mut text = String::new();
    for (index, job) in set.jobs.iter().enumerate() {
        // The messages appear at the end of each wave, so only this wave counts.
        let Some((_, worker)) = measured(set, std::slice::from_ref(cell), index) else {
            continue;
        };
        if let Some(mismatch) = &worker.mismatch {
            text.push_str(&mismatch_message(job, mismatch));
        }
        let Some(goals) = &worker.goals else { continue };
        match (&goals.missed, goals.depth) {
            (Some(missed), _) => text.push_str(&error_text(job, missed)),
            (None, Some(depth)) if depth.has_no_valid_depth() => {
                let target_ns = job.settings.latency_goal.target_us.saturating_mul(1000);
                let name = units::printable(&job.name);
                text.push_str(&format!(
                    "{name}: latency_target={target_ns}nsec not kept at any queue depth\n"
                ));
            }
            (None, _) => {}
        }
    }
    text
}

fn mismatch_message(job: &FioJob, mismatch: &MismatchFigures) -> String {
    let file = job.file(mismatch.file_index).text;
    let more = match mismatch.count {
        0 | 1 => String::new(),
        count => format!("; {count} reads of the job are wrong"),
    };
    format!(
        "verify: {}: wrong content in file {} at offset {} (read of {} bytes): wanted {}, seen \
         {}{more}\n",
        units::printable(&job.name),
        units::printable(&file),
        mismatch.offset_bytes,
        mismatch.length_bytes,
        units::printable(&mismatch.wanted),
        units::printable(&mismatch.seen),
    )
}

fn error_text(job: &FioJob, missed: &MissedGoal) -> String {
    let (wanted, seen) = (missed.wanted, missed.seen);
    let name = units::printable(&job.name);
    match (missed.goal, missed.request) {
        (GoalKind::Bandwidth, _) => {
            format!("{name}: rate_min={wanted}B/s not met, got {seen}B/s\n")
        }
        (GoalKind::Iops, _) => {
            format!("{name}: rate_iops_min={wanted} not met, got {seen} IOPS\n")
        }
        (GoalKind::Latency | GoalKind::DepthLatency, request) => {
            let location = request.map_or(String::new(), |it| {
                let file = match &job.settings.replay.read {
                    // The files of a replayed log are not the files of the job.
                    Some(_) => job.name.clone(),
                    None => job.file(it.file_index).text,
                };
                format!(
                    ": {} {} {} {}",
                    units::printable(&file),
                    units::printable(&missed.operation),
                    it.offset_bytes,
                    it.length_bytes
                )
            });
            format!("fio: latency of {seen} nsec exceeds specified max ({wanted} nsec){location}\n")
        }
    }
}

const fn measure_name(measure: GoalMeasure) -> &'static str {
    match measure {
        GoalMeasure::Iops => "iops",
        GoalMeasure::Bandwidth => "bw",
        GoalMeasure::Latency => "lat",
    }
}

fn mean(steady: &SteadyReadings, value: fn(&SteadyReading) -> u64) -> u64 {
    // The sum must not overflow, whatever values a stored record has.
    let count = steady.readings.len().max(1) as u128;
    let values = steady.readings.iter().map(|it| u128::from(value(it)));
    (values.sum::<u128>() / count) as u64
}

/// The `steadystate` line of the normal output.
pub(super) fn line(steady: &SteadyReadings, scale: ByteScale) -> String {
    let goal = &steady.goal;
    let bandwidth = mean(steady, |it| it.bytes_per_second) as f64;
    let plain = |number| scaled(number, scale.digits, Prefixes::Decimal, Quantity::Plain);
    let latency = match goal.measure {
        GoalMeasure::Latency => {
            let (number, unit) = match mean(steady, |it| it.latency_ns) {
                // As in fio, a larger unit needs a value of more than two of it.
                ns @ 2_000_001.. => (ns / 1_000_000, "msec"),
                ns @ 2001.. => (ns / 1000, "usec"),
                ns => (ns, "nsec"),
            };
            format!(", lat={}{unit}", plain(number))
        }
        _ => String::new(),
    };
    format!(
        "  steadystate  : attained={}, bw={} ({}), iops={}{latency}, {}{}={:.3}{}\n",
        if steady.is_reached { "yes" } else { "no" },
        scale.rate(bandwidth),
        scale.other_rate(bandwidth),
        plain(mean(steady, |it| it.iops)),
        measure_name(goal.measure),
        if goal.is_slope { " slope" } else { " mean dev" },
        steady.criterion,
        if goal.is_percent { "%" } else { "" },
    )
}

/// The `steadystate` object of the JSON output.
pub(super) fn steady_state(steady: &SteadyReadings) -> JsonTree {
    let goal = &steady.goal;
    let percent = if goal.is_percent { "%" } else { "" };
    let rule = format!(
        "{}{}:{:.6}{percent}",
        measure_name(goal.measure),
        if goal.is_slope { "_slope" } else { "" },
        goal.limit,
    );
    // fio prints zeros for missing readings, and its own reader expects the full number.
    let judged = goal.window_ns / goal.interval_ns.max(1);
    let missing_count = usize::try_from(judged).unwrap_or(0);
    let missing_count = missing_count.saturating_sub(steady.readings.len());
    let list = |value: fn(&SteadyReading) -> u64| {
        let values = steady.readings.iter().map(value);
        let zeros = std::iter::repeat_n(0, missing_count);
        JsonTree::List(values.chain(zeros).map(JsonTree::Count).collect())
    };
    let means = [
        ("bw_mean", mean(steady, |it| it.bytes_per_second)),
        ("iops_mean", mean(steady, |it| it.iops)),
    ];
    let mut data: Vec<(&str, JsonTree)> = Vec::new();
    data.extend(means.map(|(key, mean)| (key, JsonTree::Count(mean))));
    if goal.measure == GoalMeasure::Latency {
        let latency = mean(steady, |it| it.latency_ns);
        data.push(("lat_mean", JsonTree::Count(latency)));
        data.push(("lat_ns", list(|it| it.latency_ns)));
    }
    data.push(("iops", list(|it| it.iops)));
    data.push(("bw", list(|it| it.bytes_per_second)));
    let data = data.into_iter().map(|(key, it)| (key.to_owned(), it));
    JsonTree::map([
        ("ss", JsonTree::Text(rule)),
        ("duration", JsonTree::Count(goal.window_ns / 1_000_000_000)),
        ("attained", JsonTree::Count(steady.is_reached.into())),
        (
            "criterion",
            JsonTree::Text(format!("{:.6}{percent}", steady.criterion)),
        ),
        ("max_deviation", JsonTree::Real(steady.deviation)),
        ("slope", JsonTree::Real(steady.slope)),
        ("data", JsonTree::Map(data.collect())),
    ])
}
