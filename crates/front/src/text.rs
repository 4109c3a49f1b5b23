//! Output of other programs, written from records.

use plan::FrontOrigin;
use plan::program::Program;
use results::{CellRecord, RunEvent, RunRecord};

/// The output of another program for a run.
pub trait ClassicText {
    /// Text to print when the event happens; mostly empty.
    fn event(&mut self, _event: &RunEvent) -> String {
        String::new()
    }

    /// Text to print on standard error when the event happens; mostly empty.
    fn error_text(&mut self, _event: &RunEvent) -> String {
        String::new()
    }

    /// Text to print at the end, from the record alone: everything that `event` did not print.
    fn end(&mut self, record: &RunRecord) -> String;

    /// `true` if the text goes to standard error.
    fn is_on_standard_error(&self) -> bool {
        false
    }

    /// A file to which the text of events is also appended. It is opened before anything is
    /// created.
    fn log_file(&self) -> Option<&str> {
        None
    }

    /// The part of a text just printed that is appended to the log file.
    fn logged(&self, printed: &str) -> String {
        printed.to_owned()
    }

    /// Exit code if nothing went wrong; `None` for pgmeter's own.
    fn exit_code(&self) -> Option<u8> {
        None
    }

    /// Files to write at the end, each with its text; existing files are replaced.
    fn documents(&mut self, _record: &RunRecord) -> Vec<(String, String)> {
        Vec::new()
    }

    /// `true` to create the missing directories of these files.
    fn makes_directories(&self) -> bool {
        false
    }

    /// The same for files that contain no text.
    fn binary_documents(&mut self, _record: &RunRecord) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }
}

/// Parsed arguments of a run, and the words they came from.
pub struct ParsedArguments<T> {
    /// The options that the front parsed.
    pub options: T,
    /// The original words.
    pub arguments: Vec<String>,
}

/// Prints a run at its end.
type Page<T> = fn(&ParsedArguments<T>, &RunRecord) -> String;
/// Returns the files to write at the end.
type Documents<T> = fn(&ParsedArguments<T>, &RunRecord) -> Vec<(String, String)>;

/// A text that is printed completely at the end.
struct AtEnd<T> {
    /// `None` if the arguments of a stored run are no longer understood.
    parsed: Option<ParsedArguments<T>>,
    page: Page<T>,
    documents: Documents<T>,
    makes_directories: bool,
}

/// A text that is printed at the end, from arguments that are parsed again.
pub fn at_end<T: 'static>(
    origin: &FrontOrigin,
    read: fn(&[String]) -> Result<T, String>,
    page: Page<T>,
) -> Box<dyn ClassicText> {
    at_end_with(origin, read, page, |_, _| Vec::new())
}

/// Same as [`at_end`], with files to write.
pub fn at_end_with<T: 'static>(
    origin: &FrontOrigin,
    read: fn(&[String]) -> Result<T, String>,
    page: Page<T>,
    documents: Documents<T>,
) -> Box<dyn ClassicText> {
    Box::new(AtEnd::new(origin, read, page, documents))
}

/// Same as [`at_end_with`], with files whose directories may be missing.
pub fn at_end_in_directories<T: 'static>(
    origin: &FrontOrigin,
    read: fn(&[String]) -> Result<T, String>,
    page: Page<T>,
    documents: Documents<T>,
) -> Box<dyn ClassicText> {
    Box::new(AtEnd {
        makes_directories: true,
        ..AtEnd::new(origin, read, page, documents)
    })
}

impl<T> AtEnd<T> {
    fn new(
        origin: &FrontOrigin,
        read: fn(&[String]) -> Result<T, String>,
        page: Page<T>,
        documents: Documents<T>,
    ) -> Self {
        // Arguments that were parsed for the run can be parsed again.
        let parsed = read(&origin.arguments).ok().map(|options| ParsedArguments {
            options,
            arguments: origin.arguments.clone(),
        });
        Self {
            parsed,
            page,
            documents,
            makes_directories: false,
        }
    }
}

impl<T> ClassicText for AtEnd<T> {
    fn end(&mut self, record: &RunRecord) -> String {
        let parsed = self.parsed.as_ref();
        parsed.map_or(String::new(), |parsed_line| {
            (self.page)(parsed_line, record)
        })
    }

    fn documents(&mut self, record: &RunRecord) -> Vec<(String, String)> {
        let parsed = self.parsed.as_ref();
        parsed.map_or(Vec::new(), |parsed_line| {
            (self.documents)(parsed_line, record)
        })
    }

    fn makes_directories(&self) -> bool {
        self.makes_directories
    }
}

/// A text that shows control characters instead of obeying them.
pub struct EscapedText {
    /// The text of arguments without control characters, which is printed.
    pub shown: Box<dyn ClassicText>,
    /// The text of the exact arguments, which names the files to write.
    pub exact: Box<dyn ClassicText>,
}

impl ClassicText for EscapedText {
    fn event(&mut self, event: &RunEvent) -> String {
        // Documents may depend on events, so the exact text has to see them too.
        let _ = self.exact.event(event);
        units::printable_lines(&self.shown.event(event)).into_owned()
    }

    fn error_text(&mut self, event: &RunEvent) -> String {
        units::printable_lines(&self.shown.error_text(event)).into_owned()
    }

    fn end(&mut self, record: &RunRecord) -> String {
        units::printable_lines(&self.shown.end(record)).into_owned()
    }

    fn is_on_standard_error(&self) -> bool {
        self.exact.is_on_standard_error()
    }

    fn log_file(&self) -> Option<&str> {
        self.exact.log_file()
    }

    fn logged(&self, printed: &str) -> String {
        self.shown.logged(printed)
    }

    fn exit_code(&self) -> Option<u8> {
        self.shown.exit_code()
    }

    fn documents(&mut self, record: &RunRecord) -> Vec<(String, String)> {
        self.exact.documents(record)
    }

    fn makes_directories(&self) -> bool {
        self.exact.makes_directories()
    }

    fn binary_documents(&mut self, record: &RunRecord) -> Vec<(String, Vec<u8>)> {
        self.exact.binary_documents(record)
    }
}

/// Output of another program for a run of its table, without arguments.
pub struct TableText {
    /// Title of the table in results.
    pub title: &'static str,
    /// The text of a cell's phases; `None` if it needs results that were not measured.
    pub text: fn(&RunRecord, &Program, &[&CellRecord]) -> Option<String>,
}
