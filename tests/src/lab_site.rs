//! A place for labs, and what is left of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::{Finished, FixtureError, ScratchTarget, names_in, run_tool};

/// Small enough for a second, large enough for every file system of this kernel's tests.
pub const LAB_IMAGE: &str = "320m";
/// An ordinary user without anything.
const NOBODY: u32 = 65534;

/// To be preloaded into the kernel of guests: it then runs as on a processor whose registers are
/// longer than it knows, completed as the program has them completed. None where processors are
/// others.
pub const LONG_REGISTERS: Option<&str> = option_env!("PGMETER_LONG_AREA");
/// The same without being completed: guests die.
pub const LONG_REGISTERS_NOT_COMPLETED: Option<&str> =
    option_env!("PGMETER_LONG_AREA_NOT_COMPLETED");

/// A bed with a directory for labs.
pub struct LabSite {
    /// Scratch target for the runs of the labs.
    pub bed: ScratchTarget,
    /// The directory.
    pub labs: PathBuf,
}

impl LabSite {
    /// A place in which root makes file systems.
    ///
    /// # Errors
    /// Without root.
    pub fn new() -> Result<Self, FixtureError> {
        if !rustix::process::geteuid().is_root() {
            let reason = "making file systems needs root".to_owned();
            return Err(FixtureError::Unavailable(reason));
        }
        Ok(Self::on(ScratchTarget::new()?))
    }

    /// A place for guests, in memory: what they make durable is made durable on the host, and
    /// disks take long.
    ///
    /// # Errors
    /// Without root, without their kernel or one of the programs that make file systems, or where
    /// one that does nothing does not run.
    pub fn of_guests() -> Result<Self, FixtureError> {
        for program in ["linux.uml", "mkfs.nilfs2", "mkfs.f2fs"] {
            let directories = ["/usr/bin", "/usr/sbin", "/sbin"].map(Path::new);
            if !directories
                .iter()
                .any(|directory| directory.join(program).exists())
            {
                let reason = format!("`{program}` is not installed");
                return Err(FixtureError::Unavailable(reason));
            }
        }
        Self::new()?;
        check_guests_run().map_err(FixtureError::Unavailable)?;
        Ok(Self::on(ScratchTarget::in_memory()?))
    }

    fn on(bed: ScratchTarget) -> Self {
        let labs = bed.path().join("labs");
        Self { bed, labs }
    }

    /// Arguments of a small `lab run` on these file systems.
    #[must_use]
    pub fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let labs = path_text(&self.labs);
        let line = [
            "lab",
            "run",
            "create-remove",
            "--dir",
            labs,
            "--image-size",
            LAB_IMAGE,
        ];
        let small = ["--set", "count=200", "--set", "sizes=4096", "--no-html"];
        [&line[..], &small[..], more].concat()
    }

    /// A small `lab run`, to its end.
    #[must_use]
    pub fn run(&self, more: &[&str]) -> Finished {
        self.bed.run(&self.arguments(more))
    }

    /// A published experiment on file systems made for it, to its end.
    #[must_use]
    pub fn run_paper(&self, name: &str, more: &[&str]) -> Finished {
        let line = ["paper", "run", name, "--dir", path_text(&self.labs)];
        let image = ["--image-size", LAB_IMAGE];
        self.bed.run(&[&line[..], &image[..], more].concat())
    }

    /// `lab clean`, to its end.
    #[must_use]
    pub fn clean(&self) -> Finished {
        self.bed
            .run(&["lab", "clean", "--dir", path_text(&self.labs)])
    }

    /// What there is of labs: mounts, loop devices, files, processes.
    ///
    /// # Panics
    /// When the system does not tell.
    #[must_use]
    pub fn traces(&self) -> Vec<String> {
        let labs = path_text(&self.labs);
        let mounts = fs::read_to_string("/proc/self/mounts").expect("the mounts can be read");
        let mut traces: Vec<String> = mounts
            .lines()
            .filter(|line| line.contains(labs))
            .map(|line| format!("mount {line}"))
            .collect();
        let loops = run_tool("losetup", &["--list", "--noheadings"]).expect("loops are listed");
        let loops = loops.lines().filter(|line| line.contains(labs));
        traces.extend(loops.map(|line| format!("loop {line}")));
        traces.extend(
            names_in(&self.labs)
                .into_iter()
                .map(|name| format!("file {name}")),
        );
        traces.extend(processes_with(labs));
        traces
    }

    /// Makes the place one of an ordinary user.
    ///
    /// # Errors
    /// When that user cannot start the program, which lies elsewhere.
    pub fn give_to_nobody(&self) -> Result<(), FixtureError> {
        let mut trial = nobody();
        trial
            .arg(self.bed.command(&[]).get_program())
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if !trial.status().is_ok_and(|status| status.success()) {
            let reason = "the program lies where an ordinary user cannot start it";
            return Err(FixtureError::Unavailable(reason.to_owned()));
        }
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        let opened = mode(self.bed.path(), 0o755)
            .and_then(|()| fs::create_dir_all(&self.labs))
            .and_then(|()| chown(&self.labs, Some(NOBODY), Some(NOBODY)))
            .and_then(|()| mode(&self.labs, 0o700));
        opened.map_err(|error| FixtureError::Unavailable(error.to_string()))
    }

    /// A small `lab run` of an ordinary user.
    #[must_use]
    pub fn as_nobody(&self, more: &[&str]) -> Command {
        let plain = self.bed.command(&[]);
        let mut command = nobody();
        command.arg(plain.get_program()).args(self.arguments(more));
        command.current_dir("/").envs(
            plain
                .get_envs()
                .filter_map(|(key, value)| Some((key, value?))),
        );
        command
    }
}

/// Whether guests run here, or why they do not; a process asks once.
fn check_guests_run() -> Result<(), String> {
    static RUN: OnceLock<Result<(), String>> = OnceLock::new();
    let ask = || {
        let bed = ScratchTarget::new().map_err(|error| error.to_string())?;
        let listed = bed.run(&["lab", "list"]);
        let mut lines = listed.stdout.lines();
        match lines.find(|line| line.starts_with("--vm uml")) {
            Some(line) if line.contains(" yes ") => Ok(()),
            Some(_) => Err(lines.map(str::trim).collect::<Vec<_>>().join("; ")),
            None => Err(listed.text()),
        }
    };
    RUN.get_or_init(ask).clone()
}

fn nobody() -> Command {
    let mut command = Command::new("setpriv");
    let id = NOBODY.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
    command
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

fn processes_with(text: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(text))
        .map(|line| format!("process {line}"))
        .collect()
}
