//! Runs pgmeter, fio and the bare loop, and parses their results.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use end_to_end::faultfs::FaultFs;
use end_to_end::{Scratch, Throttle};
use results::RunRecord;
use serde_json::Value;

use super::BenchEffort;
use crate::error::Failure;
use crate::workspace;

/// Results of one measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Median latency, in nanoseconds.
    pub latency_p50_ns: f64,
    /// Peak resident set size in KiB, if measured; otherwise 0.
    pub peak_kib: u64,
}

/// The pgmeter program, with a directory for its workload files.
pub struct Pgmeter {
    program: PathBuf,
    scratch: Scratch,
}

impl Pgmeter {
    /// The program given on the command line, otherwise a build as published.
    pub fn of(effort: &BenchEffort) -> Result<Pgmeter, Failure> {
        let program = match &effort.program {
            Some(path) => std::path::absolute(path).map_err(Failure::file(path))?,
            None => workspace::published_program(&workspace::PROGRAM, "pgmeter")?,
        };
        Ok(Pgmeter {
            program,
            scratch: Scratch::new()?,
        })
    }

    /// The command to measure the workload `text` on `target` and print the record.
    ///
    /// The test file is kept, so that only the first of several runs prepares it.
    pub fn command(&self, text: &str, target: Option<&Path>) -> Result<Command, Failure> {
        let file = end_to_end::write_workload(&self.scratch, "bench.toml", text)?;
        let mut command = Command::new(&self.program);
        command.current_dir(self.scratch.path());
        command.arg("run").arg(file).args([
            "--json",
            "-",
            "--quiet",
            "--keep",
            "--no-db",
            "--no-html",
        ]);
        if let Some(target) = target {
            command.arg("--target").arg(target);
        }
        Ok(command)
    }

    /// The command to run a built-in workload on `target` and print the record.
    pub fn classic(&self, workload: &str, target: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.scratch.path())
            // The user's own store must not get the runs of a benchmark.
            .env("PGMETER_DB", self.scratch.join("results.db"))
            .args(["run", workload, "--json", "-", "--quiet", "--target"])
            .arg(target);
        command
    }

    /// The program with these arguments.
    pub fn plain(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.scratch.path()).args(arguments);
        command
    }

    /// The command to run it as an emulation of another program.
    pub fn as_classic(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["as", name]);
        command
    }

    /// Measures and returns the results of the first measured cell.
    pub fn measure(&self, text: &str, target: Option<&Path>) -> Result<Figures, Failure> {
        let (record, peak_kib) = run_json(&mut self.command(text, target)?)?;
        Ok(Figures {
            peak_kib,
            ..pgmeter_figures(&record)?
        })
    }

    /// Measures and returns the record.
    pub fn record(&self, text: &str, target: Option<&Path>) -> Result<Value, Failure> {
        Ok(run_json(&mut self.command(text, target)?)?.0)
    }

    /// Writes a workload to a file with this name and returns its path.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        Ok(end_to_end::write_workload(&self.scratch, name, text)?)
    }

    /// Writes a record to a file with this name and returns its path.
    pub fn keep(&self, name: &str, record: &Value) -> Result<PathBuf, Failure> {
        let path = self.scratch.join(name);
        std::fs::write(&path, record.to_string()).map_err(Failure::file(&path))?;
        Ok(path)
    }

    /// Compares two records whose runs alternated.
    pub fn compare(&self, files: &[PathBuf]) -> Result<Value, Failure> {
        let mut command = Command::new(&self.program);
        command.arg("compare").args(files);
        command.args(["--paired", "--format", "json"]);
        let mut document = run_json(&mut command)?.0;
        let first = document.pointer_mut("/comparisons/0");
        Ok(first.map(Value::take).unwrap_or_default())
    }

    /// Like `measure`, with a limit.
    pub fn measure_limited(
        &self,
        text: &str,
        target: &Path,
        throttle: &Throttle,
    ) -> Result<Figures, Failure> {
        pgmeter_figures(&self.record_limited(text, target, throttle)?)
    }

    /// Like `record`, with a limit.
    pub fn record_limited(
        &self,
        text: &str,
        target: &Path,
        throttle: &Throttle,
    ) -> Result<Value, Failure> {
        let command = self.command(text, Some(target))?;
        Ok(run_json(&mut throttle.wrap(&command))?.0)
    }
}

