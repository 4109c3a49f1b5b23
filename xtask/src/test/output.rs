//! Runs a check, shows its output, and parses libtest's output for counts and skips.
//!
//! Tests run with `--show-output`, so that a test's line `skipped: reason` is below its name.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::error::Failure;

/// Number of passed tests, with skips and failures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestTally {
    /// Number of tests that passed and were not skipped.
    pub passed_count: usize,
    /// Each skipped test, with its reason.
    pub skips: Vec<String>,
    /// Each failed test or check; the lines below its name are its panic message.
    pub failures: Vec<String>,
}

impl TestTally {
    /// A single failure.
    pub fn failed(message: &str) -> TestTally {
        TestTally {
            failures: vec![message.to_owned()],
            ..TestTally::default()
        }
    }

    /// A single skip, which is also shown.
    pub fn skipped(reason: &str, show: Show<'_>) -> TestTally {
        show(&format!("skipped: {reason}"));
        TestTally {
            skips: vec![reason.to_owned()],
            ..TestTally::default()
        }
    }

    /// Adds a lane's tally, naming the lane.
    pub fn add(&mut self, lane: &str, other: TestTally) {
        self.passed_count += other.passed_count;
        self.skips.extend(
            other
                .skips
                .into_iter()
                .map(|skip| format!("{lane}: {skip}")),
        );
        self.failures.extend(
            other
                .failures
                .into_iter()
                .map(|failure| format!("{lane}: {failure}")),
        );
    }

    /// Adds another tally of the same lane.
    pub fn merge(&mut self, other: TestTally) {
        self.passed_count += other.passed_count;
        self.skips.extend(other.skips);
        self.failures.extend(other.failures);
    }
}

impl fmt::Display for TestTally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} passed, {} failed",
            self.passed_count,
            self.failures.len()
        )?;
        match self.skips.len() {
            0 => Ok(()),
            count => write!(out, ", {count} skipped"),
        }
    }
}

/// Runs a check that counts as one test.
pub fn run_check(name: &str, command: &mut Command) -> Result<TestTally, Failure> {
    let status = command.status().map_err(Failure::start(name))?;
    if status.success() {
        return Ok(TestTally {
            passed_count: 1,
            ..TestTally::default()
        });
    }
    Ok(TestTally::failed(&format!(
        "{:?} ended with {status}",
        command.get_program()
    )))
}

/// Receives a line of output.
pub type Show<'a> = &'a mut dyn FnMut(&str);

/// Runs a test program and shows its output immediately.
pub fn run_tests(name: &str, command: &mut Command, show: Show<'_>) -> Result<TestTally, Failure> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(Failure::start(name))?;
    let mut reader = OutputReader::default();
    if let Some(stdout) = child.stdout.take() {
        read_lines(stdout, |line| {
            show(line);
            reader.line(line);
        });
    }
    let status = child.wait().map_err(Failure::start(name))?;
    let mut tally = reader.finish();
    // A crash of the whole program, or a failed build, prints no name of a test.
    if !status.success() && tally.failures.is_empty() {
        tally
            .failures
            .push(format!("`{name}` ended with {status} and named no test"));
    }
    Ok(tally)
}

/// Passes on each line immediately; bytes that are not text are replaced.
fn read_lines(pipe: impl Read, mut take: impl FnMut(&str)) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    // A read error ends the output like the end of the pipe.
    while pipe
        .read_until(b'\n', &mut line)
        .is_ok_and(|length| length > 0)
    {
        take(String::from_utf8_lossy(&line).trim_end_matches('\n'));
        line.clear();
    }
}

/// Maximum size of the panic message that is kept for a failed test.
const PANIC_LINES_MAX: usize = 12;
const PANIC_COLUMNS_MAX: usize = 300;

/// Reads libtest's output line by line.
#[derive(Debug, Default)]
struct OutputReader {
    tally: TestTally,
    /// The test whose captured output is being read.
    current_test: Option<String>,
    /// Number of lines of its panic message read so far.
    panic_line_count: usize,
    /// Skipped tests of this program, by name.
    skipped_tests: Vec<String>,
}

impl OutputReader {
    fn line(&mut self, line: &str) {
        if let Some(name) = captured_header(line) {
            self.current_test = Some(name.to_owned());
            self.panic_line_count = 0;
        } else if let Some((_, reason)) = line.split_once("skipped: ") {
            self.skip(reason);
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            self.result(rest);
        } else if let Some(name) = failed_test(line) {
            self.tally.failures.push(name.to_owned());
        } else if let Some(name) = ignored_test(line) {
            self.tally.skips.push(format!("{name}: ignored"));
        } else if matches!(line, "failures:" | "successes:") {
            self.current_test = None;
        } else {
            self.keep_panic_message(line);
        }
    }

