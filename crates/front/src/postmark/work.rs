//! Converts the current settings to a program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use description::Workload;
use description::classics::postmark::PostmarkSettings;
use generate::pool::{PoolStream, StreamError};
use plan::EngineKind;
use plan::program::{FilePool, NamesInPlace, PoolBase, PoolLocation, Program};

use super::NAME;
use super::text::remembered;
use crate::console::Console;
use crate::work::{FilePlacement, FrontWork, cell};

/// The work of a run; an error if the pool does not fit into memory.
pub fn work(settings: &PostmarkSettings, world: &mut dyn Console) -> Result<FrontWork, String> {
    let pool = settings.pool();
    fits(&pool, world.memory_bytes())?;
    let (locations, directories) = locations(settings, world);
    let names = NamesInPlace::Numbers {
        subdirectory_count: pool.subdirectories,
    };
    let pool = FilePool { locations, ..pool };
    let cell = Workload {
        title: Some("PostMark".to_owned()),
        // The original makes one plain system call at a time.
        engine: Some(EngineKind::Psync),
        // PostMark is a single process, and its figures depend on the order of its random draws.
        workers: Some(1),
        ..cell(NAME, Program::of_pool(pool, None))
    };
    let work = FrontWork {
        directories,
        placement: FilePlacement::InPlace {
            names,
            makes_directories: false,
        },
        text_input: remembered(settings),
        ..FrontWork::new(vec![cell])
    };
    Ok(work.signed(NAME, &[]))
}

/// The locations, and their directories without repetition. If no directory exists, `.` stands in.
fn locations(
    settings: &PostmarkSettings,
    world: &mut dyn Console,
) -> (Vec<PoolLocation>, Vec<PathBuf>) {
    let root = [PoolLocation::beneath("", 1)];
    let requested = match &settings.locations[..] {
        [] => &root[..],
        several => several,
    };
    let (mut found, mut directories) = (Vec::new(), Vec::new());
    let mut base_of = |location: &PoolLocation| {
        let path = path_of(&location.directory, settings.locations.is_empty());
        let Some(own) = world.directory(path) else {
            return PoolBase::Nowhere;
        };
        // Paths are compared after links are resolved, so two names of a directory share one
        // target.
        let known = found.iter().position(|it| *it == own);
        let index = known.unwrap_or_else(|| {
            found.push(own);
            directories.push(path.to_owned());
            found.len() - 1
        });
        u32::try_from(index).map_or(PoolBase::Nowhere, PoolBase::Target)
    };
    let placed = requested.iter().map(|location| PoolLocation {
        place: base_of(location),
        ..location.clone()
    });
    let placed = placed.collect();
    // A run needs at least one directory, even if no location exists.
    if directories.is_empty() {
        directories.push(PathBuf::from("."));
    }
    (placed, directories)
}

/// Path of a location, to whose name the original appends a slash.
fn path_of(name: &[u8], is_none: bool) -> &Path {
    match name {
        [] if is_none => Path::new("."),
        [] => Path::new("/"),
        name => Path::new(OsStr::from_bytes(name)),
    }
}

/// Refuses a pool that needs more than half of the memory, in the original's words.
fn fits(pool: &FilePool, memory_bytes: u64) -> Result<(), String> {
    let refused = |error: &StreamError| {
        let original = error.original_text().unwrap_or_default();
        format!("{original}error: {error}\nhelp: {}\n", error.help())
    };
    PoolStream::check(pool).map_err(|error| refused(&error))?;
    // 0 means that the amount of memory is unknown, which must not refuse any pool.
    if memory_bytes == 0 || pool.memory_bytes() <= memory_bytes / 2 {
        return Ok(());
    }
    // The original draws a text of twice the largest size, which all files take their content from.
    let text_bytes = 2 * u64::from(pool.size_high_bytes);
    Err(refused(&match text_bytes > memory_bytes / 4 {
        true => StreamError::Text { text_bytes },
        false => StreamError::Table {
            // As in the original, the table has two slots for each initial file.
            slots_count: 2 * u64::from(pool.number),
        },
    }))
}
