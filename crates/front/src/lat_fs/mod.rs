//! lmbench's lat_fs, versions 1.6 and 3: converts its arguments to a program and prints its output.

mod arguments;
mod program;
#[cfg(test)]
mod tests;
mod text;

use std::path::PathBuf;

use description::Workload;
use description::classics::lat_fs::{LatFsCompat, LatFsForm, SAMPLE_PREFIX};
use description::model::ContentChoice;
use plan::EngineKind;
use plan::program::NamesInPlace;

pub use text::TEXT;

use arguments::{LatFsInvocation, parse};

use crate::{
    ArgumentError, CommandLine, FilePlacement, Front, FrontWork, OriginalDifference, Refusal, cell,
};

const NAME: &str = "lat_fs";
/// The option that selects the version; it must come first.
const COMPAT: &str = "--compat";
/// Exit code for an unknown version, as for all of pgmeter's own options.
const EXIT_COMPAT: u8 = 2;

/// Front of lmbench's lat_fs.
pub const FRONT: Front = Front {
    name: NAME,
    aliases: &[],
    title: "Measures how fast files are created and removed, as part of lmbench",
    files_help: "\
        pgmeter creates files in the given directory itself and removes them at the \
        end.",
    version: "lat_fs",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: Vec::new,
    file: None,
    ranks: None,
    without_direct: "",
    text: text::classic,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let (compat, own) = split_version(line.arguments)?;
    let invocation = parse(compat, own).map_err(ArgumentError::Refused)?;
    let plan = invocation.settings.resolve();
    let plan = plan.map_err(|error| error.to_string())?;
    let cells = plan.sizes_bytes.iter().map(|size_bytes| Workload {
        // Only this engine can write at the file position, as the program requires.
        engine: Some(EngineKind::Psync),
        content: Some(ContentChoice::Zero),
        workers: Some(invocation.workers),
        ..cell(
            format!("{NAME} {}k", size_bytes >> 10),
            program::of_size(&plan, *size_bytes, invocation.warm_up_us),
        )
    });
    let names = match plan.form {
        LatFsForm::Best { file_count, .. } => NamesInPlace::Words { count: file_count },
        LatFsForm::Median { .. } => NamesInPlace::Samples {
            before: SAMPLE_PREFIX.to_owned(),
        },
    };
    Ok(FrontWork {
        differences: differences(&invocation),
        warnings: invocation.remarks,
        directories: vec![invocation.directory.unwrap_or_else(|| match compat {
            LatFsCompat::V1_6 => PathBuf::from("."),
            // Version 3 creates its files with `tempnam`.
            LatFsCompat::V3 => line.temp_dir.to_owned(),
        })],
        placement: FilePlacement::InPlace {
            names,
            makes_directories: false,
        },
        ..FrontWork::new(cells.collect())
    })
}

/// The selected version, and its arguments.
fn split_version(arguments: &[String]) -> Result<(LatFsCompat, &[String]), ArgumentError> {
    let (version, own) = match arguments {
        [option, own @ ..] if option == COMPAT => match own {
            [version, own @ ..] => (Some(version.as_str()), own),
            [] => (Some(""), own),
        },
        [first, own @ ..] => match first.strip_prefix(COMPAT) {
            Some(version) if version.starts_with('=') => (Some(&version[1..]), own),
            _ => (None, arguments),
        },
        [] => (None, arguments),
    };
    let compat = match version {
        Some("1.6") => LatFsCompat::V1_6,
        Some("3") => LatFsCompat::V3,
        // Version 1.6 has no options.
        None if own.iter().any(|word| word.starts_with('-')) => LatFsCompat::V3,
        None => LatFsCompat::V1_6,
        Some(other) => {
            return Err(ArgumentError::Refused(Refusal {
                message: format!("`{COMPAT}` is `{other}`; there are `1.6` and `3`"),
                usage: include_str!("usage.txt"),
                exit_code: EXIT_COMPAT,
            }));
        }
    };
    Ok((compat, own))
}

fn differences(invocation: &LatFsInvocation) -> Vec<OriginalDifference> {
    let note = "workers begin each sample together, with as many files each";
    let is_alone = invocation.workers == 1;
    let differs = (!is_alone).then(|| OriginalDifference::differs("-P", note));
    differs.into_iter().collect()
}
