//! IOR 4: large files written and read in blocks, one for each rank or one shared by all.

mod options;
mod program;
#[cfg(test)]
mod tests;
mod text;

use description::model::ContentChoice;
use plan::program::LastingRole;

use crate::text::at_end;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork};
use options::Options;

/// IOR.
pub const FRONT: Front = Front {
    name: "ior",
    title: "Large files, written and read by ranks in blocks",
    version: "IOR 4.0.0",
    usage: include_str!("usage.txt"),
    arguments,
    file: None,
    ranks: Some("-N"),
    without_direct: "leave `--posix.odirect` out",
    text: |origin| at_end(origin, Options::read, text::page),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let mut cell = writing(
        ContentChoice::Constant,
        titled("ior", "IOR", options.ranks, program::program(&options)),
    );
    if let Some(built) = &mut cell.built {
        built.is_checked = options.checks();
    }
    Ok(FrontWork {
        differences: differences(&options, line.has_ranks),
        // What the original's abort leaves of its -1.
        error_code: Some(255),
        ..FrontWork::below(options.directory(), vec![cell])
    })
}

fn differences(options: &Options, has_ranks: bool) -> Vec<Difference> {
    let has_wall = options.wall_seconds > 0;
    let is_shared = !options.has_file_per_rank;
    let is_own = options.lasting().is_none();
    let is_found = options.lasting() == Some(LastingRole::Finds);
    let is_left = options.lasting() == Some(LastingRole::Leaves);
    let left = "written in a work directory and moved to its name at the end, which must be free";
    let is_shifted = options.reads && options.shift() > 0;
    let is_read_checked = options.checks_written && options.reads && !options.checks_read;
    let also_read = "the read that is measured is compared, too";
    let node = "each rank counts as a node of its own";
    let is_synced = has_wall && options.is_synced;
    let of_close = "its time is part of close(s), not of wr/rd(s)";
    let has_barriers = has_wall && options.has_barriers;
    let no_barrier = "ranks do not wait for each other before close";
    let those = [
        (!has_ranks, "ranks", "they are threads of one process"),
        (true, "dates", "they are in UTC"),
        (
            is_own,
            "files",
            "in a work directory, and removed at the end",
        ),
        (is_left, "`-k`", left),
        (
            is_found && !options.keeps,
            "the file that is read",
            "it stays also without `-k`",
        ),
        (
            is_shared && is_own,
            "the name of the file",
            "a 0 stands behind it",
        ),
        (is_shifted, "whose data is read", node),
        (options.is_random, "the random order", "it is another one"),
        (is_read_checked, "`-W`", also_read),
        (is_synced, "fsync behind a stonewall", of_close),
        (has_barriers, "`-g` with `-D`", no_barrier),
    ];
    Difference::those(&those, &options.without_effect)
}
