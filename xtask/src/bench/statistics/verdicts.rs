//! Comparisons with a known correct result.

use std::path::Path;
use std::time::Duration;

use end_to_end::Scratch;
use end_to_end::faultfs::{FaultFs, Settings};

use super::side::{FigureVerdict, compare, in_turn};
use crate::bench::contest::word;
use crate::bench::programs::Pgmeter;
use crate::bench::{BenchEffort, Interrupt};
use crate::error::Failure;

/// Number of comparisons of a target with itself, half in memory, half on disk.
const SAME_COUNT: usize = 40;
/// Maximum percentage of these comparisons that may show a difference.
const SAME_PERCENT_MAX: f64 = 5.0;
/// Number of comparisons with a slower target.
const SLOWER_COUNT: usize = 10;
/// Duration of a run, in ms: half a second gives many requests; a hundred slow reads take a whole
/// second.
const SAME_MS: u64 = 500;
const SLOWER_MS: u64 = 1000;
/// Number of runs per side of a comparison; more if each comparison must be right.
const SAME_RUNS: usize = 6;
const SLOWER_RUNS: usize = 10;
/// Duration of a read, and of a read that is 10 % slower; both are long compared with wake-up times
/// on a busy machine.
const DELAYS: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(11)];

/// Random reads, for `milliseconds` unless the benchmark's options set a duration.
fn workload(options: &str, effort: &BenchEffort, milliseconds: u64) -> String {
    let run_time = match effort.seconds {
        0 => format!("{milliseconds}ms"),
        seconds => format!("{seconds}s"),
    };
    format!(
        "size = \"32m\"\nrun_time = \"{run_time}\"\nramp_time = \"100ms\"\n{options}\n\
         [[access_spec]]\nline = [{{ size = \"4k\", random = 100, align = \"4k\" }}]\n"
    )
}

/// Compares targets with themselves and counts the differences shown.
pub fn same(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    let count = effort.rounds_or(SAME_COUNT);
    println!(
        "\nsame: {count} comparisons of a target with itself, {SAME_RUNS} runs each in turn; at \
         most {SAME_PERCENT_MAX} % called different"
    );
    heading();
    let (memory, disk) = (Scratch::in_memory()?, Scratch::new()?);
    let targets = [
        (
            "memory",
            memory.path(),
            "engine = \"psync\"\ncache = \"buffered\"",
        ),
        ("disk", disk.path(), "cache = \"direct\"\niodepth = 4"),
    ];
    let mut different_count = 0;
    for number in 0..count {
        let (name, target, options) = targets[number % targets.len()];
        let text = workload(options, effort, SAME_MS);
        let sides = in_turn(SAME_RUNS, interrupt, |_| {
            pgmeter.record(&text, Some(target))
        })?;
        let figures = compare(pgmeter, sides)?;
        // A comparison without values has shown nothing.
        let is_same = !figures.is_empty() && !figures.iter().any(FigureVerdict::shows_difference);
        row(
            number,
            name,
            &figures,
            if is_same { "same" } else { "different" },
        );
        different_count += usize::from(!is_same);
    }
    let percent = 100.0 * different_count as f64 / count as f64;
    let is_met = percent <= SAME_PERCENT_MAX;
    println!(
        "  {} {different_count} of {count} called different ({percent:.1} %)",
        word(is_met)
    );
    Ok(usize::from(!is_met))
}

/// Compares a target with one that is 10 % slower and counts how often this is detected.
pub fn slower(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    let count = effort.rounds_or(SLOWER_COUNT);
    println!(
        "\nslower: {count} comparisons with a FUSE file system whose reads take a tenth longer \
         ({DELAYS:?}), {SLOWER_RUNS} runs each in turn; each to be found"
    );
    heading();
    let text = workload("engine = \"psync\"\ncache = \"direct\"", effort, SLOWER_MS);
    let mounts = [mount(DELAYS[0])?, mount(DELAYS[1])?];
    let paths = [mounts[0].path(), mounts[1].path()];
    let mut found_count = 0;
    for number in 0..count {
        let measure = |side: usize| pgmeter.record(&text, Some(Path::new(&paths[side])));
        let figures = compare(pgmeter, in_turn(SLOWER_RUNS, interrupt, measure)?)?;
        let is_found = figures
            .iter()
            .any(|it| it.figure == "per_second" && it.verdict == "worse");
        row(
            number,
            "fuse",
            &figures,
            if is_found { "found" } else { "not found" },
        );
        found_count += usize::from(is_found);
    }
    let is_met = found_count == count;
    println!("  {} {found_count} of {count} found", word(is_met));
    Ok(usize::from(!is_met))
}

fn mount(read_delay: Duration) -> Result<FaultFs, Failure> {
    let settings = Settings {
        read_delay,
        ..Settings::default()
    };
    Ok(FaultFs::new(settings)?)
}

fn heading() {
    println!("    no  on      IOPS B/A    95 %            verdict");
}

/// Prints the rate of both sides, and every value that shows a difference.
fn row(number: usize, target: &str, figures: &[FigureVerdict], verdict: &str) {
    let Some(rate) = figures.iter().find(|it| it.figure == "per_second") else {
        println!("  {:>4}  {target:<6}  nothing was compared", number + 1);
        return;
    };
    let called: Vec<String> = figures
        .iter()
        .filter(|it| it.shows_difference())
        .map(|it| format!("{} {} {:.3}", it.figure, it.verdict, it.ratio))
        .collect();
    let called = match called.is_empty() {
        true => String::new(),
        false => format!(": {}", called.join(", ")),
    };
    println!(
        "  {:>4}  {target:<6}  {:>8.3}  {:>5.3} to {:>5.3}  {verdict}{called}",
        number + 1,
        rate.ratio,
        rate.low,
        rate.high
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_target_takes_a_tenth_longer() {
        assert_eq!(DELAYS[0] * 11 / 10, DELAYS[1]);
    }

    #[test]
    fn a_run_lasts_as_long_as_requested() {
        let effort = BenchEffort::parse(&["--seconds", "3"]).unwrap();
        assert!(workload("iodepth = 2", &effort, 500).contains("run_time = \"3s\"\n"));
        let effort = BenchEffort::parse(&[]).unwrap();
        assert!(workload("iodepth = 2", &effort, 500).contains("run_time = \"500ms\"\n"));
    }
}
