//! The command lines of lat_fs, version 1.6 and version 3.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use units::Bytes;

use super::{Compat, LatFs, PER_DIRECTORY, REPETITIONS};
use crate::classics::Refusal;
use crate::classics::arguments::{Piece, number, split};
use crate::model::OneOrMany;

const USAGE_1_6: &str = "usage: lat_fs [DIRECTORY]\n";
const USAGE_3: &str = "usage: lat_fs [-s FILE SIZE] [-n FILES PER DIRECTORY] [-P WORKERS] \
                       [-W WARM-UP IN US] [-N REPETITIONS] [DIRECTORY]\n";
const WORKERS_MAX: i64 = 1024;

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// The settings.
    pub settings: LatFs,
    /// Where files are made; none means the working directory with 1.6, and where temporary
    /// files go with 3.
    pub directory: Option<PathBuf>,
    /// Workers, each in a directory of its own.
    pub workers: u32,
    /// How long files are created before the first sample.
    pub warm_up_us: u32,
}

/// Reads a command line without the program's name.
///
/// # Errors
/// An option or a number that the version does not take.
pub fn parse(compat: Compat, arguments: &[OsString]) -> Result<Invocation, Refusal> {
    let read = match compat {
        Compat::V1_6 => read_1_6,
        Compat::V3 => read_3,
    };
    read(arguments).map_err(|message| Refusal {
        message,
        usage: match compat {
            Compat::V1_6 => USAGE_1_6,
            Compat::V3 => USAGE_3,
        },
        exit_code: match compat {
            Compat::V1_6 => 1,
            Compat::V3 => 255,
        },
    })
}

fn invocation(compat: Compat) -> Invocation {
    Invocation {
        settings: LatFs {
            compat: Some(compat),
            ..LatFs::default()
        },
        directory: None,
        workers: 1,
        warm_up_us: 0,
    }
}

fn read_1_6(arguments: &[OsString]) -> Result<Invocation, String> {
    let mut invocation = invocation(Compat::V1_6);
    match arguments {
        [] => {}
        [directory] => invocation.directory = Some(directory.into()),
        _ => return Err("there is more than one directory".to_owned()),
    }
    Ok(invocation)
}

fn read_3(arguments: &[OsString]) -> Result<Invocation, String> {
    let mut invocation = invocation(Compat::V3);
    for piece in split(arguments, "s:n:P:W:N:")? {
        match piece {
            Piece::Operand(directory) => {
                let earlier = invocation.directory.replace(directory.into());
                if earlier.is_some() {
                    return Err("there is more than one directory".to_owned());
                }
            }
            Piece::Option(letter, value) => set(&mut invocation, letter, value.as_bytes())?,
        }
    }
    Ok(invocation)
}

fn set(invocation: &mut Invocation, letter: char, value: &[u8]) -> Result<(), String> {
    let settings = &mut invocation.settings;
    let in_range = |value: i64, range: (u32, u32)| {
        ranged(letter, value, i64::from(range.0), i64::from(range.1))
    };
    match letter {
        's' => match bytes(letter, value)? {
            // As without the option.
            0 => settings.sizes = None,
            size => settings.sizes = Some(OneOrMany::One(Bytes(size))),
        },
        'n' => {
            let each = i64::try_from(bytes(letter, value)?).unwrap_or(i64::MAX);
            settings.files_per_directory = Some(in_range(each, PER_DIRECTORY)?);
        }
        'P' => invocation.workers = ranged(letter, number(value).value, 1, WORKERS_MAX)?,
        'W' => {
            let most = i64::from(u32::MAX);
            invocation.warm_up_us = ranged(letter, number(value).value, 0, most)?;
        }
        // The original takes its own default for 0 and below.
        'N' if number(value).value <= 0 => settings.repetitions = None,
        _ => settings.repetitions = Some(in_range(number(value).value, REPETITIONS)?),
    }
    Ok(())
}

fn ranged(letter: char, value: i64, least: i64, most: i64) -> Result<u32, String> {
    if !(least..=most).contains(&value) {
        return Err(format!("`-{letter}` is `{value}`, not {least} to {most}"));
    }
    u32::try_from(value).map_err(|_| format!("`-{letter}` is `{value}`, too large"))
}

/// A number that `k` or `m` may follow.
fn bytes(letter: char, value: &[u8]) -> Result<u64, String> {
    let parsed = number(value);
    let unit = match value.last() {
        Some(b'k' | b'K') => 1 << 10,
        Some(b'm' | b'M') => 1 << 20,
        _ => 1,
    };
    u64::try_from(parsed.value)
        .ok()
        .and_then(|value| value.checked_mul(unit))
        .ok_or_else(|| {
            let seen = String::from_utf8_lossy(value);
            format!("`-{letter}` is `{}`, not a size", plan::printable(&seen))
        })
}
