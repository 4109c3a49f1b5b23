//! The command lines of lat_fs, versions 1.6 and 3.

use std::path::PathBuf;

use description::classics::LatFs;
use description::classics::lat_fs::{ENTRIES_PER_DIRECTORY, LatFsCompat, REPETITIONS};
use description::model::OneOrMany;
use units::Bytes;

use crate::Refusal;
use crate::getopt::{self, GetoptItem, number};

const USAGE_1_6: &str = "usage: lat_fs [DIRECTORY]\n";
const USAGE_3: &str = "usage: lat_fs [-s FILE SIZE] [-n FILES PER DIRECTORY] [-P WORKERS] \
                       [-W WARM-UP IN US] [-N REPETITIONS] [DIRECTORY]\n";
const WORKERS_MAX: i64 = 1024;

/// A parsed command line.
#[derive(Debug, Clone, PartialEq)]
pub struct LatFsInvocation {
    /// Settings of the workload.
    pub settings: LatFs,
    /// Work directory. `None` means the current directory in version 1.6, and the directory for
    /// temporary files in version 3.
    pub directory: Option<PathBuf>,
    /// Number of workers, each in a separate directory.
    pub workers: u32,
    /// Duration of the warm-up before the first sample, in microseconds.
    pub warm_up_us: u32,
    /// How the original reads values that look like others.
    pub remarks: Vec<String>,
}

/// Parses a command line without the program's name.
///
/// # Errors
/// The version does not have an option or does not accept a number.
pub fn parse(compat: LatFsCompat, arguments: &[String]) -> Result<LatFsInvocation, Refusal> {
    let read = match compat {
        LatFsCompat::V1_6 => read_1_6,
        LatFsCompat::V3 => read_3,
    };
    read(arguments).map_err(|message| Refusal {
        message,
        usage: match compat {
            LatFsCompat::V1_6 => USAGE_1_6,
            LatFsCompat::V3 => USAGE_3,
        },
        exit_code: match compat {
            LatFsCompat::V1_6 => 1,
            // lmbench prints its usage and calls `exit(-1)`.
            LatFsCompat::V3 => 255,
        },
    })
}

fn invocation(compat: LatFsCompat) -> LatFsInvocation {
    LatFsInvocation {
        settings: LatFs {
            compat: Some(compat),
            ..LatFs::default()
        },
        directory: None,
        workers: 1,
        warm_up_us: 0,
        remarks: Vec::new(),
    }
}

fn read_1_6(arguments: &[String]) -> Result<LatFsInvocation, String> {
    let mut invocation = invocation(LatFsCompat::V1_6);
    match arguments {
        [] => {}
        [directory] => invocation.directory = Some(directory.into()),
        _ => return Err("there is more than one directory".to_owned()),
    }
    Ok(invocation)
}

fn read_3(arguments: &[String]) -> Result<LatFsInvocation, String> {
    let mut invocation = invocation(LatFsCompat::V3);
    let mut directories = Vec::new();
    getopt::read(arguments, "s:n:P:W:N:", |piece| match piece {
        GetoptItem::Operand(directory) => {
            directories.push(PathBuf::from(directory));
            Ok(())
        }
        GetoptItem::Option(letter, value) => {
            set(&mut invocation, letter, &value)?;
            invocation.remarks.extend(remark(letter, &value));
            Ok(())
        }
    })?;
    // The value of an unknown option looks like a directory, so this is checked after all options.
    if directories.len() > 1 {
        return Err("there is more than one directory".to_owned());
    }
    invocation.directory = directories.pop();
    Ok(invocation)
}

fn set(invocation: &mut LatFsInvocation, letter: char, value: &str) -> Result<(), String> {
    let settings = &mut invocation.settings;
    let in_range = |value: i64, range: (u32, u32)| {
        ranged(letter, value, i64::from(range.0), i64::from(range.1))
    };
    match letter {
        's' => match bytes(letter, value)? {
            // 0 means the default sizes.
            0 => settings.sizes = None,
            size => settings.sizes = Some(OneOrMany::One(Bytes(size))),
        },
        'n' => {
            let count = i64::try_from(bytes(letter, value)?).unwrap_or(i64::MAX);
            settings.files_per_directory = Some(in_range(count, ENTRIES_PER_DIRECTORY)?);
        }
        'P' => invocation.workers = ranged(letter, number(value).value, 1, WORKERS_MAX)?,
        'W' => {
            let most = i64::from(u32::MAX);
            invocation.warm_up_us = ranged(letter, number(value).value, 0, most)?;
        }
        // The original uses its default for 0 and negative numbers.
        'N' if number(value).value <= 0 => settings.repetitions = None,
        _ => settings.repetitions = Some(in_range(number(value).value, REPETITIONS)?),
    }
    Ok(())
}

