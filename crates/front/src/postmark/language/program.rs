//! Runs a session: banner, configuration file, prompt, and files that load other files.

use std::io::BufRead;

use description::classics::postmark::PostmarkSettings;

use super::{Origin, PostmarkSession, SessionAction, next_line, show};

/// Limit on nested files, about as many as a process may have open by default.
// 1024 is the usual soft limit of descriptors; the standard streams take three of them.
const LOAD_DEPTH_MAX: usize = 1021;
/// Limit on the number of loaded files, so that files cannot load each other forever.
const LOADS_MAX: usize = 100_000;

/// Everything a PostMark program reads from and does to its environment.
pub trait SessionConsole {
    /// An open configuration file.
    type Lines: BufRead;

    /// Writes to standard output and flushes before the next line is read.
    fn print(&mut self, text: &[u8]);

    /// Writes to standard error.
    fn print_error(&mut self, text: &[u8]);

    /// Opens a configuration file; `None` if that fails.
    fn open(&mut self, file: &[u8]) -> Option<Self::Lines>;

    /// The next line of standard input as [`next_line`] returns it; `None` at the end.
    fn read_line(&mut self) -> Option<Vec<u8>>;

    /// Appends to a file and creates it if it is missing; `false` if it cannot be opened.
    fn append(&mut self, file: &[u8], text: &[u8]) -> bool;

    /// The working directory's path.
    fn working_directory(&mut self) -> Vec<u8>;

    /// Runs a command in the shell, or starts the user's shell without one.
    fn shell(&mut self, command: Option<&[u8]>);

    /// Runs the benchmark. The report is appended to a file, or printed if there is none.
    fn run(&mut self, settings: &PostmarkSettings, report: Option<&[u8]>);

    /// `true` if the user wants the program to end now.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// The error that a report or a listing cannot be written to a file.
#[must_use]
pub fn output_file_error(file: &[u8]) -> Vec<u8> {
    [b"Error: Cannot direct output to file '", file, b"'\n"].concat()
}

/// Runs a whole program: prints the banner, then reads the configuration file and the prompt.
///
/// A configuration file that cannot be opened is ignored without a message, as in the original.
pub fn play<C: SessionConsole>(
    session: &mut PostmarkSession,
    console: &mut C,
    configuration: &[u8],
) {
    console.print(session.settings().compat.banner().as_bytes());
    let mut program = SessionProgram {
        session,
        console,
        files: Vec::new(),
        loads_count: 0,
    };
    program.load(configuration);
    if program.play_files() == ProgramEnding::Quit {
        return;
    }
    program.play_prompt();
}

/// How a line or a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramEnding {
    EndOfFile,
    Quit,
}

struct SessionProgram<'a, C: SessionConsole> {
    session: &'a mut PostmarkSession,
    console: &'a mut C,
    /// Open files, the innermost last.
    files: Vec<C::Lines>,
    loads_count: usize,
}

impl<C: SessionConsole> SessionProgram<'_, C> {
    fn play_prompt(&mut self) {
        while !self.console.is_interrupted() {
            self.console.print(b"pm>");
            // As in the original, the end of the input ends the program without a line break.
            let Some(line) = self.console.read_line() else {
                return;
            };
            if self.execute_command(&line, Origin::Prompt) == ProgramEnding::Quit {
                return;
            }
            // `quit` in a loaded file ends only that file, so its ending is ignored.
            self.play_files();
        }
    }

    /// Reads the open files until they end; returns how the outermost file ended.
    fn play_files(&mut self) -> ProgramEnding {
        let mut ending = ProgramEnding::EndOfFile;
        while let Some(file) = self.files.last_mut() {
            if self.console.is_interrupted() {
                return ProgramEnding::Quit;
            }
            // A read error ends the file.
            ending = match next_line(file).ok().flatten() {
                Some(line)
                    if self.execute_command(&line, Origin::File) == ProgramEnding::EndOfFile =>
                {
                    continue;
                }
                Some(_) => ProgramEnding::Quit,
                None => ProgramEnding::EndOfFile,
            };
            self.files.pop();
        }
        ending
    }

    fn execute_command(&mut self, line: &[u8], origin: Origin) -> ProgramEnding {
        for action in self.session.line(line, origin) {
            match action {
                SessionAction::Print(text) => self.console.print(&text),
                SessionAction::PrintError(text) => self.console.print_error(&text),
                SessionAction::Run { report } => {
                    let settings = self.session.settings();
                    self.console.run(settings, report.as_deref());
                }
                SessionAction::Load { file } => {
                    if !self.load(&file) {
                        let text = b"Error: cannot read configuration file '";
                        self.console.print_error(&[text, &*file, b"'\n"].concat());
                    }
                }
                SessionAction::Show { file } => self.show(file.as_deref()),
                SessionAction::Shell { command } => self.console.shell(command.as_deref()),
                SessionAction::Quit => return ProgramEnding::Quit,
            }
        }
        ProgramEnding::EndOfFile
    }

    /// Opens a file, which is read next; `false` if that fails.
    fn load(&mut self, file: &[u8]) -> bool {
        if self.files.len() >= LOAD_DEPTH_MAX || self.loads_count >= LOADS_MAX {
            return false;
        }
        let Some(lines) = self.console.open(file) else {
            return false;
        };
        self.loads_count += 1;
        // A name from the command line may contain line breaks.
        let lines_of_name: Vec<&[u8]> = file.split(|byte| *byte == b'\n').collect();
        let name = lines_of_name.join(&b"\\n"[..]);
        self.console
            .print(&[b"Reading configuration from file '", &name[..], b"'\n"].concat());
        self.files.push(lines);
        true
    }

    fn show(&mut self, file: Option<&[u8]>) {
        let shown = show(self.session.settings(), &self.console.working_directory());
        let Some(file) = file else {
            return self.console.print(&shown.all_parts());
        };
        // The original prints the locations even if the other lines go to a file.
        if self.console.append(file, &shown.text_for_file()) {
            self.console.print(&shown.locations);
        } else {
            self.console.print_error(&output_file_error(file));
            self.console.print(&shown.all_parts());
        }
    }
}
