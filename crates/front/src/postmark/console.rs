//! Runs a PostMark session in the console of a front.

use std::io::BufRead;

use description::classics::postmark::PostmarkSettings;

use super::language::{self, PostmarkSession, next_line, output_file_error};
use super::options::PostmarkOptions;
use super::work::work;
use crate::console::Console;
use crate::front::Refusal;

/// Runs the program until it ends.
pub fn play(arguments: &[String], world: &mut dyn Console) -> Result<(), Refusal> {
    let options = PostmarkOptions::read(arguments)?;
    let mut console = ConsoleAdapter {
        console: world,
        allows_shell: options.allows_shell,
        named: options.is_named.then(|| options.configuration.clone()),
    };
    let mut session = PostmarkSession::new(options.compat);
    language::play(&mut session, &mut console, options.configuration.as_bytes());
    Ok(())
}

struct ConsoleAdapter<'a> {
    console: &'a mut dyn Console,
    allows_shell: bool,
    /// Configuration file of the command line, until it is opened.
    named: Option<String>,
}

impl language::SessionConsole for ConsoleAdapter<'_> {
    type Lines = Box<dyn BufRead>;

    fn print(&mut self, text: &[u8]) {
        self.console.print(text);
    }

    fn print_error(&mut self, text: &[u8]) {
        self.console.print_error(text);
    }

    fn open(&mut self, file: &[u8]) -> Option<Self::Lines> {
        let opened = self.console.open(file);
        // The configuration is the first file. The original says nothing if it cannot open it.
        if let (None, Some(name)) = (&opened, self.named.take()) {
            let name = plan::printable(&name);
            self.console.remark(&format!(
                "cannot read the commands in `{name}`, as in PostMark; check the path"
            ));
        }
        opened
    }

    fn read_line(&mut self) -> Option<Vec<u8>> {
        // A read error ends the session like the end of the input.
        next_line(&mut self.console.input()).ok().flatten()
    }

    fn append(&mut self, file: &[u8], text: &[u8]) -> bool {
        self.console.append(file, text)
    }

    fn working_directory(&mut self) -> Vec<u8> {
        self.console.working_directory()
    }

    fn shell(&mut self, command: Option<&[u8]>) {
        match self.allows_shell {
            true => self.console.shell(command),
            // A script must not run commands unless the user allows it.
            false => self
                .console
                .print_error(b"Error: shell commands need --allow-shell\n"),
        }
    }

    fn run(&mut self, settings: &PostmarkSettings, report: Option<&[u8]>) {
        // Created before anything else, as in the original.
        let report = report.filter(|file| {
            let is_writable = self.console.append(file, b"");
            if !is_writable {
                self.console.print_error(&output_file_error(file));
            }
            is_writable
        });
        let work = match work(settings, self.console) {
            Ok(work) => work,
            Err(refusal) => {
                self.console.print_error(refusal.as_bytes());
                // The session continues at its prompt, so only the exit code shows the refusal.
                return self.console.note_refusal();
            }
        };
        let Some(text) = self.console.measure(&work) else {
            return;
        };
        let is_filed = report.is_some_and(|file| self.console.append(file, text.as_bytes()));
        // As in the original, a run whose file cannot be opened prints its report.
        if !is_filed {
            self.console.print(text.as_bytes());
        }
    }

    fn is_interrupted(&self) -> bool {
        self.console.is_interrupted()
    }
}
