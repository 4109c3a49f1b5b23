//! The environment of interactive programs: standard streams, files and runs.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use front::{ClassicText, Console, ConsoleFront, FrontWork};
use results::RunEvent;

use super::front::{Directories, carry_out, origin, refused, texts};
use super::input::StoppableStdin;
use super::introduction::ProgramHelp;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::signals;
use crate::stored::StoreLocation;
use crate::terminal::{OutputStream, print_document};
use crate::usage::print_usage_error;

/// Buffer size for reading a script file, and size at which output is flushed, in bytes.
const BUFFER_BYTES: usize = 4096;

const FILES_HELP: &str = "\
Its output goes to standard output, its error messages to standard error. Its commands determine \
where it creates files. pgmeter does not change other files, and stores each run like any other \
run.";

/// pgmeter's own options, which precede the program's options.
#[derive(Debug, Parser)]
#[command(disable_help_flag = true)]
struct ConsoleArgs {
    /// List deviations from the original, and run nothing
    #[arg(long)]
    differences: bool,
    /// Do not store the runs
    #[arg(long)]
    no_db: bool,
    /// Print help
    // clap prints the help and ends, so this field is never set.
    #[arg(long, short, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// Arguments of the program
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    args: Vec<OsString>,
}

/// Runs the program to its end.
pub(super) fn run(
    front: &'static ConsoleFront,
    args: Vec<OsString>,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let own = ProgramHelp {
        name: front.name,
        title: front.title,
        details: FILES_HELP,
        usage: front.usage,
    };
    let args: ConsoleArgs = match own.read(args) {
        Ok(args) => args,
        Err(error) => return Ok(print_usage_error(error)),
    };
    if args.differences {
        let lines = front.differences().map(|it| it.sentence() + "\n");
        print_document(&OutputText::prose(lines.collect::<String>()))?;
        return Ok(Exit::Success);
    }
    let arguments = texts(&args.args)?;
    let stop = signals::stop_flag(on_second_interrupt)?;
    let input = StoppableStdin::new(Arc::clone(&stop));
    let mut console = RealConsole {
        front,
        output: Vec::new(),
        is_terminal: OutputStream::Output.is_terminal(),
        output_error: None,
        input: input.map_err(|error| CliError::system("cannot read standard input", &error))?,
        location,
        is_stored: !args.no_db,
        stop,
        on_second_interrupt,
        failed: None,
    };
    match (front.run)(&arguments, &mut console) {
        Ok(()) => console.finish(),
        // Arguments are read before anything is printed, so no output is lost here.
        Err(refusal) => refused(&refusal),
    }
}

/// The environment of a real process.
struct RealConsole<'a> {
    front: &'static ConsoleFront,
    output: Vec<u8>,
    is_terminal: bool,
    /// Error that ended output to standard output.
    output_error: Option<io::Error>,
    input: StoppableStdin,
    location: &'a StoreLocation,
    is_stored: bool,
    stop: Arc<AtomicBool>,
    on_second_interrupt: fn() -> !,
    /// Exit status of the first operation that failed.
    failed: Option<Exit>,
}

