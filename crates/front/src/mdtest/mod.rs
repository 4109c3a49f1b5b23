//! mdtest of IOR 4: metadata operations on trees of files and directories.

mod options;
mod program;
mod text;

use std::path::PathBuf;

use description::model::{ContentChoice, OwnHelps, Seed};
use plan::EngineKind;
use plan::program::PersistentRole;

use crate::file_access::FileAccess;
use crate::text::at_end_with;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, CreateMissing, Front, FrontWork, OriginalDifference};
use options::MdtestOptions;

/// Front of mdtest 4.1.0.
pub const FRONT: Front = Front {
    name: "mdtest",
    aliases: &[],
    title: "Measures metadata operations on trees of files and directories",
    files_help: "\
        pgmeter creates files in a work directory below the given directory and \
        removes them at the end. Trees that the original keeps, as with `-C` without \
        `-r`, are moved to the given directory and kept.",
    version: "mdtest 4.1.0",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: || options::GRAMMAR.refused_options(),
    file: None,
    ranks: Some("--ranks"),
    without_direct: "leave `--posix.odirect` out",
    text: |origin| at_end_with(origin, MdtestOptions::read, text::page, text::documents),
};

/// Helps in the words of the original.
const OWN_HELPS: OwnHelps = OwnHelps(&[
    ("`piece = ", "use a smaller `-w`"),
    ("a `count`", "use fewer items, with `-n` or `-I`"),
    ("`--workers ", "use a smaller `--ranks`"),
]);

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = MdtestOptions::read(line.arguments)?;
    let program = program::program(&with_reached_items(&options, line.files));
    let mut cell = writing(
        ContentChoice::Constant,
        titled("mdtest", "mdtest", options.ranks, program),
    );
    cell.engine = options.is_dummy.then_some(EngineKind::Null);
    // Compared data follows from the seed, so another command with the same one knows it.
    cell.seed = (options.signature > 0).then_some(Seed(options.signature.into()));
    if let Some(built) = &mut cell.built {
        let is_checked = options.checks() || options.leaves_known_data();
        built.is_checked = is_checked && !options.is_dummy;
    }
    Ok(FrontWork {
        differences: differences(&options, line.has_ranks),
        create_missing: match options.finds_trees() || options.is_dummy {
            // An existing tree implies the directory, and calls without I/O need none.
            true => CreateMissing::None,
            false => CreateMissing::Last,
        },
        own_helps: OWN_HELPS,
        directories: options.directories().map(PathBuf::from).collect(),
        ..FrontWork::new(vec![cell])
    })
}

/// The options with the number of items that an earlier command with a time limit created, if
/// `-x` names its file.
fn with_reached_items(options: &MdtestOptions, files: FileAccess<'_>) -> MdtestOptions {
    let mut options = options.clone();
    let file = options.stonewall_file.as_ref();
    let file = file.filter(|_| options.finds_trees());
    let text = file.and_then(|it| String::from_utf8(files.read(it).ok()?).ok());
    let reached: Option<u32> = text.and_then(|it| it.trim().parse().ok());
    if let Some(reached) = reached.filter(|it| *it > 0) {
        // The earlier command may have created more items than this one requests.
        options.items = options.items.min(reached);
    }
    options
}

fn differences(options: &MdtestOptions, has_ranks: bool) -> Vec<OriginalDifference> {
    let is_random = options.random_seed.is_some();
    let is_left = options.lasting() == Some(PersistentRole::Leaves);
    let left = "made in a work directory and moved to their names at the end, which must be free";
    let is_removed = options.lasting() == Some(PersistentRole::Removes);
    let removed = "only items with the names that mdtest gives, up to the requested number";
    let has_trees = options.tree_count() > 1;
    let trees = "all trees are in one `test-dir`, and item numbers continue from tree to tree";
    let is_known = options.leaves_known_data() && !options.is_dummy;
    let known = "each file has its own data, and only pgmeter can compare it later";
    let is_written_known = options.checks_written || is_known;
    let is_read_checked = is_written_known && options.phases.read && !options.checks_read;
    let those = [
        (
            is_read_checked,
            "data that is read",
            "also compared without `-X`, because it is known",
        ),
        (is_known, "the data of `-G`", known),
        (
            options.is_dummy,
            "calls without I/O",
            "no call is made, not even for files and directories",
        ),
        (has_trees, "the directories of `-n` with `-I`", trees),
        (
            options.is_shared,
            "the removal of `-S`",
            "its rate counts each file once, because one rank removes them",
        ),
        (!has_ranks, "ranks", "they are threads of one process"),
        (true, "dates", "they are in UTC"),
        (is_left, "trees that stay", left),
        (is_removed, "what is removed", removed),
        (
            options.makes_nodes,
            "`-k`",
            "files are created by open and close instead of mknod",
        ),
        (is_random, "the random order of stat", "it is another one"),
    ];
    OriginalDifference::applicable(&those, &options.without_effect)
}

#[cfg(test)]
mod tests;
