//! Why an engine cannot work, each with one thing to do about it.

use std::io;

/// Why an engine, its buffers or its files cannot be had, or why it stopped working.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A system call of the engine itself failed.
    #[error("`{call}` failed: {source}")]
    System {
        /// The system call.
        call: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A target cannot be opened.
    #[error("cannot open `{name}`: {source}")]
    Open {
        /// The name as given.
        name: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A name leads out of its directory, or through a symbolic link.
    #[error("`{name}` leads out of the target's directory or through a symbolic link")]
    NotBeneath {
        /// The name as given.
        name: String,
    },
    /// A name, or what names are made of, cannot be that of a file.
    #[error("`{name}` cannot be part of a file's name: {reason}")]
    FileName {
        /// The name or the part of it.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// A name is not the regular file that it was taken for.
    #[error("`{name}` is not a regular file")]
    NotRegular {
        /// The name as given.
        name: String,
    },
    /// A path is not the block device that it was taken for.
    #[error("`{name}` is not a block device")]
    NotDevice {
        /// The path as given.
        name: String,
    },
    /// A block device is mounted, or held by something else.
    #[error("device `{name}` is in use: it is mounted or held by another program")]
    DeviceBusy {
        /// The path as given.
        name: String,
    },
    /// The file system refuses `O_DIRECT`.
    #[error("the file system of `{name}` refuses direct I/O (O_DIRECT)")]
    DirectRefused {
        /// The name as given.
        name: String,
    },
    /// The file system refuses `RWF_DONTCACHE`.
    #[error("file {file_index} refuses uncached buffered I/O (RWF_DONTCACHE)")]
    DontcacheRefused {
        /// Which of the engine's files, 0-based.
        file_index: u32,
    },
    /// The kernel has io_uring, but an administrator switched it off.
    #[error("io_uring is disabled on this system (kernel.io_uring_disabled = {setting})")]
    UringDisabled {
        /// The value of `kernel.io_uring_disabled`.
        setting: u32,
    },
    /// Something else than the system setting forbids io_uring, in containers mostly seccomp.
    #[error("io_uring is forbidden to this process: {source}")]
    UringForbidden {
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel has no io_uring.
    #[error("this kernel has no io_uring")]
    UringMissing,
    /// The buffers cannot be registered for want of lockable memory.
    #[error(
        "cannot lock {need_bytes} bytes of I/O buffers: the limit on locked memory \
         (RLIMIT_MEMLOCK) is {limit_bytes} bytes"
    )]
    LockedMemory {
        /// What the buffers take.
        need_bytes: u64,
        /// The limit of this process; `u64::MAX` means none, so that a control group refused.
        limit_bytes: u64,
    },
    /// Polled completions were asked for where the device does not poll.
    #[error("device {major}:{minor} does not poll for completions (queue/io_poll is not 1)")]
    PollingUnsupported {
        /// Device number, upper part.
        major: u32,
        /// Device number, lower part.
        minor: u32,
    },
    /// Polled completions were asked for a file that is not open for direct I/O.
    #[error("polled completions (IOPOLL) need direct I/O, and file {file_index} is buffered")]
    PollingBuffered {
        /// Which of the engine's files, 0-based.
        file_index: u32,
    },
    /// The slot count is 0 or more than the engine can have.
    #[error("{asked_count} requests in flight are not possible: 1 to {most_count} are")]
    SlotCount {
        /// What was asked for.
        asked_count: u32,
        /// The most there can be.
        most_count: u32,
    },
    /// One request is larger than the engine's buffers can be.
    #[error("requests of {asked_bytes} bytes are not possible: at most {most_bytes} bytes are")]
    BufferSize {
        /// What was asked for.
        asked_bytes: u32,
        /// The most there can be.
        most_bytes: u32,
    },
    /// The buffers do not fit in memory.
    #[error("cannot have {need_bytes} bytes of I/O buffers: {source}")]
    BufferMemory {
        /// What the buffers take.
        need_bytes: u64,
        /// What the kernel said.
        source: io::Error,
    },
    /// The file is empty, so there is nothing to map.
    #[error("file {file_index} is empty and cannot be mapped")]
    EmptyMapping {
        /// Which of the engine's files, 0-based.
        file_index: u32,
    },
    /// There are not as many ways to open files again as there are files.
    #[error("{recipe_count} ways to open files again are not one for each of {file_count} files")]
    RecipeCount {
        /// How many were given.
        recipe_count: u32,
        /// How many files there are.
        file_count: u32,
    },
    /// More is to be held open than the process may have files.
    #[error("{count} directories and files cannot be held open: the limit is {limit_count}")]
    OpenFiles {
        /// How many there are.
        count: u64,
        /// What the limit can be.
        limit_count: u64,
    },
    /// A TCP peer cannot be connected to.
    #[error(transparent)]
    Network(#[from] network::NetworkError),
    /// There is no file of this index.
    #[error("there is no file {file_index}: the engine has {file_count}")]
    FileIndex {
        /// What was asked for, 0-based.
        file_index: u32,
        /// How many files there are.
        file_count: u32,
    },
}

impl EngineError {
    /// The one thing to do about it, when there is one.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::NotBeneath { .. } => "name the file itself, not a link to it",
            Self::FileName { .. } => "give another name",
            Self::NotRegular { .. } | Self::NotDevice { .. } => {
                "give a directory, a file of pgmeter's own or a block device"
            }
            Self::DeviceBusy { .. } => "unmount it, or name another device",
            Self::OpenFiles { .. } => {
                "raise the limit with `ulimit -n` as root, or hold fewer open"
            }
            Self::DirectRefused { .. } => {
                "choose `--cache buffered`; the results then include the page cache"
            }
            Self::DontcacheRefused { .. } => {
                "choose `--cache buffered`; the results then include the page cache"
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

    /// The errno behind it, for a completion's result; `EINVAL` where the kernel was not asked.
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
    fn a_disabled_io_uring_is_named_with_its_setting_and_one_way_out() {
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
    fn too_little_lockable_memory_names_limit_and_need_and_the_command() {
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
    fn without_a_limit_the_control_group_is_to_blame() {
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
