//! Checks that 95 % of the confidence intervals contain the true value, and that warm-ups are
//! detected if and only if there is one.

use std::path::Path;
use std::time::Duration;

use end_to_end::faultfs::{Call, Effect, Fault, FaultFs, Settings};
use serde_json::Value;
use stats::{Estimate, Simulated, UncertainMean};

use crate::bench::contest::word;
use crate::bench::programs::Pgmeter;
use crate::bench::{BenchEffort, Interrupt};
use crate::error::Failure;

/// Required share of 95 % confidence intervals that contain the true value.
const REQUIRED_COVERAGE: [f64; 2] = [0.93, 0.97];
/// Number of trials of each kind.
const SIMULATED_COUNT: u32 = 500;
const REAL_COUNT: usize = 60;
/// Requests per second of the open loop with a known rate.
const RATE: f64 = 1000.0;
/// Number of repetitions per interval.
const REPETITIONS: usize = 3;
/// Number of runs of ten seconds with and without a slow start.
const SLOW_COUNT: usize = 10;
const CLEAN_COUNT: usize = 20;
/// Duration of a read, additional delay of a slow one, and number of slow reads, which take three
/// seconds together.
const DELAY: Duration = Duration::from_millis(10);
const SLOWER: Duration = Duration::from_millis(20);
const SLOW_READS: u64 = 100;

/// Counts how many intervals contain the true value.
#[derive(Debug, Clone, Copy, Default)]
struct Coverage {
    covered: u32,
    total: u32,
}

impl Coverage {
    fn add(&mut self, is_covered: bool) {
        self.covered += u32::from(is_covered);
        self.total += 1;
    }

    fn share(self) -> f64 {
        f64::from(self.covered) / f64::from(self.total)
    }

    /// 95 % confidence interval of the share.
    ///
    /// Source: Wilson, "Probable inference, the law of succession, and statistical inference",
    /// JASA 22, 1927.
    fn ends(self) -> [f64; 2] {
        const Z: f64 = 1.96;
        let (n, p) = (f64::from(self.total), self.share());
        let middle = p + Z * Z / 2.0 / n;
        let half = Z * (p * (1.0 - p) / n + Z * Z / 4.0 / n / n).sqrt();
        [middle - half, middle + half].map(|end| end / (1.0 + Z * Z / n))
    }

    /// Prints the share; returns 1 if its interval excludes the required share.
    fn report(self, label: &str) -> usize {
        let [low, high] = self.ends();
        let is_met = high >= REQUIRED_COVERAGE[0] && low <= REQUIRED_COVERAGE[1];
        println!(
            "  {} {label:<44} {:>5.1} % [{:.1}, {:.1}] of {}",
            word(is_met),
            self.share() * 100.0,
            low * 100.0,
            high * 100.0,
            self.total
        );
        usize::from(!is_met)
    }
}

/// Checks intervals of simulated runs and repetitions, and of real ones with a known rate.
pub fn coverage(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    println!(
        "\ncoverage: how many 95 % intervals hold the truth, with the share's own interval; {} to \
         {} % is asked",
        REQUIRED_COVERAGE[0] * 100.0,
        REQUIRED_COVERAGE[1] * 100.0
    );
    let mut missed_count = simulated();
    let count = effort.rounds_or(REAL_COUNT);
    missed_count += coverage_within_runs(pgmeter, count, interrupt)?;
    missed_count += coverage_over_repetitions(pgmeter, count, interrupt)?;
    Ok(missed_count)
}

fn simulated() -> usize {
    let mut missed_count = 0;
    // A fixed seed: the simulated part gives the same result on every machine.
    let mut simulated = Simulated::new(97);
    for intervals in [20, 25, 30, 40, 100, 300] {
        for correlation in [0.0, 0.3, 0.5, 0.7] {
            let mut coverage = Coverage::default();
            for _ in 0..SIMULATED_COUNT {
                let series = simulated.ar1(intervals, correlation, RATE, 30.0);
                let mean = UncertainMean::of_series(&series);
                let half = mean.and_then(|mean| Some((mean.mean, mean.half_width()?)));
                coverage.add(half.is_some_and(|(mean, half)| (mean - RATE).abs() <= half));
            }
            let label = format!("simulated: {intervals} intervals, correlation {correlation}");
            missed_count += coverage.report(&label);
        }
    }
    for repetitions in [3, 5, 10] {
        let mut coverage = Coverage::default();
        for _ in 0..SIMULATED_COUNT {
            let estimate = Estimate::from_samples(&simulated.white(repetitions, RATE, 30.0));
            let ends = estimate.and_then(|it| Some(it.ci95_low?..=it.ci95_high?));
            coverage.add(ends.is_some_and(|ends| ends.contains(&RATE)));
        }
        missed_count += coverage.report(&format!("simulated: {repetitions} repetitions"));
    }
    missed_count
}

/// An open loop with Poisson arrivals on the null engine.
fn workload(seed: usize, run_time: &str, repetitions: usize) -> String {
    format!(
        "engine = \"null\"\nsize = \"1g\"\niodepth = 32\nseed = {seed}\nrate = \"{RATE}/s\"\n\
         arrivals = \"poisson\"\nrun_time = \"{run_time}\"\nramp_time = \"100ms\"\n\
         repetitions = {repetitions}\n\
         [[access_spec]]\nline = [{{ size = \"4k\", random = 100 }}]\n"
    )
}

