//! `as fs_mark`: fs_mark 3.3 on real files.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use engine::{Clock, TscClock};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use report::classics::fs_mark::{self as text, Banner, CTIME, Destination, Rows};
use results::{FreeSpace, RoundFigures, WorkerTimes};
use run::fs_mark::{Ended, Settings, Spectator, play};
use units::Span;
use workload::classics::ClassicError;
use workload::classics::fs_mark::{FsMarkPlan, Invocation, USAGE, parse};

use super::lat_fs::seed;
use super::ticks::Ticks;
use super::{raise_descriptor_limit, refuse};
use crate::failure::{Exit, Failure, not_understood};
use crate::signals;
use crate::terminal::Stream;

const NAME: &str = "fs_mark";
/// What the original ends with when files would not fit.
const EXIT_FULL: Exit = Exit::Classic(1);
/// When it is, in tests.
const TEST_SECONDS: i64 = 1_000_000_000;

/// Stand in for fs_mark, with its own options and output.
///
/// Existing files are left alone, and Ctrl-C removes all files of the run.
#[derive(Debug, Parser)]
#[command(name = NAME, disable_help_flag = true, after_help = USAGE)]
struct FsMarkArgs {
    /// For tests: a clock of which each reading is so much later than the one before, on a day
    /// that does not end
    #[arg(long, value_name = "SPAN", hide = true)]
    tick: Option<Span>,
    /// Print help; `-h` prints the usage as the original does
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// Its own arguments
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    args: Vec<OsString>,
}

/// Plays the program to its end.
pub(super) fn run(args: Vec<OsString>, at_once: fn() -> !) -> Result<Exit, Failure> {
    let args = match FsMarkArgs::try_parse_from([NAME.into()].into_iter().chain(args)) {
        Ok(args) => args,
        Err(error) => return Ok(not_understood(error)),
    };
    let invocation = match parse(&args.args) {
        Ok(invocation) => invocation,
        Err(refusal) => return Ok(refuse(&refusal)),
    };
    for warning in &invocation.warnings {
        tell!("warning: {warning}");
    }
    raise_descriptor_limit();
    match args.tick {
        Some(tick) => {
            let (clock, calendar) = (Ticks::new(tick), Calendar::StandsStill);
            measure(&invocation, &args.args, &clock, (calendar, at_once))
        }
        None => {
            let (clock, calendar) = (TscClock::new(), Calendar::System);
            measure(&invocation, &args.args, &clock, (calendar, at_once))
        }
    }
}

/// Where the time of day comes from.
#[derive(Debug, Clone, Copy)]
enum Calendar {
    System,
    StandsStill,
}

impl Calendar {
    fn now(self) -> Zoned {
        match self {
            Self::System => Zoned::now(),
            Self::StandsStill => {
                let time = Timestamp::from_second(TEST_SECONDS).unwrap_or_default();
                time.to_zoned(TimeZone::UTC)
            }
        }
    }

    fn seconds(self) -> u64 {
        u64::try_from(self.now().timestamp().as_second()).unwrap_or(0)
    }
}

fn measure(
    invocation: &Invocation,
    args: &[OsString],
    clock: &(impl Clock + Sync),
    (calendar, at_once): (Calendar, fn() -> !),
) -> Result<Exit, Failure> {
    let refused = |error: ClassicError| Failure::new(Exit::Usage, &error, Some(error.help()));
    let directory_count = u32::try_from(invocation.directories.len()).unwrap_or(u32::MAX);
    let plan = invocation.settings.resolve(directory_count);
    let plan = plan.map_err(refused)?;
    let mut printer = Printer {
        plan: &plan,
        first_directory: invocation
            .directories
            .first()
            .map_or(Path::new("."), |it| it),
        is_verbose: invocation.is_verbose,
        calendar,
        log: open_log(&invocation.log_file)?,
        rows: Rows::new(&plan, invocation.is_verbose),
        output_error: None,
        log_error: None,
        stop: signals::stop_flag(at_once)?,
    };
    printer.banner(args);
    let settings = Settings {
        plan: &plan,
        directories: &invocation.directories,
        seed: seed(),
    };
    let stop = Arc::clone(&printer.stop);
    let ended = play(&settings, clock, &stop, &mut printer)?;
    if let Ended::Full(directories) = &ended {
        for directory in directories {
            let directory = directory.to_string_lossy();
            printer.print(text::too_full(&directory, plan.file_count).as_bytes());
        }
    }
    printer.finish(&ended)
}

