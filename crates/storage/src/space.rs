//! Free space: 5 % of the file system is kept free, or 1 GiB of a large one.

use std::os::fd::AsFd;
use std::path::Path;

use plan::facts::min_free_bytes;
use rustix::fs::fstatvfs;

use crate::TargetError;

/// Refuses a file that would leave too little space. `held_bytes` will be freed before it is
/// written.
pub(crate) fn check(
    directory: impl AsFd,
    path: &Path,
    wanted_bytes: u64,
    held_bytes: u64,
) -> Result<(), TargetError> {
    // If the file system reports no size, only writing can detect a lack of space.
    let Ok(space) = fstatvfs(directory) else {
        return Ok(());
    };
    let total_bytes = space.f_blocks.saturating_mul(space.f_frsize);
    if total_bytes == 0 {
        return Ok(());
    }
    let free_bytes = space
        .f_bavail
        .saturating_mul(space.f_frsize)
        .saturating_add(held_bytes);
    let largest_bytes = largest(free_bytes, total_bytes);
    if wanted_bytes <= largest_bytes {
        return Ok(());
    }
    let path = path.to_owned();
    Err(TargetError::NoSpace {
        path,
        free_bytes,
        total_bytes,
        wanted_bytes,
        largest_bytes,
    })
}

pub(crate) fn largest(free_bytes: u64, total_bytes: u64) -> u64 {
    let left = free_bytes.saturating_sub(min_free_bytes(total_bytes));
    // A smaller file would not be useful.
    if left < 1 << 20 { 0 } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_twentieth_but_at_most_a_gibibyte_stays_free() {
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        assert_eq!(largest(100 * MIB, 100 * MIB), 95 * MIB);
        assert_eq!(largest(4 * MIB, 100 * MIB), 0);
        assert_eq!(largest(100 * GIB, 100 * GIB), 99 * GIB);
        assert_eq!(largest(4 * GIB, 252 * GIB), 3 * GIB);
        assert_eq!(largest(GIB, 100 * GIB), 0);
    }

    #[test]
    fn a_file_larger_than_the_file_system_is_refused_with_all_numbers() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = std::fs::File::open(directory.path()).expect("the directory");
        let error = check(&file, directory.path(), u64::MAX / 2, 0).expect_err("too large");
        let text = error.to_string();
        assert!(
            text.contains("free of") && text.contains("7.9 EiB"),
            "{text}"
        );
        assert!(text.contains("would leave less than "), "{text}");
        assert!(
            error
                .help()
                .starts_with("nothing was written; choose `--size "),
            "{text}"
        );
    }
}
