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
        world,
        may_shell: options.may_shell,
    };
    let mut session = PostmarkSession::new(options.compat);
    language::play(&mut session, &mut console, options.configuration.as_bytes());
    Ok(())
}

struct ConsoleAdapter<'a> {
    world: &'a mut dyn Console,
    may_shell: bool,
}

impl language::SessionConsole for ConsoleAdapter<'_> {
    type Lines = Box<dyn BufRead>;

    fn print(&mut self, text: &[u8]) {
        self.world.print(text);
    }

    fn print_error(&mut self, text: &[u8]) {
        self.world.print_error(text);
    }

    fn open(&mut self, file: &[u8]) -> Option<Self::Lines> {
        self.world.open(file)
    }

    fn read_line(&mut self) -> Option<Vec<u8>> {
        // A read error ends the session like the end of the input.
        next_line(&mut self.world.input()).ok().flatten()
    }

    fn append(&mut self, file: &[u8], text: &[u8]) -> bool {
        self.world.append(file, text)
    }

    fn working_directory(&mut self) -> Vec<u8> {
        self.world.working_directory()
    }

    fn shell(&mut self, command: Option<&[u8]>) {
        match self.may_shell {
            true => self.world.shell(command),
            // A script must not run commands unless the user allows it.
            false => self
                .world
                .print_error(b"Error: shell commands need --allow-shell\n"),
        }
    }

    fn run(&mut self, settings: &PostmarkSettings, report: Option<&[u8]>) {
        // Created before anything else, as in the original.
        let report = report.filter(|file| {
            let is_there = self.world.append(file, b"");
            if !is_there {
                self.world.print_error(&output_file_error(file));
            }
            is_there
        });
        let work = match work(settings, self.world) {
            Ok(work) => work,
            Err(refusal) => {
                self.world.print_error(refusal.as_bytes());
                // The session continues at its prompt, so only the exit code shows the refusal.
                return self.world.note_refusal();
            }
        };
        let Some(text) = self.world.measure(&work) else {
            return;
        };
        let is_filed = report.is_some_and(|file| self.world.append(file, text.as_bytes()));
        // As in the original, a run whose file cannot be opened prints its report.
        if !is_filed {
            self.world.print(text.as_bytes());
        }
    }

    fn is_interrupted(&self) -> bool {
        self.world.is_interrupted()
    }
}
