//! The test lanes, and the tests that must not be skipped in CI.

use super::output::TestTally;
use crate::error::Failure;
use crate::{docs, fuzz, tidy};

/// A group of tests that `cargo xtask test` runs by name.
pub struct TestLane {
    /// Name on the command line.
    pub name: &'static str,
    /// Action of the lane.
    pub kind: LaneAction,
    /// `true` if CI fails when the whole lane was skipped.
    pub must_run: bool,
    /// Tests that CI must not skip, by the end of their names.
    pub must_run_tests: &'static [&'static str],
}

/// Action of a lane.
pub enum LaneAction {
    /// A cargo command that passes or fails as a whole.
    Cargo(&'static [&'static str]),
    /// A check in this program.
    Check(fn() -> Result<(), Failure>),
    /// The tests of all crates.
    Crates,
    /// Test programs that disturb each other: run one after another.
    Tests(Select),
    /// Test programs that can run in parallel.
    ParallelTests(Select),
    /// The examples in doc comments.
    DocTests,
    /// Builds the packages and runs these tests on them.
    Package(Select),
    /// These tests, with an MPI library that is not in any distribution yet.
    Mpi(Select),
    /// Checks the HTML report in a browser.
    Browser,
}

/// Selects the test programs of a lane.
#[derive(Debug, Clone, Copy)]
pub enum Select {
    /// All programs of every package except `end-to-end`.
    Crates,
    /// The named programs of `end-to-end`.
    EndToEnd(&'static [&'static str]),
}

const fn lane(name: &'static str, kind: LaneAction) -> TestLane {
    TestLane {
        name,
        kind,
        must_run: true,
        must_run_tests: &[],
    }
}

/// All lanes, quick ones first. Among lanes that run in parallel, long ones come first, so that
/// none of them runs alone at the end.
pub const LANES: &[TestLane] = &[
    lane("format", LaneAction::Cargo(&["fmt", "--all", "--check"])),
    lane("tidy", LaneAction::Check(tidy::run)),
    lane(
        "clippy",
        LaneAction::Cargo(&[
            "clippy",
            "--workspace",
            "--features=pgmeter/parquet",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]),
    ),
    lane("fuzz", LaneAction::Check(fuzz::check)),
    lane("unit", LaneAction::Crates),
    lane("doc", LaneAction::DocTests),
    lane("docs", LaneAction::Check(docs::check)),
    // Its launchers come from the distribution, which not every machine can reach. No other lane
    // runs in parallel, because a signal must be sent while ranks are measuring.
    TestLane {
        name: "mpi",
        kind: LaneAction::Mpi(Select::EndToEnd(&["mpi"])),
        must_run: false,
        must_run_tests: &[],
    },
    TestLane {
        name: "kernel",
        kind: LaneAction::Tests(Select::EndToEnd(&[
            "kernel",
            "devices",
            "file_kernel",
            "lab",
            "guests",
            "aging",
            "recovery",
            "record",
        ])),
        must_run: true,
        must_run_tests: &["io_uring_reads_directly_from_ext4"],
    },
    // Devices and mounts, and warnings that need an otherwise idle machine.
    lane(
        "machine",
        LaneAction::Tests(Select::EndToEnd(&[
            "readme",
            "guides",
            "warnings",
            "disturbed",
        ])),
    ),
    lane(
        "fixtures",
        LaneAction::ParallelTests(Select::EndToEnd(&["end_to_end", "faultfs"])),
    ),
    // Its drivers come from npm's registry, which not every machine can reach.
    TestLane {
        name: "browser",
        kind: LaneAction::Browser,
        must_run: false,
        must_run_tests: &[],
    },
    lane(
        "package",
        LaneAction::Package(Select::EndToEnd(&["package"])),
    ),
    // It compiles this workspace again; before that, cargo has built the programs for the browser
    // lane.
    lane(
        "broken-build",
        LaneAction::ParallelTests(Select::EndToEnd(&["broken_build"])),
    ),
    lane(
        "command-line",
        LaneAction::ParallelTests(Select::EndToEnd(&[
            "selftest",
            "classics",
            "clusters",
            "network",
            "json",
            "serve",
            "metrics",
            "terminal",
            "golden",
            "fronts",
            "interrupt",
            "iozone",
            "runs",
            "figures",
            "command_line",
            "outputs",
            "hostile_text",
            "bad_input",
            "mistakes",
            "methods_on_files",
            "one_kind",
            "one_line",
            "strangers",
            "reports",
            "recipes",
            "python",
            "pages",
            "completion",
            "compare",
            "imports",
            "boards",
            "submissions",
            "file_workloads",
            "filebench",
            "dbench",
            "bonnie",
            "programs",
            "steady",
            "hosts",
            "verdicts",
        ])),
    ),
    TestLane {
        name: "faults",
        kind: LaneAction::ParallelTests(Select::EndToEnd(&[
            "faults",
            "searches",
            "file_faults",
            "fits",
            "recorded_calls",
            "replayed_calls",
            "replays",
        ])),
        must_run: true,
        must_run_tests: &["a_flipped_bit_is_reported_with_its_offset"],
    },
    TestLane {
        name: "samples",
        kind: LaneAction::ParallelTests(Select::EndToEnd(&[
            "fio_traps",
            "fio_goals",
            "fio",
            "fio_json",
            "fio_together",
            "fio_language",
            "jobs",
            "samples",
            "fio_there",
            "fio_verify",
            "fio_job_files",
            "fio_trims",
            "traces",
        ])),
        must_run: false,
        must_run_tests: &[],
    },
];

