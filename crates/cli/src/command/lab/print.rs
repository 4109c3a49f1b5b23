//! Prints the tables of `lab` and `paper`.

use report::{Page, Styled, TableFormat};
use units::JsonDocument;

use crate::args::{TableArgs, TableFormatArg};
use crate::document::OutputText;
use crate::failure::CliError;
use crate::format::choose_format;
use crate::json::JsonOutput;
use crate::output::{page_of, try_new, write_measured};
use crate::terminal::{OutputStream, StandardOutput, eprint_document};

impl TableArgs {
    /// Opens the output files, so that a mistake is reported before hours of measuring.
    pub(crate) fn open(&self) -> Result<JsonOutput, CliError> {
        self.format()?;
        try_new(self.output.as_deref())?;
        let json = self.json.open()?;
        json.has_destination_for_text(self.output.as_deref())?;
        Ok(json)
    }

    /// Returns the requested format, or that of the output's file extension.
    pub(crate) fn format(&self) -> Result<TableFormatArg, CliError> {
        choose_format(self.format, self.output.as_deref())
    }

    /// Prints the table to the requested output, and writes the document. An error in one does not
    /// prevent the other.
    pub(crate) fn print(
        &self,
        json: JsonOutput,
        document: &impl JsonDocument,
        render: impl FnOnce(TableFormat, Page) -> Styled,
    ) -> Result<(), CliError> {
        let output = self.output.as_deref();
        let stdout = json.stdout();
        let in_form = |page| -> Result<OutputText, CliError> {
            Ok(match self.format()?.format() {
                Some(format) => OutputText::side_by_side(format, render(format, page)),
                None => OutputText::Json(document.to_document()),
            })
        };
        let printed = match (output, stdout) {
            (None, StandardOutput::Taken) if self.quiet => Ok(()),
            // The document takes standard output, so the table goes to the other stream.
            (None, StandardOutput::Taken) => {
                in_form(OutputStream::Error.page()).map(|text| eprint_document(&text))
            }
            _ => in_form(page_of(output)).and_then(|text| write_measured(output, &text, stdout)),
        };
        let written = json.write(document);
        printed.and(written)
    }
}

impl TableFormatArg {
    /// Returns the table format; `None` for JSON, which is not a table.
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
