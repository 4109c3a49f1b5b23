//! Printing the tables of `lab` and `paper`.

use report::{LineupFormat, Page, Styled};

use crate::args::{LineupArg, TableArgs};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::output::{Existing, OutputFile, is_stdout, page_of, try_new, write_measured};

impl TableArgs {
    /// A name that is taken is told before hours are spent.
    pub(crate) fn refuse_existing(&self) -> Result<(), Failure> {
        try_new(self.output.as_deref())
    }

    /// Opens the file for the record, so that a mistake is told before hours are spent.
    pub(crate) fn open_json(&self) -> Result<Option<OutputFile>, Failure> {
        let Some(path) = &self.json else {
            return Ok(None);
        };
        if is_stdout(path) {
            let help = Some("give it the name of a file".to_owned());
            let message = "standard output is for the table, not for `--json`";
            return Err(Failure::new(Exit::Usage, message, help));
        }
        OutputFile::create(path, Existing::Replace).map(Some)
    }

    /// Prints a table where and as it was asked for.
    pub(crate) fn print(
        &self,
        render: impl FnOnce(LineupFormat, Page) -> Styled,
    ) -> Result<(), Failure> {
        let (output, format) = (self.output.as_deref(), self.format.format());
        let text = render(format, page_of(output));
        write_measured(output, &Document::lineup(format, text))
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
