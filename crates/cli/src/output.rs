//! Files that are asked for by name: tried before work is done, written at its end, and there only
//! when they are whole.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use report::Page;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, renameat_with};
use rustix::io::Errno;

use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::terminal::{StandardOutput, Stream, print_document, tell_document};

/// So many random names are tried.
const NAMES_MAX: u32 = 16;
/// So many links are followed on the way to a file.
const LINKS_MAX: u32 = 40;
/// What a new file may be used for, before the user's mask.
const MODE: u32 = 0o666;

/// What becomes of a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is replaced.
    Replace,
    /// It stays, and the new one is refused.
    Keep,
}

/// A file that will be written.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// As it was asked for.
    asked: PathBuf,
    path: PathBuf,
    file: File,
    draft: Draft,
    existing: Existing,
}

/// What is written until the file is whole.
#[derive(Debug)]
enum Draft {
    /// The file itself: a pipe, a terminal, a descriptor of this process.
    Itself,
    /// A file without a name, of which nothing is left if this process is killed.
    Nameless,
    /// A file beside the one that was asked for, under a name that nobody can know before.
    Beside(PathBuf),
}

/// What stands where a file is to be written.
enum Site {
    Direct,
    /// A regular file or nothing, once links are followed.
    File(PathBuf, Option<fs::Permissions>),
}

impl OutputFile {
    /// Opens a draft beside `path`, so that a mistake is told before hours are spent.
    pub fn create(path: &Path, existing: Existing) -> Result<Self, Failure> {
        Self::open(path, existing).map_err(|reason| {
            let help = match reason.kind() {
                io::ErrorKind::AlreadyExists => "choose another name",
                _ => "choose a file in a directory that you can write to",
            };
            Failure::new(
                Exit::Usage,
                format!("cannot write `{}`: {reason}", path.display()),
                Some(help.to_owned()),
            )
        })
    }

    fn open(asked: &Path, existing: Existing) -> io::Result<Self> {
        let (path, file, draft) = match site(asked)? {
            Site::Direct => {
                let file = OpenOptions::new()
                    .append(true)
                    .custom_flags(OFlags::NOCTTY.bits() as i32)
                    .open(asked)?;
                (asked.to_owned(), file, Draft::Itself)
            }
            Site::File(_, Some(_)) if existing == Existing::Keep => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "it already exists",
                ));
            }
            Site::File(path, found) => {
                let (file, draft) = open_draft(&path)?;
                if let Some(permissions) = found {
                    // Whoever could read the old one can read the new one, as far as we may say.
                    let _ = file.set_permissions(permissions);
                }
                (path, file, draft)
            }
        };
        Ok(Self {
            asked: asked.to_owned(),
            path,
            file,
            draft,
            existing,
        })
    }

    /// The directory of the file.
    pub fn directory(&self) -> Option<PathBuf> {
        match self.draft {
            Draft::Itself => None,
            _ => Some(directory_of(&self.path).to_owned()),
        }
    }

    /// Writes the text and gives the file its name.
    pub fn finish(mut self, document: &Document) -> Result<(), Failure> {
        self.write(document.in_file().as_bytes()).map_err(|error| {
            Failure::system(format!("cannot write `{}`", self.asked.display()), &error)
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes);
        if matches!(self.draft, Draft::Itself) {
            return match written {
                // A reader that has gone away is no error.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
                _ => Ok(()),
            };
        }
        written?;
        self.file.sync_all()?;
        let draft = self.named_draft()?;
        give_name(&draft, &self.path, self.existing)?;
        // Some file systems cannot sync a directory; the name is then as durable as they make it.
        let _ = File::open(directory_of(&self.path)).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// Gives a nameless draft a name, which takes nothing but the rename that follows.
    fn named_draft(&mut self) -> io::Result<PathBuf> {
        if let Draft::Beside(draft) = &self.draft {
            return Ok(draft.clone());
        }
        let from = descriptor_path(&self.file);
        let draft = with_new_name(&self.path, |draft| {
            Ok(linkat(CWD, &from, CWD, draft, AtFlags::SYMLINK_FOLLOW)?)
        })?;
        self.draft = Draft::Beside(draft.0.clone());
        Ok(draft.0)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Draft::Beside(draft) = &self.draft {
            // Gone already when it was finished.
            let _ = fs::remove_file(draft);
        }
    }
}

/// Whether `path` means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.iter().any(|name| path == Path::new(name))
}

/// What text for that file, or for standard output when there is none, is laid out for.
pub(crate) fn page_of(path: Option<&Path>) -> Page {
    match path.filter(|path| !is_stdout(path)) {
        Some(_) => Page::PLAIN,
        None => Stream::Output.page(),
    }
}

