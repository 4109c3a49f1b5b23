//! Printing the tables of `lab` and `paper`.

use report::{LineupFormat, Page, Styled};

use crate::args::{LineupArg, TableArgs};
use crate::document::Document;
use crate::failure::Failure;
use crate::output::{page_of, try_new, write_measured};

impl TableArgs {
    /// A name that is taken is told before hours are spent.
    pub(crate) fn refuse_existing(&self) -> Result<(), Failure> {
        try_new(self.output.as_deref())
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
    const fn format(self) -> LineupFormat {
        match self {
            Self::Text => LineupFormat::Text,
            Self::Markdown => LineupFormat::Markdown,
            Self::Html => LineupFormat::Html,
        }
    }
}