/// What this program was started as, if that is the program's name.
fn own_name() -> OsString {
    let started_as = std::env::args_os().next().unwrap_or_default();
    match Path::new(&started_as).file_name() {
        Some(name) if name == NAME => started_as,
        _ => NAME.into(),
    }
}

/// A word of the command line, which the banner has on one line.
fn on_one_line(word: &OsString) -> OsString {
    let lines: Vec<&[u8]> = word.as_bytes().split(|byte| *byte == b'\n').collect();
    OsString::from_vec(lines.join(&b"\\n"[..]))
}

fn open_log(path: &Path) -> Result<File, Failure> {
    let opened = File::options().append(true).create(true).open(path);
    opened.map_err(|error| {
        let message = format!("cannot open the log file `{}`: {error}", path.display());
        let help = "name another one with `-l FILE`".to_owned();
        Failure::new(Exit::Failed, message, Some(help))
    })
}

/// Prints each iteration as it ends.
struct Printer<'a> {
    plan: &'a FsMarkPlan,
    first_directory: &'a Path,
    is_verbose: bool,
    calendar: Calendar,
    log: File,
    rows: Rows<'a>,
    /// Why standard output cannot be written to any more; the run ends then.
    output_error: Option<io::Error>,
    /// Why the log file is not complete.
    log_error: Option<io::Error>,
    stop: Arc<AtomicBool>,
}

impl Printer<'_> {
    fn banner(&mut self, args: &[OsString]) {
        let words = std::iter::once(own_name()).chain(args.to_vec());
        let command: Vec<OsString> = words.map(|word| on_one_line(&word)).collect();
        let started_at = self.calendar.now().strftime(CTIME).to_string();
        let banner = Banner {
            command: &command,
            started_at: &started_at,
            plan: self.plan,
            is_verbose: self.is_verbose,
        };
        self.print(&banner.text(Destination::Output));
        self.log(&banner.text(Destination::Log));
    }

    fn print(&mut self, bytes: &[u8]) {
        if self.output_error.is_some() {
            return;
        }
        self.output_error = Stream::Output.write_bytes(bytes).err();
        if self.output_error.is_some() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn log(&mut self, bytes: &[u8]) {
        if self.log_error.is_none() {
            self.log_error = self.log.write_all(bytes).err();
        }
    }

    /// What the program's end means.
    fn finish(self, ended: &Ended) -> Result<Exit, Failure> {
        match (self.output_error, self.log_error, ended) {
            // A reader that has gone away is no error.
            (Some(error), ..) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Measured),
            (Some(error), ..) => Err(Failure::system("cannot write to standard output", &error)),
            (None, _, Ended::Stopped) => Ok(Exit::Interrupted),
            (None, Some(error), _) => Err(Failure::system("cannot write to the log file", &error)),
            (None, None, Ended::Full(_)) => Ok(EXIT_FULL),
            (None, None, Ended::Done) => Ok(Exit::Measured),
        }
    }

    /// How full the first directory's file system is; none where it cannot be told.
    fn space(&self) -> Option<FreeSpace> {
        let found = rustix::fs::statvfs(self.first_directory).ok()?;
        Some(FreeSpace {
            free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }
}

impl Spectator for Printer<'_> {
    fn time_seconds(&mut self) -> u64 {
        self.calendar.seconds()
    }

    fn iteration(&mut self, threads: Vec<WorkerTimes>) {
        let round = RoundFigures {
            space: self.space(),
            workers: threads,
            ..RoundFigures::default()
        };
        let row = self.rows.next(&round);
        self.print(row.as_bytes());
        self.log(row.as_bytes());
    }
}
