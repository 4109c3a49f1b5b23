//! A place to run the program in: a scratch directory with a target below it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Finished, FixtureError, Scratch, pgmeter, run_within};

/// What any run of a test may take, and what may be waited for; more is a hang.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A scratch directory with an empty directory `target` in it.
#[derive(Debug)]
pub struct ScratchTarget {
    scratch: Scratch,
    target: PathBuf,
}

impl ScratchTarget {
    /// On the file system of temporary files.
    ///
    /// # Errors
    /// The directories cannot be made.
    pub fn new() -> Result<ScratchTarget, FixtureError> {
        let scratch = Scratch::new()?;
        let target = scratch.directory("target")?;
        Ok(ScratchTarget { scratch, target })
    }

    /// In memory, where much is written and removed quickly.
    ///
    /// # Errors
    /// `Unavailable` where there is no file system in memory.
    pub fn in_memory() -> Result<ScratchTarget, FixtureError> {
        let scratch = Scratch::in_memory()?;
        let target = scratch.directory("target")?;
        Ok(ScratchTarget { scratch, target })
    }

    /// With a target made by another fixture.
    ///
    /// # Errors
    /// The scratch directory cannot be made.
    pub fn with_target(target: &Path) -> Result<ScratchTarget, FixtureError> {
        Ok(ScratchTarget {
            scratch: Scratch::new()?,
            target: target.to_path_buf(),
        })
    }

    /// Where the program runs.
    pub fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// Path of the target directory.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes a file into the scratch directory and returns its path.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.scratch.join(name);
        std::fs::write(&path, content).expect("a scratch directory takes files");
        path
    }

    /// Writes a script that can be run; where it is.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn script(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.file(name, text);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("a scratch directory takes scripts");
        path.to_string_lossy().into_owned()
    }

    /// A command that runs the program here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = pgmeter(self.path());
        command.args(arguments);
        command
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    /// When it hangs.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        finish(&mut self.command(arguments))
    }

    /// Waits until the store has so many intervals of the newest run's first cell.
    ///
    /// # Panics
    /// When they do not come.
    pub fn wait_for_intervals(&self, count: usize) {
        self.wait_for_intervals_of("last", count);
    }

    /// Waits until so many intervals of this run are in the store.
    ///
    /// # Panics
    /// When they do not come in time.
    pub fn wait_for_intervals_of(&self, run: &str, count: usize) {
        wait_for("intervals in the store", || {
            let output = self.run(&["runs", "export", run]);
            let record: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
            let intervals = record["cells"][0]["intervals"].as_array();
            intervals.is_some_and(|intervals| intervals.len() >= count)
        });
    }

    /// Runs `run` on the target, for a short time unless `arguments` say how long.
    ///
    /// # Panics
    /// When it hangs.
    pub fn measure(&self, arguments: &[&str]) -> Finished {
        let target = self.target.to_string_lossy().into_owned();
        let mut all = vec!["run", "--target", &target];
        for (option, value) in [("--run-time", "500ms"), ("--ramp-time", "100ms")] {
            if !arguments.contains(&option) {
                all.extend([option, value]);
            }
        }
        self.run(&[&all, arguments].concat())
    }

    /// As [`ScratchTarget::measure`], with the record that it printed.
    ///
    /// # Panics
    /// When standard output is no record.
    pub fn record(&self, arguments: &[&str]) -> (Finished, Value) {
        let finished = self.measure(&[arguments, &["--json", "-", "--quiet"]].concat());
        let record = serde_json::from_str(&finished.stdout)
            .unwrap_or_else(|error| panic!("no record: {error}\n{}", finished.text()));
        (finished, record)
    }

    /// The stored runs as `runs --json` tells them, newest first; none where it does not.
    ///
    /// # Panics
    /// When it hangs.
    pub fn listed(&self, more: &[&str]) -> Vec<Value> {
        let output = self.run(&[&["runs", "--json"], more].concat());
        let document: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        document["runs"].as_array().cloned().unwrap_or_default()
    }

    /// Starts the program and lets it run; both outputs are dropped.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().expect("the program starts")
    }

    /// The names in the target, sorted.
    pub fn left_in_target(&self) -> Vec<String> {
        names_in(&self.target)
    }
}

/// Runs a command to its end.
///
/// # Panics
/// When it hangs.
pub fn finish(command: &mut Command) -> Finished {
    match run_within(command, TIMEOUT) {
        Ok(finished) => finished,
        Err(failure) => panic!("{failure}"),
    }
}

/// The names in a directory, sorted; `lost+found` is the file system's own.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.retain(|name| name != "lost+found");
    names.sort();
    names
}

/// Waits until something is true.
///
/// # Panics
/// After five minutes.
pub fn wait_for(description: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(
            start.elapsed() < TIMEOUT,
            "waited {TIMEOUT:?} for {description}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Finished {
    /// Checks the exit code and what standard error says.
    ///
    /// # Panics
    /// When either differs.
    #[track_caller]
    pub fn assert_says(&self, code: i32, phrases: &[&str]) {
        assert_eq!(self.code, code, "{}", self.text());
        for phrase in phrases {
            assert!(
                self.stderr.contains(phrase),
                "no `{phrase}` in\n{}",
                self.text()
            );
        }
    }

    /// Checks that the program refused with a message of the house's form.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn assert_refused(&self, code: i32, phrases: &[&str]) {
        self.assert_says(code, phrases);
        let says = |line: &str| line.starts_with("error: ");
        assert!(self.stderr.lines().any(says), "{}", self.text());
        assert!(!self.stderr.contains("panicked"), "{}", self.text());
    }
}
