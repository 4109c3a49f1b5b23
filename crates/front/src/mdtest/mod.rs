//! mdtest, as it comes with IOR 4: metadata operations on trees of files and directories.

mod options;
mod program;
mod text;

use crate::text::at_end;
use crate::work::titled;
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork};
use options::Options;

/// What `--help` prints.
const USAGE: &str = "\
mdtest's own options:
  -n N         files and directories of each rank, in all
  -I N         files and directories in each directory of the tree
  -z N, -b N   depth of the tree (0), directories in each of its directories (1)
  -L           files and directories only in the lowest directories
  -u           a tree for each rank
  -i N         iterations (1)
  -p SECONDS   pause before each
  -d DIR       the directory to work below (.)
  -D, -F       directories only, files only
  -C, -T, -E, -r, -U  create, stat, read, remove, rename directories only (all of them)
  -w BYTES, -e BYTES  written to each file when it is made, read when it is read (0)
  -y           fsync behind the write
  -Y           sync at the end of each phase, within its time
  -N N         each rank works on what the rank N further on made
  -R, --random-seed N  stat in a random order
  -W SECONDS   stop making files then, when each has as many as the one that has most
  -P, -Z       print times besides rates, times only
Ours:
  --ranks N    as many threads in the place of MPI's ranks (1)
";

/// mdtest.
pub const FRONT: Front = Front {
    name: "mdtest",
    title: "Metadata rates on trees of files and directories",
    version: "mdtest 4.1.0",
    usage: USAGE,
    arguments,
    file: None,
    text: |origin| at_end(origin, Options::read, text::page),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let program = program::program(&options);
    let cell = titled("mdtest", "mdtest", options.ranks, program);
    Ok(FrontWork {
        differences: differences(&options),
        ..FrontWork::below(&options.directory, vec![cell])
    })
}

fn differences(options: &Options) -> Vec<Difference> {
    let is_random = options.random_seed.is_some();
    let is_made = !options.phases.create;
    let made = "what is left out by the options is made before, untimed";
    let those = [
        (true, "ranks", "they are threads of one process"),
        (true, "dates", "they are in UTC"),
        (is_made, "files and directories of earlier runs", made),
        (is_random, "the random order of stat", "it is another one"),
    ];
    Difference::those(&those, &options.without_effect)
}

#[cfg(test)]
mod tests;
