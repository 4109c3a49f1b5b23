//! IOR 4: large files written and read in blocks, one for each rank or one shared by all.

mod document;
mod options;
mod program;
mod script;
#[cfg(test)]
mod tests;
mod text;

use description::Workload;
use description::model::{ContentChoice, OwnHelps, Seed};
use plan::EngineKind;
use plan::program::PersistentRole;

use crate::file_access::FileAccess;
use crate::text::at_end_with;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Front, FrontWork, OriginalDifference};
use options::IorOptions;
use program::FoundFiles;
use script::IorTests;

/// Front of IOR 4.0.0.
pub const FRONT: Front = Front {
    name: "ior",
    aliases: &[],
    title: "Measures how fast parallel ranks write and read large files",
    files_help: "\
        pgmeter creates files in a work directory next to the file of `-o` and removes \
        them at the end. With `-k`, it moves them to their names and keeps them.",
    version: "IOR 4.0.0",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: || options::GRAMMAR.refused_options(),
    file: None,
    ranks: Some("-N"),
    without_direct: "leave `--posix.odirect` out",
    text: |origin| at_end_with(origin, IorTests::read, document::page, document::documents),
};

/// Helps in the words of the original.
const OWN_HELPS: OwnHelps = OwnHelps(&[
    ("`piece = ", "use a smaller `-t`"),
    ("`--workers ", "use a smaller `-N`"),
]);

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let words = IorTests::expand_script(line.arguments, line.files)?;
    let IorTests { tests, .. } = IorTests::read(&words)?;
    let mut differences: Vec<OriginalDifference> = Vec::new();
    for difference in tests
        .iter()
        .flat_map(|it| self::differences(it, line.has_ranks))
    {
        if !differences.contains(&difference) {
            differences.push(difference);
        }
    }
    let directory = tests.first().map(IorOptions::directory).unwrap_or_default();
    let cells = (1..).zip(&tests);
    let cells = cells.map(|(number, it)| cell(it, number, line.files));
    Ok(FrontWork {
        differences,
        text_input: words,
        // The original aborts with -1, of which the exit code keeps 8 bits.
        error_code: Some(255),
        own_helps: OWN_HELPS,
        ..FrontWork::below(directory, cells.collect())
    })
}

/// The workload of a test; tests are numbered from 1.
fn cell(options: &IorOptions, number: usize, files: FileAccess<'_>) -> Workload {
    let name = match number {
        1 => "ior".to_owned(),
        _ => format!("ior-{number}"),
    };
    let program = program::program(options, found(options, files));
    let mut cell = writing(
        ContentChoice::Constant,
        titled(&name, "IOR", options.processes, program),
    );
    cell.engine = options.is_dummy.then_some(EngineKind::Null);
    // Compared data follows from the seed, so another command with the same one knows it.
    cell.seed = (options.signature > 0).then_some(Seed(options.signature.into()));
    if let Some(built) = &mut cell.built {
        let is_checked = options.checks() || options.leaves_known_data();
        built.is_checked = is_checked && !options.is_dummy;
    }
    cell
}

/// Facts about files that a test reads and an earlier command wrote.
fn found(options: &IorOptions, files: FileAccess<'_>) -> FoundFiles {
    let is_found = options.lasting() == Some(PersistentRole::Finds) && !options.is_dummy;
    let path = |name: &String| options.directory().join(name);
    let names = program::file_names(options);
    let mut sizes = names
        .iter()
        .filter_map(|it| files.size_bytes(path(it).to_str()?));
    // Names in other directories could lead out of the user's directory by a link.
    let is_own = options.lasting().is_none() && !options.has_directory_per_rank;
    let may_be_left = is_own && !options.is_dummy && sizes.next().is_some();
    let status = || files.read(&options.status_file).ok();
    let number = |bytes: Vec<u8>| String::from_utf8(bytes).ok()?.trim().parse().ok();
    let is_limited = options.reads && !options.writes && !options.status_file.is_empty();
    FoundFiles {
        may_be_left,
        // Offsets that may repeat lie within the file, however large it is.
        bytes: match is_found && options.random_level > 1 {
            true => sizes.min().filter(|bytes| *bytes >= options.transfer_bytes),
            false => None,
        },
        transfers: match is_limited {
            true => status().and_then(number).filter(|it| *it > 0),
            false => None,
        },
    }
}

