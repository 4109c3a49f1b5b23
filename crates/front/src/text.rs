//! What other programs print, from records.

use plan::FrontOrigin;
use plan::program::Program;
use results::{CellRecord, RunEvent, RunRecord};

/// What another program prints of a run.
pub trait ClassicText {
    /// What is printed when that happens; mostly nothing.
    fn event(&mut self, _event: &RunEvent) -> String {
        String::new()
    }

    /// What is said to standard error when that happens, besides; mostly nothing.
    fn complaint(&mut self, _event: &RunEvent) -> String {
        String::new()
    }

    /// What is printed at the end: all that was not printed as it happened, from the record alone.
    fn end(&mut self, record: &RunRecord) -> String;

    /// Whether it goes to standard error.
    fn is_on_standard_error(&self) -> bool {
        false
    }

    /// A file that what is printed as it happens is appended to as well; it is opened before
    /// anything is made.
    fn log_file(&self) -> Option<&str> {
        None
    }

    /// What of a text that was just printed is appended there.
    fn logged(&self, printed: &str) -> String {
        printed.to_owned()
    }

    /// How the program ends where nothing went wrong; as pgmeter does, where it is none.
    fn exit_code(&self) -> Option<u8> {
        None
    }

    /// Files that are written at the end, each with its text; those that are there are replaced.
    fn documents(&mut self, _record: &RunRecord) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// What the arguments of a run asked for.
pub struct Asked<T> {
    /// As the front understands them.
    pub options: T,
    /// As they were written.
    pub arguments: Vec<String>,
}

/// What is printed of a run at its end.
type Page<T> = fn(&Asked<T>, &RunRecord) -> String;
/// The files that are written then.
type Documents<T> = fn(&Asked<T>, &RunRecord) -> Vec<(String, String)>;

/// A text that is printed at the end, all at once.
struct AtEnd<T> {
    /// None of arguments that nobody understands any more.
    asked: Option<Asked<T>>,
    page: Page<T>,
    documents: Documents<T>,
}

/// A text that is printed at the end, of arguments that are read once more.
pub fn at_end<T: 'static>(
    origin: &FrontOrigin,
    read: fn(&[String]) -> Result<T, String>,
    page: Page<T>,
) -> Box<dyn ClassicText> {
    at_end_with(origin, read, page, |_, _| Vec::new())
}

/// The same with files.
pub fn at_end_with<T: 'static>(
    origin: &FrontOrigin,
    read: fn(&[String]) -> Result<T, String>,
    page: Page<T>,
    documents: Documents<T>,
) -> Box<dyn ClassicText> {
    // What was read for the run can be read again.
    let asked = read(&origin.arguments).ok().map(|options| Asked {
        options,
        arguments: origin.arguments.clone(),
    });
    Box::new(AtEnd {
        asked,
        page,
        documents,
    })
}

impl<T> ClassicText for AtEnd<T> {
    fn end(&mut self, record: &RunRecord) -> String {
        let asked = self.asked.as_ref();
        asked.map_or(String::new(), |asked| (self.page)(asked, record))
    }

    fn documents(&mut self, record: &RunRecord) -> Vec<(String, String)> {
        let asked = self.asked.as_ref();
        asked.map_or(Vec::new(), |asked| (self.documents)(asked, record))
    }
}

/// A text in which control characters are shown instead of obeyed.
pub struct HarmlessText {
    /// Of arguments without such characters: what is printed.
    pub shown: Box<dyn ClassicText>,
    /// Of the arguments as they are: which files are written.
    pub exact: Box<dyn ClassicText>,
}

impl ClassicText for HarmlessText {
    fn event(&mut self, event: &RunEvent) -> String {
        // Files may tell what happened on the way, too.
        let _ = self.exact.event(event);
        units::printable_lines(&self.shown.event(event)).into_owned()
    }

    fn complaint(&mut self, event: &RunEvent) -> String {
        units::printable_lines(&self.shown.complaint(event)).into_owned()
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
}

/// What another program prints of a run of its table, of which it has no arguments.
pub struct TableText {
    /// What stands for the table in results.
    pub title: &'static str,
    /// The text of a cell's phases; none where figures of it were not measured.
    pub text: fn(&RunRecord, &Program, &[&CellRecord]) -> Option<String>,
}
