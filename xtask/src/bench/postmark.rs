//! Compares pgmeter with Debian's PostMark: transactions per second and CPU time.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::file_system::BenchFileSystem;
use engine::ChildrenTime;
use serde_json::Value;

use super::contest::{ComparedProgram, ProgramComparison, Requirement, median, word};
use super::programs::{Pgmeter, run_json};
use super::{BenchEffort, Interrupt};
use crate::error::Failure;

// Published measurements have 9999 files; a tenth of their transactions takes seconds instead of
// minutes.
const FILES: u64 = 9999;
const TRANSACTIONS: u64 = 500_000;
/// Maximum share of the original's user time, with the same system calls.
const USER_SHARE_MAX: f64 = 0.5;

/// A pgmeter configuration and its requirement against the original.
struct PostmarkCase {
    name: &'static str,
    /// Values for `--set`.
    settings: &'static [&'static str],
    /// Intermediate configurations, by name and `--set` values, to show the gain of each step.
    steps: &'static [(&'static str, &'static [&'static str])],
    workers: u32,
    ratio_min: f64,
    limits_user_time: bool,
}

/// One call for a file's whole content, and no calls that only a stream needs.
const ONE_CALL: &[&str] = &["buffering=false", "read_block=16383", "write_block=16383"];
/// The same, and opens and closes only for a file's first and last operation.
const KEPT_OPEN: &[&str] = &[
    "buffering=false",
    "read_block=16383",
    "write_block=16383",
    "keep_open=15000",
];

const CASES: [PostmarkCase; 3] = [
    PostmarkCase {
        name: "same calls",
        settings: &[],
        steps: &[],
        workers: 1,
        ratio_min: 1.05,
        limits_user_time: true,
    },
    PostmarkCase {
        name: "fewer calls",
        settings: KEPT_OPEN,
        steps: &[("same calls", &[]), ("one call", ONE_CALL)],
        workers: 1,
        ratio_min: 1.2,
        limits_user_time: false,
    },
    PostmarkCase {
        name: "two workers",
        settings: ONE_CALL,
        steps: &[],
        workers: 2,
        ratio_min: 1.8,
        limits_user_time: false,
    },
];

/// Runs all comparisons and returns the number of missed requirements.
pub fn run(effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    let pgmeter = Pgmeter::of(effort)?;
    let mut missed_count = 0;
    for (place, file_system) in [
        ("tmpfs", BenchFileSystem::Memory),
        ("ext4", BenchFileSystem::Ext4),
    ] {
        let lab = PostmarkBench {
            pgmeter: &pgmeter,
            file_system,
            user_ns: RefCell::default(),
        };
        for case in &CASES {
            let title = format!("PostMark, {}, {place}", case.name);
            if effort.wants(&title) {
                missed_count += lab.hold(case, &title, effort.rounds_or(5), interrupt)?;
            }
        }
    }
    Ok(missed_count)
}

/// A file system to measure on.
struct PostmarkBench<'a> {
    pgmeter: &'a Pgmeter,
    file_system: BenchFileSystem,
    /// User time of each measurement: pgmeter's, then the original's.
    user_ns: RefCell<[Vec<f64>; 2]>,
}