/// Tells a mistake in the name of a new file before hours are spent; leaves nothing.
pub(crate) fn try_new(path: Option<&Path>) -> Result<(), Failure> {
    match path.filter(|path| !is_stdout(path)) {
        // Whoever reads a pipe must not find it closed.
        Some(path) if !matches!(site(path), Ok(Site::Direct)) => {
            OutputFile::create(path, Existing::Keep).map(drop)
        }
        _ => Ok(()),
    }
}

/// Writes to a new file, or to standard output when there is none.
pub(crate) fn write_new(path: Option<&Path>, document: &Document) -> Result<(), Failure> {
    match path.filter(|path| !is_stdout(path)) {
        None => print_document(document),
        Some(path) => OutputFile::create(path, Existing::Keep)?.finish(document),
    }
}

/// As [`write_new`], for what cannot be had again: where the file cannot be written, standard
/// output takes it, or standard error where that is `Taken`.
pub(crate) fn write_measured(
    path: Option<&Path>,
    document: &Document,
    stdout: StandardOutput,
) -> Result<(), Failure> {
    let Some(path) = path.filter(|path| !is_stdout(path)) else {
        return print_document(document);
    };
    let written = OutputFile::create(path, Existing::Keep).and_then(|file| file.finish(document));
    written.or_else(|failure| {
        if stdout == StandardOutput::Taken {
            tell_document(document);
            return Err(failure.of_measured("it is on standard error instead"));
        }
        print_document(document)?;
        let help = "it is on standard output instead";
        Err(failure.of_measured(help))
    })
}

/// Writes a file, and says no more than the system does where it cannot.
pub(crate) fn write_file(path: &Path, existing: Existing, document: &Document) -> io::Result<()> {
    OutputFile::open(path, existing)?.write(document.in_file().as_bytes())
}

fn site(asked: &Path) -> io::Result<Site> {
    let refused = |reason: &str| Err(io::Error::other(reason));
    let found = match fs::metadata(asked) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(asked).is_ok() {
                return refused("it is a dangling symbolic link");
            }
            if asked.file_name().is_none() {
                return refused("it has no file name");
            }
            return Ok(Site::File(asked.to_owned(), None));
        }
        Err(error) => return Err(error),
    };
    let kind = found.file_type();
    if kind.is_dir() {
        return refused("it is a directory");
    }
    if kind.is_block_device() {
        return refused("it is a block device");
    }
    if !kind.is_file() || is_descriptor(asked) {
        return Ok(Site::Direct);
    }
    Ok(Site::File(
        fs::canonicalize(asked)?,
        Some(found.permissions()),
    ))
}

/// Whether a path leads to a descriptor of a process, as `/dev/stderr` does: what is open there
/// cannot be replaced by another file.
fn is_descriptor(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let directory = directory_of(&path).to_owned();
        if fs::canonicalize(&directory).is_ok_and(|real| real.starts_with("/proc")) {
            return true;
        }
        match fs::read_link(&path) {
            Ok(next) => path = directory.join(next),
            Err(_) => return false,
        }
    }
    false
}

fn open_draft(path: &Path) -> io::Result<(File, Draft)> {
    if let Some(file) = open_nameless(directory_of(path)) {
        return Ok((file, Draft::Nameless));
    }
    let (draft, file) = with_new_name(path, |draft| {
        OpenOptions::new().write(true).create_new(true).open(draft)
    })?;
    Ok((file, Draft::Beside(draft)))
}

/// A file that has no name yet; none where the file system or the system cannot do so.
fn open_nameless(directory: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::from_raw_mode(MODE));
    let file: OwnedFd = opened.ok()?;
    let file = File::from(file);
    // Without `/proc` it could never get a name.
    fs::metadata(descriptor_path(&file)).is_ok().then_some(file)
}

fn descriptor_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Makes something under a name beside `path` that nothing had before.
fn with_new_name<T>(
    path: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    let mut refused = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..NAMES_MAX {
        let random = RandomState::new().build_hasher().finish();
        let draft = directory_of(path).join(format!(".pgmeter-{random:016x}.part"));
        match make(&draft) {
            Ok(made) => return Ok((draft, made)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
            Err(error) => return Err(error),
        }
    }
    Err(refused)
}

fn give_name(draft: &Path, path: &Path, existing: Existing) -> io::Result<()> {
    if existing == Existing::Replace {
        return fs::rename(draft, path);
    }
    match renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE) {
        // Some file systems cannot promise it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if !path.exists() => {
            fs::rename(draft, path)
        }
        done => Ok(done?),
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
