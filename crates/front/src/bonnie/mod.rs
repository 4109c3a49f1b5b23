//! Bonnie and Bonnie++: one file written, rewritten and read, seeks in it by several, then many
//! small files.

mod classic;
mod options;
mod phases;
mod text;

use std::path::PathBuf;

use workload::Workload;
use workload::classics::Refusal;
use workload::model::Seed;

use crate::{ArgumentError, CommandLine, Difference, DifferenceKind, Front, FrontWork, cell};
use options::Options;

pub use classic::FRONT as CLASSIC;

/// What `--help` prints.
const USAGE: &str = "\
bonnie++'s own options:
  -d DIR    the directory to work below (.)
  -s MiB[:CHUNK[:SEEKS[:SEEKERS]]]  size of the file (twice the memory, 300 at least), bytes of
            a call (8192), seeks (8192), threads that seek (5); 0 for no phase on the file
  -n N[:MAX[:MIN[:DIRECTORIES[:CHUNK]]]]  files in 1024 (16) and their sizes (0); MAX -1 for hard
            links, -2 for symbolic links; 0 for no phase on files
  -f[MiB]   size of the phases byte by byte (3); without a size, none of them
  -b        fsync after each file, and after each write of the seekers
  -D        O_DIRECT in the phases that make the file
  -r MiB    the machine's memory; 0 for any size of the file
  -x RUNS   so many runs, as CSV
  -z SEED   seed of sizes and seeks (1)
  -m NAME   the machine's name (localhost)
  -c N      a label (1)
  -u USER, -g GROUP, -q  understood, without effect
";

/// Bonnie++.
pub const FRONT: Front = Front {
    name: "bonnie++",
    title: "Rates of one large file, seeks and many small files",
    version: "Bonnie++ 2.00a",
    usage: USAGE,
    arguments,
    file: None,
    text: text::of,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments, line.memory_bytes);
    let options = options.map_err(|message| Refusal {
        message,
        usage: USAGE,
        exit_code: 1,
    })?;
    let run = |number: u32| Workload {
        title: Some("Bonnie++".to_owned()),
        seed: Some(Seed(options.seed)),
        workers: Some(options.seekers),
        ..cell(format!("run {}", number + 1), phases::program(&options))
    };
    let mut work = FrontWork::new((0..options.runs.max(1)).map(run).collect());
    work.directory = PathBuf::from(&options.directory);
    work.differences = differences(&options);
    Ok(work)
}

fn differences(options: &Options) -> Vec<Difference> {
    let differs = |what: &str, note: &str| Difference::new(DifferenceKind::Differs, what, note);
    let mut all = Vec::new();
    if options.file_mib > 0 {
        all.push(differs(
            "where the seekers go",
            "by our own random numbers, the next seek to whoever comes",
        ));
    }
    if options.files.thousands > 0 {
        all.push(differs("names of files", "numbers"));
        all.push(differs(
            "sizes of files",
            "by our own random numbers, between the same limits",
        ));
        all.push(differs(
            "the order of the sequential phases",
            "that of the numbers, not that in which directories list them",
        ));
        all.push(differs(
            "directories",
            "they stay until all is done, so removing them is not timed",
        ));
    }
    all.push(differs("progress", "as of every run"));
    let ignored = options.ignored.iter();
    all.extend(ignored.map(|option| Difference::new(DifferenceKind::NoEffect, *option, "")));
    all
}
