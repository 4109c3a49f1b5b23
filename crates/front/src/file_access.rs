//! Which files the text of a workload may open, and which variables it may read.
//!
//! The only way for a front to open a file that arguments, job files, scripts or settings name.
//! A [`FileAccess`] knows where the text came from, so that text typed into a web page cannot read
//! the server's own files. `cargo xtask tidy` rejects fronts that open files in any other way.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use plan::{Diagnostic, printable};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

/// Bytes of the largest file that is read whole.
pub const FILE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of the largest file that text from a page may have read.
const OFFERED_BYTES_MAX: u64 = 8 << 20;
/// Bytes of all files that text from a page may have read.
const OFFERED_BYTES_IN_ALL_MAX: usize = 64 << 20;

/// Why text from a page may not have a file; the same whether or not the file exists.
const NOT_OFFERED: &str = "text from a page may name only regular files beneath the offered \
                           directories, by absolute paths without links";

/// The files that a workload's text may open.
#[derive(Clone, Copy)]
pub struct FileAccess<'a> {
    policy: Policy<'a>,
    /// The text itself, by the name under which it may be asked for.
    own: Option<(&'a str, &'a [u8])>,
}

#[derive(Clone, Copy)]
enum Policy<'a> {
    /// As the user who gave the text.
    Anywhere { takes_pipes: bool },
    /// Text from a page.
    Beneath(&'a OfferedFiles),
    /// Made up.
    Scripted(FileScript<'a>),
}

/// Files and variables that are made up: of tests, and of stored runs that are read again.
#[derive(Clone, Copy)]
pub struct FileScript<'a> {
    /// The content of a file, or why it cannot be read.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// Bytes of a regular file.
    pub size_bytes: &'a dyn Fn(&str) -> Option<u64>,
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl FileScript<'_> {
    /// No files and no variables.
    pub const EMPTY: FileScript<'static> = FileScript {
        read: &|name| Err(format!("there is no `{name}`")),
        size_bytes: &|_| None,
        variable: &|_| None,
    };
}

impl<'a> FileAccess<'a> {
    /// No files and no variables.
    pub const NOTHING: FileAccess<'static> = FileAccess::scripted(FileScript::EMPTY);

    /// Regular files that this user may read, and the environment: for text that the user gives at
    /// the command line.
    #[must_use]
    pub const fn anywhere() -> Self {
        Self {
            policy: Policy::Anywhere { takes_pipes: false },
            own: None,
        }
    }

    /// The same, and pipes, which shells give in place of files.
    #[must_use]
    pub const fn anywhere_with_pipes() -> Self {
        Self {
            policy: Policy::Anywhere { takes_pipes: true },
            own: None,
        }
    }

    /// Regular files beneath the offered directories and no variables: for text from a page.
    #[must_use]
    pub const fn beneath(offered: &'a OfferedFiles) -> Self {
        Self {
            policy: Policy::Beneath(offered),
            own: None,
        }
    }

    /// Made-up files and variables.
    #[must_use]
    pub const fn scripted(script: FileScript<'a>) -> Self {
        Self {
            policy: Policy::Scripted(script),
            own: None,
        }
    }

    /// The same for a text that may be asked for by its own name.
    #[must_use]
    pub const fn of_text(self, name: &'a str, bytes: &'a [u8]) -> Self {
        Self {
            own: Some((name, bytes)),
            ..self
        }
    }

