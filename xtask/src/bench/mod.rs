//! Comparative measurements: contestants run alternately, and their medians are compared.
//!
//! Results are compared only within one run.

mod accuracy;
mod cases;
mod classics;
mod contest;
mod engine;
mod file_system;
mod highest;
mod limited;
mod methods;
mod network;
mod open_loop;
mod postmark;
mod programs;
mod statistics;
mod traces;
mod waiting;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Failure;

/// Set by Ctrl-C. Waiting code checks it and returns, so that fixtures are removed.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Catches the signals that end programs.
    fn catch() -> Result<Interrupt, Failure> {
        let interrupt = Interrupt::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))
                .map_err(Failure::start("signal handling"))?;
        }
        Ok(interrupt)
    }

    /// Returns an error once a signal was received.
    pub fn check(&self) -> Result<(), Failure> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Failure::Interrupted),
            false => Ok(()),
        }
    }
}

/// Duration and number of measurements.
#[derive(Debug, Clone)]
pub struct BenchEffort {
    /// Number of measurements per contestant; 0 means the benchmark's default.
    pub round_count: usize,
    /// Seconds per measurement; 0 means the benchmark's default.
    pub seconds: u64,
    /// Run only contests whose titles contain this text.
    pub only: String,
    /// The program to measure; `None` for a build of this tree as published.
    pub program: Option<PathBuf>,
}

impl BenchEffort {
    fn parse(options: &[&str]) -> Result<BenchEffort, Failure> {
        let mut effort = BenchEffort {
            round_count: 0,
            seconds: 0,
            only: String::new(),
            program: None,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let value = options
                .next()
                .ok_or_else(|| Failure::Usage(format!("`{option}` needs a value")))?;
            let number = || {
                let invalid = |_| Failure::Usage(format!("`{value}` is no number"));
                value.parse::<u64>().map_err(invalid)
            };
            match *option {
                "--rounds" => effort.round_count = number()? as usize,
                "--seconds" => effort.seconds = number()?,
                "--only" => effort.only = (*value).to_owned(),
                "--program" => effort.program = Some(PathBuf::from(value)),
                _ => {
                    let choices = "there are --rounds, --seconds, --only and --program";
                    return Err(Failure::Usage(format!(
                        "unknown option `{option}`; {choices}"
                    )));
                }
            }
        }
        Ok(effort)
    }

    /// The number of rounds, by default `otherwise`.
    pub fn rounds_or(&self, otherwise: usize) -> usize {
        if self.round_count > 0 {
            self.round_count
        } else {
            otherwise
        }
    }

    /// Seconds per measurement, by default `otherwise`.
    pub fn seconds_or(&self, otherwise: u64) -> u64 {
        if self.seconds > 0 {
            self.seconds
        } else {
            otherwise
        }
    }

    /// `true` if a part with this title was requested.
    pub fn wants(&self, title: &str) -> bool {
        // Without `--only` the text is empty, which every title contains.
        title.contains(&self.only)
    }
}

/// Runs the benchmark `name`.
pub fn run(name: &str, options: &[&str]) -> Result<(), Failure> {
    let effort = BenchEffort::parse(options)?;
    let interrupt = Interrupt::catch()?;
    // Devices and mounts of killed measurements would slow down this one.
    end_to_end::sweep();
    let missed_count = match name {
        "engine" => engine::run(&effort, &interrupt)?,
        "guard" => engine::guard(&effort, &interrupt)?,
        "accuracy" => accuracy::run(&effort, &interrupt)?,
        "network" => network::run(&effort, &interrupt)?,
        "postmark" => postmark::run(&effort, &interrupt)?,
        "classics" => classics::run(&effort, &interrupt)?,
        "statistics" => statistics::run(&effort, &interrupt)?,
        "traces" => traces::run(&effort, &interrupt)?,
        _ => {
            let choices = "there are `guard`, `engine`, `accuracy`, `network`, `postmark`, \
                         `classics`, `statistics` and `traces`";
            return Err(Failure::Usage(format!(
                "unknown benchmark `{name}`; {choices}"
            )));
        }
    };
    match missed_count {
        0 => Ok(()),
        count => Err(Failure::ChecksFailed(format!(
            "benchmark requirements that were missed: {count}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_replace_the_defaults_of_a_benchmark() {
        let options = ["--rounds", "7", "--only", "tmpfs", "--program", "pgmeter"];
        let effort = BenchEffort::parse(&options).unwrap();
        assert_eq!(effort.program, Some(PathBuf::from("pgmeter")));
        assert_eq!((effort.rounds_or(5), effort.seconds_or(3)), (7, 3));
        assert!(effort.wants("4 KiB on tmpfs") && !effort.wants("ext4"));
    }

    #[test]
    fn wrong_options_are_refused() {
        assert!(BenchEffort::parse(&["--rounds"]).is_err());
        assert!(BenchEffort::parse(&["--rounds", "x"]).is_err());
        assert!(BenchEffort::parse(&["--what", "1"]).is_err());
    }

    #[test]
    fn an_interrupt_is_seen() {
        let interrupt = Interrupt::default();
        assert!(interrupt.check().is_ok());
        interrupt.0.store(true, Ordering::Relaxed);
        assert!(matches!(interrupt.check(), Err(Failure::Interrupted)));
    }
}
