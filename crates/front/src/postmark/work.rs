//! The settings in force as a program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use description::Workload;
use description::classics::postmark::Settings;
use generate::pool::{Stream, StreamError};
use plan::EngineKind;
use plan::program::{FilePool, NamesInPlace, PoolLocation, PoolPlace, Program};

use super::NAME;
use super::text::remembered;
use crate::console::Console;
use crate::work::{FrontWork, Placement, cell};

/// The work of a run; what is said of one that does not fit into memory.
pub fn work(settings: &Settings, world: &mut dyn Console) -> Result<FrontWork, String> {
    let pool = settings.pool();
    fits(&pool, world.memory_bytes())?;
    let (locations, directories) = locations(settings, world);
    let names = NamesInPlace::Numbers {
        subdirectory_count: pool.subdirectories,
    };
    let pool = FilePool { locations, ..pool };
    let cell = Workload {
        title: Some("PostMark".to_owned()),
        engine: Some(EngineKind::Psync),
        workers: Some(1),
        ..cell(NAME, Program::of_pool(pool, None))
    };
    let work = FrontWork {
        directories,
        placement: Placement::InPlace {
            names,
            makes_directories: false,
        },
        remembered: remembered(settings),
        ..FrontWork::new(vec![cell])
    };
    Ok(work.signed(NAME, &[]))
}

/// Where files lie, and the directories of that, each once. Without any, one stands for what is
/// not there.
fn locations(settings: &Settings, world: &mut dyn Console) -> (Vec<PoolLocation>, Vec<PathBuf>) {
    let here = [PoolLocation::beneath("", 1)];
    let asked = match &settings.locations[..] {
        [] => &here[..],
        several => several,
    };
    let (mut found, mut directories) = (Vec::new(), Vec::new());
    let mut place = |location: &PoolLocation| {
        let path = path_of(&location.directory, settings.locations.is_empty());
        let Some(own) = world.directory(path) else {
            return PoolPlace::Nowhere;
        };
        let known = found.iter().position(|it| *it == own);
        let index = known.unwrap_or_else(|| {
            found.push(own);
            directories.push(path.to_owned());
            found.len() - 1
        });
        u32::try_from(index).map_or(PoolPlace::Nowhere, PoolPlace::Target)
    };
    let placed = asked.iter().map(|location| PoolLocation {
        place: place(location),
        ..location.clone()
    });
    let placed = placed.collect();
    if directories.is_empty() {
        directories.push(PathBuf::from("."));
    }
    (placed, directories)
}

/// The directory that a location's name stands for, to which the original puts a slash.
fn path_of(name: &[u8], is_none: bool) -> &Path {
    match name {
        [] if is_none => Path::new("."),
        [] => Path::new("/"),
        name => Path::new(OsStr::from_bytes(name)),
    }
}

/// Refuses a pool that takes more than half of the memory, in the original's words.
fn fits(pool: &FilePool, memory_bytes: u64) -> Result<(), String> {
    let refused = |error: &StreamError| {
        let original = error.original_text().unwrap_or_default();
        format!("{original}error: {error}\nhelp: {}\n", error.help())
    };
    Stream::check(pool).map_err(|error| refused(&error))?;
    if memory_bytes == 0 || pool.memory_bytes() <= memory_bytes / 2 {
        return Ok(());
    }
    let text_bytes = 2 * u64::from(pool.size_high_bytes);
    Err(refused(&match text_bytes > memory_bytes / 4 {
        true => StreamError::Text { text_bytes },
        false => StreamError::Table {
            slots_count: 2 * u64::from(pool.number),
        },
    }))
}
