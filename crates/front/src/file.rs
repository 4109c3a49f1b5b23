//! Workload files and their kinds.

use plan::Diagnostic;

use crate::command_line::CommandLine;
use crate::work::FrontWork;

/// The help for errors about a file that holds no workload.
pub(crate) const NO_WORKLOAD_HELP: &str =
    "name a workload file, or choose a workload from `pgmeter list`";

/// A kind of workload file.
#[derive(Debug)]
pub struct FileFront {
    /// The word that `--as` takes; a front's own name if the front also takes arguments.
    pub name: &'static str,
    /// Name of the kind in messages, such as `filebench workload`.
    pub kind: &'static str,
    /// `true` if the first bytes of the content look like this kind.
    pub detect: fn(&[u8]) -> bool,
    /// File name endings that only this kind has, whatever the content; mostly empty.
    pub extensions: &'static [&'static str],
    /// Reads a file into work.
    pub read: fn(&FrontFile<'_>) -> Result<FrontWork, Diagnostic>,
}

/// No two kinds have the same name.
impl PartialEq for FileFront {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl FileFront {
    /// Reads a file of this kind into work.
    ///
    /// # Errors
    /// The first mistake in the file, or the first statement that pgmeter refuses.
    pub fn read(&self, file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
        // A front may read its file again by name, and text from a page is in no file.
        let files = file.context.files.of_text(file.name, file.bytes);
        let file = FrontFile {
            context: CommandLine {
                files,
                ..file.context
            },
            ..*file
        };
        // Messages may quote other files, whose content a page must not show.
        let mut work = (self.read)(&file).map_err(|error| files.redact_diagnostic(error))?;
        let notes = work.differences.iter_mut().map(|it| &mut it.note);
        let sentences = work.warnings.iter_mut().chain(notes);
        sentences.for_each(|sentence| files.redact_sentence(sentence));
        let findings = work.findings.into_iter();
        work.findings = findings.map(|it| files.redact_diagnostic(it)).collect();
        Ok(work.signed(self.name, &[file.name.to_owned()]))
    }
}

/// How a workload file is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// Read the file as this kind, whatever its content; `None` to detect the kind.
    pub kind: Option<&'static FileFront>,
    /// Refuse everything that the format's own program refuses.
    pub strict: bool,
    /// `true` if the user gives a target. It replaces locations in the file that may not be used
    /// otherwise.
    pub has_target: bool,
}

/// A workload file.
#[derive(Clone, Copy)]
pub struct FrontFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// Other files, variables and the machine that the file may refer to. There are no arguments.
    pub context: CommandLine<'a>,
    /// Options for reading it.
    pub options: LoadOptions,
}

impl<'a> FrontFile<'a> {
    /// A file that cannot refer to other files, on a machine of which nothing is known.
    #[must_use]
    pub fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        Self {
            name,
            bytes,
            context: CommandLine::of(&[]),
            options: LoadOptions::default(),
        }
    }

    /// Refuses an empty file.
    ///
    /// # Errors
    /// The file is empty.
    pub(crate) fn refuse_empty(&self) -> Result<(), Diagnostic> {
        match self.bytes.is_empty() {
            true => Err(Diagnostic::error(self.name, "the file is empty").help(NO_WORKLOAD_HELP)),
            false => Ok(()),
        }
    }
}
