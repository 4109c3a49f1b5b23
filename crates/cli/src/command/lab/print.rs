//! Printing the tables of `lab` and `paper`.

use report::{LineupFormat, Page};

use crate::args::{LineupArg, TableArgs};
use crate::failure::{Exit, Failure};
use crate::output::{is_stdout, page, write_new};

impl TableArgs {
    /// A name that is taken is told before hours are spent.
    pub(crate) fn refuse_existing(&self) -> Result<(), Failure> {
        let output = self.output.as_deref();
        match output.filter(|path| !is_stdout(path) && path.exists()) {
            None => Ok(()),
            Some(path) => {
                let message = format!("`{}` is there already", path.display());
                let help = Some("choose another name".to_owned());
                Err(Failure::new(Exit::Usage, message, help))
            }
        }
    }

    /// Prints a table where and as it was asked for.
    pub(crate) fn print(
        &self,
        render: impl FnOnce(LineupFormat, Page) -> String,
    ) -> Result<(), Failure> {
        let output = self.output.as_deref().filter(|path| !is_stdout(path));
        let page = match output {
            Some(_) => Page::PLAIN,
            None => page(&std::io::stdout()),
        };
        write_new(output, &render(self.format.format(), page))
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