impl TestLane {
    /// `true` if other lanes may run in parallel.
    pub fn runs_in_parallel(&self) -> bool {
        !matches!(
            self.kind,
            LaneAction::Cargo(_)
                | LaneAction::Check(_)
                | LaneAction::Crates
                | LaneAction::DocTests
                | LaneAction::Mpi(_)
                | LaneAction::Tests(_)
        )
    }

    /// `true` if it runs the release program.
    pub fn needs_release(&self) -> bool {
        self.runs_in_parallel() || matches!(self.kind, LaneAction::Mpi(_) | LaneAction::Tests(_))
    }

    /// Problems with this lane's result that CI must not accept.
    pub fn missing(&self, tally: &TestTally) -> Vec<String> {
        if !self.must_run {
            return Vec::new();
        }
        let mut missing = Vec::new();
        if tally.passed_count == 0 && tally.failures.is_empty() {
            missing.push(format!(
                "{}: nothing of it ran, and CI must run it",
                self.name
            ));
        }
        for test in self.must_run_tests {
            if let Some(skip) = tally.skips.iter().find(|skip| skip.contains(test)) {
                missing.push(format!("{}: CI must not skip this: {skip}", self.name));
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_end_to_end_tests_is_in_a_lane() {
        let in_lanes = |lane: &TestLane| match &lane.kind {
            LaneAction::Tests(Select::EndToEnd(names))
            | LaneAction::ParallelTests(Select::EndToEnd(names))
            | LaneAction::Mpi(Select::EndToEnd(names))
            | LaneAction::Package(Select::EndToEnd(names)) => names.to_vec(),
            _ => Vec::new(),
        };
        let known: Vec<&str> = LANES.iter().flat_map(in_lanes).collect();
        for entry in std::fs::read_dir(crate::workspace::root().join("tests/tests")).unwrap() {
            let path = entry.unwrap().path();
            // Modules that several of them share lie in directories.
            if path.is_dir() {
                continue;
            }
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(known.contains(&name), "{name}");
        }
    }

    fn kernel() -> &'static TestLane {
        LANES.iter().find(|lane| lane.name == "kernel").unwrap()
    }

    #[test]
    fn a_lane_that_was_skipped_altogether_is_missing() {
        let skips = vec!["kernel: other: needs root".to_owned()];
        let tally = TestTally {
            skips,
            ..TestTally::default()
        };
        assert_eq!(kernel().missing(&tally).len(), 1);
    }

    #[test]
    fn a_test_that_must_run_is_missing_when_skipped() {
        let skips = vec![format!(
            "kernel: {}: needs root",
            kernel().must_run_tests[0]
        )];
        let tally = TestTally {
            passed_count: 5,
            skips,
            ..TestTally::default()
        };
        assert_eq!(kernel().missing(&tally).len(), 1);
    }

    #[test]
    fn other_skips_and_lanes_that_need_not_run_are_fine() {
        let skips = vec!["kernel: other: no zram".to_owned()];
        let tally = TestTally {
            passed_count: 5,
            skips,
            ..TestTally::default()
        };
        assert!(kernel().missing(&tally).is_empty());
        let samples = LANES.iter().find(|lane| lane.name == "samples").unwrap();
        assert!(samples.missing(&TestTally::default()).is_empty());
    }
}
