//! Where the JSON of a command goes: nowhere, to standard output, or into a file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use units::{JsonDocument, printable};

use crate::args::{JsonArg, RecordJsonArg};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::output::{Existing, OutputFile, is_stdout};
use crate::stored::names_a_run;
use crate::terminal::{StandardOutput, print_document};

/// So much of a file tells whether it is JSON.
const BEGINNING_BYTES: u64 = 64;

/// Where the JSON of a command goes.
#[derive(Debug)]
pub(crate) enum JsonOutput {
    /// Nobody asked for it.
    Nowhere,
    /// It is all that standard output holds.
    Stdout,
    /// Into a file, beside the text on standard output.
    File(OutputFile),
}

impl JsonArg {
    /// Opens the file, so that a mistake is told before anything is done.
    pub fn open(&self) -> Result<JsonOutput, Failure> {
        JsonOutput::open(self.file.as_deref())
    }
}

impl RecordJsonArg {
    /// Opens the file, so that a mistake is told before hours are spent.
    pub fn open(&self) -> Result<JsonOutput, Failure> {
        self.refuse_other_words()?;
        JsonOutput::open(self.file.as_deref())
    }

    /// What standard output is for.
    pub fn stdout(&self) -> StandardOutput {
        match self.file.as_deref().is_some_and(is_stdout) {
            true => StandardOutput::Taken,
            false => StandardOutput::Free,
        }
    }

    /// Refuses a word behind `--json` that was hardly meant as its file: it would be left out of
    /// what is measured, and a file of the user's would be lost.
    pub fn refuse_other_words(&self) -> Result<(), Failure> {
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
            return Err(Failure::new(Exit::Usage, message, Some(help)));
        }
        if is_something_else(path) {
            let message = format!("`--json {shown}` would replace a file that is not JSON");
            let help = format!(
                "to use it as a workload, write `{shown} --json`; to write JSON, name another file"
            );
            return Err(Failure::new(Exit::Usage, message, Some(help)));
        }
        Ok(())
    }
}

/// Whether that is a file with something in it that neither is JSON nor is called so.
fn is_something_else(path: &Path) -> bool {
    if !path.is_file() || path.extension().is_some_and(|ending| ending == "json") {
        return false;
    }
    let mut beginning = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(BEGINNING_BYTES).read_to_end(&mut beginning));
    let first = beginning.trim_ascii_start().first();
    read.is_ok() && first.is_some_and(|byte| !matches!(byte, b'{' | b'['))
}

impl JsonOutput {
    fn open(asked: Option<&Path>) -> Result<Self, Failure> {
        Ok(match asked {
            None => Self::Nowhere,
            Some(path) if is_stdout(path) => Self::Stdout,
            Some(path) => Self::File(OutputFile::create(path, Existing::Replace)?),
        })
    }

    /// Whether nothing else may be on standard output.
    pub const fn takes_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// What standard output is for.
    pub const fn stdout(&self) -> StandardOutput {
        match self.takes_stdout() {
            true => StandardOutput::Taken,
            false => StandardOutput::Free,
        }
    }

    /// Whether text that is asked for in `output` has a place, which is standard output where there
    /// is none; an error where both want that by name.
    pub fn leaves_place_for(&self, output: Option<&Path>) -> Result<bool, Failure> {
        match output {
            _ if !self.takes_stdout() => Ok(true),
            None => Ok(false),
            Some(path) if is_stdout(path) => {
                let message = "`--json` and `--output -` cannot both use standard output";
                let help = Some("give one of them the name of a file".to_owned());
                Err(Failure::new(Exit::Usage, message, help))
            }
            Some(_) => Ok(true),
        }
    }

    /// Writes the document where it is wanted.
    pub fn write(self, document: &impl JsonDocument) -> Result<(), Failure> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Stdout => print_document(&Document::Json(document.to_document())),
            Self::File(file) => file.finish(&Document::Json(document.to_document())),
        }
    }

    /// Writes the document where it is wanted, and prints the text where standard output is free.
    pub fn give(
        self,
        document: &impl JsonDocument,
        text: impl FnOnce() -> Document,
    ) -> Result<(), Failure> {
        let printed = match self.takes_stdout() {
            true => Ok(()),
            false => print_document(&text()),
        };
        let written = self.write(document);
        printed.and(written)
    }
}
