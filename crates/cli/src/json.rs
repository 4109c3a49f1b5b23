//! Destination of a command's JSON document.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use units::{JsonDocument, printable};

use crate::args::{JsonArg, RecordJsonArg};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::{OutputFile, OverwritePolicy, is_stdout};
use crate::pager::print_paged;
use crate::stored::names_a_run;
use crate::terminal::{StandardOutput, print_document};

/// Number of bytes read from a file to recognize JSON.
const SNIFF_BYTES: u64 = 64;

/// Destination of a command's JSON document.
#[derive(Debug)]
pub(crate) enum JsonOutput {
    /// No document was requested.
    None,
    /// Standard output, which then has nothing else.
    Stdout,
    /// A file, in addition to the text on standard output.
    File(OutputFile),
}

impl JsonArg {
    /// Opens the file, so that a mistake is reported before the command does anything.
    pub fn open(&self) -> Result<JsonOutput, CliError> {
        JsonOutput::open(self.file.as_deref())
    }
}

impl RecordJsonArg {
    /// Opens the file, so that a mistake is reported before hours of measuring.
    pub fn open(&self) -> Result<JsonOutput, CliError> {
        self.refuse_unintended_file()?;
        JsonOutput::open(self.file.as_deref())
    }

    /// Returns the use of standard output.
    pub fn stdout(&self) -> StandardOutput {
        match self.file.as_deref().is_some_and(is_stdout) {
            true => StandardOutput::Taken,
            false => StandardOutput::Free,
        }
    }

    /// Refuses an argument after `--json` that probably was not meant as its file. Otherwise the
    /// run would ignore it, and could overwrite a file of the user.
    pub fn refuse_unintended_file(&self) -> Result<(), CliError> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let name = path.to_string_lossy();
        let shown = printable(&name);
        let is_name = description::builtin::find(&name).is_ok() || names_a_run(&name);
        if is_name {
            let message = format!("`--json {shown}` would write the record to a file `{shown}`");
            let help = format!(
                "to name a workload or run, write `{shown} --json`; to write that file, \
                 `--json=./{shown}`"
            );
            return Err(CliError::new(Exit::Usage, message, Some(help)));
        }
        if is_non_json_file(path) {
            let message = format!("`--json {shown}` would replace a file that is not JSON");
            let help = format!(
                "to use it as a workload, write `{shown} --json`; to write JSON, name another file"
            );
            return Err(CliError::new(Exit::Usage, message, Some(help)));
        }
        Ok(())
    }
}

/// Returns `true` if the path is a file that neither contains JSON nor has the extension `.json`.
fn is_non_json_file(path: &Path) -> bool {
    if !path.is_file() || path.extension().is_some_and(|ending| ending == "json") {
        return false;
    }
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SNIFF_BYTES).read_to_end(&mut beginning));
    let first = beginning.trim_ascii_start().first();
    // An empty file has no contents to lose.
    read.is_ok() && first.is_some_and(|byte| !matches!(byte, b'{' | b'['))
}

impl JsonOutput {
    fn open(requested: Option<&Path>) -> Result<Self, CliError> {
        Ok(match requested {
            None => Self::None,
            Some(path) if is_stdout(path) => Self::Stdout,
            Some(path) => Self::File(OutputFile::create(path, OverwritePolicy::Replace)?),
        })
    }

    /// Returns `true` if the document takes standard output.
    pub const fn takes_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Returns the use of standard output.
    pub const fn stdout(&self) -> StandardOutput {
        match self.takes_stdout() {
            true => StandardOutput::Taken,
            false => StandardOutput::Free,
        }
    }

    /// Returns `true` if the text has a destination: `output`, or else standard output. It is an
    /// error if text and document both request standard output.
    pub fn has_destination_for_text(&self, output: Option<&Path>) -> Result<bool, CliError> {
        match output {
            _ if !self.takes_stdout() => Ok(true),
            None => Ok(false),
            Some(path) if is_stdout(path) => {
                let message = "`--json` and `--output -` cannot both use standard output";
                let help = Some("give one of them the name of a file".to_owned());
                Err(CliError::new(Exit::Usage, message, help))
            }
            Some(_) => Ok(true),
        }
    }

    /// Writes the document to its destination.
    pub fn write(self, document: &impl JsonDocument) -> Result<(), CliError> {
        match self {
            Self::None => Ok(()),
            Self::Stdout => print_document(&OutputText::Json(document.to_document())),
            Self::File(file) => file.finish(&OutputText::Json(document.to_document())),
        }
    }

    /// Writes the document to its destination, and prints the text, through the pager if it is
    /// long, if standard output is free.
    pub fn give(
        self,
        document: &impl JsonDocument,
        text: impl FnOnce() -> OutputText,
    ) -> Result<(), CliError> {
        // The document is written even if printing fails, so the error is returned afterwards.
        let printed = match self.takes_stdout() {
            true => Ok(()),
            false => print_paged(&text()),
        };
        let written = self.write(document);
        printed.and(written)
    }
}
