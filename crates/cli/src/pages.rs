//! Pages: where they go that nobody named, and who looks at them.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::args::PageArgs;
use crate::browser;
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::output::{Existing, OutputFile, is_stdout, write_file};
use crate::stored::Place;

/// The directory in which pages go that nobody named.
#[derive(Debug)]
pub(crate) struct Reports {
    /// Why there is none, where there is none.
    directory: Result<PathBuf, String>,
    /// Whether it is ours to say who may enter it.
    is_own: bool,
}

impl Reports {
    /// The directory that was asked for, or else the one beside the store.
    pub fn new(asked: Option<&Path>, place: &Place) -> Self {
        let asked = asked.filter(|path| !path.as_os_str().is_empty());
        let found = match asked {
            Some(path) => Ok(path.to_owned()),
            None => place.reports().map_err(|error| error.to_string()),
        };
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Self {
            directory: found.map(absolute),
            is_own: asked.is_none(),
        }
    }

    /// Writes a page of that name and returns its path from the root.
    ///
    /// # Errors
    /// What to say where it cannot be written.
    pub fn write(&self, name: &str, page: &Document) -> Result<PathBuf, String> {
        let directory = self.directory.as_ref().map_err(Clone::clone)?;
        let path = directory.join(name);
        let written = self
            .make(directory)
            .and_then(|()| write_file(&path, Existing::Replace, page));
        match written {
            Ok(()) => Ok(path),
            Err(error) => Err(format!("cannot write `{}`: {error}", path.display())),
        }
    }

    /// As [`Reports::write`]; where that fails, it is a warning.
    pub fn write_or_warn(&self, name: &str, page: &Document) -> Option<PathBuf> {
        self.write(name, page)
            .inspect_err(|reason| {
                tell!("warning: there is no page: {reason}");
                tell!("help: name another directory with `--report-dir`, or use `--no-html`");
            })
            .ok()
    }

    fn make(&self, directory: &Path) -> io::Result<()> {
        let mode = if self.is_own { 0o700 } else { 0o777 };
        DirBuilder::new()
            .recursive(true)
            .mode(mode)
            .create(directory)
    }
}

impl PageArgs {
    /// The directory for the page that nobody named; none where no such page is wanted.
    pub(crate) fn reports(&self, place: &Place) -> Option<Reports> {
        let is_wanted = !self.no_html && self.html.is_none();
        is_wanted.then(|| Reports::new(self.place.report_dir.as_deref(), place))
    }

    /// Shows a page in the browser where that is asked for. What was measured is there either way,
    /// so it is a warning where it cannot be shown.
    pub(crate) fn show(&self, page: &Path) {
        if !self.open {
            return;
        }
        if let Err(not_shown) = browser::show(page) {
            tell!("warning: {}", not_shown.reason);
            tell!("help: {}", not_shown.help);
        }
    }
}

/// The page of a lab or of a published experiment: opened first, written last.
#[derive(Debug)]
pub(crate) struct TablePage<'a> {
    args: &'a PageArgs,
    named: Option<(OutputFile, &'a Path)>,
    reports: Option<Reports>,
    is_quiet: bool,
}

impl<'a> TablePage<'a> {
    /// Opens the file that was named, so that a mistake is told before hours are spent.
    pub fn open(args: &'a PageArgs, place: &Place, is_quiet: bool) -> Result<Self, Failure> {
        let named = args.html.as_deref();
        if named.is_some_and(is_stdout) {
            let help = Some("give it the name of a file, or use `--format html`".to_owned());
            let message = "standard output is for the table, not for `--html`";
            return Err(Failure::new(Exit::Usage, message, help));
        }
        let named = match named {
            Some(path) => Some((OutputFile::create(path, Existing::Replace)?, path)),
            None => None,
        };
        Ok(Self {
            args,
            named,
            reports: args.reports(place),
            is_quiet,
        })
    }

    /// Leaves out the page that nobody named, where another output is one already.
    pub fn only_if_named(&mut self) {
        self.reports = None;
    }

    /// Writes the page, under this name among the reports where it has no other, and says where it
    /// is.
    pub fn finish(self, name: &str, page: impl FnOnce() -> Document) -> Result<(), Failure> {
        let path = match (self.named, self.reports) {
            (Some((file, path)), _) => {
                file.finish(&page())?;
                Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
            }
            (None, Some(reports)) => reports.write_or_warn(name, &page()),
            (None, None) => None,
        };
        if let Some(path) = path {
            if !self.is_quiet {
                tell!("report: {}", path.display());
            }
            self.args.show(&path);
        }
        Ok(())
    }
}
