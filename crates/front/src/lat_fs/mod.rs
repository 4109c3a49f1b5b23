//! lmbench's lat_fs, version 1.6 or 3: its arguments as a program, and its output.

mod program;
#[cfg(test)]
mod tests;
mod text;

use std::ffi::OsString;
use std::path::PathBuf;

use description::Workload;
use description::classics::Refusal;
use description::classics::lat_fs::{Compat, Form, Invocation, SAMPLE_NAME, parse};
use description::model::ContentChoice;
use plan::EngineKind;
use plan::program::NamesInPlace;

pub use text::TEXT;

use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork, Placement, cell};

const NAME: &str = "lat_fs";
/// The option that says which version is followed; it stands before all others.
const COMPAT: &str = "--compat";
/// What it exits with if that is not known, as every option of ours.
const EXIT_COMPAT: u8 = 2;

/// lmbench's lat_fs.
pub const FRONT: Front = Front {
    name: NAME,
    title: "lmbench's file creation and removal rates",
    version: "lat_fs",
    usage: include_str!("usage.txt"),
    arguments,
    file: None,
    ranks: None,
    without_direct: "",
    text: text::classic,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let (compat, own) = versioned(line.arguments)?;
    let words: Vec<OsString> = own.iter().map(OsString::from).collect();
    let invocation = parse(compat, &words).map_err(ArgumentError::Refused)?;
    let plan = invocation.settings.resolve();
    let plan = plan.map_err(|error| error.to_string())?;
    let cells = plan.sizes_bytes.iter().map(|size_bytes| Workload {
        engine: Some(EngineKind::Psync),
        content: Some(ContentChoice::Zero),
        workers: Some(invocation.workers),
        ..cell(
            format!("{NAME} {}k", size_bytes >> 10),
            program::of_size(&plan, *size_bytes, invocation.warm_up_us),
        )
    });
    let names = match plan.form {
        Form::Best { file_count, .. } => NamesInPlace::Words { count: file_count },
        Form::Median { .. } => NamesInPlace::Samples {
            before: SAMPLE_NAME.to_owned(),
        },
    };
    Ok(FrontWork {
        differences: differences(&invocation),
        directories: vec![invocation.directory.unwrap_or_else(|| match compat {
            Compat::V1_6 => PathBuf::from("."),
            Compat::V3 => line.temporary.to_owned(),
        })],
        placement: Placement::InPlace {
            names,
            makes_directories: false,
        },
        ..FrontWork::new(cells.collect())
    })
}

/// The version to follow, and the arguments of that.
fn versioned(arguments: &[String]) -> Result<(Compat, &[String]), ArgumentError> {
    let (told, own) = match arguments {
        [option, own @ ..] if option == COMPAT => match own {
            [told, own @ ..] => (Some(told.as_str()), own),
            [] => (Some(""), own),
        },
        [first, own @ ..] => match first.strip_prefix(COMPAT) {
            Some(told) if told.starts_with('=') => (Some(&told[1..]), own),
            _ => (None, arguments),
        },
        [] => (None, arguments),
    };
    let compat = match told {
        Some("1.6") => Compat::V1_6,
        Some("3") => Compat::V3,
        // Version 1.6 has no options.
        None if own.iter().any(|word| word.starts_with('-')) => Compat::V3,
        None => Compat::V1_6,
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

fn differences(invocation: &Invocation) -> Vec<Difference> {
    let note = "workers begin each sample together, with as many files each";
    let is_alone = invocation.workers == 1;
    let differs = (!is_alone).then(|| Difference::differs("-P", note));
    differs.into_iter().collect()
}
