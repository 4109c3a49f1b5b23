//! Where the record of a run goes: the files that were asked for, standard output, and the page.

use std::path::PathBuf;

use report::{Format, Page, render};
use results::RunRecord;

use crate::args::RunArgs;
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::keep::NotStored;
use crate::output::{Existing, OutputFile, is_stdout};
use crate::rescue::rescue;
use crate::terminal::{StandardOutput, Stream, print, print_document, tell_document};

/// The documents that were asked for.
pub(super) struct Outputs {
    files: Vec<(OutputFile, Format)>,
    /// The document that standard output is for.
    stdout: Option<Format>,
    /// Whether a page is written that nobody named.
    has_own_page: bool,
    is_quiet: bool,
    /// Whether the run is to be stored.
    is_to_store: bool,
}

/// What became of the outputs of one run.
#[derive(Debug, Default)]
struct Written {
    /// Whether the whole record is in one of them.
    has_record: bool,
    /// Whether one of those that were asked for could not be written.
    has_failed: bool,
    /// The directories of files that could not be written.
    directories: Vec<PathBuf>,
}

impl Written {
    /// Takes note of an output, and says why it failed.
    fn note(&mut self, format: Format, written: Result<(), Failure>) {
        match written {
            Ok(()) => self.has_record |= format == Format::Json,
            Err(failure) => {
                failure.print();
                self.has_failed = true;
            }
        }
    }
}

impl Outputs {
    /// Opens the files, so that a mistake is told before hours are spent.
    pub fn open(args: &RunArgs) -> Result<Self, Failure> {
        args.json.refuse_other_words()?;
        let asked: [(&str, &Option<PathBuf>, Format); 3] = [
            ("--json", &args.json.file, Format::Json),
            ("--csv", &args.csv, Format::IometerCsv),
            ("--html", &args.html, Format::Html),
        ];
        let mut outputs = Self {
            files: Vec::new(),
            stdout: None,
            has_own_page: !args.no_html && args.html.is_none(),
            is_quiet: args.quiet,
            is_to_store: !args.no_db,
        };
        let mut first = None;
        for (option, path, format) in asked {
            let Some(path) = path else { continue };
            if !is_stdout(path) {
                let file = OutputFile::create(path, Existing::Replace)?;
                outputs.files.push((file, format));
                continue;
            }
            if let Some(first) = first.replace(option) {
                let message = format!(
                    "`{first} -` and `{option} -` cannot both use standard \
                                       output"
                );
                let help = Some("give one of them a file name".to_owned());
                return Err(Failure::new(Exit::Usage, message, help));
            }
            outputs.stdout = Some(format);
        }
        Ok(outputs)
    }

    /// Prints the results and writes what was asked for, whatever of it fails; where a document was
    /// asked for on standard output, the results go to standard error. The record of a run that
    /// `began` is somewhere afterwards. Returns whether all could be written.
    pub fn write(self, record: &RunRecord, began: bool, not_stored: Option<&NotStored>) -> bool {
        let document = |format| Document::report(format, render(record, format, Page::PLAIN));
        let mut written = Written::default();
        if began {
            self.show(record, &mut written);
        }
        let output = match self.stdout {
            Some(format) => {
                written.note(format, print_document(&document(format)));
                StandardOutput::Taken
            }
            None => StandardOutput::Free,
        };
        for (file, format) in self.files {
            let directory = file.directory();
            let done = file.finish(&document(format));
            written
                .directories
                .extend(directory.filter(|_| done.is_err()));
            written.note(format, done);
        }
        if let Some(not_stored) = not_stored {
            not_stored.tell();
        }
        let is_stored = self.is_to_store && not_stored.is_none();
        let is_wanted = written.has_failed || not_stored.is_some();
        if began && is_wanted && !is_stored && !written.has_record {
            rescue(record, written.directories, output);
        } else if began && written.has_failed && is_stored && !written.has_record {
            tell!(
                "the record is in the results store: `pgmeter show {}`",
                record.id
            );
        }
        if began && self.has_own_page {
            write_page(record, output, self.is_quiet);
        }
        !written.has_failed
    }

    /// Shows the results to people.
    fn show(&self, record: &RunRecord, written: &mut Written) {
        let text = |page| Document::report(Format::Text, render(record, Format::Text, page));
        if self.stdout.is_some() {
            if !self.is_quiet {
                tell_document(&text(Stream::Error.page()));
            }
            return;
        }
        let printed = print_document(&text(Stream::Output.page()));
        if printed.is_err() {
            tell_document(&text(Stream::Error.page()));
        }
        written.note(Format::Text, printed);
    }
}

/// Writes the page into the current directory and says so. Nobody asked for it, so it is no failure
/// of the run when it cannot be written.
fn write_page(record: &RunRecord, output: StandardOutput, is_quiet: bool) {
    let path = PathBuf::from(format!("pgmeter-{}.html", record.id));
    let page = render(record, Format::Html, Page::PLAIN);
    let created = OutputFile::create(&path, Existing::Replace);
    if let Err(failure) = created.and_then(|file| file.finish(&Document::Prose(page))) {
        tell!("note: there is no page of this run; `--no-html` asks for none");
        return failure.print();
    }
    let said = format!("\nreport: {}\n", path.display());
    match output {
        // That it cannot be written to is told by now.
        StandardOutput::Free => drop(print(said)),
        StandardOutput::Taken if is_quiet => {}
        StandardOutput::Taken => tell_text!("{said}"),
    }
}
