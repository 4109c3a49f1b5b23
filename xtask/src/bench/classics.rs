//! Compares pgmeter's small-file classics with bare loops of the same system calls, and with the
//! original programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use end_to_end::Scratch;
use serde_json::Value;

use super::contest::{ComparedProgram, ProgramComparison, Requirement, median};
use super::file_system::BenchFileSystem;
use super::programs::Pgmeter;
use super::{BenchEffort, Interrupt};
use crate::error::Failure;
use crate::workspace;

/// Minimum share of a bare loop's rate.
const BARE_LOOP_MIN: Requirement = Requirement {
    against: "bare loop",
    ratio_min: 0.97,
};
/// Minimum share of the original's rate.
const FS_MARK_MIN: Requirement = Requirement {
    against: "fs_mark",
    ratio_min: 1.05,
};
/// Minimum share of the original's rate, in tests that only move bytes.
const IOZONE_MIN: Requirement = Requirement {
    against: "iozone",
    ratio_min: 0.98,
};
/// Bytes per write, fs_mark's default.
const WRITE_BYTES: u64 = 16_384;

/// A comparison of file creation with fs_mark.
struct FsMarkBench {
    title: &'static str,
    file_system: BenchFileSystem,
    /// Number of files for a measurement of about one second.
    files: u64,
    size_bytes: u64,
    method: u8,
    requirements: &'static [Requirement],
}

const FS_MARK: [FsMarkBench; 5] = [
    FsMarkBench {
        title: "fs_mark -S 0, files of 4 KiB on tmpfs",
        file_system: BenchFileSystem::Memory,
        files: 100_000,
        size_bytes: 4096,
        method: 0,
        requirements: &[BARE_LOOP_MIN, FS_MARK_MIN],
    },
    FsMarkBench {
        title: "fs_mark -S 1, files of 4 KiB on tmpfs",
        file_system: BenchFileSystem::Memory,
        files: 100_000,
        size_bytes: 4096,
        method: 1,
        requirements: &[BARE_LOOP_MIN, FS_MARK_MIN],
    },
    FsMarkBench {
        title: "fs_mark -S 1, its own size, on tmpfs",
        file_system: BenchFileSystem::Memory,
        files: 20_000,
        size_bytes: 51_200,
        method: 1,
        requirements: &[BARE_LOOP_MIN, FS_MARK_MIN],
    },
    FsMarkBench {
        title: "fs_mark -S 0, files of 4 KiB on ext4",
        file_system: BenchFileSystem::Ext4,
        files: 50_000,
        size_bytes: 4096,
        method: 0,
        requirements: &[BARE_LOOP_MIN, FS_MARK_MIN],
    },
    FsMarkBench {
        // The device dominates the time, so there is no requirement against the original.
        title: "fs_mark -S 1, files of 4 KiB on ext4",
        file_system: BenchFileSystem::Ext4,
        files: 1000,
        size_bytes: 4096,
        method: 1,
        requirements: &[BARE_LOOP_MIN],
    },
];

/// A comparison of file creation and removal.
struct CreateRemoveBench {
    title: &'static str,
    file_system: BenchFileSystem,
    /// Number of files for a measurement of about one second.
    files: u64,
    size_bytes: u64,
}

const CREATE_REMOVE: [CreateRemoveBench; 3] = [
    CreateRemoveBench {
        title: "create-remove, empty files on tmpfs",
        file_system: BenchFileSystem::Memory,
        files: 100_000,
        size_bytes: 0,
    },
    CreateRemoveBench {
        title: "create-remove, files of 4 KiB on tmpfs",
        file_system: BenchFileSystem::Memory,
        files: 100_000,
        size_bytes: 4096,
    },
    CreateRemoveBench {
        title: "create-remove, files of 4 KiB on ext4",
        file_system: BenchFileSystem::Ext4,
        files: 50_000,
        size_bytes: 4096,
    },
];

/// A test of IOzone with 64 KiB records on tmpfs.
struct Iozone {
    title: &'static str,
    size: &'static str,
    /// Index of the rate in its row.
    rate_index: usize,
    /// Number of runs per measurement, which is their median. A run on a small file takes less than
    /// a millisecond.
    runs: usize,
}