    /// Keeps the panic message of a failed test for the summary.
    fn keep_panic_message(&mut self, line: &str) {
        let Some(shown) = &self.current_test else {
            return;
        };
        let begins = line.starts_with("thread '") && line.contains(" panicked at ");
        let panics = self.panic_line_count > 0 || begins;
        if line == "stack backtrace:" {
            self.panic_line_count = PANIC_LINES_MAX;
        }
        if !panics || line.is_empty() || self.panic_line_count == PANIC_LINES_MAX {
            return;
        }
        let is_shown = |failure: &&mut String| failure.lines().next() == Some(shown.as_str());
        // From the end, because other programs may have tests with the same name.
        if let Some(failure) = self.tally.failures.iter_mut().rev().find(is_shown) {
            self.panic_line_count += 1;
            let line: String = line.chars().take(PANIC_COLUMNS_MAX).collect();
            failure.push_str(&format!("\n    {line}"));
        }
    }

    fn skip(&mut self, reason: &str) {
        let name = self
            .current_test
            .clone()
            .unwrap_or_else(|| "a test".to_owned());
        // A test that skips several parts counts as one skipped test.
        if !self.skipped_tests.contains(&name) {
            self.tally.skips.push(format!("{name}: {reason}"));
            self.skipped_tests.push(name);
        }
    }

    /// `ok. 5 passed; 0 failed; 1 ignored; ...`
    fn result(&mut self, rest: &str) {
        let passed = rest
            .split([';', '.'])
            .find_map(|part| part.trim().strip_suffix(" passed"))
            .and_then(|count| count.parse::<usize>().ok())
            .unwrap_or(0);
        // For libtest, a test that skips itself has passed.
        self.tally.passed_count += passed.saturating_sub(self.skipped_tests.len());
        self.skipped_tests.clear();
        self.current_test = None;
    }

    fn finish(self) -> TestTally {
        self.tally
    }
}

/// The name in `---- name stdout ----`.
fn captured_header(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// The name in `test name ... FAILED`.
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// The name in `test name ... ignored`, with or without a reason.
fn ignored_test(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> TestTally {
        let mut reader = OutputReader::default();
        read_lines(text.as_bytes(), |line| reader.line(line));
        reader.finish()
    }

    const SKIPPED: &str = "
running 3 tests
test a ... ok
test b ... ok
test c ... ignored, slow

successes:

---- b stdout ----
skipped: needs root
skipped: and a disk

successes:
    a
    b

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn a_skipped_test_is_counted_once_and_not_as_passed() {
        let tally = read(SKIPPED);
        assert_eq!(tally.passed_count, 1);
        assert_eq!(tally.skips, ["c: ignored", "b: needs root"]);
        assert_eq!(tally.to_string(), "1 passed, 0 failed, 2 skipped");
    }

    #[test]
    fn failed_tests_are_named() {
        let tally = read(
            "test a ... FAILED\ntest b ... ok\n\n---- a stdout ----\nboom\n\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored\n",
        );
        assert_eq!(tally.failures, ["a"]);
        assert_eq!(tally.to_string(), "1 passed, 1 failed");
    }

    #[test]
    fn failed_tests_say_what_they_panicked_with() {
        let tally = read(
            "test a ... FAILED\ntest b ... FAILED\n\n\
             successes:\n\n---- c stdout ----\nthread 'x' panicked at as it should\n\n\
             failures:\n\n---- b stdout ----\nsaid before\n\
             thread 'b' (7) panicked at tests/b.rs:3:9:\nassertion failed\n\n  left: 1\n\
             stack backtrace:\n   0: b\n\n\
             failures:\n    a\n    b\n",
        );
        let message = "b\n    thread 'b' (7) panicked at tests/b.rs:3:9:\n    \
            assertion failed\n      left: 1";
        assert_eq!(tally.failures, ["a", message]);
    }

    #[test]
    fn several_programs_in_one_output_add_up() {
        let one = "test result: ok. 2 passed; 0 failed; 0 ignored\n";
        assert_eq!(read(&one.repeat(3)).passed_count, 6);
    }

    #[test]
    fn bytes_that_are_not_text_do_not_stop_the_reading() {
        let mut reader = OutputReader::default();
        let bytes = b"\xff\xfe\ntest result: ok. 2 passed; 0 failed\n";
        read_lines(&bytes[..], |line| reader.line(line));
        assert_eq!(reader.finish().passed_count, 2);
    }

    #[test]
    fn a_program_that_dies_without_output_has_failed() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'test a ... '; exit 101"]);
        let tally = run_tests("dying", &mut command, &mut |_| {}).unwrap();
        assert_eq!(tally.failures.len(), 1);
    }

    #[test]
    fn tallies_name_their_lanes_when_added() {
        let mut total = TestTally::default();
        total.add("unit", TestTally::failed("a"));
        total.add("unit", read(SKIPPED));
        assert_eq!(total.to_string(), "1 passed, 1 failed, 2 skipped");
        assert_eq!(total.failures, ["unit: a"]);
    }
}
