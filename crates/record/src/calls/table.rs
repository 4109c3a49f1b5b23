//! The system calls that are recorded, and what their arguments mean.

use libc::c_long;

/// Meaning of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallArgument {
    /// A descriptor, or the one that stands for the working directory.
    Descriptor,
    /// The address of a path.
    Path,
    /// The address of data, which is not read.
    Data,
    /// A signed number.
    Number,
    /// Another address, or a set of flags.
    Hexadecimal,
    /// Flags of `open`.
    OpenFlags,
    /// Flags of `clone`.
    CloneFlags,
    /// The address of the flags of `clone3`.
    CloneFlagsAt,
    /// A command of `fcntl`.
    FcntlCommand,
}

/// A system call that is recorded.
#[derive(Debug)]
pub(super) struct RecordedCall {
    number: c_long,
    pub(super) name: &'static str,
    pub(super) arguments: &'static [CallArgument],
}

impl RecordedCall {
    /// `true` if the result is a new descriptor.
    pub(super) fn returns_descriptor(&self) -> bool {
        matches!(
            self.name,
            "open" | "openat" | "openat2" | "creat" | "dup" | "dup2" | "dup3"
        )
    }

    /// `true` if the result is a number of bytes of a file.
    pub(super) fn moves_data(&self) -> bool {
        self.name.contains("read") && !self.name.contains("readlink") || self.name.contains("write")
    }
}

/// The recorded calls by number.
pub(super) struct CallTable(Vec<Option<&'static RecordedCall>>);

impl CallTable {
    pub(super) fn new() -> Self {
        let mut table = Vec::new();
        for call in CALLS.iter().chain(OLD_CALLS) {
            let index = usize::try_from(call.number).unwrap_or_default();
            if table.len() <= index {
                table.resize(index + 1, None);
            }
            table[index] = Some(call);
        }
        Self(table)
    }

    pub(super) fn get(&self, number: c_long) -> Option<&'static RecordedCall> {
        let index = usize::try_from(number).ok()?;
        self.0.get(index).copied().flatten()
    }
}

const fn call(
    number: c_long,
    name: &'static str,
    arguments: &'static [CallArgument],
) -> RecordedCall {
    RecordedCall {
        number,
        name,
        arguments,
    }
}

use CallArgument::{
    CloneFlags, CloneFlagsAt, Data, Descriptor, FcntlCommand, Hexadecimal, Number, OpenFlags, Path,
};

/// Calls that all architectures have.
static CALLS: &[RecordedCall] = &[
    call(libc::SYS_read, "read", &[Descriptor, Data, Number]),
    call(
        libc::SYS_pread64,
        "pread64",
        &[Descriptor, Data, Number, Number],
    ),
    call(libc::SYS_readv, "readv", &[Descriptor, Hexadecimal, Number]),
    call(
        libc::SYS_preadv,
        "preadv",
        &[Descriptor, Hexadecimal, Number, Number],
    ),
    call(
        libc::SYS_preadv2,
        "preadv2",
        &[Descriptor, Hexadecimal, Number, Number],
    ),
    call(libc::SYS_write, "write", &[Descriptor, Data, Number]),
    call(
        libc::SYS_pwrite64,
        "pwrite64",
        &[Descriptor, Data, Number, Number],
    ),
    call(
        libc::SYS_writev,
        "writev",
        &[Descriptor, Hexadecimal, Number],
    ),
    call(
        libc::SYS_pwritev,
        "pwritev",
        &[Descriptor, Hexadecimal, Number, Number],
    ),
    call(
        libc::SYS_pwritev2,
        "pwritev2",
        &[Descriptor, Hexadecimal, Number, Number],
    ),
    call(
        libc::SYS_openat,
        "openat",
        &[Descriptor, Path, OpenFlags, Hexadecimal],
    ),
    call(
        libc::SYS_openat2,
        "openat2",
        &[Descriptor, Path, Hexadecimal, Number],
    ),
    call(libc::SYS_close, "close", &[Descriptor]),
    call(libc::SYS_lseek, "lseek", &[Descriptor, Number, Number]),
    call(libc::SYS_fsync, "fsync", &[Descriptor]),
    call(libc::SYS_fdatasync, "fdatasync", &[Descriptor]),
    call(libc::SYS_syncfs, "syncfs", &[Descriptor]),
    call(libc::SYS_sync, "sync", &[]),
    call(
        libc::SYS_sync_file_range,
        "sync_file_range",
        &[Descriptor, Number, Number, Hexadecimal],
    ),
    call(libc::SYS_truncate, "truncate", &[Path, Number]),
    call(libc::SYS_ftruncate, "ftruncate", &[Descriptor, Number]),
    call(
        libc::SYS_fallocate,
        "fallocate",
        &[Descriptor, Hexadecimal, Number, Number],
    ),
    call(
        libc::SYS_fadvise64,
        "fadvise64",
        &[Descriptor, Number, Number, Number],
    ),
    call(
        libc::SYS_renameat,
        "renameat",
        &[Descriptor, Path, Descriptor, Path],
    ),
    call(
        libc::SYS_renameat2,
        "renameat2",
        &[Descriptor, Path, Descriptor, Path, Hexadecimal],
    ),
    call(
        libc::SYS_linkat,
        "linkat",
        &[Descriptor, Path, Descriptor, Path, Hexadecimal],
    ),
    call(libc::SYS_symlinkat, "symlinkat", &[Path, Descriptor, Path]),
    call(
        libc::SYS_unlinkat,
        "unlinkat",
        &[Descriptor, Path, Hexadecimal],
    ),
    call(
        libc::SYS_mkdirat,
        "mkdirat",
        &[Descriptor, Path, Hexadecimal],
    ),
    call(
        libc::SYS_newfstatat,
        "newfstatat",
        &[Descriptor, Path, Hexadecimal, Hexadecimal],
    ),
    call(libc::SYS_fstat, "fstat", &[Descriptor, Hexadecimal]),
    call(
        libc::SYS_statx,
        "statx",
        &[Descriptor, Path, Hexadecimal, Hexadecimal, Hexadecimal],
    ),
    call(
        libc::SYS_faccessat,
        "faccessat",
        &[Descriptor, Path, Hexadecimal],
    ),
    call(
        libc::SYS_faccessat2,
        "faccessat2",
        &[Descriptor, Path, Hexadecimal, Hexadecimal],
    ),
    call(
        libc::SYS_readlinkat,
        "readlinkat",
        &[Descriptor, Path, Hexadecimal, Number],
    ),
    call(
        libc::SYS_getdents64,
        "getdents64",
        &[Descriptor, Hexadecimal, Number],
    ),
    call(libc::SYS_fchmod, "fchmod", &[Descriptor, Hexadecimal]),
    call(
        libc::SYS_fchmodat,
        "fchmodat",
        &[Descriptor, Path, Hexadecimal],
    ),
    call(libc::SYS_fchown, "fchown", &[Descriptor, Number, Number]),
    call(
        libc::SYS_fchownat,
        "fchownat",
        &[Descriptor, Path, Number, Number, Hexadecimal],
    ),
    call(
        libc::SYS_utimensat,
        "utimensat",
        &[Descriptor, Path, Hexadecimal, Hexadecimal],
    ),
    call(libc::SYS_flock, "flock", &[Descriptor, Hexadecimal]),
    call(libc::SYS_dup, "dup", &[Descriptor]),
    call(libc::SYS_dup3, "dup3", &[Descriptor, Number, Hexadecimal]),
    call(
        libc::SYS_fcntl,
        "fcntl",
        &[Descriptor, FcntlCommand, Hexadecimal],
    ),
    call(libc::SYS_chdir, "chdir", &[Path]),
    call(libc::SYS_fchdir, "fchdir", &[Descriptor]),
    call(
        libc::SYS_copy_file_range,
        "copy_file_range",
        &[Descriptor, Hexadecimal, Descriptor, Hexadecimal, Number],
    ),
    call(
        libc::SYS_sendfile,
        "sendfile",
        &[Descriptor, Descriptor, Hexadecimal, Number],
    ),
    call(libc::SYS_clone, "clone", &[CloneFlags]),
    call(libc::SYS_clone3, "clone3", &[CloneFlagsAt]),
    call(libc::SYS_execve, "execve", &[Path]),
];

