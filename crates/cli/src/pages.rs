//! HTML pages: the report directory and the browser.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::args::PageArgs;
use crate::browser;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::{OutputFile, OverwritePolicy, is_stdout, write_file};
use crate::stored::StoreLocation;

/// Directory for pages without an explicit file name.
#[derive(Debug)]
pub(crate) struct ReportDirectory {
    /// The directory, or the reason why there is none.
    directory: Result<PathBuf, String>,
    /// `true` for the default directory, which is private to the user.
    is_default: bool,
}

impl ReportDirectory {
    /// Uses the requested directory, or else the one next to the store.
    pub fn new(requested: Option<&Path>, location: &StoreLocation) -> Self {
        let requested = requested.filter(|path| !path.as_os_str().is_empty());
        let directory = match requested {
            Some(path) => Ok(path.to_owned()),
            None => location.reports().map_err(|error| error.to_string()),
        };
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Self {
            directory: directory.map(absolute),
            is_default: requested.is_none(),
        }
    }

    /// Writes a page with this file name, and returns its absolute path.
    ///
    /// # Errors
    /// The text of a warning if the page cannot be written.
    pub fn write(&self, name: &str, page: &OutputText) -> Result<PathBuf, String> {
        let directory = self.directory.as_ref().map_err(Clone::clone)?;
        let path = directory.join(name);
        let written = self
            .make(directory)
            // The name contains ids of runs or labs, so an older file has the same subject.
            .and_then(|()| write_file(&path, OverwritePolicy::Replace, page));
        match written {
            Ok(()) => Ok(path),
            Err(error) => Err(format!("cannot write `{}`: {error}", path.display())),
        }
    }

    /// Same as [`ReportDirectory::write`], but prints a warning if it fails.
    pub fn write_or_warn(&self, name: &str, page: &OutputText) -> Option<PathBuf> {
        self.write(name, page)
            .inspect_err(|reason| {
                tell!("warning: there is no page: {reason}");
                tell!("help: name another directory with `--report-dir`, or use `--no-html`");
            })
            .ok()
    }

    fn make(&self, directory: &Path) -> io::Result<()> {
        // A directory that the user named gets the usual mode, which the umask limits.
        let mode = if self.is_default { 0o700 } else { 0o777 };
        // This also succeeds if the directory exists, and then keeps its mode.
        DirBuilder::new()
            .recursive(true)
            .mode(mode)
            .create(directory)
    }
}

impl PageArgs {
    /// Returns the directory for the automatic page; `None` if no such page is wanted.
    pub(crate) fn reports(&self, location: &StoreLocation) -> Option<ReportDirectory> {
        let is_wanted = !self.no_html && self.html.is_none();
        is_wanted.then(|| ReportDirectory::new(self.place.report_dir.as_deref(), location))
    }

    /// Opens a page in the browser if requested. An error is only a warning, because the results
    /// are safe.
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

/// The page of a lab or of a published experiment. It is created first and written last.
#[derive(Debug)]
pub(crate) struct TablePage<'a> {
    args: &'a PageArgs,
    named: Option<(OutputFile, &'a Path)>,
    reports: Option<ReportDirectory>,
    is_quiet: bool,
}

impl<'a> TablePage<'a> {
    /// Opens the file given by `--html`, so that a mistake is reported before hours of measuring.
    pub fn open(
        args: &'a PageArgs,
        location: &StoreLocation,
        is_quiet: bool,
    ) -> Result<Self, CliError> {
        let named = args.html.as_deref();
        if named.is_some_and(is_stdout) {
            let help = Some("give it the name of a file, or use `--format html`".to_owned());
            let message = "standard output is for the table, not for `--html`";
            return Err(CliError::new(Exit::Usage, message, help));
        }
        let named = match named {
            Some(path) => Some((OutputFile::create(path, OverwritePolicy::Replace)?, path)),
            None => None,
        };
        Ok(Self {
            args,
            named,
            reports: args.reports(location),
            is_quiet,
        })
    }

    /// Skips the automatic page, for use when another output already is a page.
    pub fn skip_automatic_page(&mut self) {
        self.reports = None;
    }

    /// Writes the page and prints its path. `name` is its file name in the report directory, if the
    /// user gave no path.
    pub fn finish(self, name: &str, page: impl FnOnce() -> OutputText) -> Result<(), CliError> {
        let path = match (self.named, self.reports) {
            (Some((file, path)), _) => {
                // The user requested this file, so a failure is an error and not only a warning.
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
