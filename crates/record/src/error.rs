//! Errors of recordings.

use std::io;
use std::path::PathBuf;

/// An error that prevents or ends a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The kernel allows tracing to root only.
    #[error("recording needs root: {source}")]
    Permission {
        /// Reason of the kernel.
        source: io::Error,
    },
    /// The kernel has no tracefs.
    #[error("this kernel has no tracefs, which recording needs: {source}")]
    NoTracefs {
        /// Reason of the kernel.
        source: io::Error,
    },
    /// A device or directory does not exist or cannot be reached.
    #[error("cannot record `{path}`: {source}")]
    Missing {
        /// Path given.
        path: PathBuf,
        /// Reason of the system.
        source: io::Error,
    },
    /// A path that should be a block device is something else.
    #[error("`{path}` is not a block device")]
    NotADevice {
        /// Path given.
        path: PathBuf,
    },
    /// A directory whose file system has no block device.
    #[error("`{path}` is on no block device of this machine: {stack}")]
    NoDevice {
        /// Path given.
        path: PathBuf,
        /// Where it is instead.
        stack: String,
    },
    /// The driver of a device takes no requests of the block layer.
    #[error("`{name}` has no requests at the layer `issue`")]
    NoRequests {
        /// Name of the device.
        name: String,
    },
    /// Writing the trace would cause requests that are recorded.
    #[error("`{output}` is on the device `{name}`, which is recorded")]
    OutputOnDevice {
        /// The file.
        output: PathBuf,
        /// Name of the device.
        name: String,
    },
    /// The kernel lacks an event.
    #[error("this kernel has no event `{event}`")]
    NoEvent {
        /// Name of the event.
        event: String,
    },
    /// The kernel's description of an event or a page lacks a field.
    #[error("`{path}` does not describe the fields that pgmeter needs")]
    Format {
        /// The description.
        path: PathBuf,
    },
    /// A file of tracefs failed.
    #[error("cannot {action} `{path}`: {source}")]
    Tracefs {
        /// `read`, `write`, `create` or `remove`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Reason of the kernel.
        source: io::Error,
    },
    /// The command to record is not installed.
    #[error("there is no program `{name}`")]
    NoProgram {
        /// First word of the command.
        name: String,
    },
    /// A program could not be traced.
    #[error("cannot trace {what}: {source}")]
    Trace {
        /// The program or process.
        what: String,
        /// Reason of the system.
        source: io::Error,
    },
    /// The trace could not be written.
    #[error("cannot write the trace: {source}")]
    Output {
        /// Reason of the system.
        source: io::Error,
    },
}

impl RecordError {
    /// One action that helps.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Permission { .. } if rustix::process::geteuid().is_root() => {
                "record outside of the container, or lift the kernel's lockdown"
            }
            Self::Permission { .. } => "run the command as root",
            Self::NoTracefs { .. } => "use a kernel with CONFIG_FTRACE and CONFIG_TRACING",
            Self::Missing { .. } => "check the path; `lsblk` lists the devices",
            Self::NotADevice { .. } => "`--target DIR` finds the device under a directory or file",
            Self::NoDevice { .. } => "name a directory on a disk, or a device with `--device`",
            Self::NoRequests { .. } => {
                "leave out `--layer`, or use `--layer queue`: its driver takes what file systems \
                 submit"
            }
            Self::OutputOnDevice { .. } => {
                "write to another disk or to /dev/shm, or add `--force` to record these writes, too"
            }
            Self::NoEvent { .. } => {
                "use a kernel with CONFIG_BLK_DEV_IO_TRACE, or record with another tool: \
                 `docs/traces.md` lists them"
            }
            Self::Format { .. } => "please report it with the content of that file",
            Self::Tracefs { .. } => "`dmesg` may show the reason",
            Self::NoProgram { .. } => "check the command after `--`",
            Self::Trace { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the number of the process; it may have ended"
            }
            Self::Trace { .. } => {
                "a process has one tracer; processes of other users need root, and with \
                 `kernel.yama.ptrace_scope` all that run already do"
            }
            Self::Output { .. } => {
                "choose a file on a disk with free space; what was written so far can be read"
            }
        }
    }
}
