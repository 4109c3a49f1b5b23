//! What can go wrong in the lab.

use std::io;
use std::path::{Path, PathBuf};

use plan::Diagnostic;
use units::format::size;
use units::{Bytes, Percent};

use crate::vm::speaks_of_memory;

/// Why a file system cannot be made, mounted or taken down.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// There is no such file system.
    #[error("the lab does not know the file system `{name}`")]
    UnknownFileSystem {
        /// The name asked for.
        name: String,
        /// The nearest name that there is.
        nearest: Option<&'static str>,
    },
    /// A list of file systems cannot be read.
    #[error("`{seen}` is not a list of file systems: {reason}")]
    BadChoice {
        /// What was given.
        seen: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The lab only measures in such a file system.
    #[error("the lab cannot make {name}, which needs a pool")]
    Pool {
        /// The file system.
        name: &'static str,
    },
    /// Not a medium.
    #[error("`{seen}` is neither `loop` nor `zram` nor the path of a block device")]
    BadMedium {
        /// What was given.
        seen: String,
    },
    /// Not a scale.
    #[error("`{seen}` is not a scale above 0 and at most 1")]
    BadScale {
        /// What was given.
        seen: String,
    },
    /// Not an age.
    #[error("`{seen}` is not an age: {reason}")]
    BadAge {
        /// What was given.
        seen: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Only file systems that the lab makes are filled.
    #[error("`{}` already exists, so it is not filled to age it", .path.display())]
    AgeOfPath {
        /// The directory.
        path: PathBuf,
    },
    /// What is removed stays where it is.
    #[error("`{}` does not free removed files while it ages: files hold {} of the {} in use",
        .path.display(), Bytes(*.held_bytes), Bytes(*.used_bytes))]
    NotFreed {
        /// Where the files are.
        path: PathBuf,
        /// Bytes of files.
        held_bytes: u64,
        /// Bytes that the file system says are used.
        used_bytes: u64,
    },
    /// A workload would have room on a file system that is not aged.
    #[error("aged to {fullness}, it has too little room: {reason}")]
    TooFull {
        /// As full as it was to be.
        fullness: Percent,
        /// What there is no room for.
        reason: String,
    },
    /// A path that cannot stand in a plan.
    #[error("`{}` is not UTF-8 text", .path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// It was asked to stop.
    #[error("interrupted")]
    Stopped,
    /// A program is not installed.
    #[error("{name} needs `{program}`, which is not installed")]
    NoProgram {
        /// The file system.
        name: String,
        /// The program.
        program: String,
        /// The Debian package that has it.
        package: String,
    },
    /// The kernel does not have the file system.
    #[error("this kernel does not support {name}")]
    NoKernel {
        /// The file system.
        name: String,
    },
    /// The kernel of guests does not have the file system.
    #[error("User-mode Linux {release} does not support {name}")]
    NoGuestKernel {
        /// The file system.
        name: String,
        /// The kernel's release.
        release: String,
    },
    /// A guest cannot have that.
    #[error("{what} does not work with guests, which have one image with a file system on it")]
    NotInGuest {
        /// What was asked for.
        what: String,
    },
    /// A path that cannot be handed to a guest's kernel.
    #[error("`{}` cannot be passed to a guest's kernel", .path.display())]
    OddPath {
        /// The path.
        path: PathBuf,
    },
    /// Too little memory for a guest.
    #[error("a guest with {} of memory does not start: it needs at least {}", Bytes(*.bytes),
        Bytes(*.min_bytes))]
    LittleMemory {
        /// What was asked for.
        bytes: u64,
        /// What is needed.
        min_bytes: u64,
    },
    /// A guest ended without an answer.
    #[error("the guest {how}{}", indented(.console))]
    Guest {
        /// How it ended.
        how: String,
        /// What it said last.
        console: String,
    },
    /// A guest said what was wrong, as it is told.
    #[error("{text}")]
    InGuest {
        /// What it said.
        text: String,
    },
    /// Guests do not run here.
    #[error("guests do not run here: {how}{}", indented(.console))]
    NoGuests {
        /// What became of one that was to do nothing.
        how: String,
        /// What it said last.
        console: String,
    },
    /// The kernel has no such devices.
    #[error("there are no {medium} devices on this system")]
    NoMedium {
        /// The medium.
        medium: String,
    },
    /// Root is needed.
    #[error("{what} needs root")]
    NotRoot {
        /// What needs it.
        what: String,
    },
    /// The image does not fit.
    #[error("an image of {} does not fit: {} are free in `{}`", size(*.size_bytes),
        size(*.free_bytes), .directory.display())]
    NoSpace {
        /// Bytes of the image.
        size_bytes: u64,
        /// Bytes that may be used.
        free_bytes: u64,
        /// Where the image would lie.
        directory: PathBuf,
    },
    /// The image is too small for the file system.
    #[error("{name} needs at least {}, not {}", Bytes(*.min_bytes), Bytes(*.size_bytes))]
    TooSmall {
        /// The file system.
        name: String,
        /// Bytes that it needs.
        min_bytes: u64,
        /// Bytes that there are.
        size_bytes: u64,
    },
    /// A program of the system failed.
    #[error("`{command}` failed ({status}){}", indented(.output))]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },
    /// A log-structured file system cannot be cleaned.
    #[error("the cleaner of `{}` does not finish", .device.display())]
    NotCleaned {
        /// Its device.
        device: PathBuf,
    },
    /// A mount cannot be taken away.
    #[error("`{}` stays mounted: {reason}", .point.display())]
    Busy {
        /// Where it is mounted.
        point: PathBuf,
        /// Who uses it.
        reason: String,
    },
    /// Something that was made could not be removed.
    #[error("{what} was left behind: {reason}")]
    Left {
        /// What it is.
        what: String,
        /// Why it is still there.
        reason: String,
    },
    /// A directory has the name of a lab, and is none that can be believed.
    #[error("`{path}` was not touched: {reason}")]
    NoLab {
        /// The directory.
        path: PathBuf,
        /// Why it is not believed to be one.
        reason: String,
    },
    /// The lab's directory is not to be trusted.
    #[error("`{}` cannot be the lab's directory: {reason}", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system refused something.
    #[error("cannot {action} `{}`: {source}", .path.display())]
    System {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A target cannot be used.
    #[error(transparent)]
    Target(#[from] target::TargetError),
    /// A workload cannot be measured so.
    #[error(transparent)]
    Plan(Box<Diagnostic>),
    /// What a guest measured cannot be read.
    #[error(transparent)]
    Record(#[from] results::ReadError),
}

impl From<Diagnostic> for LabError {
    fn from(refused: Diagnostic) -> Self {
        Self::Plan(Box::new(refused))
    }
}

impl LabError {
    pub(crate) fn system(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::System {
            action,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    /// Whether the command line is at fault, and not this system.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::UnknownFileSystem { .. }
                | Self::BadChoice { .. }
                | Self::BadMedium { .. }
                | Self::BadScale { .. }
                | Self::BadAge { .. }
                | Self::AgeOfPath { .. }
                | Self::Pool { .. }
                | Self::TooSmall { .. }
                | Self::NotInGuest { .. }
                | Self::OddPath { .. }
                | Self::LittleMemory { .. }
                | Self::TooFull { .. }
                | Self::NotText { .. }
                | Self::Plan(_)
        )
    }

    /// One action that helps.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Guest { console, .. } | Self::NoGuests { console, .. }
                if speaks_of_memory(console) =>
            {
                "give it more memory with `--vm-memory`".to_owned()
            }
            Self::UnknownFileSystem {
                nearest: Some(near),
                ..
            } => format!("did you mean `{near}`?"),
            Self::Pool { name } => format!("create a {name} pool and name it: `--fs path:DIR`"),
            Self::NoProgram { package, .. } => format!("install the package `{package}`"),
            Self::TooSmall { min_bytes, .. } => {
                format!("use `--image-size {}` or more", Bytes(*min_bytes))
            }
            Self::Target(error) => error.help(),
            Self::Plan(refused) => return refused.help.clone(),
            other => return other.fixed_help().map(str::to_owned),
        })
    }

    /// The action that helps whatever the values are.
    fn fixed_help(&self) -> Option<&'static str> {
        Some(match self {
            Self::UnknownFileSystem { .. } | Self::NoKernel { .. } | Self::NoGuests { .. } => {
                "`pgmeter lab list` shows what can be made here"
            }
            Self::BadChoice { .. } => {
                "write `--fs ext4,xfs`, `--fs 'ext4:-O ^has_journal'`, `--fs 'xfs,mount=noatime'` \
                 or `--fs path:DIR`"
            }
            Self::BadScale { .. } => "write `--scale 0.02` for a fiftieth",
            Self::BadAge { .. } => {
                "write `--age 70%`, `--age 70%,churn=2` or `--age 70%,churn=2,extents=1.5`"
            }
            Self::NotFreed { .. } => {
                "only fill it (`--age 70%,churn=0`), or leave out this file system"
            }
            Self::TooFull { .. } => {
                "use a lower `--age`, a larger `--image-size`, or a smaller `--scale` or `--size`"
            }
            Self::AgeOfPath { .. } => {
                "leave out `--age`, or let the lab make the file system with `--fs`"
            }
            Self::BadMedium { .. } => "use `--on loop`, `--on zram` or `--on /dev/NAME`",
            Self::NoMedium { .. } => "load the kernel's module, or use another `--on`",
            Self::NotRoot { .. } => {
                "run as root; `path:DIR`, `tmpfs` and `--vm uml` do not need it"
            }
            Self::NoSpace { .. } => {
                "use a smaller `--image-size`, or another directory with `--dir`"
            }
            Self::NoGuestKernel { .. } | Self::NotInGuest { .. } => {
                "name file systems that `pgmeter lab list` has for `--vm uml`, and `--on loop`"
            }
            Self::LittleMemory { .. } => "use `--vm-memory 512m` or more",
            Self::OddPath { .. } => {
                "use `--dir` and a location of this program without spaces, quotes, commas or \
                 colons"
            }
            Self::NotCleaned { .. } => {
                "mount it without its cleaner: `,mount=nogc`, `,mount=background_gc=off`"
            }
            Self::Busy { .. } | Self::Left { .. } => {
                "stop what uses it, then run `pgmeter lab clean`"
            }
            Self::NoLab { .. } => "check it, and remove it by hand if it is yours",
            Self::Directory { .. } => "name another directory with `--dir`",
            _ => return None,
        })
    }
}

/// What a program printed, below the sentence that it failed.
fn indented(output: &str) -> String {
    let lines = output.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| format!("\n  {line}")).collect()
}
