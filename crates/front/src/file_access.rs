//! Which files the text of a workload may open, and which variables it may read.
//!
//! The only way for a front to open a file that arguments, job files, scripts or settings name.
//! A [`FileAccess`] knows where the text came from, so that text typed into a web page cannot read
//! the server's own files. `cargo xtask tidy` rejects fronts that open files in any other way.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use plan::{Diagnostic, printable};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

/// Largest file that is read whole, in bytes.
pub const FILE_BYTES_MAX: u64 = 64 << 20;
/// Largest file that text from a page may read, in bytes.
const PAGE_FILE_BYTES_MAX: u64 = 8 << 20;
/// Total size of the files that text from a page may read, in bytes.
const PAGE_TOTAL_BYTES_MAX: usize = 64 << 20;

/// Refusal of a file for text from a page. It is the same whether or not the file exists.
const NOT_OFFERED: &str = "text from a page may only name regular files below the offered \
                           directories, by absolute paths without links";

/// The files that a workload's text may open.
#[derive(Clone, Copy)]
pub struct FileAccess<'a> {
    policy: Policy<'a>,
    /// Name and content of the text itself, which it may read by its own name.
    own: Option<(&'a str, &'a [u8])>,
}

#[derive(Clone, Copy)]
enum Policy<'a> {
    /// Everything that the user who gave the text may read.
    Anywhere { takes_pipes: bool },
    /// Only offered files, for text from a page.
    Beneath(&'a AllowedDirectories),
    /// Made-up files.
    Scripted(VirtualFiles<'a>),
}

/// Made-up files and variables, for tests and for reading stored runs again.
#[derive(Clone, Copy)]
pub struct VirtualFiles<'a> {
    /// Content of a file, or the reason why it cannot be read.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// Size of a regular file in bytes.
    pub size_bytes: &'a dyn Fn(&str) -> Option<u64>,
    /// Value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl VirtualFiles<'_> {
    /// No files and no variables.
    pub const EMPTY: VirtualFiles<'static> = VirtualFiles {
        read: &|name| Err(format!("there is no `{name}`")),
        size_bytes: &|_| None,
        variable: &|_| None,
    };
}

impl<'a> FileAccess<'a> {
    /// No files and no variables.
    pub const EMPTY: FileAccess<'static> = FileAccess::scripted(VirtualFiles::EMPTY);

    /// Regular files that this user may read, and environment variables: for text that the user
    /// gives on the command line.
    #[must_use]
    pub const fn anywhere() -> Self {
        Self {
            policy: Policy::Anywhere { takes_pipes: false },
            own: None,
        }
    }

    /// Same as [`FileAccess::anywhere`], and pipes, which shells pass instead of files.
    #[must_use]
    pub const fn anywhere_with_pipes() -> Self {
        Self {
            policy: Policy::Anywhere { takes_pipes: true },
            own: None,
        }
    }

    /// Regular files under the offered directories and no variables: for text from a page.
    #[must_use]
    pub const fn beneath(offered: &'a AllowedDirectories) -> Self {
        Self {
            policy: Policy::Beneath(offered),
            own: None,
        }
    }

    /// Made-up files and variables.
    #[must_use]
    pub const fn scripted(script: VirtualFiles<'a>) -> Self {
        Self {
            policy: Policy::Scripted(script),
            own: None,
        }
    }

