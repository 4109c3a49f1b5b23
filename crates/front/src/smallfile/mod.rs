//! smallfile 3.2: one operation on many small files by threads with directories of their own.

mod document;
mod done;
mod operation;
mod options;
mod program;
mod text;

use std::path::PathBuf;

use description::model::ContentChoice;

use crate::text::at_end_with;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork};
use options::Options;

/// smallfile.
pub const FRONT: Front = Front {
    name: "smallfile",
    title: "Small files made, read, renamed and removed by threads",
    version: "smallfile 3.2",
    usage: include_str!("usage.txt"),
    arguments,
    file: None,
    ranks: None,
    without_direct: "",
    text: |origin| at_end_with(origin, Options::read, text::page, document::documents),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let title = format!("smallfile {}", options.operation.name());
    let program = program::program(&options, line.host);
    let cell = writing(
        ContentChoice::Constant,
        titled("smallfile", &title, options.threads, program),
    );
    Ok(FrontWork {
        differences: differences(&options),
        directories: options.tops().map(PathBuf::from).collect(),
        ..FrontWork::new(vec![cell])
    })
}

fn differences(options: &Options) -> Vec<Difference> {
    let made = "they are made before, untimed, and removed at the end";
    let drawn = "they are drawn by the same law from another generator";
    let in_turn = "each thread has all its files below one of them";
    let those = [
        (
            options.tops().count() > 1,
            "directories of `--top`",
            in_turn,
        ),
        (true, "threads", "they are threads, not processes"),
        (!options.operation.makes(), "files of earlier runs", made),
        (options.is_exponential, "sizes of files", drawn),
    ];
    Difference::those(&those, &options.without_effect)
}

#[cfg(test)]
mod tests;
