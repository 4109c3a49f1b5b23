//! The interface that every front implements.

use plan::Diagnostic;
use plan::FrontOrigin;

use crate::command_line::CommandLine;
use crate::file::FileFront;
use crate::text::{ClassicText, EscapedText};
use crate::usage::{directory_option, relevant_lines, with_letter};
use crate::work::{FrontWork, OriginalDifference};

/// The help for a target that is no directory.
const DIRECTORY_HELP: &str = "name a directory with `--target`";

/// Another program that pgmeter emulates.
pub struct Front {
    /// Name of the program, which is also the name for links to pgmeter and for `as NAME`.
    pub name: &'static str,
    /// Other names of the program's executable, which links to pgmeter may have as well.
    pub aliases: &'static [&'static str],
    /// Description in one line, which begins with a verb.
    pub title: &'static str,
    /// Where the program creates files and which of them it keeps, in sentences for `--help`.
    pub files_help: &'static str,
    /// Name and version of the original that [differences](crate::OriginalDifference) refer to.
    pub version: &'static str,
    /// What `--help` prints below the title, with a line break at its end.
    pub usage: &'static str,
    /// Turns arguments into work.
    pub arguments: fn(&CommandLine<'_>) -> Result<FrontWork, ArgumentError>,
    /// Differences from the original that are independent of the arguments: differences of every
    /// run, and refused options.
    pub general_differences: fn() -> Vec<OriginalDifference>,
    /// Reader of the program's own files; `None` if it has none.
    pub file: Option<FileFront>,
    /// The option that sets the number of processes, if a launcher may start several.
    pub ranks: Option<&'static str>,
    /// The program's own option that avoids direct I/O, as a help; empty if it has none.
    pub without_direct: &'static str,
    /// The text that the program prints for a run.
    pub text: fn(&FrontOrigin) -> Box<dyn ClassicText>,
}

/// A refusal of arguments in the program's own form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error; empty if only the usage was requested.
    pub message: String,
    /// The part of the program's usage to print after the message, with a line break at its end.
    pub usage: &'static str,
    /// Exit code of the program.
    pub exit_code: u8,
}

/// Reason why arguments are not accepted.
#[derive(Debug)]
pub enum ArgumentError {
    /// An error in the arguments; empty if only the usage was requested.
    Arguments(String),
    /// An error in a file that the arguments name.
    File(Diagnostic),
    /// The same, with the exit code of the original.
    FileWithCode(Diagnostic, u8),
    /// The program's own refusal, with its usage and exit code.
    Refused(Refusal),
    /// Nothing to run: only this text is printed.
    PrintOnly(String),
    /// Nothing to run: semaphores of System V are created or removed.
    Semaphores(SemaphoreTask),
}

/// What to do with the semaphores at which several processes wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemaphoreTask {
    /// Key of the set of semaphores.
    pub key: i32,
    /// Number of semaphores in the set.
    pub count: u16,
    /// Number of processes that wait at each semaphore; `None` to remove the set.
    pub processes: Option<u16>,
    /// Text to print afterwards.
    pub text: String,
}

impl From<String> for ArgumentError {
    fn from(message: String) -> Self {
        Self::Arguments(message)
    }
}

impl From<Diagnostic> for ArgumentError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::File(diagnostic)
    }
}

impl Front {
    /// [`Front::files_help`] of programs that keep no files.
    pub(crate) const FILES_IN_WORK_DIRECTORY: &str = "\
        pgmeter creates files in a work directory below the given directory and removes them at \
        the end.";

    /// Turns the arguments into work.
    ///
    /// # Errors
    /// Options that the program does not know or that pgmeter does not support.
    pub fn work(&self, line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
        let work = (self.arguments)(line)?;
        Ok(work.signed(self.name, line.arguments))
    }

    /// Adapts a help of pgmeter to this program, which lacks the options of `pgmeter run` and the
    /// keys of workload files.
    #[must_use]
    pub fn adapt_help(&self, help: &str) -> String {
        // Only errors about direct I/O have this help, and the program may have its own option
        // against them.
        if help.contains("--cache buffered") && !self.without_direct.is_empty() {
            return self.without_direct.to_owned();
        }
        let is_joint = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-';
        let has_option = |name: &str| self.usage.split(is_joint).any(|it| it == name);
        let is_pgmeter_only = |it: &str| it.starts_with("--") && !has_option(it);
        let needs_pgmeter = |help: &str| {
            let quoted = help.split('`').skip(1).step_by(2);
            let mut options = quoted.filter_map(|it| it.split([' ', '=']).next());
            options.any(is_pgmeter_only)
        };
        // Keys of workload files have blanks around their `=`, unlike options of other programs.
        let needs_keys = |help: &str| {
            let mut quoted = help.split('`').skip(1).step_by(2);
            quoted.any(|it| it.contains(" = ") || it.starts_with("[["))
        };
        match help.rsplit_once(", or ") {
            _ if !needs_pgmeter(help) && !needs_keys(help) => help.to_owned(),
            // The other alternative is enough.
            Some((first, _)) if !needs_pgmeter(first) && !needs_keys(first) => first.to_owned(),
            _ if help == DIRECTORY_HELP => match directory_option(self.usage) {
                Some(option) => format!("name a directory with `{option}`"),
                None => "name a directory".to_owned(),
            },
            _ if needs_keys(help) => format!("in a workload file of pgmeter, {help}"),
            _ => format!("with `pgmeter run`, {help}"),
        }
    }

    /// The program's own refusal of its arguments. The exit code is 1, or 0 if the message is empty
    /// because only the usage was requested.
    #[must_use]
    pub fn refusal(&self, message: String) -> Refusal {
        let message = with_letter(self.usage, &message).unwrap_or(message);
        // The list of all options would hide the message.
        let usage = match message.as_str() {
            "" => self.usage,
            text if text.contains("; ") => "",
            text => relevant_lines(self.usage, text),
        };
        Refusal {
            exit_code: u8::from(!message.is_empty()),
            message,
            usage,
        }
    }

    /// The text of a run. Control characters from outside are shown instead of obeyed, but files
    /// that the arguments name keep their exact names.
    #[must_use]
    pub fn text_of(&self, origin: &FrontOrigin) -> Box<dyn ClassicText> {
        harmless(self.text, origin)
    }
}

/// A text that shows control characters instead of obeying them.
pub fn harmless(
    text: fn(&FrontOrigin) -> Box<dyn ClassicText>,
    origin: &FrontOrigin,
) -> Box<dyn ClassicText> {
    let escape = |argument: &String| units::printable(argument).into_owned();
    let harmless = FrontOrigin {
        name: origin.name.clone(),
        arguments: origin.arguments.iter().map(escape).collect(),
    };
    Box::new(EscapedText {
        shown: text(&harmless),
        exact: text(origin),
    })
}
