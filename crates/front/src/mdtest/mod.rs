//! mdtest, as it comes with IOR 4: metadata operations on trees of files and directories.

mod options;
mod program;
mod text;

use description::model::ContentChoice;
use plan::program::LastingRole;

use crate::text::at_end_with;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork, MadePart};
use options::Options;

/// mdtest.
pub const FRONT: Front = Front {
    name: "mdtest",
    title: "Metadata rates on trees of files and directories",
    version: "mdtest 4.1.0",
    usage: include_str!("usage.txt"),
    arguments,
    file: None,
    ranks: Some("--ranks"),
    without_direct: "",
    text: |origin| at_end_with(origin, Options::read, text::page, text::documents),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let program = program::program(&options);
    let cell = writing(
        ContentChoice::Constant,
        titled("mdtest", "mdtest", options.ranks, program),
    );
    Ok(FrontWork {
        differences: differences(&options, line.has_ranks),
        made: match options.finds_trees() {
            true => MadePart::Nothing,
            false => MadePart::Last,
        },
        ..FrontWork::below(&options.directory, vec![cell])
    })
}

fn differences(options: &Options, has_ranks: bool) -> Vec<Difference> {
    let is_random = options.random_seed.is_some();
    let is_left = options.lasting() == Some(LastingRole::Leaves);
    let left = "made in a work directory and moved to their names at the end, which must be free";
    let is_removed = options.lasting() == Some(LastingRole::Removes);
    let removed = "only what has the names that mdtest gives, of as many items as are asked for";
    let has_trees = options.tree_count() > 1;
    let trees = "all trees are in one `test-dir`, and item numbers continue from tree to tree";
    let those = [
        (has_trees, "the directories of `-n` with `-I`", trees),
        (!has_ranks, "ranks", "they are threads of one process"),
        (true, "dates", "they are in UTC"),
        (is_left, "trees that stay", left),
        (is_removed, "what is removed", removed),
        (is_random, "the random order of stat", "it is another one"),
    ];
    Difference::those(&those, &options.without_effect)
}

#[cfg(test)]
mod tests;
