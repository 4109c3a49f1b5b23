//! Where the record of a run goes: the files that were asked for, standard output, and the page.

use std::path::PathBuf;

use report::{Format, render};
use results::RunRecord;

use crate::args::RunArgs;
use crate::failure::{Exit, Failure};
use crate::output::{OutputFile, is_stdout, page, print};

/// The documents that were asked for.
pub(super) struct Outputs {
    files: Vec<(OutputFile, Format)>,
    /// The document that standard output is for.
    stdout: Option<Format>,
    /// Whether a page is written that nobody named.
    has_own_page: bool,
    is_quiet: bool,
}

impl Outputs {
    /// Opens the files, so that a mistake is told before hours are spent.
    pub fn open(args: &RunArgs) -> Result<Self, Failure> {
        let asked: [(&str, &Option<PathBuf>, Format); 3] = [
            ("--json", &args.json, Format::Json),
            ("--csv", &args.csv, Format::IometerCsv),
            ("--html", &args.html, Format::Html),
        ];
        let mut outputs = Self {
            files: Vec::new(),
            stdout: None,
            has_own_page: !args.no_html && args.html.is_none(),
            is_quiet: args.quiet,
        };
        let mut first = None;
        for (option, path, format) in asked {
            let Some(path) = path else { continue };
            if !is_stdout(path) {
                outputs.files.push((OutputFile::create(path)?, format));
                continue;
            }
            if let Some(first) = first.replace(option) {
                let message = format!("`{first} -` and `{option} -` both want standard output");
                let help = Some("give one of them a file name".to_owned());
                return Err(Failure::new(Exit::Usage, message, help));
            }
            outputs.stdout = Some(format);
        }
        Ok(outputs)
    }

    /// Writes the files and prints the results; where a document was asked for on standard
    /// output, the results go to standard error.
    pub fn write(self, record: &RunRecord, began: bool) -> Result<(), Failure> {
        let text = |format, page| render(record, format, page);
        let plain = |format| text(format, page(&std::io::stderr()));
        for (file, format) in self.files {
            file.finish(&plain(format))?;
        }
        if let Some(format) = self.stdout {
            print(&plain(format))?;
        } else if began {
            print(&text(Format::Text, page(&std::io::stdout())))?;
        }
        if began && self.stdout.is_some() && !self.is_quiet {
            tell_text!("{}", plain(Format::Text));
        }
        if !(began && self.has_own_page) {
            return Ok(());
        }
        let Some(path) = write_page(record) else {
            return Ok(());
        };
        let said = format!("\nreport: {}\n", path.display());
        match self.stdout {
            None => print(&said)?,
            Some(_) if self.is_quiet => {}
            Some(_) => tell_text!("{said}"),
        }
        Ok(())
    }
}

/// Writes the page into the current directory and returns its path. Nobody asked for it, so it is
/// no failure of the run when it cannot be written.
fn write_page(record: &RunRecord) -> Option<PathBuf> {
    let path = PathBuf::from(format!("pgmeter-{}.html", record.id));
    let text = render(record, Format::Html, page(&std::io::stderr()));
    match OutputFile::create(&path).and_then(|file| file.finish(&text)) {
        Ok(()) => Some(path),
        Err(failure) => {
            tell!("note: there is no page of this run; `--no-html` asks for none");
            failure.print();
            None
        }
    }
}
