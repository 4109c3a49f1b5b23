//! IO500: bandwidth and metadata of a storage system, with and without mercy, as one score.

mod config;
mod options;
mod program;
mod score;
#[cfg(test)]
mod tests;
mod text;

use description::model::ContentChoice;

use crate::text::at_end;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork, MadePart};
use options::{Options, Shown};

/// IO500.
pub const FRONT: Front = Front {
    name: "io500",
    title: "Bandwidth and metadata of a storage system as one score",
    version: "IO500 isc26",
    usage: include_str!("usage.txt"),
    arguments,
    file: None,
    ranks: Some("--ranks"),
    without_direct: "",
    text: |origin| at_end(origin, Options::read, text::page),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let told = Options::given(line.arguments)?;
    let mut words = match &told.config {
        Some(name) => config::words(name, &line.files.read(name)?)?,
        None => Vec::new(),
    };
    // What stands on the command line comes last, and so before what the file says.
    words.extend_from_slice(line.arguments);
    let options = Options::read(&words)?;
    match options.shown {
        Some(Shown::Settings) => return Err(ArgumentError::Printed(config::list())),
        Some(Shown::MandatorySettings) => {
            let text = "[global]\ndatadir = ./datafiles\n";
            return Err(ArgumentError::Printed(text.to_owned()));
        }
        Some(Shown::Work) => {
            let lines = dry_run(&options).join("\n") + "\n";
            return Err(ArgumentError::Printed(lines));
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
        remembered: words,
        made: MadePart::All,
        ..FrontWork::below(&options.directory, vec![cell])
    })
}

/// The phases in words.
fn dry_run(options: &Options) -> Vec<String> {
    let mut program = program::program(options);
    for phase in program.phases_mut() {
        for group in &mut phase.groups {
            group.workers.get_or_insert(options.ranks);
        }
    }
    program.words()
}

fn differences(options: &Options, has_ranks: bool) -> Vec<Difference> {
    let find = "each rank lists its own directory and asks for the attributes of all that it wrote \
                to the common one, whatever is in the name; then one rank lists what is common, \
                and the times of both are added";
    let shift = "each rank counts as a node of its own";
    let until = "as far as the time allows, where no option limits them";
    let no_limit = options.easy_block_bytes.is_none() || options.hard_segments.is_none();
    let those = [
        (!has_ranks, "ranks", "they are threads of one process"),
        (true, "files", "in a work directory, and removed at the end"),
        (true, "the name of the common file", "a 0 stands behind it"),
        (true, "directories", "they are made before, untimed"),
        (true, "find", find),
        (true, "what is read", "it is not compared"),
        (true, "whose data is read", shift),
        (
            true,
            "the data",
            "random bytes, whatever `dataPacketType` says",
        ),
        (
            options.pause_directory.is_some(),
            "`pause-dir`",
            "phases follow each other without a pause; the score is invalid all the same",
        ),
        (true, "random reads", "each block is read once at most"),
        (no_limit, "block size and segments", until),
        (true, "documents", "the run's record stands in their place"),
    ];
    Difference::those(&those, &options.without_effect)
}