impl RealConsole<'_> {
    /// Flushes the output and returns the exit status.
    fn finish(mut self) -> Result<Exit, CliError> {
        self.flush();
        match self.output_error {
            // A reader that closed the pipe is not an error.
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                return Err(CliError::system("cannot write to standard output", &error));
            }
            Some(_) => return Ok(self.failed.unwrap_or(Exit::Success)),
            None => {}
        }
        match self.stop.load(Ordering::Relaxed) {
            true => Ok(Exit::Interrupted),
            false => Ok(self.failed.unwrap_or(Exit::Success)),
        }
    }

    fn flush(&mut self) {
        if self.output.is_empty() || self.output_error.is_some() {
            return;
        }
        self.output_error = OutputStream::Output.write_bytes(&self.output).err();
        self.output.clear();
    }

    fn fail(&mut self, exit: Exit) {
        // The first failure may cause the later ones, so its code is kept.
        self.failed.get_or_insert(exit);
    }

    /// Prints the program's text for an event. Returns `false` once standard output is closed.
    fn print_event(&mut self, text: &mut dyn ClassicText, event: &RunEvent) -> bool {
        let (reply, error_text) = (text.event(event), text.error_text(event));
        self.output.extend_from_slice(reply.as_bytes());
        self.flush();
        if !error_text.is_empty() {
            self.print_error(error_text.as_bytes());
        }
        self.output_error.is_none()
    }

    fn try_measure(&mut self, work: &FrontWork) -> Result<String, CliError> {
        let mut text = self.front.text_of(&origin(&work.cells));
        let directories = Directories::ready(self.front.name, work)?;
        let stop = Arc::clone(&self.stop);
        let store = self.is_stored.then_some(self.location);
        let (record, is_stored) = carry_out(
            work,
            (store, directories),
            (&stop, self.on_second_interrupt, None),
            // The program prints its own text while it runs, so there is no live display.
            true,
            &mut |event| self.print_event(&mut *text, event),
        )?;
        if !is_stored {
            self.fail(Exit::Failed);
        }
        Ok(text.end(&record))
    }
}

impl Console for RealConsole<'_> {
    fn print(&mut self, text: &[u8]) {
        self.output.extend_from_slice(text);
        // The C library of the original buffers by line on a terminal, and in blocks elsewhere.
        if self.is_terminal && text.ends_with(b"\n") || self.output.len() > BUFFER_BYTES {
            self.flush();
        }
    }

    fn print_error(&mut self, text: &[u8]) {
        // There is no other stream to report this error on.
        let _ = OutputStream::Error.write_bytes(text);
    }

    fn remark(&mut self, sentence: &str) {
        if OutputStream::Error.is_terminal() {
            self.flush();
            tell!("warning: {sentence}");
        }
    }

    fn input(&mut self) -> &mut dyn BufRead {
        self.flush();
        // The output was flushed first, so that a prompt is visible before the program waits.
        &mut self.input
    }

    fn open(&mut self, file: &[u8]) -> Option<Box<dyn BufRead>> {
        let file = File::open(path(file)).ok()?;
        Some(Box::new(BufReader::with_capacity(BUFFER_BYTES, file)))
    }

    fn append(&mut self, file: &[u8], text: &[u8]) -> bool {
        let opened = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path(file));
        let Ok(mut file) = opened else {
            return false;
        };
        // The original examines only whether the file opens, so a failed write is pgmeter's own
        // warning.
        if let Err(error) = file.write_all(text) {
            self.print_error(format!("warning: {error}\n").as_bytes());
            self.fail(Exit::System);
        }
        true
    }

    fn working_directory(&mut self) -> Vec<u8> {
        let directory = std::env::current_dir().map(|path| path.into_os_string().into_vec());
        directory.unwrap_or_default()
    }

    fn directory(&mut self, path: &Path) -> Option<PathBuf> {
        let resolved = std::fs::canonicalize(path).ok()?;
        resolved.is_dir().then_some(resolved)
    }

    fn memory_bytes(&mut self) -> u64 {
        storage::system_facts(&[], None).memory_bytes
    }

    fn shell(&mut self, command: Option<&[u8]>) {
        self.flush();
        // The text so far was flushed first, because the shell writes to the same stream.
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

    fn measure(&mut self, work: &FrontWork) -> Option<String> {
        self.flush();
        match self.try_measure(work) {
            Ok(text) => Some(text),
            Err(failure) => {
                failure.print();
                self.fail(failure.exit);
                None
            }
        }
    }

    fn note_refusal(&mut self) {
        self.fail(Exit::System);
    }

    fn is_interrupted(&self) -> bool {
        // A closed output also ends the program, as SIGPIPE ends the original.
        self.stop.load(Ordering::Relaxed) || self.output_error.is_some()
    }
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
