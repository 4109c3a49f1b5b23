//! Errors of engines, each with one suggested action.

use std::io;

/// Reason why an engine, its buffers or its files cannot be created, or why the engine failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A system call of the engine itself failed.
    #[error("`{call}` failed: {source}")]
    System {
        /// The system call.
        call: &'static str,
        /// The error that the kernel returned.
        source: io::Error,
    },
    /// A target cannot be opened.
    #[error("cannot open `{name}`: {source}")]
    Open {
        /// Name as given.
        name: String,
        /// The error that the kernel returned.
        source: io::Error,
    },
    /// A name leads out of its directory or through a symbolic link.
    #[error("`{name}` leads out of the target's directory or through a symbolic link")]
    NotBeneath {
        /// Name as given.
        name: String,
    },
    /// A name, or a part that names are built from, is not valid for a file.
    #[error("`{name}` cannot be part of a file's name: {reason}")]
    FileName {
        /// The name or its part.
        name: String,
        /// Reason why it is not valid.
        reason: &'static str,
    },
    /// A name does not refer to a regular file as expected.
    #[error("`{name}` is not a regular file")]
    NotRegular {
        /// Name as given.
        name: String,
    },
    /// A path does not refer to a block device as expected.
    #[error("`{name}` is not a block device")]
    NotDevice {
        /// Path as given.
        name: String,
    },
    /// A block device is mounted or in use by another program.
    #[error("device `{name}` is in use: it is mounted or held by another program")]
    DeviceBusy {
        /// Path as given.
        name: String,
    },
    /// The file system refuses `O_DIRECT`.
    #[error("the file system of `{name}` refuses direct I/O (O_DIRECT)")]
    DirectRefused {
        /// Name as given.
        name: String,
    },
    /// The file system refuses `RWF_DONTCACHE`.
    #[error("file {file_index} refuses uncached buffered I/O (RWF_DONTCACHE)")]
    DontcacheRefused {
        /// 0-based index of the file in the engine.
        file_index: u32,
    },
    /// The file system refuses `RWF_NOWAIT`.
    #[error("file {file_index} refuses requests that never wait (RWF_NOWAIT)")]
    NowaitRefused {
        /// 0-based index of the file in the engine.
        file_index: u32,
    },
    /// The kernel has io_uring, but an administrator disabled it.
    #[error("io_uring is disabled on this system (kernel.io_uring_disabled = {setting})")]
    UringDisabled {
        /// Value of `kernel.io_uring_disabled`.
        setting: u32,
    },
    /// Something other than the system setting forbids io_uring; in containers this is usually
    /// seccomp.
    #[error("io_uring is forbidden for this process: {source}")]
    UringForbidden {
        /// The error that the kernel returned.
        source: io::Error,
    },
    /// The kernel has no io_uring.
    #[error("this kernel has no io_uring")]
    UringMissing,
    /// The buffers cannot be registered because too little memory may be locked.
    #[error(
        "cannot lock {need_bytes} bytes of I/O buffers: the limit on locked memory \
         (RLIMIT_MEMLOCK) is {limit_bytes} bytes"
    )]
    LockedMemory {
        /// Size of the buffers.
        need_bytes: u64,
        /// Limit of this process; `u64::MAX` means no limit, so a control group refused.
        limit_bytes: u64,
    },
    /// Polled completions were requested, but the device does not support them.
    #[error("device {major}:{minor} does not poll for completions (queue/io_poll is not 1)")]
    PollingUnsupported {
        /// Major device number.
        major: u32,
        /// Minor device number.
        minor: u32,
    },
    /// Polled completions were requested for a file that is not open for direct I/O.
    #[error("polled completions (IOPOLL) need direct I/O, and file {file_index} is buffered")]
    PollingBuffered {
        /// 0-based index of the file in the engine.
        file_index: u32,
    },
    /// The slot count is 0 or above the engine's maximum.
    #[error("{asked_count} requests in flight are not in the range of 1 to {most_count}")]
    SlotCount {
        /// Requested number of slots.
        asked_count: u32,
        /// Maximum number of slots.
        most_count: u32,
    },
    /// A request is larger than the engine's maximum buffer size.
    #[error("requests of {asked_bytes} bytes are above the maximum of {most_bytes} bytes")]
    BufferSize {
        /// Requested size.
        asked_bytes: u32,
        /// Maximum size.
        most_bytes: u32,
    },
    /// The buffers do not fit in memory.
    #[error("cannot allocate {need_bytes} bytes of I/O buffers: {source}")]
    BufferMemory {
        /// Size of the buffers.
        need_bytes: u64,
        /// The error that the kernel returned.
        source: io::Error,
    },
    /// The file is empty, so there is nothing to map.
    #[error("file {file_index} is empty and cannot be mapped")]
    EmptyMapping {
        /// 0-based index of the file in the engine.
        file_index: u32,
    },
    /// The number of ways to reopen files differs from the number of files.
    #[error("{recipe_count} ways to reopen files were given for {file_count} files")]
    RecipeCount {
        /// Number of ways given.
        recipe_count: u32,
        /// Number of files.
        file_count: u32,
    },
    /// More files must be held open than the process may have.
    #[error("{count} directories and files cannot be held open: the limit is {limit_count}")]
    OpenFiles {
        /// Number of directories and files.
        count: u64,
        /// Highest limit that the process can set.
        limit_count: u64,
    },
    /// The connection to a TCP peer failed.
    #[error(transparent)]
    Network(#[from] network::NetworkError),
    /// There is no file with this index.
    #[error("file {file_index} does not exist: the engine has {file_count} files")]
    FileIndex {
        /// Requested index, 0-based.
        file_index: u32,
        /// Number of files.
        file_count: u32,
    },
}

