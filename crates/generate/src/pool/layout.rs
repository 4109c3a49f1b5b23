//! Locations of a run's files, and the way to open them.

use engine::{FileEngineOptions, NameRule, OpenFlags, Spread, SubdirectoryRule};
use plan::program::FilePool;

/// Name rule for [`PoolRun`](super::PoolRun): `sK/PREFIXNUMBER` in each location of the settings,
/// or in a single one if there are none.
///
/// A prefix separates the pools of several workers in the same directories; in the original it is
/// empty.
#[must_use]
pub fn name_rule(settings: &FilePool, prefix: &str) -> NameRule {
    let count = settings.subdirectories_count();
    NameRule {
        prefix: prefix.to_owned(),
        spread: Spread::ByRequest,
        subdirectories: (count > 0).then(|| SubdirectoryRule {
            count,
            prefix: "s".to_owned(),
            digit_count: 0,
            ..SubdirectoryRule::default()
        }),
        ..NameRule::default()
    }
}

/// The original's way to open files, and other options that reproduce its system calls, for the
/// engine of plain system calls.
///
/// Unlike in the original, existing files are not overwritten. `has_file_offsets` must be that of
/// [`PlayOptions`](super::PlayOptions).
#[must_use]
pub fn file_options(settings: &FilePool, has_file_offsets: bool) -> FileEngineOptions {
    let open = if settings.is_buffered {
        OpenFlags::streams()
    } else {
        OpenFlags::descriptors()
    };
    FileEngineOptions {
        open,
        stdio: settings.is_buffered,
        at_position: !has_file_offsets,
        ..FileEngineOptions::default()
    }
}

/// As [`file_options`] for files that stay open: writes go to the end, whatever was read before.
#[must_use]
pub fn kept_file_options(settings: &FilePool, has_file_offsets: bool) -> FileEngineOptions {
    let options = file_options(settings, has_file_offsets);
    FileEngineOptions {
        open: options.open.with_append(),
        at_position: false,
        ..options
    }
}