    /// The same access for a text that may also read itself, by its name.
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
    /// The reason why it cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if let Some((_, bytes)) = self.own.filter(|(own, _)| *own == name) {
            return Ok(bytes.to_vec());
        }
        match self.policy {
            Policy::Anywhere { takes_pipes } => {
                // One byte more reveals a file that is too long, even if it reports no length, as a
                // pipe does.
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

    /// Up to `bytes` bytes from the start of a file. The file may exceed [`FILE_BYTES_MAX`].
    ///
    /// # Errors
    /// As [`FileAccess::read`].
    pub fn beginning(&self, name: &str, bytes: u64) -> Result<Vec<u8>, String> {
        if let Policy::Anywhere { takes_pipes } = self.policy {
            return read_anywhere(name, (takes_pipes, bytes));
        }
        // Offered files have at most 8 MiB, so reading one as a whole costs little.
        let mut content = self.read(name)?;
        content.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(content)
    }

    /// Length of a regular file, in bytes; 0 for pseudo files such as those in `/proc`, which
    /// report no length. `None` if the file does not exist.
    #[must_use]
    pub fn size_bytes(&self, name: &str) -> Option<u64> {
        match self.policy {
            Policy::Anywhere { .. } => {
                let metadata = std::fs::metadata(name).ok()?;
                metadata.is_file().then_some(metadata.len())
            }
            Policy::Beneath(offered) => offered.open(name).map(|(_, size_bytes)| size_bytes),
            Policy::Scripted(script) => (script.size_bytes)(name),
        }
    }

    /// Kind of a path that exists and is not a regular file, such as `a directory`. `None` for
    /// regular files and missing paths, and for text from a page.
    #[must_use]
    pub fn other_kind(&self, name: &str) -> Option<&'static str> {
        let kind = self.metadata(Path::new(name))?.ok()?.file_type();
        match () {
            () if kind.is_file() => None,
            () if kind.is_dir() => Some("a directory"),
            () if kind.is_block_device() => Some("a block device"),
            () => Some("a special file"),
        }
    }

    /// `true` if the path is known to be a directory.
    #[must_use]
    pub fn is_directory(&self, name: &str) -> bool {
        let metadata = self.metadata(Path::new(name));
        metadata.is_some_and(|it| it.is_ok_and(|it| it.is_dir()))
    }

    /// `true` if it is known that nothing exists at the path.
    #[must_use]
    pub fn is_missing(&self, path: &Path) -> bool {
        let metadata = self.metadata(path);
        metadata.is_some_and(|it| it.is_err_and(|it| it.kind() == io::ErrorKind::NotFound))
    }

    /// Looks at a path without opening it; `None` if the text may not learn about paths.
    fn metadata(&self, path: &Path) -> Option<io::Result<std::fs::Metadata>> {
        let is_anywhere = matches!(self.policy, Policy::Anywhere { .. });
        is_anywhere.then(|| std::fs::metadata(path))
    }

    /// Value of an environment variable.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        match self.policy {
            Policy::Anywhere { .. } => std::env::var(name).ok(),
            // The environment of the server may contain secrets.
            Policy::Beneath(_) => None,
            Policy::Scripted(script) => (script.variable)(name),
        }
    }

    /// Removes what other files contain from a message that a page shows.
    pub(crate) fn redact_diagnostic(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let Policy::Beneath(offered) = self.policy else {
            return diagnostic;
        };
        diagnostic.next = diagnostic
            .next
            .map(|next| Box::new(self.redact_diagnostic(*next)));
        let own = self.own.map_or("", |(name, _)| name);
        if !diagnostic.file.is_empty() && diagnostic.file != own {
            "the content of this file is not understood".clone_into(&mut diagnostic.message);
            // All three may show what the other file contains.
            (diagnostic.snippet, diagnostic.help, diagnostic.column) = (None, None, None);
            return diagnostic;
        }
        diagnostic.message = self.redact_quotes(offered, &diagnostic.message);
        diagnostic.help = diagnostic
            .help
            .map(|help| self.redact_quotes(offered, &help));
        diagnostic
    }

    /// Removes the content of other files from a sentence about the text itself.
    pub(crate) fn redact_sentence(&self, sentence: &mut String) {
        if let Policy::Beneath(offered) = self.policy {
            *sentence = self.redact_quotes(offered, sentence);
        }
    }

    /// Replaces quotes by `...` unless they come from the text itself or from the program.
    fn redact_quotes(&self, offered: &AllowedDirectories, sentence: &str) -> String {
        let own = self.own.map_or_else(String::new, |(_, bytes)| {
            String::from_utf8_lossy(bytes).into_owned()
        });
        let others = offered.contents();
        let is_of_others = |quote: &str| {
            // Shortened or escaped quotes cannot be found in the contents, so they are hidden.
            let is_changed = quote.contains(['…', '\\']);
            let is_in_others = others.iter().any(|it| it.contains(quote));
            !others.is_empty() && !own.contains(quote) && (is_changed || is_in_others)
        };
        let pieces = sentence.split('`').enumerate();
        let redacted = pieces.map(
            |(index, piece)| match index % 2 == 1 && is_of_others(piece) {
                true => "...",
                false => piece,
            },
        );
        redacted.collect::<Vec<_>>().join("`")
    }
}

