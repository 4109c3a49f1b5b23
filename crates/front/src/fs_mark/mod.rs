//! fs_mark 3.3: converts its arguments to a program and prints its output.

mod arguments;
mod figures;
mod of_table;
mod rows;
#[cfg(test)]
mod tests;
mod text;

use std::path::PathBuf;

use description::Workload;
use description::classics::fs_mark::Subdirectories;
use description::model::ContentChoice;
use plan::EngineKind;
use plan::program::NamesInPlace;

pub use of_table::TEXT;

use arguments::{USAGE, parse};

use crate::{ArgumentError, CommandLine, FilePlacement, Front, FrontWork, cell};

const NAME: &str = "fs_mark";

/// Front of fs_mark 3.3.
pub const FRONT: Front = Front {
    name: NAME,
    aliases: &[],
    title: "Creates files with many threads and syncs them",
    files_help: "\
        pgmeter creates files in the given directories themselves and removes them at \
        the end, unless an option such as `-k` keeps them.",
    version: "fs_mark 3.3",
    usage: USAGE,
    arguments,
    general_differences: Vec::new,
    file: None,
    ranks: None,
    without_direct: "",
    text: text::classic,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let invocation = parse(line.arguments).map_err(ArgumentError::Refused)?;
    let directory_count = u32::try_from(invocation.directories.len()).unwrap_or(u32::MAX);
    let plan = invocation.settings.resolve(directory_count);
    let plan = plan.map_err(|error| error.to_string())?;
    let names = NamesInPlace::Marks {
        name_length: plan.name_length,
        random_length: plan.random_length,
        subdirectory_count: match plan.subdirectories {
            Subdirectories::None => 0,
            Subdirectories::RoundRobin { count, .. } | Subdirectories::ByTime { count } => count,
        },
    };
    let cell = Workload {
        // The output has the times of single calls, so each is a plain system call, as in the
        // original.
        engine: Some(EngineKind::Psync),
        // The original writes a buffer of zeros.
        content: Some(ContentChoice::Zero),
        ..cell(NAME, plan.program_of_threads())
    };
    Ok(FrontWork {
        directories: each_once(&invocation.directories)?,
        placement: FilePlacement::InPlace {
            names,
            makes_directories: true,
        },
        warnings: invocation.warnings,
        ..FrontWork::new(vec![cell])
    })
}

/// Each directory once. The result is only valid if threads that take them in turn get the same
/// directories as from the whole list.
fn each_once(directories: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut once: Vec<PathBuf> = Vec::new();
    for directory in directories {
        if !once.contains(directory) {
            once.push(directory.clone());
        }
    }
    let mut in_turn = once.iter().cycle().take(directories.len());
    match in_turn.by_ref().eq(directories) {
        true => Ok(once),
        false => Err("`-d` repeats some directories but not all of them".to_owned()),
    }
}
