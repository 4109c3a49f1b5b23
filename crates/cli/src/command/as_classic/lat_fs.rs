//! `as lat_fs`: lmbench's lat_fs, version 1.6 or 3, on real files.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use engine::{Clock, TscClock};
use report::classics::lat_fs::{best_line, median_line};
use run::lat_fs::{Row, Settings, Spectator, play};
use units::Span;
use workload::classics::ClassicError;
use workload::classics::lat_fs::{Compat, Invocation, parse};

use super::ticks::Ticks;
use super::{raise_descriptor_limit, refuse};
use crate::failure::{Exit, Failure, not_understood};
use crate::signals;

const OWN_OPTIONS: &str = "\
lat_fs's own options, of version 3:
  -s SIZE         bytes of each file, such as 4k; by default 0, 1k, 4k and 10k in turn
  -n FILES        files of a directory (100)
  -P WORKERS      workers at the same time, each in a directory of its own (1)
  -W MICROSECONDS warm-up before the first sample (0)
  -N REPETITIONS  samples, of which the median is printed (11)
  DIRECTORY       where files are made; by default where temporary files go
Version 1.6 takes a DIRECTORY and no options; by default it works in the current one.";

/// Stand in for lat_fs: prints size, files, creations and removals per second to standard error.
///
/// Existing files are left alone: where a name is taken, lat_fs ends.
#[derive(Debug, Parser)]
#[command(name = "lat_fs", disable_help_flag = true, after_help = OWN_OPTIONS)]
struct LatFsArgs {
    /// The version to follow, `1.6` or `3`; by default 3 if there are options, else 1.6
    #[arg(long, value_name = "VERSION", value_parser = compat)]
    compat: Option<Compat>,
    /// For tests: a clock of which each reading is so much later than the one before
    #[arg(long, value_name = "SPAN", hide = true)]
    tick: Option<Span>,
    /// Print help
    #[arg(long, short, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// Its own options, with version 3, then a directory
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    args: Vec<OsString>,
}

fn compat(name: &str) -> Result<Compat, String> {
    match name {
        "1.6" => Ok(Compat::V1_6),
        "3" => Ok(Compat::V3),
        _ => Err("there are `1.6` and `3`".to_owned()),
    }
}

/// Plays the program to its end.
pub(super) fn run(args: Vec<OsString>, at_once: fn() -> !) -> Result<Exit, Failure> {
    let own_name = OsString::from("lat_fs");
    let args = match LatFsArgs::try_parse_from([own_name].into_iter().chain(args)) {
        Ok(args) => args,
        Err(error) => return Ok(not_understood(error)),
    };
    let compat = args.compat.unwrap_or_else(|| compat_of(&args.args));
    let invocation = match parse(compat, &args.args) {
        Ok(invocation) => invocation,
        Err(refusal) => return Ok(refuse(&refusal)),
    };
    raise_descriptor_limit();
    match args.tick {
        Some(tick) => measure(&invocation, compat, &Ticks::new(tick), at_once),
        None => measure(&invocation, compat, &TscClock::new(), at_once),
    }
}

/// Version 1.6 has no options.
fn compat_of(args: &[OsString]) -> Compat {
    if args.iter().any(|word| word.as_bytes().starts_with(b"-")) {
        return Compat::V3;
    }
    Compat::V1_6
}

fn measure(
    invocation: &Invocation,
    compat: Compat,
    clock: &(impl Clock + Sync),
    at_once: fn() -> !,
) -> Result<Exit, Failure> {
    let refused = |error: ClassicError| Failure::new(Exit::Usage, &error, Some(error.help()));
    let plan = invocation.settings.resolve().map_err(refused)?;
    let directory = invocation.directory.clone();
    let settings = Settings {
        plan: &plan,
        directory: &directory.unwrap_or_else(|| usual_directory(compat)),
        worker_count: invocation.workers,
        warm_up_ns: u64::from(invocation.warm_up_us) * 1000,
        seed: seed(),
    };
    let stop = signals::stop_flag(at_once)?;
    let mut printer = Printer;
    play(&settings, clock, &stop, &mut printer)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Measured)
}

/// Where files are made without being told.
fn usual_directory(compat: Compat) -> PathBuf {
    match compat {
        Compat::V1_6 => Path::new(".").to_owned(),
        Compat::V3 => std::env::temp_dir(),
    }
}

/// Different for each run, so that names are.
pub(super) fn seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let time_ns = since.map_or(0, |since| since.as_nanos() as u64);
    time_ns ^ u64::from(std::process::id()).rotate_left(32)
}

struct Printer;

impl Spectator for Printer {
    fn row(&mut self, row: &Row) {
        let line = match row {
            Row::Best { size_bytes, best } => best_line(*size_bytes, best),
            Row::Median {
                size_bytes,
                create,
                remove,
            } => median_line(*size_bytes, *create, *remove),
        };
        tell_text!("{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> LatFsArgs {
        LatFsArgs::try_parse_from(std::iter::once(&"lat_fs").chain(args)).unwrap()
    }

    #[test]
    fn options_of_the_program_itself_are_left_alone() {
        let args = parsed(&["--compat", "3", "-s", "4k", "-N", "5", "dir"]);
        assert_eq!(args.compat, Some(Compat::V3));
        assert_eq!(args.args, ["-s", "4k", "-N", "5", "dir"]);
        let refused = LatFsArgs::try_parse_from(["lat_fs", "--compat", "2"]);
        assert!(refused.unwrap_err().to_string().contains("`1.6` and `3`"));
    }

    #[test]
    fn options_mean_version_3() {
        let of = |args: &[&str]| compat_of(&parsed(args).args);
        assert_eq!(of(&[]), Compat::V1_6);
        assert_eq!(of(&["dir"]), Compat::V1_6);
        assert_eq!(of(&["-N", "5"]), Compat::V3);
    }

    #[test]
    fn each_version_has_its_own_usual_place() {
        assert_eq!(usual_directory(Compat::V1_6), Path::new("."));
        assert_eq!(usual_directory(Compat::V3), std::env::temp_dir());
    }
}
