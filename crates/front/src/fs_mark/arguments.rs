//! The command line of fs_mark.

use std::path::PathBuf;

use description::classics::FsMark;
use description::classics::fs_mark::{
    FILES, NAME_LENGTH, SIZE, SUBDIRECTORIES, SyncMethod, THREADS, WRITE_SIZE,
};
use plan::printable;
use units::Bytes;

use crate::Refusal;
use crate::getopt::{self, CNumber, GetoptItem, number};

const OPTION_LETTERS: &str = "vhkFr:S:N:D:d:l:L:n:p:s:t:w:";
/// Usage that `-h` prints, one option per line.
pub const USAGE: &str = include_str!("usage.txt");

/// A parsed command line.
#[derive(Debug, Clone, PartialEq)]
pub struct FsMarkInvocation {
    /// Settings of the workload.
    pub settings: FsMark,
    /// Work directories, at least one.
    pub directories: Vec<PathBuf>,
    /// File to which the output is also appended.
    pub log_file: PathBuf,
    /// `true` to print columns for each kind of call.
    pub is_verbose: bool,
    /// Arguments that may be misunderstood, one sentence each.
    pub warnings: Vec<String>,
}

/// Parses a command line without the program's name.
///
/// # Errors
/// The original refuses the arguments, or would crash or hang on them.
pub fn parse(arguments: &[String]) -> Result<FsMarkInvocation, Refusal> {
    read(arguments).map_err(|message| Refusal {
        message,
        usage: USAGE,
        exit_code: 1,
    })
}

fn read(arguments: &[String]) -> Result<FsMarkInvocation, String> {
    let mut invocation = FsMarkInvocation {
        settings: FsMark {
            // The original attempts the mkdir for every file, which is part of its overhead.
            mkdir_every_file: Some(true),
            ..FsMark::default()
        },
        directories: Vec::new(),
        log_file: "fs_log.txt".into(),
        is_verbose: false,
        warnings: Vec::new(),
    };
    getopt::read(arguments, OPTION_LETTERS, |piece| match piece {
        // An empty message requests the usage.
        GetoptItem::Option('h', _) => Err(String::new()),
        GetoptItem::Option(letter, value) => set(&mut invocation, letter, &value),
        GetoptItem::Operand(word) => {
            let shown = printable(&word);
            let warning = format!("`{shown}` is not an option and is ignored");
            invocation.warnings.push(warning);
            Ok(())
        }
    })?;
    check(&invocation)?;
    Ok(invocation)
}

fn set(invocation: &mut FsMarkInvocation, letter: char, value: &str) -> Result<(), String> {
    match letter {
        'd' => invocation.directories.push(value.into()),
        'l' => invocation.log_file = value.into(),
        'v' => invocation.is_verbose = true,
        'k' => invocation.settings.keep = Some(true),
        'F' => {
            // As in the original, `-F` also keeps the files.
            invocation.settings.until_full = Some(true);
            invocation.settings.keep = Some(true);
        }
        _ => {
            let CNumber { value: found, rest } = number(value);
            if !rest.is_empty() {
                let shown = printable(value);
                let warning = format!("`-{letter} {shown}` is taken as `{found}`, as fs_mark does");
                invocation.warnings.push(warning);
            }
            set_number(&mut invocation.settings, letter, found)?;
        }
    }
    Ok(())
}

fn set_number(settings: &mut FsMark, letter: char, value: i64) -> Result<(), String> {
    let small = |range: (u32, u32)| in_range(letter, value, range.0.into(), range.1.into());
    let short = |range| small(range).map(|value| value as u32);
    match letter {
        // The number is per directory; 0 counts as 1.
        't' => settings.threads = Some(short((0, THREADS.1)).map(|count| count.max(1))?),
        'n' => settings.files = Some(short(FILES)?),
        's' => settings.size = Some(Bytes(in_range(letter, value, SIZE.0, SIZE.1)?)),
        'w' => {
            let size = in_range(letter, value, WRITE_SIZE.0, WRITE_SIZE.1)?;
            settings.write_size = Some(Bytes(size));
        }
        'S' => {
            let method = small((0, 6))? as usize;
            settings.sync_method = Some(SyncMethod::ALL[method]);
        }
        'D' => settings.subdirectories = Some(short(SUBDIRECTORIES)?),
        'N' => settings.files_per_subdirectory = Some(short((0, FILES.1))?),
        'p' => settings.name_length = Some(short(NAME_LENGTH)?),
        'r' => settings.random_length = Some(short(NAME_LENGTH)?),
        // `-L` keeps the files, whatever the number.
        _ => {
            settings.loops = Some(short((0, u32::MAX))?);
            settings.keep = Some(true);
        }
    }
    Ok(())
}

fn in_range(letter: char, value: i64, least: u64, most: u64) -> Result<u64, String> {
    let unsigned = u64::try_from(value).ok();
    unsigned
        .filter(|unsigned| (least..=most).contains(unsigned))
        .ok_or_else(|| format!("`-{letter}` is `{value}`, not {least} to {most}"))
}

fn check(invocation: &FsMarkInvocation) -> Result<(), String> {
    let directory_count = invocation.directories.len();
    if directory_count == 0 {
        return Err("there is no directory: `-d` is missing".to_owned());
    }
    let directory_count = u32::try_from(directory_count).unwrap_or(u32::MAX);
    if directory_count > THREADS.1 {
        return Err(format!("there are more than {} directories", THREADS.1));
    }
    let plan = invocation.settings.resolve(directory_count);
    plan.map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
