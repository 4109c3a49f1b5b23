//! Destinations of a run's record: requested files, standard output and the page.

use std::path::{Path, PathBuf};

use report::{Format, Page, ShownRepetitions, VerdictPosition, render, render_text};
use results::RunRecord;
use run::Finished;

use crate::args::{PageArgs, RunArgs};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::finished::{spill_record, warn_not_stored};
use crate::format::repetitions;
use crate::output::{OutputFile, OverwritePolicy, is_stdout};
use crate::pages::ReportDirectory;
use crate::stored::StoreLocation;
use crate::terminal::{OutputStream, StandardOutput, eprint_document, print, print_document};

/// The requested documents.
pub(super) struct Outputs<'a> {
    page: &'a PageArgs,
    files: Vec<(OutputFile, Format)>,
    /// Format of the document on standard output; `None` if the results go there.
    stdout: Option<Format>,
    /// Report directory for an automatic page; `None` if no such page is wanted.
    reports: Option<ReportDirectory>,
    /// Absolute path of the page given by `--html`.
    named_page: Option<PathBuf>,
    is_quiet: bool,
    repetitions: ShownRepetitions,
    /// `true` if the run is to be stored.
    is_to_store: bool,
}

/// Result of writing the outputs of one run.
#[derive(Debug, Default)]
struct WrittenOutputs {
    /// `true` if one of them holds the whole record.
    has_record: bool,
    /// `true` if the page given by `--html` was written.
    has_page: bool,
    /// `true` if a requested output could not be written.
    has_failed: bool,
    /// Directories of files that could not be written.
    directories: Vec<PathBuf>,
}

impl WrittenOutputs {
    /// Registers the result of an output, and prints its error.
    fn note(&mut self, format: Format, written: Result<(), CliError>) {
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
    /// Opens the output files, so that a mistake is reported before hours of measuring.
    pub fn open(args: &'a RunArgs, location: &StoreLocation) -> Result<Self, CliError> {
        // Before any file is created, so that no file of the user is replaced by mistake.
        args.json.refuse_unintended_file()?;
        let requested: [(&str, &Option<PathBuf>, Format); 3] = [
            ("--json", &args.json.file, Format::Json),
            ("--csv", &args.csv, Format::IometerCsv),
            ("--html", &args.page.html, Format::Html),
        ];
        let mut outputs = Self {
            files: Vec::new(),
            stdout: None,
            page: &args.page,
            reports: args.page.reports(location),
            named_page: None,
            is_quiet: args.quiet,
            repetitions: repetitions(args.all),
            is_to_store: !args.no_db,
        };
        let mut first = None;
        for (option, path, format) in requested {
            let Some(path) = path else { continue };
            if !is_stdout(path) {
                let file = OutputFile::create(path, OverwritePolicy::Replace)?;
                if format == Format::Html {
                    // The message and the browser need a path that does not depend on the current
                    // directory.
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
                return Err(CliError::new(Exit::Usage, message, help));
            }
            outputs.stdout = Some(format);
        }
        Ok(outputs)
    }

    /// Prints the results and writes the requested outputs. An error in one does not prevent the
    /// others. Results go to standard error if a document occupies standard output. Once a run has
    /// begun, its record is saved somewhere in any case. Returns `true` if everything was written
    /// and stored.
    pub fn write(self, finished: &Finished) -> bool {
        let (record, began) = (&finished.record, finished.has_begun());
        let document = |format| OutputText::report(format, render(record, format, Page::PLAIN));
        let mut written = WrittenOutputs::default();
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
        warn_not_stored(finished);
        let is_lost = finished.not_stored.is_some();
        let is_stored = self.is_to_store && !is_lost;
        let is_wanted = written.has_failed || is_lost;
        // A record in the store or in a requested file is not lost.
        if began && is_wanted && !is_stored && !written.has_record {
            spill_record(record, written.directories, output);
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
            print_page_path(&page, output, self.is_quiet);
            self.page.show(&page);
        }
        !written.has_failed && !is_lost
    }

    /// Prints the results as text.
    fn show(&self, record: &RunRecord, written: &mut WrittenOutputs) {
        let text = |page| {
            OutputText::Prose(render_text(
                record,
                self.repetitions,
                VerdictPosition::Last,
                page,
            ))
        };
        if self.stdout.is_some() {
            if !self.is_quiet {
                eprint_document(&text(OutputStream::Error.page()));
            }
            return;
        }
        let printed = print_document(&text(OutputStream::Output.page()));
        // The user should see the results of a long run in any case.
        if printed.is_err() {
            eprint_document(&text(OutputStream::Error.page()));
        }
        written.note(Format::Text, printed);
    }
}

/// Writes the automatic page to the report directory. An error is only a warning, because the user
/// did not request this page.
fn write_page(record: &RunRecord, reports: &ReportDirectory) -> Option<PathBuf> {
    let page = OutputText::Prose(render(record, Format::Html, Page::PLAIN));
    reports.write_or_warn(&format!("pgmeter-{}.html", record.id), &page)
}

fn print_page_path(page: &Path, output: StandardOutput, is_quiet: bool) {
    let line = format!("\nreport: {}\n", page.display());
    match output {
        // If standard output failed, that is already reported.
        StandardOutput::Free => drop(print(line)),
        StandardOutput::Taken if is_quiet => {}
        StandardOutput::Taken => tell_text!("{line}"),
    }
}
