//! Programs that are talked to: they read lines, and run what those ask for.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use description::classics::Refusal;
use plan::FrontOrigin;

use crate::front::harmless;
use crate::text::ClassicText;
use crate::work::{Difference, FrontWork};

/// Another program that is stood in for, and talked to. Each run that it is asked for is a run of
/// its own, with a text of its own.
pub struct ConsoleFront {
    /// The name of the program, of links to pgmeter, and of `as NAME`.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// What `--help` prints below the title, with a line break at its end.
    pub usage: &'static str,
    /// Reads arguments, then plays the program to its end.
    pub play: fn(&[String], &mut dyn Console) -> Result<(), Refusal>,
    /// The text of a run.
    pub text: fn(&FrontOrigin) -> Box<dyn ClassicText>,
    /// Rows of what is not as in the original; see [`ConsoleFront::differences`].
    pub differs: &'static str,
}

impl ConsoleFront {
    /// What is not as in the original.
    pub fn differences(&self) -> impl Iterator<Item = Difference> {
        Difference::listed(self.differs)
    }

    /// The text of a run, in which nothing that came from outside controls a terminal.
    #[must_use]
    pub fn text_of(&self, origin: &FrontOrigin) -> Box<dyn ClassicText> {
        harmless(self.text, origin)
    }
}

/// The world of a program that is talked to.
pub trait Console {
    /// Writes to standard output; what was written is seen before more is read.
    fn print(&mut self, text: &[u8]);

    /// Writes to standard error.
    fn print_error(&mut self, text: &[u8]);

    /// Standard input, behind all that was printed.
    fn input(&mut self) -> &mut dyn BufRead;

    /// Opens a file to read, none if that cannot be.
    fn open(&mut self, file: &[u8]) -> Option<Box<dyn BufRead>>;

    /// Appends to a file, which is made if it is missing; false if it cannot be opened.
    fn append(&mut self, file: &[u8], text: &[u8]) -> bool;

    /// The working directory's path.
    fn working_directory(&mut self) -> Vec<u8>;

    /// The directory that a path leads to, without links on the way; none where there is none.
    fn directory(&mut self, path: &Path) -> Option<PathBuf>;

    /// The machine's memory in bytes; 0 where that is not known.
    fn memory_bytes(&mut self) -> u64;

    /// Hands a command to the shell, or starts the user's own shell.
    fn shell(&mut self, command: Option<&[u8]>);

    /// Runs the work and prints what is printed as it happens; what is printed behind comes back,
    /// none where it could not be run, of which the user was told.
    fn measure(&mut self, work: &FrontWork) -> Option<String>;

    /// Takes note that something was not done that was asked for, which the program's end tells.
    fn note_refusal(&mut self);

    /// Whether the user wants the program to end now.
    fn is_interrupted(&self) -> bool;
}