const IOZONE: [Iozone; 4] = [
    Iozone {
        title: "iozone rewrite, 4 MiB on tmpfs",
        size: "4m",
        rate_index: 1,
        runs: 15,
    },
    Iozone {
        title: "iozone reread, 4 MiB on tmpfs",
        size: "4m",
        rate_index: 3,
        runs: 15,
    },
    Iozone {
        title: "iozone rewrite, 64 MiB on tmpfs",
        size: "64m",
        rate_index: 1,
        runs: 3,
    },
    Iozone {
        title: "iozone reread, 64 MiB on tmpfs",
        size: "64m",
        rate_index: 3,
        runs: 3,
    },
];

/// Runs all comparisons and returns the number of missed requirements.
pub fn run(effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    let lab = ClassicsBench::new(effort)?;
    let fs_mark = FS_MARK.iter().map(|case| lab.fs_mark(case));
    let create_remove = CREATE_REMOVE.iter().map(|case| lab.create_remove(case));
    // The setup of the tests does not install it, so it is often missing.
    let has_iozone = printed(Command::new("iozone").arg("-v")).is_ok();
    if !has_iozone {
        println!("skipped: contests with iozone: it is not in PATH");
    }
    let iozone = IOZONE.iter().filter(|_| has_iozone);
    let iozone = iozone.map(|case| lab.iozone(case));
    let mut missed_count = 0;
    for contest in fs_mark.chain(create_remove).chain(iozone) {
        if effort.wants(contest.title) {
            missed_count += contest.hold(effort.rounds_or(5), interrupt)?;
        }
    }
    Ok(missed_count)
}

/// Common setup of all comparisons.
struct ClassicsBench {
    pgmeter: Pgmeter,
    bare_fs_mark: PathBuf,
    bare_create_remove: PathBuf,
    _programs: Scratch,
    seconds: u64,
}

impl ClassicsBench {
    fn new(effort: &BenchEffort) -> Result<ClassicsBench, Failure> {
        let programs = Scratch::new()?;
        Ok(ClassicsBench {
            pgmeter: Pgmeter::of(effort)?,
            bare_fs_mark: compile("fs_mark", &programs)?,
            bare_create_remove: compile("create_remove", &programs)?,
            _programs: programs,
            seconds: effort.seconds_or(1),
        })
    }

