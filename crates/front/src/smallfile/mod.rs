//! smallfile 3.2: one operation on many small files by threads with directories of their own.

mod document;
mod done;
mod operation;
mod options;
mod program;
mod text;

use crate::text::at_end_with;
use crate::work::titled;
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork};
use options::Options;

/// What `--help` prints.
const USAGE: &str = "\
smallfile's own options, each with its value behind it:
  --operation NAME     create (the default), append, overwrite, truncate-overwrite, read, stat,
                       chmod, rename, delete, delete-renamed, symlink, mkdir, rmdir, cleanup
  --top DIR            the directory to work below (.)
  --threads N          threads (2)
  --files N            files of each thread (200)
  --file-size KB       (64); --file-size-distribution fixed or exponential (fixed)
  --record-size KB     of a read or write, 0 for as much as possible (0)
  --files-per-dir N    (100); --dirs-per-dir N (10)
  --prefix, --suffix   of names
  --same-dir Y|N       all threads share directories (N)
  --stonewall Y|N      count until the first thread is done (Y)
  --finish Y|N         go on behind that, uncounted (N, but Y where files are made)
  --fsync Y|N          fsync behind each file that is written (N)
  --pause MICROSECONDS between files (0)
  --output-json FILE   results as JSON
";

/// smallfile.
pub const FRONT: Front = Front {
    name: "smallfile",
    title: "Small files made, read, renamed and removed by threads",
    version: "smallfile 3.2",
    usage: USAGE,
    arguments,
    file: None,
    text: |origin| at_end_with(origin, Options::read, text::page, document::documents),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let title = format!("smallfile {}", options.operation.name());
    let program = program::program(&options, line.host);
    let cell = titled("smallfile", &title, options.threads, program);
    Ok(FrontWork {
        differences: differences(&options),
        ..FrontWork::below(&options.top, vec![cell])
    })
}

fn differences(options: &Options) -> Vec<Difference> {
    let made = "they are made before, untimed, and removed at the end";
    let drawn = "they are drawn by the same law from another generator";
    let those = [
        (true, "threads", "they are threads, not processes"),
        (!options.operation.makes(), "files of earlier runs", made),
        (options.is_exponential, "sizes of files", drawn),
    ];
    Difference::those(&those, &options.without_effect)
}

#[cfg(test)]
mod tests;
