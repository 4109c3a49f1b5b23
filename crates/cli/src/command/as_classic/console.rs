//! PostMark's world: standard streams, files, the clock and real runs.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use generate::pool::{Mark, StreamError, Totals};
use report::postmark::{Times, report};
use results::PoolFigures;
use run::postmark::{Overlooked, Played, Spectator};
use workload::postmark::{Console, Settings, cannot_direct_output};

use super::clock::WallClock;
use super::input::Prompt;
use crate::failure::{Exit, Failure};
use crate::terminal::Stream;

/// As much of a configuration as is read at once.
const LINES_BYTES: usize = 4096;

/// The world as it is.
pub(super) struct RealConsole {
    output: Vec<u8>,
    is_terminal: bool,
    /// Why standard output cannot be written to any more.
    output_error: Option<io::Error>,
    input: Prompt,
    clock: WallClock,
    may_shell: bool,
    stop: Arc<AtomicBool>,
    has_failed: bool,
}

impl RealConsole {
    /// A console whose runs end when `stop` is set.
    pub(super) fn new(
        clock: WallClock,
        may_shell: bool,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let input = Prompt::new();
        Ok(Self {
            output: Vec::new(),
            is_terminal: Stream::Output.is_terminal(),
            output_error: None,
            input: input.map_err(|error| Failure::system("cannot read standard input", &error))?,
            clock,
            may_shell,
            stop,
            has_failed: false,
        })
    }

    /// Writes what is left to write; what the program's end means.
    pub(super) fn finish(mut self) -> Result<Exit, Failure> {
        self.flush();
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Exit::Interrupted);
        }
        match self.output_error {
            // A reader that has gone away is no error.
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::system("cannot write to standard output", &error))
            }
            _ if self.has_failed => Ok(Exit::System),
            _ => Ok(Exit::Measured),
        }
    }

    /// Output comes in the portions of the original, whose standard output is buffered.
    fn flush(&mut self) {
        if self.output.is_empty() || self.output_error.is_some() {
            return;
        }
        self.output_error = Stream::Output.write_bytes(&self.output).err();
        self.output.clear();
    }

    fn refuse(&mut self, error: &StreamError) {
        if let Some(text) = error.original_text() {
            self.print_error(text.as_bytes());
        }
        let help = error.help();
        self.print_error(format!("error: {error}\nhelp: {help}\n").as_bytes());
        self.has_failed = true;
    }

    /// Tells what the original says nothing of.
    fn tell(&mut self, overlooked: &Overlooked) {
        let Overlooked {
            read_count,
            write_count,
            first_error,
            foreign_count,
        } = *overlooked;
        if read_count + write_count > 0 {
            let reason = match first_error {
                Some(errno) => format!(", the first with: {}", io::Error::from(errno)),
                None => String::new(),
            };
            let text = format!(
                "warning: {read_count} reads of files and {write_count} writes failed or were \
                 short{reason}\n"
            );
            self.print_error(text.as_bytes());
        }
        if foreign_count > 0 {
            let text = format!(
                "warning: {foreign_count} names were taken; those files and directories were \
                 left as they are\n"
            );
            self.print_error(text.as_bytes());
        }
    }
}

impl Console for RealConsole {
    type Lines = BufReader<File>;

    fn print(&mut self, text: &[u8]) {
        self.output.extend_from_slice(text);
        if self.is_terminal && text.ends_with(b"\n") || self.output.len() > LINES_BYTES {
            self.flush();
        }
    }

    fn print_error(&mut self, text: &[u8]) {
        // There is nowhere left to say that this failed.
        let _ = Stream::Error.write_bytes(text);
    }

    fn open(&mut self, file: &[u8]) -> Option<Self::Lines> {
        let file = File::open(path(file)).ok()?;
        Some(BufReader::with_capacity(LINES_BYTES, file))
    }

    fn read_line(&mut self) -> Option<Vec<u8>> {
        self.flush();
        self.input.line(&self.stop)
    }

    fn append(&mut self, file: &[u8], text: &[u8]) -> bool {
        let Ok(mut file) = open_to_append(file) else {
            return false;
        };
        if let Err(error) = file.write_all(text) {
            self.print_error(format!("warning: {error}\n").as_bytes());
            self.has_failed = true;
        }
        true
    }

    fn working_directory(&mut self) -> Vec<u8> {
        let here = std::env::current_dir().map(|path| path.into_os_string().into_vec());
        here.unwrap_or_default()
    }

    fn shell(&mut self, command: Option<&[u8]>) {
        if !self.may_shell {
            return self.print_error(b"Error: shell commands need --allow-shell\n");
        }
        self.flush();
        let mut shell = match command {
            Some(command) => {
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(OsStr::from_bytes(command));
                shell
            }
            None => Command::new(std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())),
        };
        if let Err(error) = shell.status() {
            self.print_error(format!("Error: cannot start a shell: {error}\n").as_bytes());
        }
    }

    fn run(&mut self, settings: &Settings, file: Option<&[u8]>) {
        let mut direct = None;
        if let Some(name) = file {
            match open_to_append(name) {
                Ok(opened) => direct = Some(opened),
                Err(_) => self.print_error(&cannot_direct_output(name)),
            }
        }
        let mut stage = Stage {
            console: self,
            times: Times::default(),
        };
        let played = run::postmark::play(settings, &mut stage);
        let times = stage.times;
        let played = match played {
            Ok(played) => played,
            Err(error) => return self.refuse(&error),
        };
        if !played.has_ended_early {
            let figures = figures(settings, &played);
            let text = report(settings.report, settings.compat, &figures, &times);
            match direct.map(|mut file| file.write_all(text.as_bytes())) {
                Some(Ok(())) => {}
                // Better in another place than lost.
                Some(Err(_)) | None => self.print(text.as_bytes()),
            }
        }
        self.tell(&played.overlooked);
    }

    fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.output_error.is_some()
    }
}

/// A run on the console.
struct Stage<'a> {
    console: &'a mut RealConsole,
    times: Times,
}

impl Spectator for Stage<'_> {
    fn mark(&mut self, mark: Mark) {
        let (console, times) = (&mut *self.console, &mut self.times);
        match mark {
            Mark::Creating => times.start_us = console.clock.read_us(),
            Mark::Transactions => times.transactions_start_us = console.clock.read_us(),
            Mark::TransactionsDone | Mark::OutOfFiles => {
                times.transactions_end_us = console.clock.read_us();
            }
            Mark::Deleted => times.end_us = console.clock.read_us(),
            _ => {}
        }
        let text = mark.text();
        console.print(text.as_bytes());
        if !text.ends_with('\n') {
            console.flush();
        }
    }

    fn failed(&mut self, text: &[u8]) {
        self.console.print_error(text);
    }

    fn wants_to_stop(&self) -> bool {
        self.console.is_interrupted()
    }
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn open_to_append(file: &[u8]) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path(file))
}

fn figures(settings: &Settings, played: &Played) -> PoolFigures {
    let totals: &Totals = &played.totals;
    PoolFigures {
        transactions_count: u64::from(settings.transactions),
        created_before_count: u64::from(settings.number),
        created_count: totals.created_count,
        read_count: totals.read_count,
        appended_count: totals.appended_count,
        deleted_count: totals.deleted_count,
        deleted_after_count: totals.deleted_after_count,
        read_bytes_float: totals.read_bytes_float.into(),
        written_bytes_float: totals.written_bytes_float.into(),
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        ..PoolFigures::default()
    }
}
