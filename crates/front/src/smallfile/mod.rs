//! smallfile 3.2: one operation on many small files by threads with directories of their own.

mod document;
mod done;
mod options;
mod program;
mod text;

use std::path::PathBuf;

use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork, cell};
use options::{Operation, Options};

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
    text: text::of,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let mut cell = cell("smallfile", program::program(&options, line.host));
    cell.title = Some(format!("smallfile {}", options.operation.name()));
    cell.workers = Some(options.threads);
    let mut work = FrontWork::new(vec![cell]);
    work.directories = vec![PathBuf::from(&options.top)];
    work.differences = differences(&options);
    Ok(work)
}

fn differences(options: &Options) -> Vec<Difference> {
    let differs = Difference::differs;
    let mut differences = vec![differs("threads", "they are threads, not processes")];
    if options.operation != Operation::Create && options.operation != Operation::Mkdir {
        let note = "they are made before, untimed, and removed at the end";
        differences.push(differs("files of earlier runs", note));
    }
    if options.is_exponential {
        let note = "they are drawn by the same law from another generator";
        differences.push(differs("sizes of files", note));
    }
    let none = options.without_effect.iter();
    differences.extend(none.map(|it| Difference::no_effect(it)));
    differences
}

#[cfg(test)]
mod tests;