/// Calls that newer architectures left out.
#[cfg(target_arch = "x86_64")]
static OLD_CALLS: &[RecordedCall] = &[
    call(libc::SYS_open, "open", &[Path, OpenFlags, Hexadecimal]),
    call(libc::SYS_creat, "creat", &[Path, Hexadecimal]),
    call(libc::SYS_stat, "stat", &[Path, Hexadecimal]),
    call(libc::SYS_lstat, "lstat", &[Path, Hexadecimal]),
    call(libc::SYS_access, "access", &[Path, Hexadecimal]),
    call(libc::SYS_readlink, "readlink", &[Path, Hexadecimal, Number]),
    call(libc::SYS_rename, "rename", &[Path, Path]),
    call(libc::SYS_link, "link", &[Path, Path]),
    call(libc::SYS_symlink, "symlink", &[Path, Path]),
    call(libc::SYS_unlink, "unlink", &[Path]),
    call(libc::SYS_rmdir, "rmdir", &[Path]),
    call(libc::SYS_mkdir, "mkdir", &[Path, Hexadecimal]),
    call(libc::SYS_chmod, "chmod", &[Path, Hexadecimal]),
    call(libc::SYS_chown, "chown", &[Path, Number, Number]),
    call(libc::SYS_dup2, "dup2", &[Descriptor, Number]),
    call(
        libc::SYS_getdents,
        "getdents",
        &[Descriptor, Hexadecimal, Number],
    ),
    call(libc::SYS_fork, "fork", &[]),
    call(libc::SYS_vfork, "vfork", &[]),
];

/// Calls that newer architectures left out.
#[cfg(not(target_arch = "x86_64"))]
static OLD_CALLS: &[RecordedCall] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_stands_for_one_call() {
        let table = CallTable::new();
        for call in CALLS.iter().chain(OLD_CALLS) {
            assert_eq!(table.get(call.number).unwrap().name, call.name);
        }
        assert!(table.get(libc::SYS_futex).is_none());
        assert!(table.get(-1).is_none());
        assert!(table.get(1 << 30).is_none());
    }

    #[test]
    fn reads_and_writes_move_data() {
        let table = CallTable::new();
        let call = |number| table.get(number).unwrap();
        assert!(call(libc::SYS_pread64).moves_data());
        assert!(call(libc::SYS_pwritev2).moves_data());
        assert!(!call(libc::SYS_readlinkat).moves_data());
        assert!(!call(libc::SYS_fsync).moves_data());
        assert!(call(libc::SYS_openat).returns_descriptor());
    }
}