fn differences(options: &IorOptions, has_ranks: bool) -> Vec<OriginalDifference> {
    let is_shared = !options.has_file_per_rank;
    let is_own = options.lasting().is_none();
    let is_found = options.lasting() == Some(PersistentRole::Finds);
    let is_left = options.lasting() == Some(PersistentRole::Leaves);
    let left = "written in a work directory and moved to its name at the end, which must be free";
    let is_shifted = options.reads && options.shift() > 0;
    let node = "each rank counts as a separate node";
    let has_rank_file = !options.rank_file.is_empty();
    let replaced = "it is replaced, not extended";
    let those = [
        (!has_ranks, "ranks", "they are threads of one process"),
        (true, "dates", "they are in UTC"),
        (
            is_own,
            "place of the files",
            "in a work directory, and removed at the end",
        ),
        (is_left, "`-k`", left),
        (
            is_own,
            "a kept file of the same name",
            "removed at the end only if pgmeter has left it and nobody has changed it",
        ),
        (
            is_found && !options.keeps_files && !options.is_dummy,
            "the file that is read",
            "kept even without `-k`",
        ),
        (
            is_shared && is_own,
            "the name of the file",
            "a 0 is added to it",
        ),
        (is_shifted, "whose data is read", node),
        (options.is_random(), "the random order", "it is another one"),
        (
            options.is_random() && is_shared,
            "the random share of a rank",
            "all ranks have equal shares",
        ),
        (
            options.draws_files(),
            "the random ranks of `-Z`",
            "they are other ones",
        ),
        (
            options.is_reordered() && !options.draws_files(),
            "the random ranks of `-Z`",
            "each rank reads the data of the rank the same random number of ranks later",
        ),
        (options.minutes_max > 0, "`-T`", "it skips no phase"),
        (
            options.is_dummy,
            "calls without I/O",
            "no call is made, not even for files and directories",
        ),
        (has_rank_file, "the file of rank performance", replaced),
    ];
    let phases = phase_differences(options);
    let all = OriginalDifference::applicable(&those, &[]).into_iter();
    let ignored = OriginalDifference::applicable(&[], &options.without_effect);
    all.chain(phases).chain(ignored).collect()
}

/// Differences of compared data and of phases with a time limit.
fn phase_differences(options: &IorOptions) -> Vec<OriginalDifference> {
    let is_known = options.leaves_known_data() && !options.is_dummy;
    let known = "with `-k`, each transfer has its own data, and only pgmeter can compare it later";
    let is_written_known = options.checks_written || is_known;
    let is_read_checked = is_written_known && options.reads && !options.checks_read;
    let also_read = "also compared without `-R`, because it is known";
    let is_cut = options.reads_cut_files() && options.reads;
    let up_to = "it ends at the end of the data, not after the reader's own number of transfers";
    let is_repeated = options.seconds_min > 0;
    let passes = "all ranks repeat their transfers as often as the fastest one";
    let has_wall = options.stonewall_seconds > 0 || is_repeated;
    let is_synced = has_wall && options.is_synced;
    let in_close_time = "its time is part of close(s), not of wr/rd(s)";
    let has_barriers = has_wall && options.has_barriers;
    let no_barrier = "ranks do not wait for each other before close";
    let those = [
        (is_read_checked, "data that is read", also_read),
        (is_known, "the data of `-G`", known),
        (is_cut, "a read after a stonewall", up_to),
        (is_repeated, "`minTimeDuration`", passes),
        (is_synced, "fsync after a time limit", in_close_time),
        (has_barriers, "`-g` with a time limit", no_barrier),
    ];
    OriginalDifference::applicable(&those, &[])
}