    /// A contestant whose command runs in a new directory each time and prints a rate.
    fn contestant<'a>(
        &'a self,
        name: &'static str,
        file_system: BenchFileSystem,
        command: impl Fn(&Path) -> Command + 'a,
        rate: fn(&str) -> Option<f64>,
    ) -> ComparedProgram<'a> {
        let measure = move || {
            // Remaining files and dirty data would slow down the next measurement.
            let directory = file_system.empty_directory()?;
            let text = printed(command(directory.path()).current_dir(directory.parent()))?;
            rate(&text).ok_or_else(|| Failure::Output {
                program: name.to_owned(),
                message: text,
            })
        };
        ComparedProgram {
            name,
            measure: Box::new(measure),
        }
    }

    fn fs_mark<'a>(&'a self, case: &'a FsMarkBench) -> ProgramComparison<'a> {
        let files = case.files * self.seconds;
        let FsMarkBench {
            file_system,
            size_bytes,
            method,
            ..
        } = *case;
        let as_fs_mark = move |mut command: Command, directory: &Path| {
            // fs_mark refuses paths of 40 bytes or more, so this one is relative to the current
            // directory.
            command
                .arg("-d")
                .arg(directory.file_name().unwrap_or_default());
            for (option, value) in [
                ("-n", files),
                ("-s", size_bytes),
                ("-w", WRITE_BYTES),
                ("-S", method.into()),
            ] {
                command.arg(option).arg(value.to_string());
            }
            command
        };
        let pgmeter =
            move |directory: &Path| as_fs_mark(self.pgmeter.as_classic("fs_mark"), directory);
        let original = move |directory: &Path| as_fs_mark(Command::new("fs_mark"), directory);
        let bare = move |directory: &Path| {
            let mut command = Command::new(&self.bare_fs_mark);
            let numbers = [files, size_bytes, WRITE_BYTES, method.into()];
            command
                .arg(directory)
                .args(numbers.map(|number| number.to_string()));
            command
        };
        ProgramComparison {
            title: case.title,
            unit: "files/s",
            contestants: vec![
                self.contestant("pgmeter", file_system, pgmeter, last_row_rate),
                self.contestant("bare loop", file_system, bare, first_number),
                self.contestant("fs_mark", file_system, original, last_row_rate),
            ],
            requirements: case.requirements.to_vec(),
        }
    }

    fn create_remove<'a>(&'a self, case: &'a CreateRemoveBench) -> ProgramComparison<'a> {
        let files = case.files * self.seconds;
        let CreateRemoveBench {
            title,
            file_system,
            size_bytes,
            ..
        } = *case;
        let pgmeter = move |directory: &Path| {
            let mut command = self.pgmeter.classic("create-remove", directory);
            // The bare loop makes one system call at a time, so io_uring would compare something
            // else.
            command.args(["--engine", "psync"]);
            for setting in [format!("count={files}"), format!("sizes={size_bytes}")] {
                command.arg("--set").arg(setting);
            }
            command
        };
        let bare = move |directory: &Path| {
            let mut command = Command::new(&self.bare_create_remove);
            // The loop writes in pieces of this length, which must not be 0.
            let numbers = [files, size_bytes, size_bytes.max(1)];
            command
                .arg(directory)
                .args(numbers.map(|number| number.to_string()));
            command
        };
        ProgramComparison {
            title,
            unit: "files/s",
            contestants: vec![
                self.contestant("pgmeter", file_system, pgmeter, record_rate),
                self.contestant("bare loop", file_system, bare, first_number),
            ],
            requirements: vec![BARE_LOOP_MIN],
        }
    }
}

impl ClassicsBench {
    fn iozone<'a>(&'a self, case: &'a Iozone) -> ProgramComparison<'a> {
        let contestant = |name: &'static str, program: fn(&Pgmeter) -> Command| {
            let one = move || {
                let directory = BenchFileSystem::Memory.empty_directory()?;
                let mut command = program(&self.pgmeter);
                // Test 1 reads the file that test 0 writes.
                command.args(["-s", case.size, "-r", "64k", "-i", "0", "-i", "1", "-f"]);
                let text = printed(command.arg(directory.path().join("file")))?;
                iozone_rate(&text, case.rate_index).ok_or_else(|| Failure::Output {
                    program: name.to_owned(),
                    message: text,
                })
            };
            let measure = move || {
                let rates: Result<Vec<f64>, Failure> = (0..case.runs).map(|_| one()).collect();
                Ok(median(&rates?))
            };
            ComparedProgram {
                name,
                measure: Box::new(measure),
            }
        };
        ProgramComparison {
            title: case.title,
            unit: "kB/s",
            contestants: vec![
                contestant("pgmeter", |pgmeter| pgmeter.as_classic("iozone")),
                contestant("iozone", |_| Command::new("iozone")),
            ],
            requirements: vec![IOZONE_MIN],
        }
    }
}

/// Files created and removed per second, from a record: the number of files over the time of all
/// steps.
fn record_rate(text: &str) -> Option<f64> {
    let record: Value = serde_json::from_str(text).ok()?;
    let cells = record.get("cells")?.as_array()?;
    let phases = cells.iter().filter_map(|cell| cell.get("phase_figures"));
    let (mut files, mut time_ns) = (f64::INFINITY, 0.0);
    for figures in phases {
        let requested_count = figures.pointer("/filesets/0/file_count")?;
        // The phases work on the same files, so their numbers must not be added.
        files = requested_count.as_f64()?.min(files);
        time_ns += figures.pointer("/steps/0/time_ns")?.as_f64()?;
    }
    (time_ns > 0.0).then(|| files * 1e9 / time_ns)
}

