//! Checks pgmeter's results against targets of known speed, and against fio with the same mix.

use std::time::Duration;

use end_to_end::Limit;
use end_to_end::faultfs::{FaultFs, Settings};

use super::cases::{self, Case};
use super::contest::{TruthCheck, median, word};
use super::limited::{FILE_BYTES, LimitedDevice};
use super::programs::{Figures, Pgmeter, served_per_second};
use super::{BenchEffort, Interrupt, highest, methods, open_loop};
use crate::error::Failure;

/// Device limits: three request rates and three bandwidths.
const LIMITS: [(Limit, &str, f64); 6] = [
    (Limit::Iops(500), "IOPS", 500.0),
    (Limit::Iops(2000), "IOPS", 2000.0),
    (Limit::Iops(5000), "IOPS", 5000.0),
    (Limit::BytesPerSecond(5 << 20), "B/s", 5_242_880.0),
    (Limit::BytesPerSecond(20 << 20), "B/s", 20_971_520.0),
    (Limit::BytesPerSecond(80 << 20), "B/s", 83_886_080.0),
];
const RATE_PERCENT_MAX: f64 = 0.5;
const DELAYS_MS: [u64; 3] = [1, 5, 20];
const LATENCY_PERCENT_MAX: f64 = 2.0;
const CASE_PERCENT_MAX: f64 = 2.5;
const CASES_MEDIAN_PERCENT_MAX: f64 = 1.0;
/// Limits for the 78 cases: bandwidth for sequential cases, whose main result is bandwidth, and
/// requests for all others.
const CASE_BYTES: Limit = Limit::BytesPerSecond(20 << 20);
const CASE_IOPS: Limit = Limit::Iops(2000);

/// Runs all parts and returns the number of missed requirements.
pub fn run(effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    let pgmeter = Pgmeter::of(effort)?;
    let mut missed_count = 0;
    if effort.wants("limits") {
        missed_count += limits(&pgmeter, effort, interrupt)?;
    }
    if effort.wants("delays") {
        missed_count += delays(&pgmeter, effort, interrupt)?;
    }
    if effort.wants("highest") {
        missed_count += highest::run(&pgmeter, effort, interrupt)?;
    }
    if effort.wants("methods") {
        missed_count += methods::run(&pgmeter, effort, interrupt)?;
    }
    if effort.wants("open-loop") {
        missed_count += open_loop::run(&pgmeter, effort, interrupt)?;
    }
    if cases::all().iter().any(|case| wants_case(effort, case)) {
        missed_count += paper(&pgmeter, effort, interrupt)?;
    }
    Ok(missed_count)
}

fn wants_case(effort: &BenchEffort, case: &Case) -> bool {
    effort.wants("cases") || effort.wants(&case.name)
}

fn limits(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    println!("\nlimits: direct random reads, 4 KiB, depth 16, at most {RATE_PERCENT_MAX} % off");
    let device = LimitedDevice::new(pgmeter)?;
    let seconds = effort.seconds_or(10);
    // The offsets are multiples of the block size, because fio's random offsets are by default.
    let text = format!(
        "size = {FILE_BYTES}\nrun_time = {seconds}\nramp_time = 2\ncache = \"direct\"\n\
         iodepth = 16\n[[access_spec]]\n\
         line = [{{ size = \"4k\", random = 100, align = \"4k\" }}]\n"
    );
    let fio_options: Vec<String> = format!(
        "--ioengine=io_uring --iodepth=16 --rw=randread --bs=4k --norandommap \
         --runtime={seconds} --ramp_time=2"
    )
    .split_whitespace()
    .map(str::to_owned)
    .collect();
    let mut judged = TruthCheck::new();
    for (limit, unit, rate) in LIMITS {
        interrupt.check()?;
        let throttle = device.limit(limit)?;
        let measured = pgmeter.measure_limited(&text, device.path(), &throttle)?;
        interrupt.check()?;
        let fio = device.fio(&fio_options, &throttle)?;
        let pick = |figures: Figures| match limit {
            Limit::Iops(_) => figures.iops,
            Limit::BytesPerSecond(_) => figures.bytes_per_second,
        };
        let label = format!("{unit} (fio {:.1})", pick(fio));
        judged.compare(&label, pick(measured), rate, RATE_PERCENT_MAX);
    }
    Ok(judged.missed_count)
}

