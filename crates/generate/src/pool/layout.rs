//! Where an engine finds the files of a run, and how it opens them.

use engine::{FileOptions, NameRule, OpenFlags, Spread, Subdirectories};
use plan::program::FilePool;

/// The rule of the names that [`Play`](super::Play) asks for: `sK/PREFIXNUMBER` in as many
/// locations as the settings have, or in one where they have none.
///
/// A prefix keeps the pools of several workers apart in the same directories; the original's is
/// empty.
#[must_use]
pub fn name_rule(settings: &FilePool, prefix: &str) -> NameRule {
    let count = settings.subdirectories_count();
    NameRule {
        prefix: prefix.to_owned(),
        spread: Spread::Told,
        subdirectories: (count > 0).then(|| Subdirectories {
            count,
            prefix: "s".to_owned(),
            digit_count: 0,
            ..Subdirectories::default()
        }),
        ..NameRule::default()
    }
}

/// The original's ways to open files and what else makes its system calls, in the engine of plain
/// system calls.
///
/// A file that exists is not overwritten, unlike in the original. `has_file_offsets` must be that
/// of [`PlayOptions`](super::PlayOptions).
#[must_use]
pub fn file_options(settings: &FilePool, has_file_offsets: bool) -> FileOptions {
    let open = if settings.is_buffered {
        OpenFlags::streams()
    } else {
        OpenFlags::descriptors()
    };
    FileOptions {
        open,
        stdio: settings.is_buffered,
        at_position: !has_file_offsets,
        ..FileOptions::default()
    }
}

/// The same for files that stay open: what is written goes to the end, whatever was read before.
#[must_use]
pub fn kept_file_options(settings: &FilePool, has_file_offsets: bool) -> FileOptions {
    let options = file_options(settings, has_file_offsets);
    FileOptions {
        open: options.open.appending(),
        at_position: false,
        ..options
    }
}
