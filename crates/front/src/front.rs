//! What a front is.

use description::classics::Refusal;
use plan::Diagnostic;
use plan::FrontOrigin;

use crate::command_line::CommandLine;
use crate::text::{ClassicText, HarmlessText};
use crate::work::{FrontFile, FrontWork};

/// Another program that is stood in for.
pub struct Front {
    /// The name of the program, of links to pgmeter, and of `as NAME`.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// Its name and version, in whose terms [differences](crate::Difference) are told.
    pub version: &'static str,
    /// What `--help` prints below the title, with a line break at its end.
    pub usage: &'static str,
    /// Arguments as work.
    pub arguments: fn(&CommandLine<'_>) -> Result<FrontWork, ArgumentError>,
    /// Files as work, where it has any.
    pub file: Option<FileFront>,
    /// The option that tells how many processes there are, where a launcher may start several.
    pub ranks: Option<&'static str>,
    /// What to do, in its own words, where direct I/O cannot be done; empty where it has none.
    pub without_direct: &'static str,
    /// Its text.
    pub text: fn(&FrontOrigin) -> Box<dyn ClassicText>,
}

/// How files of work are read.
pub struct FileFront {
    /// What such a file is called, as in `filebench workload`.
    pub kind: &'static str,
    /// Whether the content is such a file, by its beginning.
    pub detect: fn(&[u8]) -> bool,
    /// How names end that only such files have, whatever is in them; mostly none.
    pub endings: &'static [&'static str],
    /// The file as work.
    pub read: fn(&FrontFile<'_>) -> Result<FrontWork, Diagnostic>,
}

/// Why arguments are not taken.
#[derive(Debug)]
pub enum ArgumentError {
    /// What is wrong with them; empty if only the usage was asked for.
    Arguments(String),
    /// A file that they name is.
    File(Diagnostic),
    /// The same, and the program itself ends with that number then.
    Ended(Diagnostic, u8),
    /// The program itself ends so.
    Refused(Refusal),
    /// Only this is to be printed.
    Printed(String),
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
    /// What the arguments stand for.
    ///
    /// # Errors
    /// What the program does not know, or we cannot do.
    pub fn work(&self, line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
        let work = (self.arguments)(line)?;
        Ok(work.signed(self.name, line.arguments))
    }

    /// A help of ours in words that its users can follow: it has no options of `pgmeter run`.
    #[must_use]
    pub fn own_help(&self, help: &str) -> String {
        if help.contains("--cache buffered") && !self.without_direct.is_empty() {
            return self.without_direct.to_owned();
        }
        let quoted = help.split('`').skip(1).step_by(2);
        let mut options = quoted.filter_map(|it| it.split([' ', '=']).next());
        let is_ours = |it: &str| it.starts_with("--") && !self.usage.contains(it);
        match options.any(is_ours) {
            true => format!("with `pgmeter run`, {help}"),
            false => help.to_owned(),
        }
    }

    /// How the program itself says what is wrong with its arguments: by its usage, and by 1 unless
    /// only that was asked for.
    #[must_use]
    pub fn refusal(&self, message: String) -> Refusal {
        Refusal {
            exit_code: u8::from(!message.is_empty()),
            message,
            usage: self.usage,
        }
    }

    /// Its text of a run, in which nothing that came from outside controls a terminal; files that
    /// the arguments name keep their names.
    #[must_use]
    pub fn text_of(&self, origin: &FrontOrigin) -> Box<dyn ClassicText> {
        harmless(self.text, origin)
    }

    /// What one of its files stands for, by the reader of that kind.
    ///
    /// # Errors
    /// The first mistake of the file, or the first thing in it that is refused.
    pub fn read(&self, reader: &FileFront, file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
        let files = file.around.files.of_text(file.name, file.bytes);
        let file = FrontFile {
            around: CommandLine {
                files,
                ..file.around
            },
            ..*file
        };
        let mut work = (reader.read)(&file).map_err(|error| files.without_others(error))?;
        let notes = work.differences.iter_mut().map(|it| &mut it.note);
        let sentences = work.warnings.iter_mut().chain(notes);
        sentences.for_each(|sentence| files.hide_others(sentence));
        Ok(work.signed(self.name, &[file.name.to_owned()]))
    }
}

/// A text in which control characters are shown instead of obeyed.
pub fn harmless(
    text: fn(&FrontOrigin) -> Box<dyn ClassicText>,
    origin: &FrontOrigin,
) -> Box<dyn ClassicText> {
    let shown = |argument: &String| units::printable(argument).into_owned();
    let harmless = FrontOrigin {
        name: origin.name.clone(),
        arguments: origin.arguments.iter().map(shown).collect(),
    };
    Box::new(HarmlessText {
        shown: text(&harmless),
        exact: text(origin),
    })
}