/// Directories whose files text from a page may read, and the contents it has read so far.
#[derive(Debug, Default)]
pub struct AllowedDirectories {
    directories: Vec<PathBuf>,
    contents: Mutex<Vec<String>>,
}

impl AllowedDirectories {
    /// Offers the files under these directories. The paths must not contain symbolic links.
    #[must_use]
    pub const fn new(directories: Vec<PathBuf>) -> Self {
        Self {
            directories,
            contents: Mutex::new(Vec::new()),
        }
    }

    fn contents(&self) -> Vec<String> {
        let contents = self.contents.lock();
        // Readers only push whole entries, so the list is usable even if one panicked under the
        // lock.
        contents.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let (file, size_bytes) = self.open(name).ok_or(NOT_OFFERED)?;
        // The lock is held while reading, so that parallel reads cannot exceed the total together.
        let contents = self.contents.lock();
        let mut contents = contents.unwrap_or_else(PoisonError::into_inner);
        let taken: usize = contents.iter().map(String::len).sum();
        let mut bytes = Vec::new();
        if size_bytes <= PAGE_FILE_BYTES_MAX {
            // The file may have grown since its size was determined.
            let read = file.take(PAGE_FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
            read.map_err(|error| error.to_string())?;
        }
        let is_long = size_bytes.max(bytes.len() as u64) > PAGE_FILE_BYTES_MAX;
        // The contents stay in memory to find quotes of them, so their total is limited too.
        if is_long || taken + bytes.len() > PAGE_TOTAL_BYTES_MAX {
            let most = PAGE_FILE_BYTES_MAX >> 20;
            return Err(format!(
                "text from a page may only name files of up to {most} MiB"
            ));
        }
        contents.push(String::from_utf8_lossy(&bytes).into_owned());
        Ok(bytes)
    }

    /// Opens a regular file under one of the directories, without following links; with its size.
    fn open(&self, name: &str) -> Option<(File, u64)> {
        let path = Path::new(name);
        let mut roots = self.directories.iter();
        // This only compares names; `openat2` refuses a rest that leaves the root through `..`.
        roots.find_map(|root| open_beneath(root, path.strip_prefix(root).ok()?).ok()?)
    }
}

/// Opens a regular file. Other kinds are never opened, since that may block or have side effects.
fn open_beneath(root: &Path, rest: &Path) -> io::Result<Option<(File, u64)>> {
    let straight = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat2(CWD, root, directory, Mode::empty(), straight)?;
    // The kernel itself rejects `..` and links that lead out, so nothing can change between check
    // and use.
    let beneath = straight | ResolveFlags::BENEATH;
    let open = |flags: OFlags| {
        let file = openat2(&root, rest, flags | OFlags::CLOEXEC, Mode::empty(), beneath)?;
        let file = File::from(file);
        let metadata = file.metadata()?;
        Ok::<_, io::Error>(metadata.is_file().then_some((file, metadata.len())))
    };
    // With O_PATH, the kernel finds the file without opening it, so its kind is known first.
    match open(OFlags::PATH)? {
        // The file may have been replaced meanwhile: O_NONBLOCK and O_NOCTTY keep other kinds
        // harmless.
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
        // Without O_NONBLOCK, opening a FIFO without a writer blocks.
        options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    }
    let file = options.open(name).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() || !takes_pipes && !metadata.is_file() {
        return Err(format!("`{shown}` is not a regular file"));
    }
    let mut bytes = Vec::new();
    let read = file.take(bytes_max).read_to_end(&mut bytes);
    read.map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