/// Results of the first cell with the phase `measure`.
pub fn pgmeter_figures(record: &Value) -> Result<Figures, Failure> {
    let cells = record.get("cells").and_then(Value::as_array);
    let cell = cells
        .into_iter()
        .flatten()
        .find(|cell| cell.get("phase").is_none_or(|phase| phase == "measure"));
    let number = |path: &str| number(cell, path, "pgmeter");
    Ok(Figures {
        iops: number("/total/per_second")?,
        bytes_per_second: number("/total/bytes_per_second")?,
        latency_p50_ns: number("/total/latency/percentiles_ns/50")?,
        peak_kib: 0,
    })
}

/// The command to run fio with one job and print JSON.
pub fn fio(options: &[String]) -> Command {
    with_fio_options(Command::new("fio"), options)
}

/// A program that accepts fio's options, with the options common to all measurements.
pub fn with_fio_options(mut command: Command, options: &[String]) -> Command {
    command.args([
        "--name=bench",
        "--output-format=json",
        "--time_based",
        "--group_reporting",
    ]);
    command
        .args(["--randrepeat=1", "--percentile_list=50"])
        .args(options);
    command
}

/// Runs fio and returns the results of reads and writes together.
pub fn fio_measure(command: &mut Command) -> Result<Figures, Failure> {
    fio_figures(&run_json(command)?.0)
}

/// Results of the only job. The median latency is that of the direction with more operations.
pub fn fio_figures(record: &Value) -> Result<Figures, Failure> {
    let job = record.pointer("/jobs/0");
    let number = |path: &str| number(job, path, "fio");
    let (reads, writes) = (number("/read/iops")?, number("/write/iops")?);
    let direction = if reads >= writes { "read" } else { "write" };
    let median = format!("/{direction}/clat_ns/percentile/50.000000");
    Ok(Figures {
        iops: reads + writes,
        bytes_per_second: number("/read/bw_bytes")? + number("/write/bw_bytes")?,
        latency_p50_ns: self::number(job, &median, "fio").unwrap_or(0.0),
        peak_kib: 0,
    })
}

/// The number at `path` in a program's output.
pub fn number(value: Option<&Value>, path: &str, program: &str) -> Result<f64, Failure> {
    value
        .and_then(|value| value.pointer(path))
        .and_then(Value::as_f64)
        .ok_or_else(|| Failure::Output {
            program: program.to_owned(),
            message: format!("no number at `{path}`"),
        })
}

/// The bare loop for comparison with the engine: random reads per second.
pub struct BareLoop(PathBuf);

impl BareLoop {
    /// Builds the program.
    pub fn build() -> Result<BareLoop, Failure> {
        let selection = ["--package", "engine", "--example", "bare_uring"];
        workspace::published_program(&selection, "bare_uring").map(BareLoop)
    }

    /// Reads blocks of `file` through the page cache, with 128 in flight.
    pub fn measure(&self, file: &Path, block_bytes: u64, seconds: u64) -> Result<f64, Failure> {
        let mut command = Command::new(&self.0);
        command.arg(file);
        command.args([block_bytes, 128, seconds, 0].map(|number| number.to_string()));
        let (stdout, _) = run(&mut command)?;
        let first = stdout
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok());
        first.ok_or_else(|| Failure::Output {
            program: "bare_uring".to_owned(),
            message: stdout,
        })
    }
}

