//! Where the record of a run goes: the files that were asked for, standard output, and the page.

use std::path::{Path, PathBuf};

use report::{Format, Page, Repetitions, render, render_text};
use results::RunRecord;
use run::Finished;

use crate::args::{PageArgs, RunArgs};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::finished::{rescue, tell_not_stored};
use crate::format::repetitions;
use crate::output::{Existing, OutputFile, is_stdout};
use crate::pages::Reports;
use crate::stored::Place;
use crate::terminal::{StandardOutput, Stream, print, print_document, tell_document};

/// The documents that were asked for.
pub(super) struct Outputs<'a> {
    page: &'a PageArgs,
    files: Vec<(OutputFile, Format)>,
    /// The document that standard output is for.
    stdout: Option<Format>,
    /// Where the page goes that nobody named, if there is to be one.
    reports: Option<Reports>,
    /// The page that was named, from the root.
    named_page: Option<PathBuf>,
    is_quiet: bool,
    repetitions: Repetitions,
    /// Whether the run is to be stored.
    is_to_store: bool,
}

/// What became of the outputs of one run.
#[derive(Debug, Default)]
struct Written {
    /// Whether the whole record is in one of them.
    has_record: bool,
    /// Whether the page that was named is there.
    has_page: bool,
    /// Whether one of those that were asked for could not be written.
    has_failed: bool,
    /// The directories of files that could not be written.
    directories: Vec<PathBuf>,
}

impl Written {
    /// Takes note of an output, and says why it failed.
    fn note(&mut self, format: Format, written: Result<(), Failure>) {
        match written {
            Ok(()) => {
                self.has_record |= format == Format::Json;
                self.has_page |= format == Format::Html;
            }
            Err(failure) => {
                failure.print();
                self.has_failed = true;
            }
        }
    }
}

impl<'a> Outputs<'a> {
    /// Opens the files, so that a mistake is told before hours are spent.
    pub fn open(args: &'a RunArgs, place: &Place) -> Result<Self, Failure> {
        args.json.refuse_other_words()?;
        let asked: [(&str, &Option<PathBuf>, Format); 3] = [
            ("--json", &args.json.file, Format::Json),
            ("--csv", &args.csv, Format::IometerCsv),
            ("--html", &args.page.html, Format::Html),
        ];
        let mut outputs = Self {
            files: Vec::new(),
            stdout: None,
            page: &args.page,
            reports: args.page.reports(place),
            named_page: None,
            is_quiet: args.quiet,
            repetitions: repetitions(args.all),
            is_to_store: !args.no_db,
        };
        let mut first = None;
        for (option, path, format) in asked {
            let Some(path) = path else { continue };
            if !is_stdout(path) {
                let file = OutputFile::create(path, Existing::Replace)?;
                if format == Format::Html {
                    outputs.named_page = std::path::absolute(path).ok();
                }
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
    /// has begun is somewhere afterwards. Returns whether all could be written and stored.
    pub fn write(self, finished: &Finished) -> bool {
        let (record, began) = (&finished.record, finished.has_begun());
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
        tell_not_stored(finished);
        let is_lost = finished.not_stored.is_some();
        let is_stored = self.is_to_store && !is_lost;
        let is_wanted = written.has_failed || is_lost;
        if began && is_wanted && !is_stored && !written.has_record {
            rescue(record, written.directories, output);
        } else if began && written.has_failed && is_stored && !written.has_record {
            tell!(
                "the record is in the results store: `pgmeter show {}`",
                record.id
            );
        }
        let page = match &self.reports {
            Some(reports) if began => write_page(record, reports),
            _ => self.named_page.filter(|_| written.has_page),
        };
        if let Some(page) = page {
            tell_of(&page, output, self.is_quiet);
            self.page.show(&page);
        }
        !written.has_failed && !is_lost
    }

    /// Shows the results to people.
    fn show(&self, record: &RunRecord, written: &mut Written) {
        let text = |page| Document::Prose(render_text(record, self.repetitions, page));
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

/// Writes the page among the reports. Nobody asked for it, so it is no failure of the run when it
/// cannot be written.
fn write_page(record: &RunRecord, reports: &Reports) -> Option<PathBuf> {
    let page = Document::Prose(render(record, Format::Html, Page::PLAIN));
    reports.write_or_warn(&format!("pgmeter-{}.html", record.id), &page)
}

/// Says where the page is.
fn tell_of(page: &Path, output: StandardOutput, is_quiet: bool) {
    let said = format!("\nreport: {}\n", page.display());
    match output {
        // That it cannot be written to is told by now.
        StandardOutput::Free => drop(print(said)),
        StandardOutput::Taken if is_quiet => {}
        StandardOutput::Taken => tell_text!("{said}"),
    }
}
