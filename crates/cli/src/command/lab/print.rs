//! Printing the tables of `lab` and `paper`.

use report::{LineupFormat, Page, Styled};
use units::JsonDocument;

use crate::args::{LineupArg, TableArgs};
use crate::document::Document;
use crate::failure::Failure;
use crate::json::JsonOutput;
use crate::output::{page_of, try_new, write_measured};
use crate::terminal::{StandardOutput, Stream, tell_document};

impl TableArgs {
    /// Opens the files, so that a mistake is told before hours are spent.
    pub(crate) fn open(&self) -> Result<JsonOutput, Failure> {
        try_new(self.output.as_deref())?;
        let json = self.json.open()?;
        json.leaves_place_for(self.output.as_deref())?;
        Ok(json)
    }

    /// Prints a table where and as it was asked for, and writes the document; whatever of it fails,
    /// the other is written.
    pub(crate) fn print(
        &self,
        json: JsonOutput,
        document: &impl JsonDocument,
        render: impl FnOnce(LineupFormat, Page) -> Styled,
    ) -> Result<(), Failure> {
        let (output, format) = (self.output.as_deref(), self.format.format());
        let stdout = json.stdout();
        let printed = match (output, stdout) {
            (None, StandardOutput::Taken) if self.quiet => Ok(()),
            (None, StandardOutput::Taken) => {
                let text = render(format, Stream::Error.page());
                tell_document(&Document::lineup(format, text));
                Ok(())
            }
            _ => {
                let text = render(format, page_of(output));
                write_measured(output, &Document::lineup(format, text), stdout)
            }
        };
        let written = json.write(document);
        printed.and(written)
    }
}

impl LineupArg {
    /// The form of the table.
    pub(crate) const fn format(self) -> LineupFormat {
        match self {
            Self::Text => LineupFormat::Text,
            Self::Markdown => LineupFormat::Markdown,
            Self::Html => LineupFormat::Html,
            Self::Csv => LineupFormat::Csv,
        }
    }
}