    /// The content of a file.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if let Some((_, bytes)) = self.own.filter(|(own, _)| *own == name) {
            return Ok(bytes.to_vec());
        }
        match self.policy {
            Policy::Anywhere { takes_pipes } => {
                let bytes = read_anywhere(name, (takes_pipes, FILE_BYTES_MAX + 1))?;
                match bytes.len() as u64 > FILE_BYTES_MAX {
                    true => {
                        let name = printable(name);
                        Err(format!("`{name}` has more than {FILE_BYTES_MAX} bytes"))
                    }
                    false => Ok(bytes),
                }
            }
            Policy::Beneath(offered) => offered.read(name),
            Policy::Scripted(script) => (script.read)(name),
        }
    }

    /// The first bytes of a file, which may be longer than what is read whole.
    ///
    /// # Errors
    /// As [`FileAccess::read`].
    pub fn beginning(&self, name: &str, bytes: u64) -> Result<Vec<u8>, String> {
        if let Policy::Anywhere { takes_pipes } = self.policy {
            return read_anywhere(name, (takes_pipes, bytes));
        }
        let mut whole = self.read(name)?;
        whole.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(whole)
    }

    /// Length of a regular file, in bytes. `None` if the file does not exist, or is a pseudo file
    /// such as those in `/proc`, which report no length.
    #[must_use]
    pub fn size_bytes(&self, name: &str) -> Option<u64> {
        match self.policy {
            Policy::Anywhere { .. } => {
                let found = std::fs::metadata(name).ok()?;
                (found.is_file() && found.len() > 0).then_some(found.len())
            }
            Policy::Beneath(offered) => {
                let (_, size_bytes) = offered.open(name)?;
                Some(size_bytes).filter(|size_bytes| *size_bytes > 0)
            }
            Policy::Scripted(script) => (script.size_bytes)(name),
        }
    }

    /// A variable of the environment.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        match self.policy {
            Policy::Anywhere { .. } => std::env::var(name).ok(),
            Policy::Beneath(_) => None,
            Policy::Scripted(script) => (script.variable)(name),
        }
    }

    /// A message that repeats nothing of other files to a page.
    pub(crate) fn without_others(&self, mut said: Diagnostic) -> Diagnostic {
        let Policy::Beneath(offered) = self.policy else {
            return said;
        };
        said.next = said.next.map(|next| Box::new(self.without_others(*next)));
        let own = self.own.map_or("", |(name, _)| name);
        if !said.file.is_empty() && said.file != own {
            "the content of this file is not understood".clone_into(&mut said.message);
            (said.snippet, said.help, said.column) = (None, None, None);
            return said;
        }
        said.message = self.without_quotes(offered, &said.message);
        said.help = said.help.map(|help| self.without_quotes(offered, &help));
        said
    }

    /// The same of a sentence about the text itself.
    pub(crate) fn hide_others(&self, sentence: &mut String) {
        if let Policy::Beneath(offered) = self.policy {
            *sentence = self.without_quotes(offered, sentence);
        }
    }

    /// A sentence whose quotes are all of the text itself or of the program.
    fn without_quotes(&self, offered: &OfferedFiles, sentence: &str) -> String {
        let own = self.own.map_or_else(String::new, |(_, bytes)| {
            String::from_utf8_lossy(bytes).into_owned()
        });
        let others = offered.contents();
        let is_of_others = |quote: &str| {
            // What is shortened or made visible cannot be looked for.
            let is_changed = quote.contains(['…', '\\']);
            let is_there = others.iter().any(|it| it.contains(quote));
            !others.is_empty() && !own.contains(quote) && (is_changed || is_there)
        };
        let pieces = sentence.split('`').enumerate();
        let shown = pieces.map(
            |(index, piece)| match index % 2 == 1 && is_of_others(piece) {
                true => "...",
                false => piece,
            },
        );
        shown.collect::<Vec<_>>().join("`")
    }
}

/// Directories whose files text from a page may have read, and what it has had so far.
#[derive(Debug, Default)]
pub struct OfferedFiles {
    directories: Vec<PathBuf>,
    contents: Mutex<Vec<String>>,
}

impl OfferedFiles {
    /// Files beneath these directories, whose paths have no links.
    #[must_use]
    pub const fn new(directories: Vec<PathBuf>) -> Self {
        Self {
            directories,
            contents: Mutex::new(Vec::new()),
        }
    }

    fn contents(&self) -> Vec<String> {
        let contents = self.contents.lock();
        contents.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let (file, size_bytes) = self.open(name).ok_or(NOT_OFFERED)?;
        let contents = self.contents.lock();
        let mut contents = contents.unwrap_or_else(PoisonError::into_inner);
        let taken: usize = contents.iter().map(String::len).sum();
        let mut bytes = Vec::new();
        if size_bytes <= OFFERED_BYTES_MAX {
            let read = file.take(OFFERED_BYTES_MAX + 1).read_to_end(&mut bytes);
            read.map_err(|error| error.to_string())?;
        }
        let is_long = size_bytes.max(bytes.len() as u64) > OFFERED_BYTES_MAX;
        if is_long || taken + bytes.len() > OFFERED_BYTES_IN_ALL_MAX {
            let most = OFFERED_BYTES_MAX >> 20;
            return Err(format!(
                "text from a page may name files of {most} MiB at most"
            ));
        }
        contents.push(String::from_utf8_lossy(&bytes).into_owned());
        Ok(bytes)
    }

    /// A regular file beneath one of the directories, through no link, and its bytes.
    fn open(&self, name: &str) -> Option<(File, u64)> {
        let path = Path::new(name);
        let mut roots = self.directories.iter();
        roots.find_map(|root| open_beneath(root, path.strip_prefix(root).ok()?).ok()?)
    }
}

/// Opens a regular file; another kind is not even opened, since that may wait or do something.
fn open_beneath(root: &Path, rest: &Path) -> io::Result<Option<(File, u64)>> {
    let straight = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat2(CWD, root, directory, Mode::empty(), straight)?;
    let beneath = straight | ResolveFlags::BENEATH;
    let open = |flags: OFlags| {
        let file = openat2(&root, rest, flags | OFlags::CLOEXEC, Mode::empty(), beneath)?;
        let file = File::from(file);
        let found = file.metadata()?;
        Ok::<_, io::Error>(found.is_file().then_some((file, found.len())))
    };
    match open(OFlags::PATH)? {
        Some(_) => open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY),
        None => Ok(None),
    }
}

fn read_anywhere(name: &str, (takes_pipes, bytes_max): (bool, u64)) -> Result<Vec<u8>, String> {
    let shown = printable(name);
    let failed = |error: io::Error| format!("cannot read `{shown}`: {error}");
    let mut options = File::options();
    options.read(true);
    if !takes_pipes {
        // Opening a pipe that nobody writes to would wait.
        options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    }
    let file = options.open(name).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if found.is_dir() || !takes_pipes && !found.is_file() {
        return Err(format!("`{shown}` is not a regular file"));
    }
    let mut bytes = Vec::new();
    let read = file.take(bytes_max).read_to_end(&mut bytes);
    read.map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
