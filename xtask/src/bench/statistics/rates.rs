//! Open loops on the null engine: planned times and rates reached.

use generate::Arrivals;
use serde_json::Value;
use stats::KolmogorovSmirnov;

use crate::bench::contest::{median, word};
use crate::bench::programs::{Pgmeter, number};
use crate::bench::{BenchEffort, Interrupt};
use crate::error::Failure;

/// Requests per second.
const RATES: [u32; 4] = [1_000, 30_000, 100_000, 300_000];
/// Maximum deviation of evenly spaced requests from their rate, as a share.
const UNIFORM_SHARE_MAX: f64 = 1e-3;
/// Maximum deviation of the rate, in standard errors of a Poisson count.
const POISSON_ERRORS_MAX: f64 = 3.0;
/// Below this p-value, gaps are not exponential.
const P_MIN: f64 = 0.01;
/// Maximum number of measurements. If the first is a miss, it may have been disturbed, and the
/// median of this number decides.
const ROUNDS: usize = 5;

/// Tests the planned gaps of Poisson arrivals against the exponential distribution.
pub fn arrivals() -> Result<usize, Failure> {
    println!(
        "\narrivals: a second of planned Poisson arrivals; Kolmogorov and Smirnov's p at least \
         {P_MIN}"
    );
    let mut missed_count = 0;
    for rate in RATES {
        let gaps = gaps_ns(f64::from(rate))?;
        let test = KolmogorovSmirnov::exponential(&gaps, 1e9 / f64::from(rate));
        let p_value = test.map_or(f64::NAN, |test| test.p_value);
        let distance = test.map_or(f64::NAN, |test| test.distance);
        let is_met = p_value >= P_MIN;
        println!(
            "  {} {rate:>6}/s: {} gaps, distance {distance:.5}, p {p_value:.3}",
            word(is_met),
            gaps.len()
        );
        missed_count += usize::from(!is_met);
    }
    Ok(missed_count)
}

/// Gaps between the arrivals of one second, in nanoseconds.
fn gaps_ns(rate: f64) -> Result<Vec<f64>, Failure> {
    let to_failure = |error: generate::GenerateError| Failure::Output {
        program: "generate".to_owned(),
        message: error.to_string(),
    };
    let mut arrivals = Arrivals::poisson(rate, 1, 1).map_err(to_failure)?;
    let mut gaps = Vec::with_capacity(rate as usize);
    let mut last_ns = arrivals.next_due_ns();
    while last_ns < 1_000_000_000 {
        let next_ns = arrivals.next_due_ns();
        gaps.push((next_ns - last_ns) as f64);
        last_ns = next_ns;
    }
    Ok(gaps)
}

/// Measures open loops and compares the rates reached with the requested rates.
pub fn rates(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    println!(
        "\nrates: the null engine, depth 32; uniform within {} %, Poisson within \
         {POISSON_ERRORS_MAX} standard errors",
        UNIFORM_SHARE_MAX * 100.0
    );
    println!("       arrivals  asked /s  reached /s    ratio  bound      late  runs");
    let seconds = effort.seconds_or(5);
    let mut missed_count = 0;
    for arrivals in ["uniform", "poisson"] {
        for rate in RATES {
            let share_max = match arrivals {
                "uniform" => UNIFORM_SHARE_MAX,
                // A Poisson count of N has the standard error √N, as a share 1/√N.
                _ => POISSON_ERRORS_MAX / (f64::from(rate) * seconds as f64).sqrt(),
            };
            let mut results: Vec<RateResult> = Vec::new();
            let is_met = loop {
                interrupt.check()?;
                // Another seed each time, so that an unlucky draw of arrivals is not repeated.
                let seed = results.len() + 1;
                results.push(measure(pgmeter, (rate, arrivals), seconds, seed)?);
                let is_met = (ratio(&results, rate) - 1.0).abs() <= share_max;
                // A rate that is met on the first try is not measured again.
                if results.len() == 1 && is_met || results.len() >= effort.rounds_or(ROUNDS) {
                    break is_met;
                }
            };
            let late: f64 = median(&results.iter().map(|it| it.late_share).collect::<Vec<f64>>());
            let ratio = ratio(&results, rate);
            println!(
                "  {} {arrivals:>8} {rate:>9} {:>11.1} {ratio:>8.5} ±{:.5} {:>6.2} % {:>5}",
                word(is_met),
                ratio * f64::from(rate),
                share_max,
                late * 100.0,
                results.len()
            );
            missed_count += usize::from(!is_met);
        }
    }
    Ok(missed_count)
}

/// Results of one run.
struct RateResult {
    per_second: f64,
    /// Share of the requests that started more than 50 µs after they were due.
    late_share: f64,
}

/// Median of the rates reached, divided by the requested rate.
fn ratio(results: &[RateResult], rate: u32) -> f64 {
    let rates: Vec<f64> = results.iter().map(|it| it.per_second).collect();
    median(&rates) / f64::from(rate)
}

fn measure(
    pgmeter: &Pgmeter,
    (rate, arrivals): (u32, &str),
    seconds: u64,
    seed: usize,
) -> Result<RateResult, Failure> {
    let text = format!(
        "engine = \"null\"\nsize = \"1g\"\niodepth = 32\nseed = {seed}\nrate = \"{rate}/s\"\n\
         arrivals = \"{arrivals}\"\nrun_time = {seconds}\nramp_time = 1\n\
         [[access_spec]]\nline = [{{ size = \"4k\", random = 100 }}]\n"
    );
    reached(&pgmeter.record(&text, None)?)
}

fn reached(record: &Value) -> Result<RateResult, Failure> {
    let figures = record.pointer("/cells/0/open_loop");
    let number = |path: &str| number(figures, path, "pgmeter");
    Ok(RateResult {
        per_second: number("/achieved_per_second")?,
        late_share: number("/late_count")? / number("/response/count")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn planned_gaps_add_up_to_a_second() {
        let gaps = gaps_ns(30_000.0).unwrap();
        let seconds = gaps.iter().sum::<f64>() / 1e9;
        assert!((0.99..1.01).contains(&seconds), "{seconds}");
    }

    #[test]
    fn open_loop_figures_are_read_from_the_record() {
        let figures = json!({
            "achieved_per_second": 999.0, "late_count": 5, "response": {"count": 50},
        });
        let record = json!({"cells": [{"open_loop": figures}]});
        let result = reached(&record).unwrap();
        assert_eq!((result.per_second, result.late_share), (999.0, 0.1));
        assert!(reached(&json!({"cells": [{}]})).is_err());
        assert_eq!(ratio(&[result], 999), 1.0);
    }
}