/// Advice where the process may not open more files.
const OPEN_FILES_HELP: &str = "raise the limit with `ulimit -n` as root, or keep fewer files open";

impl EngineError {
    /// One action that solves the problem, if there is one.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::NotBeneath { .. } => "name the file itself, not a link to it",
            Self::FileName { .. } => "give another name",
            Self::NotRegular { .. } | Self::NotDevice { .. } => {
                "give a directory, a file that pgmeter created, or a block device"
            }
            Self::DeviceBusy { .. } => "unmount it, or name another device",
            Self::OpenFiles { .. } => OPEN_FILES_HELP,
            Self::System { source, .. } | Self::Open { source, .. }
                if source.raw_os_error() == Some(libc::EMFILE) =>
            {
                OPEN_FILES_HELP
            }
            Self::DirectRefused { .. } => {
                "choose `--cache buffered`; the results then include the page cache"
            }
            Self::DontcacheRefused { .. } => {
                "choose `--cache buffered`; the results then include the page cache"
            }
            Self::NowaitRefused { .. } => {
                "leave `nowait` out, or use a file system such as ext4, XFS or Btrfs"
            }
            Self::UringDisabled { .. } => {
                "run `sysctl kernel.io_uring_disabled=0` as root, or choose `--engine psync`; \
                 the results are not comparable"
            }
            Self::UringForbidden { .. } => {
                "allow io_uring in the container's seccomp profile, or choose `--engine psync`; \
                 the results are not comparable"
            }
            Self::UringMissing => {
                "choose `--engine psync`; the results are not comparable with io_uring's"
            }
            Self::LockedMemory { .. } => return Some(self.help_on_locked_memory()),
            Self::PollingUnsupported { .. } => {
                "leave out `iopoll`, or give the driver poll queues (`nvme.poll_queues`)"
            }
            Self::PollingBuffered { .. } => "add `--cache direct`",
            Self::SlotCount { most_count, .. } => {
                return Some(format!("choose a queue depth of at most {most_count}"));
            }
            Self::BufferSize { .. } => "choose a smaller block size",
            Self::BufferMemory { .. } => "choose a smaller block size or queue depth",
            Self::EmptyMapping { .. } => "give the file a size first",
            Self::Network(error) => return error.help(),
            Self::System { .. }
            | Self::Open { .. }
            | Self::RecipeCount { .. }
            | Self::FileIndex { .. } => return None,
        };
        Some(text.to_owned())
    }

    fn help_on_locked_memory(&self) -> String {
        match self {
            Self::LockedMemory {
                limit_bytes: u64::MAX,
                ..
            } => "raise the memory limit of the control group, or lower block size or queue depth"
                .to_owned(),
            Self::LockedMemory { need_bytes, .. } => {
                let need_kib = need_bytes.div_ceil(1024);
                format!("run `ulimit -l {need_kib}` (as root) first, or lower the queue depth")
            }
            _ => String::new(),
        }
    }

    /// The underlying errno, for the result of a completion; `EINVAL` if the error does not come
    /// from a system call.
    pub(crate) fn errno(&self) -> i32 {
        match self {
            Self::System { source, .. } | Self::Open { source, .. } => {
                source.raw_os_error().unwrap_or(libc::EIO)
            }
            _ => libc::EINVAL,
        }
    }

    pub(crate) fn system(call: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System {
            call,
            source: source.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disabled_io_uring_is_reported_with_its_setting_and_a_fix() {
        let error = EngineError::UringDisabled { setting: 2 };
        assert_eq!(
            error.to_string(),
            "io_uring is disabled on this system (kernel.io_uring_disabled = 2)"
        );
        assert_eq!(
            error.help().as_deref(),
            Some(
                "run `sysctl kernel.io_uring_disabled=0` as root, or choose `--engine psync`; \
                 the results are not comparable"
            )
        );
    }

    #[test]
    fn too_little_lockable_memory_is_reported_with_need_limit_and_command() {
        let error = EngineError::LockedMemory {
            need_bytes: 1_048_577,
            limit_bytes: 65_536,
        };
        assert_eq!(
            error.to_string(),
            "cannot lock 1048577 bytes of I/O buffers: the limit on locked memory \
             (RLIMIT_MEMLOCK) is 65536 bytes"
        );
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("ulimit -l 1025"))
        );
    }

    #[test]
    fn without_a_limit_the_help_names_the_control_group() {
        let error = EngineError::LockedMemory {
            need_bytes: 4096,
            limit_bytes: u64::MAX,
        };
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("control group"))
        );
    }
}
