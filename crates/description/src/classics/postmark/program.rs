//! The program around the session: banner, configuration file, prompt, files that load files.

use std::io::BufRead;

use super::{Action, Origin, Session, Settings, next_line, show};

/// Files that may be open inside one another, about as many as a process may open by default.
const LOAD_DEPTH_MAX: usize = 1021;
/// Files that may be loaded in all, so that files that load each other come to an end.
const LOADS_MAX: usize = 100_000;

/// The world of a PostMark program.
pub trait Console {
    /// An open configuration file.
    type Lines: BufRead;

    /// Writes to standard output; what was written is seen before the next line is read.
    fn print(&mut self, text: &[u8]);

    /// Writes to standard error.
    fn print_error(&mut self, text: &[u8]);

    /// Opens a configuration file, none if it cannot be read.
    fn open(&mut self, file: &[u8]) -> Option<Self::Lines>;

    /// The next line of standard input as [`next_line`] cuts it, none at its end.
    fn read_line(&mut self) -> Option<Vec<u8>>;

    /// Appends to a file, which is made if it is missing; false if it cannot be opened.
    fn append(&mut self, file: &[u8], text: &[u8]) -> bool;

    /// The working directory's path.
    fn working_directory(&mut self) -> Vec<u8>;

    /// Hands a command to the shell, or starts the user's own shell.
    fn shell(&mut self, command: Option<&[u8]>);

    /// Runs the benchmark; the report goes to a file or to standard output.
    fn run(&mut self, settings: &Settings, report: Option<&[u8]>);

    /// Whether the user wants the program to end now.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// The error for a report or a listing that cannot be written where it should go.
#[must_use]
pub fn cannot_direct_output(file: &[u8]) -> Vec<u8> {
    [b"Error: Cannot direct output to file '", file, b"'\n"].concat()
}

/// Plays a whole program: the banner, the configuration file's lines, then those of the prompt.
///
/// A configuration file that cannot be read is passed over in silence, as the original does.
pub fn play<C: Console>(session: &mut Session, console: &mut C, configuration: &[u8]) {
    console.print(session.settings().compat.banner().as_bytes());
    let mut program = Program {
        session,
        console,
        files: Vec::new(),
        loads_count: 0,
    };
    program.load(configuration);
    if program.play_files() == Ending::Quit {
        return;
    }
    program.play_prompt();
}

/// How a line or a file came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    EndOfFile,
    Quit,
}

struct Program<'a, C: Console> {
    session: &'a mut Session,
    console: &'a mut C,
    /// The files being read, the innermost last.
    files: Vec<C::Lines>,
    loads_count: usize,
}

impl<C: Console> Program<'_, C> {
    fn play_prompt(&mut self) {
        while !self.console.is_interrupted() {
            self.console.print(b"pm>");
            let Some(line) = self.console.read_line() else {
                return;
            };
            if self.obey(&line, Origin::Prompt) == Ending::Quit {
                return;
            }
            self.play_files();
        }
    }

    /// Reads the open files to their ends; how the outermost ended comes back.
    fn play_files(&mut self) -> Ending {
        let mut ending = Ending::EndOfFile;
        while let Some(file) = self.files.last_mut() {
            if self.console.is_interrupted() {
                return Ending::Quit;
            }
            // What cannot be read has ended.
            ending = match next_line(file).ok().flatten() {
                Some(line) if self.obey(&line, Origin::File) == Ending::EndOfFile => continue,
                Some(_) => Ending::Quit,
                None => Ending::EndOfFile,
            };
            self.files.pop();
        }
        ending
    }

    fn obey(&mut self, line: &[u8], origin: Origin) -> Ending {
        for action in self.session.line(line, origin) {
            match action {
                Action::Print(text) => self.console.print(&text),
                Action::PrintError(text) => self.console.print_error(&text),
                Action::Run { report } => {
                    let settings = self.session.settings();
                    self.console.run(settings, report.as_deref());
                }
                Action::Load { file } => {
                    if !self.load(&file) {
                        let text = b"Error: cannot read configuration file '";
                        self.console.print_error(&[text, &*file, b"'\n"].concat());
                    }
                }
                Action::Show { file } => self.show(file.as_deref()),
                Action::Shell { command } => self.console.shell(command.as_deref()),
                Action::Quit => return Ending::Quit,
            }
        }
        Ending::EndOfFile
    }

    /// Opens a file whose lines come next; false if it cannot be.
    fn load(&mut self, file: &[u8]) -> bool {
        if self.files.len() >= LOAD_DEPTH_MAX || self.loads_count >= LOADS_MAX {
            return false;
        }
        let Some(lines) = self.console.open(file) else {
            return false;
        };
        self.loads_count += 1;
        // A name from the command line may have several lines.
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
            return self.console.print(&shown.whole());
        };
        if self.console.append(file, &shown.filed()) {
            self.console.print(&shown.locations);
        } else {
            self.console.print_error(&cannot_direct_output(file));
            self.console.print(&shown.whole());
        }
    }
}
