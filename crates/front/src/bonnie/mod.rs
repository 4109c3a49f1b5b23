//! Bonnie and Bonnie++: one file written, rewritten and read, seeks in it by several, then many
//! small files.

mod classic;
mod draws;
mod options;
mod phases;
mod text;

use description::Workload;
use description::model::{ContentChoice, Seed};

use crate::text::at_end;
use crate::work::titled;
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork};
use draws::Draws;
use options::Options;

pub use classic::FRONT as CLASSIC;

/// Bonnie++.
pub const FRONT: Front = Front {
    name: "bonnie++",
    title: "Rates of one large file, seeks and many small files",
    version: "Bonnie++ 2.00a",
    usage: include_str!("usage.txt"),
    arguments,
    file: None,
    // The memory was that of the machine, which made the file's size.
    ranks: None,
    without_direct: "leave `-D` out",
    text: |origin| at_end(origin, |it| Options::read(it, 0), text::page),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments, line.memory_bytes)?;
    // Each run draws the same.
    let program = phases::program(&options, &Draws::new(&options));
    let run = |number: u32| Workload {
        seed: Some(Seed(options.seed().into())),
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

fn differences(options: &Options) -> Vec<Difference> {
    let has_files = options.files.thousands > 0;
    let those = [
        (
            options.seed.is_none(),
            "the seed without -z",
            "1, so that runs are alike",
        ),
        (
            has_files,
            "the directory that all files are in",
            "it is made and removed beside the phases, not within their times",
        ),
        (
            has_files,
            "latency of the sequential phases",
            "of each file alone, without reading its directory",
        ),
        (
            has_files && options.is_synced,
            "fsync of a directory",
            "it is opened each time",
        ),
        (true, "progress", "as of every run"),
    ];
    Difference::those(&those, &options.ignored)
}