fn delays(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    println!("\ndelays: FUSE, depth 1, median latency at most {LATENCY_PERCENT_MAX} % off");
    // With one second, `served_per_second` would count for no time at all.
    let seconds = effort.seconds_or(10).max(2);
    let (base, _) = delayed(pgmeter, Duration::ZERO, seconds)?;
    println!(
        "  without delay a read takes {:.1} us",
        base.latency_p50_ns / 1e3
    );
    let mut judged = TruthCheck::new();
    for delay_ms in DELAYS_MS {
        interrupt.check()?;
        let delay = Duration::from_millis(delay_ms);
        let (figures, served_per_second) = delayed(pgmeter, delay, seconds)?;
        // The way through FUSE takes time as well, which the run without delay shows.
        let wanted_ns = delay.as_nanos() as f64 + base.latency_p50_ns;
        let label = format!("median latency at {delay_ms} ms, ns");
        judged.compare(
            &label,
            figures.latency_p50_ns,
            wanted_ns,
            LATENCY_PERCENT_MAX,
        );
        let label = format!("IOPS at {delay_ms} ms, as the file system served");
        judged.compare(&label, figures.iops, served_per_second, RATE_PERCENT_MAX);
    }
    Ok(judged.missed_count)
}

/// pgmeter's results on a file system with a delay, and the rate measured by the file system.
fn delayed(pgmeter: &Pgmeter, delay: Duration, seconds: u64) -> Result<(Figures, f64), Failure> {
    // Preparation writes much data, so only reads are delayed.
    let settings = Settings {
        read_delay: delay,
        ..Settings::default()
    };
    let faultfs = FaultFs::new(settings)?;
    let text = |run: &str| {
        format!(
            "size = \"16m\"\n{run}\ncache = \"direct\"\nengine = \"psync\"\niodepth = 1\n\
             [[access_spec]]\nline = [{{ size = \"4k\", random = 100, align = \"4k\" }}]\n"
        )
    };
    // Writes the test file first, so that the counter of served reads has only the reads of the
    // measurement.
    pgmeter.measure(
        &text("operations = 1\nramp_time = 0"),
        Some(&faultfs.path()),
    )?;
    // Restarts the counting of calls, without any fault.
    faultfs.arm(&[]);
    let workload = text(&format!("run_time = {seconds}\nramp_time = 1"));
    std::thread::scope(|scope| {
        let served = scope.spawn(|| served_per_second(&faultfs, Duration::from_secs(seconds)));
        let figures = pgmeter.measure(&workload, Some(&faultfs.path()))?;
        let served = match served.join() {
            Ok(served) => served,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok((figures, served))
    })
}

fn paper(pgmeter: &Pgmeter, effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    println!("\ncases: the paper's 78 on a limited device, compared with fio and the same mix");
    let device = LimitedDevice::new(pgmeter)?;
    let mut judged = TruthCheck::new();
    let mut percents = Vec::new();
    for case in cases::all()
        .into_iter()
        .filter(|case| wants_case(effort, case))
    {
        let mut pairs = Vec::new();
        // A single measurement may be disturbed. If it is a miss, the medians of five pairs decide.
        while pairs.is_empty() || (pairs.len() < 5 && differ(&pairs)) {
            interrupt.check()?;
            pairs.push(case_figures(pgmeter, &device, &case, effort.seconds_or(5))?);
        }
        let (ours, fio) = medians(&pairs);
        judged.compare(&case.name, ours, fio, CASE_PERCENT_MAX);
        percents.push(100.0 * (ours / fio - 1.0).abs());
    }
    let middle = median(&percents);
    let is_met = middle <= CASES_MEDIAN_PERCENT_MAX;
    let largest = percents.iter().copied().fold(0.0, f64::max);
    println!(
        "  largest difference {largest:.2} %, median {middle:.2} %: {}",
        word(is_met)
    );
    Ok(judged.missed_count + usize::from(!is_met))
}

/// Medians of pgmeter's and fio's results.
fn medians(pairs: &[(f64, f64)]) -> (f64, f64) {
    let (ours, fio): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    (median(&ours), median(&fio))
}

/// `true` if the first measurement was a miss.
fn differ(pairs: &[(f64, f64)]) -> bool {
    pairs
        .first()
        .is_some_and(|(ours, fio)| 100.0 * (ours / fio - 1.0).abs() > CASE_PERCENT_MAX)
}

fn case_figures(
    pgmeter: &Pgmeter,
    device: &LimitedDevice,
    case: &Case,
    seconds: u64,
) -> Result<(f64, f64), Failure> {
    let throttle = device.limit(if case.is_sequential {
        CASE_BYTES
    } else {
        CASE_IOPS
    })?;
    let text = case.workload(seconds, FILE_BYTES);
    let measured = pgmeter.measure_limited(&text, device.path(), &throttle)?;
    let fio = device.fio(&case.fio(seconds), &throttle)?;
    Ok((case.principal(measured), case.principal(fio)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_within_the_bound_passes_and_nan_fails() {
        let mut judged = TruthCheck::new();
        judged.compare("a", 1004.0, 1000.0, 0.5);
        assert_eq!(judged.missed_count, 0);
        judged.compare("a", 994.0, 1000.0, 0.5);
        judged.compare("a", f64::NAN, 1000.0, 0.5);
        assert_eq!(judged.missed_count, 2);
    }
}
