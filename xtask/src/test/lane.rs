//! What each lane runs, and what of it must not be skipped where CI runs it.

use super::output::Tally;
use crate::error::Failure;
use crate::{docs, tidy};

/// One lane.
pub struct Lane {
    /// As named on the command line.
    pub name: &'static str,
    /// What it does.
    pub kind: Kind,
    /// Whether CI fails when all of it was skipped.
    pub must_run: bool,
    /// Tests that CI must not skip, by the end of their names.
    pub must_run_tests: &'static [&'static str],
}

/// What a lane does.
pub enum Kind {
    /// A cargo command that passes or fails as a whole.
    Cargo(&'static [&'static str]),
    /// A check of this program.
    Own(fn() -> Result<(), Failure>),
    /// The tests of all crates.
    Crates,
    /// Test programs that are in each other's way: one after another.
    Tests(Select),
    /// Test programs that are in nobody's way.
    TestsBeside(Select),
    /// The examples in doc comments.
    DocTests,
    /// The packages are built, and these tests look at them.
    Package(Select),
    /// These tests, with an MPI library that no distribution has yet.
    Mpi(Select),
    /// The checks of the HTML report in a browser.
    Browser,
}

/// Which test programs a lane runs.
#[derive(Debug, Clone, Copy)]
pub enum Select {
    /// All of every package but `end-to-end`.
    Crates,
    /// The named ones of `end-to-end`.
    EndToEnd(&'static [&'static str]),
}

const fn lane(name: &'static str, kind: Kind) -> Lane {
    Lane {
        name,
        kind,
        must_run: true,
        must_run_tests: &[],
    }
}

/// All lanes, cheap ones first; of those that run beside each other, those that take long, so that
/// none of them runs alone at the end.
pub const LANES: &[Lane] = &[
    lane("format", Kind::Cargo(&["fmt", "--all", "--check"])),
    lane("tidy", Kind::Own(tidy::run)),
    lane(
        "clippy",
        Kind::Cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]),
    ),
    lane("unit", Kind::Crates),
    lane("doc", Kind::DocTests),
    lane("docs", Kind::Own(docs::check)),
    // Its launchers come from the distribution, which not every machine can reach. No other lane
    // runs beside it: a signal is sent at a time when ranks measure.
    Lane {
        name: "mpi",
        kind: Kind::Mpi(Select::EndToEnd(&["mpi"])),
        must_run: false,
        must_run_tests: &[],
    },
    Lane {
        name: "kernel",
        kind: Kind::Tests(Select::EndToEnd(&[
            "kernel",
            "devices",
            "file_kernel",
            "lab",
            "guests",
            "aging",
            "recovery",
        ])),
        must_run: true,
        must_run_tests: &["io_uring_reads_directly_from_ext4"],
    },
    // Devices and mounts, and what is said of a machine on which nothing else runs.
    lane(
        "machine",
        Kind::Tests(Select::EndToEnd(&["readme", "warnings", "disturbed"])),
    ),
    lane(
        "fixtures",
        Kind::TestsBeside(Select::EndToEnd(&["end_to_end", "faultfs"])),
    ),
    // Its drivers come from npm's registry, which not every machine can reach.
    Lane {
        name: "browser",
        kind: Kind::Browser,
        must_run: false,
        must_run_tests: &[],
    },
    lane("package", Kind::Package(Select::EndToEnd(&["package"]))),
    // It compiles this workspace once more; until then cargo has built what the browser looks at.
    lane(
        "broken-build",
        Kind::TestsBeside(Select::EndToEnd(&["broken_build"])),
    ),
    lane(
        "command-line",
        Kind::TestsBeside(Select::EndToEnd(&[
            "selftest",
            "classics",
            "crews",
            "network",
            "json",
            "serve",
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
            "pages",
            "completion",
            "compare",
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
    Lane {
        name: "faults",
        kind: Kind::TestsBeside(Select::EndToEnd(&["faults", "searches", "file_faults"])),
        must_run: true,
        must_run_tests: &["a_flipped_bit_is_named_with_its_offset"],
    },
    Lane {
        name: "samples",
        kind: Kind::TestsBeside(Select::EndToEnd(&[
            "fio_traps",
            "fio_goals",
            "fio",
            "fio_json",
            "fio_together",
            "fio_language",
            "jobs",
            "samples",
            "fio_there",
            "fio_job_files",
        ])),
        must_run: false,
        must_run_tests: &[],
    },
];

impl Lane {
    /// Whether others may run beside it.
    pub fn is_beside_others(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Cargo(_)
                | Kind::Own(_)
                | Kind::Crates
                | Kind::DocTests
                | Kind::Mpi(_)
                | Kind::Tests(_)
        )
    }

    /// Whether it runs the release program.
    pub fn needs_release(&self) -> bool {
        self.is_beside_others() || matches!(self.kind, Kind::Mpi(_) | Kind::Tests(_))
    }

    /// What CI must not accept about this lane's result.
    pub fn missing(&self, tally: &Tally) -> Vec<String> {
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
        let in_lanes = |lane: &Lane| match &lane.kind {
            Kind::Tests(Select::EndToEnd(names))
            | Kind::TestsBeside(Select::EndToEnd(names))
            | Kind::Mpi(Select::EndToEnd(names))
            | Kind::Package(Select::EndToEnd(names)) => names.to_vec(),
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

    fn kernel() -> &'static Lane {
        LANES.iter().find(|lane| lane.name == "kernel").unwrap()
    }

    #[test]
    fn a_lane_that_was_skipped_altogether_is_missing() {
        let skips = vec!["kernel: other: needs root".to_owned()];
        let tally = Tally {
            skips,
            ..Tally::default()
        };
        assert_eq!(kernel().missing(&tally).len(), 1);
    }

    #[test]
    fn a_test_that_must_run_is_missing_when_skipped() {
        let skips = vec![format!(
            "kernel: {}: needs root",
            kernel().must_run_tests[0]
        )];
        let tally = Tally {
            passed_count: 5,
            skips,
            ..Tally::default()
        };
        assert_eq!(kernel().missing(&tally).len(), 1);
    }

    #[test]
    fn other_skips_are_fine_and_so_is_a_lane_that_need_not_run() {
        let skips = vec!["kernel: other: no zram".to_owned()];
        let tally = Tally {
            passed_count: 5,
            skips,
            ..Tally::default()
        };
        assert!(kernel().missing(&tally).is_empty());
        let samples = LANES.iter().find(|lane| lane.name == "samples").unwrap();
        assert!(samples.missing(&Tally::default()).is_empty());
    }
}
