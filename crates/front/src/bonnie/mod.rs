//! Bonnie and Bonnie++: write, rewrite and read one file, seek in it with several workers, then
//! create, stat and delete many small files.

mod accounts;
mod classic;
mod draws;
mod options;
mod phases;
mod text;

use description::Workload;
use description::model::{ContentChoice, Seed};

use crate::text::at_end;
use crate::work::titled;
use crate::{ArgumentError, CommandLine, Front, FrontWork, OriginalDifference};
use draws::BonnieRandom;
use options::BonnieOptions;

pub use classic::FRONT as CLASSIC;

/// Front of Bonnie++ 2.00a.
pub const FRONT: Front = Front {
    name: "bonnie++",
    aliases: &[],
    title: "Measures sequential I/O and seeks in one large file, and work on many small files",
    files_help: Front::FILES_IN_WORK_DIRECTORY,
    version: "Bonnie++ 2.00a",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: || options::GRAMMAR.refused_options(),
    file: None,
    ranks: None,
    without_direct: "leave `-D` out",
    // Memory of 0, since another machine may print the text: `page` takes the file's size from the
    // record.
    text: |origin| at_end(origin, |it| BonnieOptions::read(it, 0), text::page),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = BonnieOptions::read(line.arguments, line.memory_bytes)?;
    accounts::check(
        options.user.as_deref(),
        options.group.as_deref(),
        &line.files,
    )?;
    // All runs make the same random choices.
    let program = phases::program(&options, &BonnieRandom::new(&options));
    let run = |number: u32| Workload {
        seed: Some(Seed(options.seed().into())),
        // The original's buffer is zero except for one byte that it increments in each chunk.
        content: Some(ContentChoice::Zero),
        ..titled(
            &format!("run {}", number + 1),
            "Bonnie++",
            options.seekers,
            program.clone(),
        )
    };
    let runs = (0..options.runs.max(1)).map(run).collect();
    Ok(FrontWork {
        differences: differences(&options),
        ..FrontWork::below(&options.directory, runs)
    })
}

fn differences(options: &BonnieOptions) -> Vec<OriginalDifference> {
    let has_files = options.files.thousands > 0;
    let those = [
        (
            options.seed.is_none(),
            "the seed without -z",
            "1, so that all runs are the same",
        ),
        (
            has_files,
            "the directory that all files are in",
            "created and removed outside of the measured phases",
        ),
        (
            has_files,
            "latency of the sequential phases",
            "of each file, without reading its directory",
        ),
        (
            has_files && options.is_synced,
            "fsync of a directory",
            "the directory is opened for each fsync",
        ),
        (true, "progress", "printed as in every run of pgmeter"),
    ];
    OriginalDifference::applicable(&those, &options.ignored)
}
