//! The command line of fs_mark.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use units::Bytes;

use super::{FILES, FsMark, NAME, SIZE, SUBDIRECTORIES, SyncMethod, THREADS, WRITE_SIZE};
use crate::classics::Refusal;
use crate::classics::arguments::{Number, Piece, number, split};
use plan::printable;

const LETTERS: &str = "vhkFr:S:N:D:d:l:L:n:p:s:t:w:";
/// What `-h` prints: the options, one on each line.
pub const USAGE: &str = "\
usage: fs_mark [OPTIONS] -d DIRECTORY [-d DIRECTORY]...
  -d DIRECTORY  where files are made; once for each, up to 64
  -t THREADS    threads (1), a multiple of the directories
  -n FILES      files of each thread in an iteration (1000)
  -s BYTES      bytes of each file (51200)
  -w BYTES      bytes of each write (16384)
  -S METHOD     0 no sync, 1 fsync before close (the default), 2 sync and one fsync,
                3 fsync after all in reverse, 4 sync and 3, 5 fsync after all, 6 sync and 5
  -D COUNT      subdirectories
  -N FILES      files in each subdirectory before the next one
  -p LENGTH     characters of a name (40)
  -r LENGTH     random characters at the end of a name (24)
  -L COUNT      iterations; keeps files
  -F            go on until the file system is full; keeps files
  -k            keep files
  -l FILE       append the output to this file (fs_log.txt)
  -v            times of each kind of call
  -h            this text
";

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// The settings.
    pub settings: FsMark,
    /// The directories, at least one.
    pub directories: Vec<PathBuf>,
    /// Where the output is written as well, behind what is there.
    pub log_file: PathBuf,
    /// Whether each kind of call has its columns.
    pub is_verbose: bool,
    /// What was not understood as it may have been meant, one sentence each.
    pub warnings: Vec<String>,
}

/// Reads a command line without the program's name.
///
/// # Errors
/// What the original refuses, and what it would crash or hang on.
pub fn parse(arguments: &[OsString]) -> Result<Invocation, Refusal> {
    read(arguments).map_err(|message| Refusal {
        message,
        usage: USAGE,
        exit_code: 1,
    })
}

fn read(arguments: &[OsString]) -> Result<Invocation, String> {
    let mut invocation = Invocation {
        settings: FsMark {
            mkdir_every_file: Some(true),
            ..FsMark::default()
        },
        directories: Vec::new(),
        log_file: "fs_log.txt".into(),
        is_verbose: false,
        warnings: Vec::new(),
    };
    for piece in split(arguments, LETTERS)? {
        match piece {
            // Only the usage is asked for.
            Piece::Option('h', _) => return Err(String::new()),
            Piece::Option(letter, value) => set(&mut invocation, letter, &value)?,
            Piece::Operand(word) => {
                let shown = printable(&word.to_string_lossy());
                let warning = format!("`{shown}` is not an option and is ignored");
                invocation.warnings.push(warning);
            }
        }
    }
    check(&invocation)?;
    Ok(invocation)
}

fn set(invocation: &mut Invocation, letter: char, value: &OsStr) -> Result<(), String> {
    match letter {
        'd' => invocation.directories.push(value.into()),
        'l' => invocation.log_file = value.into(),
        'v' => invocation.is_verbose = true,
        'k' => invocation.settings.keep = Some(true),
        'F' => {
            invocation.settings.until_full = Some(true);
            invocation.settings.keep = Some(true);
        }
        _ => {
            let Number { value: found, rest } = number(value.as_bytes());
            if !rest.is_empty() {
                let shown = printable(&value.to_string_lossy());
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
        // Fewer than one for each directory is one for each.
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
        'p' => settings.name_length = Some(short(NAME)?),
        'r' => settings.random_length = Some(short(NAME)?),
        // `-L`: files are kept whatever the number is.
        _ => {
            settings.loops = Some(short((0, u32::MAX))?);
            settings.keep = Some(true);
        }
    }
    Ok(())
}

fn in_range(letter: char, value: i64, least: u64, most: u64) -> Result<u64, String> {
    let found = u64::try_from(value).ok();
    found
        .filter(|found| (least..=most).contains(found))
        .ok_or_else(|| format!("`-{letter}` is `{value}`, not {least} to {most}"))
}

fn check(invocation: &Invocation) -> Result<(), String> {
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
