//! Builds all test programs once and runs those that a lane selects.
//!
//! One build with one set of features serves all lanes. If cargo ran the tests of a single package,
//! it would rebuild dependencies with the features of that package.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{JoinHandle, spawn};

use end_to_end::Scratch;
use serde_json::Value;

use super::lane::Select;
use super::output::{Show, TestTally, run_tests};
use crate::error::Failure;
use crate::workspace;

/// The test programs, built when they are needed.
pub struct Binaries {
    /// Empty until they are built.
    tests: Vec<TestProgram>,
    release: Release,
    /// The tests' directory for data of the user, so that no run gets into the user's own store.
    user_data: Scratch,
}

/// The release build of the program under test.
enum Release {
    /// Not needed, or not started yet.
    None { will_be_needed: bool },
    /// Builds in parallel with everything else, because at the end a single crate keeps one CPU
    /// busy for a long time.
    Building(JoinHandle<Result<PathBuf, Failure>>),
    /// Path of the finished build.
    Built(PathBuf),
}

/// One test program.
pub struct TestProgram {
    /// Directory of the package, where its tests run.
    directory: PathBuf,
    /// Name of the target.
    pub name: String,
    executable: PathBuf,
}

impl TestProgram {
    fn is_end_to_end(&self) -> bool {
        self.directory == workspace::root().join("tests")
    }
}

impl Binaries {
    /// Nothing built yet.
    pub fn new(needs_release: bool) -> Result<Binaries, Failure> {
        Ok(Binaries {
            tests: Vec::new(),
            release: Release::None {
                will_be_needed: needs_release,
            },
            user_data: Scratch::new()?,
        })
    }

    /// Builds the tests once, and starts to build the release program if lanes will need it.
    pub fn build(&mut self) -> Result<(), Failure> {
        if let Release::None {
            will_be_needed: true,
        } = self.release
        {
            let build = || workspace::release_program(&workspace::PROGRAM, "pgmeter");
            self.release = Release::Building(spawn(build));
        }
        if self.tests.is_empty() {
            let built = workspace::cargo_messages(&[
                "test",
                "--workspace",
                "--features=pgmeter/parquet",
                "--no-run",
            ])?;
            self.tests = built.iter().filter_map(test_program).collect();
        }
        Ok(())
    }

    /// Waits for the release program, which the end-to-end tests run.
    pub fn await_release(&mut self) -> Result<(), Failure> {
        let none = Release::None {
            will_be_needed: true,
        };
        let release = std::mem::replace(&mut self.release, none);
        self.release = match release {
            // A panic has already printed its message, so nothing is added here.
            Release::Building(build) => {
                Release::Built(build.join().unwrap_or(Err(Failure::TestsFailed))?)
            }
            other => other,
        };
        Ok(())
    }

    /// Runs the selected programs one after another, with an environment variable.
    pub fn run_all(
        &self,
        select: Select,
        variable: Option<(&str, &Path)>,
        show: Show<'_>,
    ) -> Result<TestTally, Failure> {
        let mut total = TestTally::default();
        for test in self.selected(select) {
            show("");
            show(&format!(
                "running `{}` of {}",
                test.name,
                test.directory.display()
            ));
            total.merge(self.run(test, variable, show)?);
        }
        Ok(total)
    }

    /// Runs a program, with an environment variable.
    pub fn run(
        &self,
        test: &TestProgram,
        variable: Option<(&str, &Path)>,
        show: Show<'_>,
    ) -> Result<TestTally, Failure> {
        run_tests(&test.name, self.command(test).envs(variable), show)
    }

    /// The selected programs, in the order of the selection's names.
    pub fn selected(&self, select: Select) -> Vec<&TestProgram> {
        let matching = |name: &'static &'static str| {
            let is_it = move |test: &&TestProgram| test.is_end_to_end() && test.name == *name;
            self.tests.iter().filter(is_it)
        };
        match select {
            Select::Crates => {
                let is_of_crate = |test: &&TestProgram| !test.is_end_to_end();
                self.tests.iter().filter(is_of_crate).collect()
            }
            Select::EndToEnd(names) => names.iter().flat_map(matching).collect(),
        }
    }

    fn command(&self, test: &TestProgram) -> Command {
        let mut command = Command::new(&test.executable);
        // Passing tests also print the reasons for skipped parts.
        command.arg("--show-output").current_dir(&test.directory);
        // cargo sets this variable and the directory, but it does not start these programs.
        command.env("CARGO_MANIFEST_DIR", &test.directory);
        if let Release::Built(program) = &self.release {
            command.env("PGMETER_BIN", program);
        }
        // A snapshot that differs is a failure and never updated.
        command
            .env("INSTA_UPDATE", "no")
            .env("INSTA_WORKSPACE_ROOT", workspace::root())
            .env("XDG_DATA_HOME", self.user_data.path())
            .env_remove("PGMETER_DB");
        command
    }
}

/// The test program in a message of cargo.
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
    fn other_messages_are_not_test_programs() {
        assert!(test_program(&message(false)).is_none());
        assert!(test_program(&json!({"reason": "build-finished", "success": true})).is_none());
    }
}
