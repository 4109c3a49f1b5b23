//! IOR 4: large files written and read in blocks, one for each rank or one shared by all.

mod options;
mod program;
#[cfg(test)]
mod tests;
mod text;

use crate::text::at_end;
use crate::work::titled;
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork};
use options::Options;

/// What `--help` prints.
const USAGE: &str = "\
IOR's own options; sizes may end with k, m, g or t:
  -b SIZE      bytes in a row of each rank in each segment (1m)
  -t SIZE      bytes of one write or read (256k)
  -s N         segments (1)
  -N N         ranks, as threads in the place of MPI's (1)
  -o FILE      the file; with `-F` its number follows the name (testFile)
  -F           a file for each rank
  -u           with `-F`, each in a directory of its own
  -w, -r       write only, read only (both)
  -i N         repetitions (1)
  -d SECONDS   pause before each write and read
  -D SECONDS   stop each write and read then
  -O KEY=VALUE,...  the same by name: blockSize=16m, stoneWallingWearOut=1
  -e           fsync behind all writes
  -Y           fsync behind each write
  -B           past the page cache (O_DIRECT); --posix.odirect too
  -z           with `-F`, at random places, each once
  -C, -Q N     each rank reads what the rank N further on wrote (1)
  -g           ranks wait for each other behind open and before close
  -A N         number in the summary (0)
  -h           print this
";

/// IOR.
pub const FRONT: Front = Front {
    name: "ior",
    title: "Large files, written and read by ranks in blocks",
    version: "IOR 4.0.0",
    usage: USAGE,
    arguments,
    file: None,
    text: |origin| at_end(origin, Options::read, text::page),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let cell = titled("ior", "IOR", options.ranks, program::program(&options));
    Ok(FrontWork {
        differences: differences(&options),
        ..FrontWork::below(options.directory(), vec![cell])
    })
}

fn differences(options: &Options) -> Vec<Difference> {
    let has_wall = options.wall_seconds > 0;
    let is_shared = !options.has_file_per_rank;
    let read_before = "what is read is written before, untimed";
    let is_shifted = options.reads && options.shift() > 0;
    let node = "each rank counts as a node of its own";
    let is_synced = has_wall && options.is_synced;
    let of_close = "its time is part of close(s), not of wr/rd(s)";
    let has_barriers = has_wall && options.has_barriers;
    let no_barrier = "ranks do not wait for each other before close";
    let those = [
        (true, "ranks", "they are threads of one process"),
        (true, "dates", "they are in UTC"),
        (true, "files", "in a work directory, and removed at the end"),
        (is_shared, "the name of the file", "a 0 stands behind it"),
        (!options.writes, "files of earlier runs", read_before),
        (is_shifted, "whose data is read", node),
        (options.is_random, "the random order", "it is another one"),
        (is_synced, "fsync behind a stonewall", of_close),
        (has_barriers, "`-g` with `-D`", no_barrier),
    ];
    Difference::those(&those, &options.without_effect)
}