impl PostmarkBench<'_> {
    fn hold(
        &self,
        case: &PostmarkCase,
        title: &str,
        rounds: usize,
        interrupt: &Interrupt,
    ) -> Result<usize, Failure> {
        // The times of the previous case must not count for this one.
        *self.user_ns.borrow_mut() = Default::default();
        println!("\n{title}");
        let step = |(name, settings): &(&'static str, &'static [&'static str])| {
            let settings = *settings;
            ComparedProgram {
                name,
                measure: Box::new(move || self.ours(settings, case.workers)),
            }
        };
        let mut contestants = vec![
            ComparedProgram {
                name: "pgmeter",
                measure: Box::new(|| self.timed(0, || self.ours(case.settings, case.workers))),
            },
            ComparedProgram {
                name: "postmark",
                measure: Box::new(|| self.timed(1, || self.original())),
            },
        ];
        contestants.extend(case.steps.iter().map(step));
        let contest = ProgramComparison {
            title: "whole runs of 9999 files and 500,000 transactions",
            unit: "transactions/s",
            contestants,
            requirements: vec![Requirement {
                against: "postmark",
                ratio_min: case.ratio_min,
            }],
        };
        let missed_count = contest.hold(rounds, interrupt)?;
        let [ours, theirs] = &*self.user_ns.borrow();
        let share = median(ours) / median(theirs);
        let seconds = [ours, theirs].map(|times| median(times) / 1e9);
        let mut line = format!(
            "user time {:.2} s, the original's {:.2} s: {share:.2} of it",
            seconds[0], seconds[1]
        );
        if !case.limits_user_time {
            println!("  {line}");
            return Ok(missed_count);
        }
        let is_met = share <= USER_SHARE_MAX;
        let _ = write!(line, ", {} at most {USER_SHARE_MAX}", word(is_met));
        println!("  {line}");
        Ok(missed_count + usize::from(!is_met))
    }

    /// Measures once and records the user time of the whole process.
    fn timed(
        &self,
        row: usize,
        measure: impl Fn() -> Result<f64, Failure>,
    ) -> Result<f64, Failure> {
        let before = ChildrenTime::so_far();
        let figure = measure()?;
        // The kernel adds a child's time when it has been waited for, which `measure` has done.
        let used = ChildrenTime::so_far().since(before);
        self.user_ns.borrow_mut()[row].push(used.user_ns as f64);
        Ok(figure)
    }

    /// Transactions per second of a whole run, from the first file created to the last one removed.
    fn ours(&self, settings: &[&str], workers: u32) -> Result<f64, Failure> {
        let directory = self.file_system.empty_directory()?;
        let mut command = self.pgmeter.classic("postmark", directory.path());
        let numbers = [
            format!("number={FILES}"),
            format!("transactions={TRANSACTIONS}"),
            format!("workers={workers}"),
        ];
        let numbers = numbers.iter().map(String::as_str);
        for setting in numbers.chain(settings.iter().copied()) {
            command.args(["--set", setting]);
        }
        let (record, _) = run_json(&mut command)?;
        transactions_per_second(&record).ok_or_else(|| Failure::Output {
            program: "pgmeter".to_owned(),
            message: "no results of PostMark".to_owned(),
        })
    }

    /// Times the process, because the original counts in whole seconds.
    fn original(&self) -> Result<f64, Failure> {
        let directory = self.file_system.empty_directory()?;
        let start = Instant::now();
        play(directory.path())?;
        Ok(TRANSACTIONS as f64 / start.elapsed().as_secs_f64())
    }
}

fn transactions_per_second(record: &Value) -> Option<f64> {
    let cells = record.get("cells")?.as_array()?;
    let mut pools = cells
        .iter()
        .filter_map(|cell| cell.pointer("/phase_figures/pool"));
    let pool = pools.next()?;
    let figure = |name: &str| pool.get(name)?.as_f64();
    let times = ["creation_ns", "transactions_ns", "deletion_ns"].map(figure);
    let total_ns: Option<f64> = times.into_iter().sum();
    Some(figure("transactions_count")? * 1e9 / total_ns?)
}

/// Runs Debian's PostMark in a directory.
fn play(directory: &Path) -> Result<(), Failure> {
    let program = || "postmark".to_owned();
    let mut child = Command::new("postmark")
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(Failure::start("postmark"))?;
    let script = format!("set number {FILES}\nset transactions {TRANSACTIONS}\nrun\nquit\n");
    let written = child
        .stdin
        .take()
        .map(|mut input| input.write_all(script.as_bytes()));
    let status = child.wait().map_err(Failure::start("postmark"))?;
    match (written, status.success()) {
        (Some(Ok(())), true) => Ok(()),
        _ => Err(Failure::Program {
            program: program(),
            message: status.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_rate_covers_the_whole_run() {
        let record = json!({"cells": [
            {"phase": "create"},
            {"phase": "transactions", "phase_figures": {"pool": {
                "transactions_count": 500,
                "creation_ns": 100_000_000,
                "transactions_ns": 120_000_000,
                "deletion_ns": 30_000_000,
            }}},
        ]});
        assert_eq!(transactions_per_second(&record), Some(2000.0));
        assert_eq!(transactions_per_second(&json!({"cells": []})), None);
    }
}
