//! Printing the tables of `lab` and `paper`.

use report::{Page, Styled, TableFormat};
use units::JsonDocument;

use crate::args::{TableArgs, TableFormatArg};
use crate::document::Document;
use crate::failure::Failure;
use crate::format::of_output;
use crate::json::JsonOutput;
use crate::output::{page_of, try_new, write_measured};
use crate::terminal::{StandardOutput, Stream, tell_document};

impl TableArgs {
    /// Opens the files, so that a mistake is told before hours are spent.
    pub(crate) fn open(&self) -> Result<JsonOutput, Failure> {
        self.format()?;
        try_new(self.output.as_deref())?;
        let json = self.json.open()?;
        json.leaves_place_for(self.output.as_deref())?;
        Ok(json)
    }

    /// The format that was asked for, or that the output's name tells.
    pub(crate) fn format(&self) -> Result<TableFormatArg, Failure> {
        of_output(self.format, self.output.as_deref())
    }

    /// Prints a table where and as it was asked for, and writes the document; whatever of it fails,
    /// the other is written.
    pub(crate) fn print(
        &self,
        json: JsonOutput,
        document: &impl JsonDocument,
        render: impl FnOnce(TableFormat, Page) -> Styled,
    ) -> Result<(), Failure> {
        let output = self.output.as_deref();
        let stdout = json.stdout();
        let in_form = |page| -> Result<Document, Failure> {
            Ok(match self.format()?.format() {
                Some(format) => Document::side_by_side(format, render(format, page)),
                None => Document::Json(document.to_document()),
            })
        };
        let printed = match (output, stdout) {
            (None, StandardOutput::Taken) if self.quiet => Ok(()),
            (None, StandardOutput::Taken) => {
                in_form(Stream::Error.page()).map(|text| tell_document(&text))
            }
            _ => in_form(page_of(output)).and_then(|text| write_measured(output, &text, stdout)),
        };
        let written = json.write(document);
        printed.and(written)
    }
}

impl TableFormatArg {
    /// The form of the table; none where it is not a table.
    pub(crate) const fn format(self) -> Option<TableFormat> {
        match self {
            Self::Text => Some(TableFormat::Text),
            Self::Markdown => Some(TableFormat::Markdown),
            Self::Html => Some(TableFormat::Html),
            Self::Csv => Some(TableFormat::Csv),
            Self::Json => None,
        }
    }
}
