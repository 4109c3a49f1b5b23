//! Builds all test programs once and runs those that a lane selects.
//!
//! One build with one set of features serves all lanes; running a package's tests by cargo
//! would build its dependencies anew with that package's features.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::lane::Select;
use super::output::{Tally, run_tests, run_tests_beside};
use crate::error::Failure;
use crate::workspace;

/// The built programs.
pub struct Binaries {
    tests: Vec<TestProgram>,
    /// The release build of the program under test.
    pgmeter: PathBuf,
}

/// One test program.
struct TestProgram {
    /// The package's directory, where its tests run.
    directory: PathBuf,
    /// The target's name.
    name: String,
    executable: PathBuf,
}

impl TestProgram {
    fn is_end_to_end(&self) -> bool {
        self.directory == workspace::root().join("tests")
    }
}

impl Binaries {
    /// Builds the tests, and the release program that the end-to-end tests run.
    pub fn build() -> Result<Binaries, Failure> {
        let built = workspace::cargo_messages(&["test", "--workspace", "--no-run"])?;
        let tests = built.iter().filter_map(test_program).collect();
        let pgmeter = workspace::release_program(&["--package", "pgmeter"], "pgmeter")?;
        Ok(Binaries { tests, pgmeter })
    }

    /// Runs the selected programs one after another, with what they are told by a variable.
    pub fn run(&self, select: Select, told: Option<(&str, &Path)>) -> Result<Tally, Failure> {
        let mut total = Tally::default();
        for test in self.selected(select) {
            println!("\nrunning `{}` of {}", test.name, test.directory.display());
            let mut command = self.command(test);
            if let Some((variable, path)) = told {
                command.env(variable, path);
            }
            total.merge(run_tests(&test.name, &mut command)?);
        }
        Ok(total)
    }

    /// Runs the selected programs, two at a time: most of their tests wait for the time of a run
    /// to pass.
    pub fn run_in_pairs(&self, select: Select) -> Result<Tally, Failure> {
        let tests: Vec<&TestProgram> = self.selected(select).collect();
        let next = AtomicUsize::new(0);
        let take_turns = || {
            let mut total = Tally::default();
            while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                total.merge(run_tests_beside(&test.name, &mut self.command(test))?);
            }
            Ok(total)
        };
        let (one, other) = std::thread::scope(|scope| {
            let beside = scope.spawn(take_turns);
            let one = take_turns();
            let other = beside.join();
            (one, other.unwrap_or(Err(Failure::Counted)))
        });
        let mut total = one?;
        total.merge(other?);
        Ok(total)
    }

    fn selected(&self, select: Select) -> impl Iterator<Item = &TestProgram> {
        let is_selected = move |test: &&TestProgram| match select {
            Select::Crates => !test.is_end_to_end(),
            Select::EndToEnd(names) => test.is_end_to_end() && names.contains(&test.name.as_str()),
        };
        self.tests.iter().filter(is_selected)
    }

    fn command(&self, test: &TestProgram) -> Command {
        let mut command = Command::new(&test.executable);
        command.arg("--show-output").current_dir(&test.directory);
        command.env("CARGO_MANIFEST_DIR", &test.directory);
        command.env("PGMETER_BIN", &self.pgmeter);
        // A snapshot that differs is a failure, never a new file.
        command
            .env("INSTA_UPDATE", "no")
            .env("INSTA_WORKSPACE_ROOT", workspace::root());
        command
    }
}

/// The test program that a cargo message speaks of.
fn test_program(message: &Value) -> Option<TestProgram> {
    let is_test = message.pointer("/profile/test")?.as_bool()?;
    let manifest = PathBuf::from(message.get("manifest_path")?.as_str()?);
    let executable = PathBuf::from(message.get("executable")?.as_str()?);
    let name = message.pointer("/target/name")?.as_str()?.replace('-', "_");
    let directory = manifest.parent()?.to_path_buf();
    is_test.then_some(TestProgram {
        directory,
        name,
        executable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(is_test: bool) -> Value {
        json!({
            "reason": "compiler-artifact",
            "manifest_path": workspace::root().join("tests/Cargo.toml"),
            "target": {"name": "end-to-end"},
            "profile": {"test": is_test},
            "executable": "somewhere/end_to_end-1234",
        })
    }

    #[test]
    fn test_programs_are_found_in_the_messages_of_cargo() {
        let program = test_program(&message(true)).unwrap();
        assert_eq!(program.name, "end_to_end");
        assert!(program.is_end_to_end());
    }

    #[test]
    fn other_messages_are_no_test_programs() {
        assert!(test_program(&message(false)).is_none());
        assert!(test_program(&json!({"reason": "build-finished", "success": true})).is_none());
    }
}
