//! Where results go: standard output, and files that appear only when they are whole.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use report::Page;

use crate::failure::{Exit, Failure};

/// Prints to standard output; a reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::system("cannot write to standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Whether `path` means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// What the text is read on.
pub(crate) fn page(stream: &impl IsTerminal) -> Page {
    if !stream.is_terminal() {
        return Page::PLAIN;
    }
    Page::terminal(terminal_width(), no_color())
}

/// Whether the user wants no colors.
///
/// Source: no-color.org.
pub(crate) fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

fn terminal_width() -> usize {
    let of_columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let of_terminal = || {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        (size.ws_col > 0).then_some(usize::from(size.ws_col))
    };
    of_terminal().or_else(of_columns).unwrap_or(80)
}

/// A file that is asked for by name: tried before the run, written at its end.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    draft: PathBuf,
    file: File,
}

impl OutputFile {
    /// Opens a draft beside `path`, so that a mistake is told before hours are spent.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let refused = |reason: String| {
            let help = Some("name a file in a directory that you can write".to_owned());
            Failure::new(
                Exit::Usage,
                format!("cannot write `{}`: {reason}", path.display()),
                help,
            )
        };
        match fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => {
                return Err(refused("it is there and is not a regular file".to_owned()));
            }
            _ => {}
        }
        let Some(name) = path.file_name() else {
            return Err(refused("it has no file name".to_owned()));
        };
        let mut draft_name = name.to_owned();
        draft_name.push(format!(".part-{}", std::process::id()));
        let draft = path.with_file_name(draft_name);
        let file = File::create_new(&draft).map_err(|error| refused(error.to_string()))?;
        Ok(Self {
            path: path.to_owned(),
            draft,
            file,
        })
    }

    /// Writes the text and gives the file its name.
    pub fn finish(mut self, text: &str) -> Result<(), Failure> {
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_all())
            .and_then(|()| fs::rename(&self.draft, &self.path));
        written.map_err(|error| {
            Failure::system(format!("cannot write `{}`", self.path.display()), &error)
        })
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // Gone already when it was finished.
        let _ = fs::remove_file(&self.draft);
    }
}

/// Writes to a new file, or to standard output when there is none.
pub(crate) fn write_new(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    let Some(path) = path.filter(|path| !is_stdout(path)) else {
        return print(text);
    };
    let mut file = File::create_new(path).map_err(|error| {
        let help = match error.kind() {
            io::ErrorKind::AlreadyExists => Some("choose another name".to_owned()),
            _ => None,
        };
        Failure::new(
            Exit::Usage,
            format!("cannot make `{}`: {error}", path.display()),
            help,
        )
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::system(format!("cannot write `{}`", path.display()), &error))
}