fn coverage_within_runs(
    pgmeter: &Pgmeter,
    count: usize,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    let mut coverage = Coverage::default();
    for seed in 1..=count {
        interrupt.check()?;
        let record = pgmeter.record(&workload(seed, "3s", 1), None)?;
        coverage.add(holds(record.pointer("/cells/0/within"), RATE));
    }
    Ok(coverage.report(&format!("real: within runs of 3 s at {RATE}/s")))
}

fn coverage_over_repetitions(
    pgmeter: &Pgmeter,
    count: usize,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    let mut coverage = Coverage::default();
    for seed in 1..=count {
        interrupt.check()?;
        let record = pgmeter.record(&workload(seed, "500ms", REPETITIONS), None)?;
        let estimates = record.pointer("/estimates").and_then(Value::as_array);
        let is_rate = |it: &&Value| it["operation"] == "total" && it["metric"] == "per_second";
        coverage.add(holds(estimates.into_iter().flatten().find(is_rate), RATE));
    }
    Ok(coverage.report(&format!(
        "real: {REPETITIONS} repetitions of 0.5 s at {RATE}/s"
    )))
}

/// `true` if the interval found contains the true value.
fn holds(estimate: Option<&Value>, truth: f64) -> bool {
    let end = |name: &str| estimate.and_then(|estimate| estimate.get(name)?.as_f64());
    let ends = (end("ci95_low"), end("ci95_high"));
    matches!(ends, (Some(low), Some(high)) if (low..=high).contains(&truth))
}

/// Runs of ten seconds on a target that is three times slower for the first three, and on one that
/// is not.
pub fn warm_up(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    println!(
        "\nwarm-up: 10 s on a FUSE file system, reads of {DELAY:?}; the first {SLOW_READS} take \
         {SLOWER:?} longer, or none does"
    );
    let mut missed_count = 0;
    for (is_slow, count) in [(true, SLOW_COUNT), (false, CLEAN_COUNT)] {
        let count = effort.rounds_or(count);
        let mut lengths = Vec::new();
        let mut alarms = Vec::new();
        for seed in 1..=count {
            interrupt.check()?;
            let record = run_with_slow_start(pgmeter, is_slow, seed)?;
            let length = record.pointer("/cells/0/within/warm_up/length_ns");
            let warnings = codes(&record);
            if is_slow && length.is_none() {
                println!("  not found: reads in intervals {:?}", reads(&record));
            }
            if warnings.iter().any(|code| code == "warm-up") {
                lengths.extend(
                    length
                        .and_then(Value::as_f64)
                        .map(|ns| format!("{:.2}", ns / 1e9)),
                );
            }
            // With a slow start, the warm-up is expected; any other doubt is wrong.
            alarms.extend(
                warnings
                    .into_iter()
                    .filter(|code| code != "warm-up" || !is_slow),
            );
        }
        let (is_met, what) = match is_slow {
            true => (lengths.len() == count, "found"),
            false => (alarms.is_empty(), "clean"),
        };
        missed_count += usize::from(!is_met);
        println!(
            "  {} {what}: {} of {count} have a warm-up ({} s); other doubts: {}",
            word(is_met),
            lengths.len(),
            lengths.join(" "),
            alarms.join(" ")
        );
    }
    Ok(missed_count)
}

fn run_with_slow_start(pgmeter: &Pgmeter, is_slow: bool, seed: usize) -> Result<Value, Failure> {
    let faultfs = FaultFs::new(Settings {
        read_delay: DELAY,
        ..Settings::default()
    })?;
    let slow = Fault {
        request_count: SLOW_READS,
        ..Fault::once(Call::Read, 1, Effect::Stall(SLOWER))
    };
    if is_slow {
        faultfs.arm(&[slow]);
    }
    let text = format!(
        "engine = \"psync\"\ncache = \"direct\"\nsize = \"4m\"\nseed = {seed}\nrun_time = 10\n\
         ramp_time = 0\n[[access_spec]]\nline = [{{ size = \"4k\", random = 100 }}]\n"
    );
    pgmeter.record(&text, Some(Path::new(&faultfs.path())))
}

/// Number of reads in each interval.
fn reads(record: &Value) -> Vec<u64> {
    let intervals = record.pointer("/cells/0/intervals");
    let intervals = intervals.and_then(Value::as_array).into_iter().flatten();
    let counts = intervals.map(|it| it.pointer("/operations/read/count")?.as_u64());
    counts.map(Option::unwrap_or_default).collect()
}

/// Codes of warnings about changes of the rate.
fn codes(record: &Value) -> Vec<String> {
    let warnings = record.get("warnings").and_then(Value::as_array);
    let codes = warnings.into_iter().flatten();
    let codes = codes.filter_map(|warning| warning.get("code")?.as_str());
    codes
        .filter(|code| ["warm-up", "not-steady"].contains(code))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_share_has_a_wilson_interval() {
        let coverage = Coverage {
            covered: 57,
            total: 60,
        };
        // Source: 95 % of 60 by Wilson's formula without continuity correction.
        let [low, high] = coverage.ends().map(|end| (end * 1000.0).round() / 10.0);
        assert_eq!((low, high), (86.3, 98.3));
        assert_eq!(coverage.report("so many"), 0);
        assert_eq!(
            Coverage {
                covered: 45,
                total: 60
            }
            .report("too few"),
            1
        );
    }

    #[test]
    fn a_value_must_be_within_both_ends_of_the_interval() {
        let estimate = json!({"ci95_low": 9.0, "ci95_high": 11.0});
        assert!(holds(Some(&estimate), 10.0) && !holds(Some(&estimate), 12.0));
        assert!(!holds(None, 10.0) && !holds(Some(&json!({"ci95_low": 9.0})), 10.0));
    }
}