/// How the original reads a value with text that it ignores; `None` if it reads all of it.
fn remark(letter: char, value: &str) -> Option<String> {
    let parsed = number(value);
    let is_size = matches!(letter, 's' | 'n');
    let is_whole = match parsed.rest {
        "" => true,
        "k" | "K" | "m" | "M" => is_size,
        _ => false,
    };
    let read = match is_size {
        true => bytes(letter, value).ok()?.to_string(),
        false => parsed.value.to_string(),
    };
    let value = plan::printable(value);
    (!is_whole).then(|| format!("`-{letter} {value}` is read as {read}, as in lat_fs"))
}

fn ranged(letter: char, value: i64, least: i64, most: i64) -> Result<u32, String> {
    if !(least..=most).contains(&value) {
        return Err(format!("`-{letter}` is `{value}`, not {least} to {most}"));
    }
    u32::try_from(value).map_err(|_| format!("`-{letter}` is `{value}`, too large"))
}

/// Parses a number of bytes, optionally followed by `k` or `m`.
fn bytes(letter: char, value: &str) -> Result<u64, String> {
    // lmbench reads the digits at the start and, independently, the last character as the unit.
    let parsed = number(value);
    let unit = match value.bytes().last() {
        Some(b'k' | b'K') => 1 << 10,
        Some(b'm' | b'M') => 1 << 20,
        _ => 1,
    };
    u64::try_from(parsed.value)
        .ok()
        .and_then(|value| value.checked_mul(unit))
        .ok_or_else(|| {
            let shown = plan::printable(value);
            format!("`-{letter}` is `{shown}`, not a size")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(compat: LatFsCompat, text: &str) -> Result<LatFsInvocation, String> {
        let words: Vec<_> = text.split_whitespace().map(Into::into).collect();
        parse(compat, &words).map_err(|refusal| refusal.message)
    }

    #[test]
    fn version_1_6_takes_only_a_directory() {
        assert_eq!(parsed(LatFsCompat::V1_6, "").unwrap().directory, None);
        let invocation = parsed(LatFsCompat::V1_6, "/mnt").unwrap();
        assert_eq!(invocation.directory, Some("/mnt".into()));
        assert!(parsed(LatFsCompat::V1_6, "a b").is_err());
    }

    #[test]
    fn version_3_takes_options_before_and_after_the_directory() {
        let invocation = parsed(LatFsCompat::V3, "-s 64k -n 10 d -P 2 -W 30 -N 5").unwrap();
        let settings = &invocation.settings;
        assert_eq!(settings.sizes, Some(OneOrMany::One(Bytes(65_536))));
        assert_eq!(settings.files_per_directory, Some(10));
        assert_eq!(settings.repetitions, Some(5));
        assert_eq!((invocation.workers, invocation.warm_up_us), (2, 30));
        assert_eq!(invocation.directory, Some("d".into()));
        assert!(settings.resolve().is_ok());
        let all_sizes = parsed(LatFsCompat::V3, "-s 0 -N -1").unwrap();
        assert_eq!(
            all_sizes.settings.resolve(),
            LatFs {
                compat: Some(LatFsCompat::V3),
                ..LatFs::default()
            }
            .resolve()
        );
    }

    #[test]
    fn values_that_are_read_in_part_are_remarked() {
        let invocation = parsed(LatFsCompat::V3, "-s 4q -P 2x -n 1kk -N 3 -s 4K -W 5").unwrap();
        let wanted = [
            "`-s 4q` is read as 4, as in lat_fs",
            "`-P 2x` is read as 2, as in lat_fs",
            "`-n 1kk` is read as 1024, as in lat_fs",
        ];
        assert_eq!(invocation.remarks, wanted);
    }

    #[test]
    fn bad_command_lines_say_what_is_wrong() {
        for (text, message) in [
            ("-x", "there is no option `-x`"),
            ("-s", "option `-s` needs a value"),
            ("-s -4k", "`-s` is `-4k`, not a size"),
            ("-P 0", "`-P` is `0`, not 1 to 1024"),
            ("-n 1", "`-n` is `1`, not 2 to 1000000"),
            ("-N 99999999", "`-N` is `99999999`, not 1 to 10000"),
            ("-W -1", "`-W` is `-1`, not 0 to 4294967295"),
            (
                "-Z 5 -Q -P 0 .",
                "there is no option `-Z`\nthere is no option `-Q`\n`-P` is `0`, not 1 to 1024",
            ),
            ("a b", "there is more than one directory"),
        ] {
            assert_eq!(parsed(LatFsCompat::V3, text).unwrap_err(), message);
        }
        let refusal = parse(LatFsCompat::V3, &["-x".into()]).unwrap_err();
        assert_eq!(refusal.exit_code, 255);
        assert!(refusal.usage.starts_with("usage: lat_fs [-s"));
    }
}
