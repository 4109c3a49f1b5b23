//! mdtest, as it comes with IOR 4: metadata operations on trees of files and directories.

mod options;
mod program;
mod text;

use std::path::PathBuf;

use workload::classics::Refusal;

use crate::{CommandLine, Front, FrontWork, cell};
use options::Options;

/// What `--help` prints.
const USAGE: &str = "\
mdtest's own options:
  -n N      files and directories of each rank, in all
  -i N      iterations (1)
  -d DIR    the directory to work below (.)
  -D, -F    directories only, files only
  -C, -T, -E, -r, -U  create, stat, read, remove, rename directories only (all of them)
  -w BYTES, -e BYTES  written to each file when it is made, read when it is read (0)
  -y        fsync behind the write
  -Y        sync at the end of each phase, within its time
Ours:
  --ranks N  as many threads in the place of MPI's ranks (1)
";

/// mdtest.
pub const FRONT: Front = Front {
    name: "mdtest",
    title: "Metadata rates on trees of files and directories",
    version: "mdtest 4.1.0",
    usage: USAGE,
    arguments,
    file: None,
    text: text::of,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, Refusal> {
    let options = Options::read(line.arguments).map_err(|message| Refusal {
        message,
        usage: USAGE,
        exit_code: 1,
    })?;
    let mut cell = cell("mdtest", program::program(&options));
    cell.title = Some("mdtest".to_owned());
    cell.workers = Some(options.ranks);
    let mut work = FrontWork::new(vec![cell]);
    work.directory = PathBuf::from(&options.directory);
    Ok(work)
}
