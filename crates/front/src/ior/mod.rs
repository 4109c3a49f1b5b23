//! IOR 4: large files written and read in blocks, one for each rank or one shared by all.

mod options;
mod program;
#[cfg(test)]
mod tests;
mod text;

use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork, cell};
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
    text: text::of,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let mut cell = cell("ior", program::program(&options));
    cell.title = Some("IOR".to_owned());
    cell.workers = Some(options.ranks);
    let mut work = FrontWork::new(vec![cell]);
    work.directories = vec![options.directory()];
    work.differences = differences(&options);
    Ok(work)
}

fn differences(options: &Options) -> Vec<Difference> {
    let differs = Difference::differs;
    let mut all = vec![
        differs("ranks", "they are threads of one process"),
        differs("dates", "they are in UTC"),
        differs("files", "in a work directory, and removed at the end"),
    ];
    if !options.has_file_per_rank {
        all.push(differs("the name of the file", "a 0 stands behind it"));
    }
    if !options.writes {
        let note = "what is read is written before, untimed";
        all.push(differs("files of earlier runs", note));
    }
    if options.reads && options.shift() > 0 {
        let note = "each rank counts as a node of its own";
        all.push(differs("whose data is read", note));
    }
    if options.is_random {
        all.push(differs("the random order", "it is another one"));
    }
    if options.stonewall_seconds > 0 && options.is_synced {
        let note = "its time is part of close(s), not of wr/rd(s)";
        all.push(differs("fsync behind a stonewall", note));
    }
    if options.stonewall_seconds > 0 && options.has_barriers {
        let note = "ranks do not wait for each other before close";
        all.push(differs("`-g` with `-D`", note));
    }
    let none = options.without_effect.iter();
    all.extend(none.map(|it| Difference::no_effect(it)));
    all
}
