//! Interactive programs: they read commands line by line and run the work those request.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use plan::FrontOrigin;

use crate::front::{Refusal, harmless};
use crate::text::ClassicText;
use crate::work::{FrontWork, OriginalDifference};

/// An interactive program that pgmeter emulates. Each run that a user starts in it is separate and
/// has its own text.
pub struct ConsoleFront {
    /// Name of the program, which is also the name for links to pgmeter and for `as NAME`.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// What `--help` prints below the title, with a line break at its end.
    pub usage: &'static str,
    /// Reads the arguments, then runs the program until it ends.
    pub run: fn(&[String], &mut dyn Console) -> Result<(), Refusal>,
    /// The text that the program prints for a run.
    pub text: fn(&FrontOrigin) -> Box<dyn ClassicText>,
    /// Table of differences from the original; see [`ConsoleFront::differences`].
    pub difference_table: &'static str,
}

impl ConsoleFront {
    /// Differences from the original that apply to every run.
    pub fn differences(&self) -> impl Iterator<Item = OriginalDifference> {
        OriginalDifference::listed(self.difference_table)
    }

    /// The text of a run. Control characters from outside are shown instead of obeyed.
    #[must_use]
    pub fn text_of(&self, origin: &FrontOrigin) -> Box<dyn ClassicText> {
        harmless(self.text, origin)
    }
}

/// Everything an interactive program reads from and does to its environment.
pub trait Console {
    /// Writes to standard output and flushes before more input is read.
    fn print(&mut self, text: &[u8]);

    /// Writes to standard error.
    fn print_error(&mut self, text: &[u8]);

    /// Prints a sentence on standard error if that is a terminal; scripts take any text there for
    /// an error.
    fn remark(&mut self, sentence: &str);

    /// Standard input; everything printed so far is visible before it is read.
    fn input(&mut self) -> &mut dyn BufRead;

    /// Opens a file for reading; `None` if that fails.
    fn open(&mut self, file: &[u8]) -> Option<Box<dyn BufRead>>;

    /// Appends to a file and creates it if it is missing; `false` if it cannot be opened.
    fn append(&mut self, file: &[u8], text: &[u8]) -> bool;

    /// The working directory's path.
    fn working_directory(&mut self) -> Vec<u8>;

    /// Resolves a path to a directory without symbolic links; `None` if there is none.
    fn directory(&mut self, path: &Path) -> Option<PathBuf>;

    /// The machine's memory in bytes; 0 if unknown.
    fn memory_bytes(&mut self) -> u64;

    /// Runs a command in the shell, or starts the user's shell without one.
    fn shell(&mut self, command: Option<&[u8]>);

    /// Runs the work and prints its text as it happens. Returns the text to print after the run, or
    /// `None` if the work could not run and the user has seen why.
    fn measure(&mut self, work: &FrontWork) -> Option<String>;

    /// Records that a request was not carried out, which decides the exit code.
    fn note_refusal(&mut self);

    /// `true` if the user wants the program to end now.
    fn is_interrupted(&self) -> bool;
}