/// Reads per second between two readings of the counter, both well inside the measurement.
pub fn served_per_second(faultfs: &FaultFs, run_time: Duration) -> f64 {
    let begun = Instant::now();
    while faultfs.requests_count().0 < 10 && begun.elapsed() < run_time {
        std::thread::sleep(Duration::from_millis(10));
    }
    // This is longer than the ramp of 1 s in `accuracy`, so that only measured reads count.
    std::thread::sleep(Duration::from_millis(1500));
    let (start, first) = (Instant::now(), faultfs.requests_count().0);
    std::thread::sleep(run_time.saturating_sub(Duration::from_secs(1)));
    let (seconds, last) = (start.elapsed().as_secs_f64(), faultfs.requests_count().0);
    (last - first) as f64 / seconds
}

/// Parses a record printed by pgmeter.
pub fn read_record(printed: Value) -> Result<RunRecord, Failure> {
    serde_json::from_value(printed).map_err(|error| Failure::Output {
        program: "pgmeter".to_owned(),
        message: error.to_string(),
    })
}

pub(super) fn run_json(command: &mut Command) -> Result<(Value, u64), Failure> {
    let (stdout, peak_kib) = run(command)?;
    // fio prints notes before the JSON document.
    let start = stdout.find('{').unwrap_or(0);
    let value = serde_json::from_str(&stdout[start..]).map_err(|error| Failure::Output {
        program: name(command),
        message: error.to_string(),
    })?;
    Ok((value, peak_kib))
}

/// Runs a command; returns its standard output and its peak resident set size in KiB.
fn run(command: &mut Command) -> Result<(String, u64), Failure> {
    let program = name(command);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().map_err(Failure::start(&program))?;
    let pid = child.id();
    // A thread reads the output meanwhile: a full pipe would stop the program.
    let output = std::thread::spawn(move || Child::wait_with_output(child));
    let mut peak_kib = 0;
    while !output.is_finished() {
        // The peak never decreases and disappears with the process, so the last reading counts.
        peak_kib = peak_kib.max(peak_of(pid));
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = match output.join() {
        Ok(output) => output.map_err(Failure::start(&program))?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    if output.status.success() {
        return Ok((
            String::from_utf8_lossy(&output.stdout).into_owned(),
            peak_kib,
        ));
    }
    let message = format!(
        "{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Err(Failure::Program { program, message })
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn peak_of(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    peak_kib(&status)
}

/// The value of `VmHWM` in KiB; 0 for a process that has ended.
fn peak_kib(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_come_from_the_first_measured_cell() {
        let total = json!({
            "per_second": 5.0, "bytes_per_second": 20480, "latency": {"percentiles_ns": {"50": 7}},
        });
        let cells = json!([{"phase": "prepare"}, {"phase": "measure", "total": total}]);
        let figures = pgmeter_figures(&json!({ "cells": cells })).unwrap();
        assert_eq!((figures.iops, figures.latency_p50_ns), (5.0, 7.0));
        assert!(pgmeter_figures(&json!({"cells": []})).is_err());
    }

    #[test]
    fn reads_and_writes_of_fio_add_up() {
        let side = |iops: f64| {
            json!({"iops": iops, "bw_bytes": iops * 10.0,
                   "clat_ns": {"percentile": {"50.000000": iops}}})
        };
        let job = json!({"read": side(3.0), "write": side(4.0)});
        let figures = fio_figures(&json!({ "jobs": [job] })).unwrap();
        assert_eq!((figures.iops, figures.bytes_per_second), (7.0, 70.0));
        assert_eq!(figures.latency_p50_ns, 4.0);
    }

    #[test]
    fn peak_memory_is_read_from_the_process_status() {
        assert_eq!(peak_kib("Name:\tx\nVmHWM:\t    1234 kB\n"), 1234);
        assert_eq!(peak_kib(""), 0);
    }

    #[test]
    fn a_failed_program_says_what_it_printed() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo broken >&2; exit 3"]);
        assert!(
            run(&mut command)
                .unwrap_err()
                .to_string()
                .contains("broken")
        );
    }
}
