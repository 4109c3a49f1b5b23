//! IO500: one score for the bandwidth and metadata rates of a storage system, from easy and hard
//! access patterns.

mod check_sum;
mod config;
mod judge;
mod options;
mod program;
mod result_files;
mod score;
#[cfg(test)]
mod tests;
mod text;
mod verify;

use description::model::{ContentChoice, OwnHelps};

use crate::text::at_end_in_directories;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, CreateMissing, Front, FrontWork, OriginalDifference};
use options::{Io500Options, Io500Print};

/// Front of IO500, as of ISC 2026.
pub const FRONT: Front = Front {
    name: "io500",
    aliases: &[],
    title: "Combines bandwidth and metadata rates of a storage system into one score",
    files_help: "\
        pgmeter creates files in a work directory below the given directory and removes \
        them at the end. With a settings file or `--result-dir`, it also writes \
        `result.txt`, `result_summary.txt` and `config.ini` to a directory named by the time.",
    version: "IO500 isc26",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: Vec::new,
    file: None,
    ranks: Some("--ranks"),
    without_direct: "",
    text: |origin| {
        at_end_in_directories(
            origin,
            Io500Options::read,
            text::page,
            result_files::documents,
        )
    },
};

/// Helps in the words of the original.
const OWN_HELPS: OwnHelps = OwnHelps(&[
    ("`piece = ", "use a smaller `--easy-transfer`"),
    (
        "a `count`",
        "use fewer files, with `--easy-files` or `--hard-files`",
    ),
    ("`--workers ", "use a smaller `--ranks`"),
]);

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let given = Io500Options::given(line.arguments)?;
    if let Some(name) = &given.verified_file {
        let verified = verify::verify(name, &line.files.read(name)?);
        // The original ends with 1.
        return Err(match verified {
            Ok(report) => ArgumentError::PrintOnly(report),
            Err(flaw) => ArgumentError::FileWithCode(flaw, 1),
        });
    }
    let mut words = match &given.config {
        Some(name) => config::words(name, &line.files.read(name)?)?,
        None => Vec::new(),
    };
    // The command line comes last, so it overrides the file.
    words.extend_from_slice(line.arguments);
    let options = Io500Options::read(&words)?;
    match options.print {
        Some(Io500Print::Settings) => return Err(ArgumentError::PrintOnly(config::list())),
        Some(Io500Print::MandatorySettings) => {
            let text = "[global]\ndatadir = ./datafiles\n";
            return Err(ArgumentError::PrintOnly(text.to_owned()));
        }
        Some(Io500Print::Work) => {
            let lines = dry_run(&options).join("\n") + "\n";
            return Err(ArgumentError::PrintOnly(lines));
        }
        None => {}
    }
    let program = program::program(&options);
    let cell = writing(
        ContentChoice::Constant,
        titled("io500", "IO500", options.ranks, program),
    );
    Ok(FrontWork {
        differences: differences(&options, line.has_ranks),
        // The words include the settings, because the file may change before the text is printed
        // again.
        text_input: words,
        create_missing: CreateMissing::All,
        own_helps: OWN_HELPS,
        ..FrontWork::below(&options.directory, vec![cell])
    })
}

/// Description of the phases.
fn dry_run(options: &Io500Options) -> Vec<String> {
    let mut program = program::program(options);
    for phase in program.phases_mut() {
        for group in &mut phase.groups {
            // Planning fills in this number, but a dry run makes no plan.
            group.workers.get_or_insert(options.ranks);
        }
    }
    program.words()
}

fn differences(options: &Io500Options, has_ranks: bool) -> Vec<OriginalDifference> {
    let find = "each rank lists its own directory and stats all files that it wrote to the common \
                one, whatever their names; then one rank lists the common directories, and the \
                times of both are added";
    let shift = "each rank counts as a separate node";
    let until = "limited by the time unless an option limits them";
    let files = "`result.txt`, `result_summary.txt` and `config.ini`, only with a settings file \
                 or `--result-dir`; instead of `config-orig.ini` and of a `.txt` and `.csv` file \
                 of each phase, there is the record of the run";
    let no_limit = options.easy_block_bytes.is_none() || options.hard_segments.is_none();
    let those = [
        (!has_ranks, "ranks", "they are threads of one process"),
        (
            true,
            "place of the files",
            "in a work directory, and removed at the end",
        ),
        (true, "the name of the common file", "a 0 is added to it"),
        (true, "directories", "created before the measurement"),
        (true, "find", find),
        (true, "what is read", "not compared with the data written"),
        (true, "whose data is read", shift),
        (
            true,
            "the data",
            "one buffer of random bytes, which a target can deduplicate, whatever `dataPacketType` \
             says",
        ),
        (
            options.pause_directory.is_some(),
            "`pause-dir`",
            "there is no pause between phases, but the score is still invalid",
        ),
        (true, "random reads", "each block is read at most once"),
        (no_limit, "block size and segments", until),
        (true, "result files", files),
    ];
    OriginalDifference::applicable(&those, &options.without_effect)
}