/// Compiles the bare loop `benches/NAME.c`.
fn compile(name: &str, scratch: &Scratch) -> Result<PathBuf, Failure> {
    let source = workspace::root().join("benches").join(format!("{name}.c"));
    let program = scratch.join(&format!("bare_{name}"));
    let mut command = Command::new("cc");
    command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]);
    printed(command.arg(&program).arg(source))?;
    Ok(program)
}

/// Runs a command; returns its standard output.
fn printed(command: &mut Command) -> Result<String, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(Failure::start(&program))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = format!(
        "{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Err(Failure::Program { program, message })
}

/// The rate in the last row of fs_mark's output.
fn last_row_rate(text: &str) -> Option<f64> {
    // The rows are preceded by a header of varying length.
    let row = text.lines().next_back()?;
    row.split_whitespace().nth(3)?.parse().ok()
}

/// A rate in the row below IOzone's heading, after the sizes of file and record.
fn iozone_rate(text: &str, index: usize) -> Option<f64> {
    let mut rows = text
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("kB "));
    rows.nth(1)?.split_whitespace().nth(2 + index)?.parse().ok()
}

fn first_number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rates_are_found_in_each_output() {
        let row = "FSUse%        Count         Size    Files/sec     App Overhead\n     \
            0         1000         1000     190512.5              662\n";
        assert_eq!(last_row_rate(row), Some(190_512.5));
        assert_eq!(last_row_rate(""), None);
        assert_eq!(last_row_rate("Insufficient free space in a\n"), None);
        assert_eq!(first_number("12.5 3\n"), Some(12.5));
        let table = "\tOutput is in kBytes/sec\n   kB  reclen    write  rewrite\n\
            4096      64  2471992  7173805\n\niozone test complete.\n";
        assert_eq!(iozone_rate(table, 1), Some(7_173_805.0));
        assert_eq!(iozone_rate(table, 2), None);
        assert_eq!(iozone_rate("", 0), None);
        let step = |time_ns: u64| {
            json!({"phase_figures": {
                "steps": [{"time_ns": time_ns}],
                "filesets": [{"file_count": 100}],
            }})
        };
        let record = json!({"cells": [step(3_000_000), {"phase": "other"}, step(1_000_000)]});
        assert_eq!(record_rate(&record.to_string()), Some(25_000.0));
        assert_eq!(record_rate("{\"cells\": []}"), None);
        assert_eq!(record_rate("x"), None);
    }

    #[test]
    fn every_contest_has_its_own_title_and_fs_mark_competes_with_a_bare_loop() {
        let titles = FS_MARK.iter().map(|case| case.title);
        let mut titles: Vec<_> = titles
            .chain(CREATE_REMOVE.iter().map(|case| case.title))
            .chain(IOZONE.iter().map(|case| case.title))
            .collect();
        let count = titles.len();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), count);
        let is_bare = |ask: &Requirement| ask.against == "bare loop";
        assert!(
            FS_MARK
                .iter()
                .all(|case| case.requirements.iter().any(is_bare))
        );
    }

    /// Runs a bare loop in a new directory, which is empty afterwards.
    fn rate_of(program: &Path, numbers: &str) -> f64 {
        let scratch = Scratch::new().unwrap();
        let mut command = Command::new(program);
        command.arg(scratch.path()).args(numbers.split(' '));
        let text = printed(&mut command).unwrap();
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
        first_number(&text).unwrap()
    }

    #[test]
    fn the_bare_loops_compile_and_leave_nothing() {
        let scratch = Scratch::new().unwrap();
        if printed(Command::new("cc").arg("--version")).is_err() {
            println!("skipped: there is no C compiler");
            return;
        }
        let fs_mark = compile("fs_mark", &scratch).unwrap();
        for method in 0..=6 {
            assert!(rate_of(&fs_mark, &format!("5 20000 16384 {method}")) > 0.0);
        }
        let create_remove = compile("create_remove", &scratch).unwrap();
        for sizes in ["0 1", "4096 4096", "10000 4096"] {
            assert!(rate_of(&create_remove, &format!("5 {sizes}")) > 0.0);
        }
    }
}
