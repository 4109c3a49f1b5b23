//! Output files requested by name. pgmeter creates a draft before the work, and gives it its final
//! name once it is complete.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use report::Page;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, renameat_with};
use rustix::io::Errno;

use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::pager::print_paged;
use crate::terminal::{OutputStream, StandardOutput, eprint_document, print_document};

/// Number of random names to try.
const NAME_ATTEMPTS: u32 = 16;
/// Maximum number of symbolic links to follow.
const LINKS_MAX: u32 = 40;
/// Mode of a new file, before the umask.
const MODE: u32 = 0o666;

/// Treatment of an existing file of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverwritePolicy {
    Replace,
    /// Keep it, and refuse the new one.
    Keep,
}

/// A file to be written.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// Path as given by the user.
    given_path: PathBuf,
    path: PathBuf,
    file: File,
    draft: OutputDraft,
    overwrite: OverwritePolicy,
}

/// Location of the contents until the file is complete.
#[derive(Debug)]
enum OutputDraft {
    /// The destination itself: a pipe, a terminal or a descriptor of this process.
    Direct,
    /// A file without a name, which disappears if this process is killed.
    Unnamed,
    /// A file in the same directory, with a random name.
    Named(PathBuf),
}

enum DestinationKind {
    Direct,
    /// A regular file or nothing, after following links. With the permissions of the old file.
    File(PathBuf, Option<fs::Permissions>),
}

/// The error of a file that was requested and cannot be written.
pub(crate) fn cannot_write(path: &Path, reason: &io::Error) -> CliError {
    let help = match reason.kind() {
        io::ErrorKind::AlreadyExists => "choose another name",
        _ => "choose a file in a directory that you can write to",
    };
    // The system's own words for it have a number.
    let reason = match reason.kind() {
        io::ErrorKind::AlreadyExists => "it already exists".to_owned(),
        _ => reason.to_string(),
    };
    let message = format!("cannot write `{}`: {reason}", path.display());
    CliError::new(Exit::Usage, message, Some(help.to_owned()))
}

impl OutputFile {
    /// Opens a draft in the same directory, so that a mistake is reported before hours of
    /// measuring.
    pub fn create(path: &Path, existing: OverwritePolicy) -> Result<Self, CliError> {
        Self::open(path, existing).map_err(|reason| cannot_write(path, &reason))
    }

    fn open(requested: &Path, existing: OverwritePolicy) -> io::Result<Self> {
        let (path, file, draft) = match site(requested)? {
            DestinationKind::Direct => {
                // A file opened through `/dev/fd` has its own offset, 0, so writes without O_APPEND
                // would replace earlier output. O_NOCTTY: a terminal must not become the
                // controlling terminal.
                let file = OpenOptions::new()
                    .append(true)
                    .custom_flags(OFlags::NOCTTY.bits() as i32)
                    .open(requested)?;
                (requested.to_owned(), file, OutputDraft::Direct)
            }
            DestinationKind::File(_, Some(_)) if existing == OverwritePolicy::Keep => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "it already exists",
                ));
            }
            DestinationKind::File(path, found) => {
                let (file, draft) = open_draft(&path)?;
                if let Some(permissions) = found {
                    // Keep the permissions of the replaced file where the system allows that.
                    let _ = file.set_permissions(permissions);
                }
                (path, file, draft)
            }
        };
        Ok(Self {
            given_path: requested.to_owned(),
            path,
            file,
            draft,
            overwrite: existing,
        })
    }

    /// Returns the directory of the file; `None` for a pipe, a terminal or a descriptor.
    pub fn directory(&self) -> Option<PathBuf> {
        match self.draft {
            OutputDraft::Direct => None,
            _ => Some(directory_of(&self.path).to_owned()),
        }
    }

    /// Writes the text and gives the file its final name.
    pub fn finish(self, document: &OutputText) -> Result<(), CliError> {
        self.finish_bytes(document.in_file().as_bytes())
    }

    /// Writes content that is no text and gives the file its final name.
    pub fn finish_bytes(mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.write(bytes).map_err(|error| {
            CliError::system(
                format!("cannot write `{}`", self.given_path.display()),
                &error,
            )
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes);
        if matches!(self.draft, OutputDraft::Direct) {
            return match written {
                // A reader that closed the pipe is not an error.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
                _ => Ok(()),
            };
        }
        written?;
        // Before the rename. Otherwise a crash could leave an incomplete file under the final name.
        self.file.sync_all()?;
        let draft = self.name_draft()?;
        give_name(&draft, &self.path, self.overwrite)?;
        // Some file systems cannot sync a directory; durability of the name is then up to them.
        let _ = File::open(directory_of(&self.path)).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// Gives a nameless draft a temporary name, to be renamed afterwards.
    fn name_draft(&mut self) -> io::Result<PathBuf> {
        if let OutputDraft::Named(draft) = &self.draft {
            return Ok(draft.clone());
        }
        // `linkat` cannot replace a file, so the draft needs a name before it can be renamed.
        // Linking by AT_EMPTY_PATH may require CAP_DAC_READ_SEARCH.
        let from = descriptor_path(&self.file);
        let draft = with_new_name(&self.path, |draft| {
            Ok(linkat(CWD, &from, CWD, draft, AtFlags::SYMLINK_FOLLOW)?)
        })?;
        self.draft = OutputDraft::Named(draft.0.clone());
        Ok(draft.0)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let OutputDraft::Named(draft) = &self.draft {
            // After `finish` the file no longer exists under this name.
            let _ = fs::remove_file(draft);
        }
    }
}

/// Returns `true` if `path` means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    // Opening these names again would give a file offset that standard output does not share.
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.iter().any(|name| path == Path::new(name))
}

/// Returns the layout for a file, or for standard output if there is none.
pub(crate) fn page_of(path: Option<&Path>) -> Page {
    match path.filter(|path| !is_stdout(path)) {
        Some(_) => Page::PLAIN,
        None => OutputStream::Output.page(),
    }
}

/// Tries whether a new file can be created, so that a mistake is reported before hours of
/// measuring. Leaves no file.
pub(crate) fn try_new(path: Option<&Path>) -> Result<(), CliError> {
    match path.filter(|path| !is_stdout(path)) {
        Some(path) => try_file(path, OverwritePolicy::Keep),
        None => Ok(()),
    }
}

/// Same as [`try_new`], for a file that may exist.
pub(crate) fn try_file(path: &Path, existing: OverwritePolicy) -> Result<(), CliError> {
    match site(path) {
        // Opening and closing a pipe would end its reader.
        Ok(DestinationKind::Direct) => Ok(()),
        _ => OutputFile::create(path, existing).map(drop),
    }
}

/// Writes to a new file, or to standard output (through the pager if it is long) if there is none.
pub(crate) fn write_new(path: Option<&Path>, document: &OutputText) -> Result<(), CliError> {
    match path.filter(|path| !is_stdout(path)) {
        None => print_paged(document),
        Some(path) => OutputFile::create(path, OverwritePolicy::Keep)?.finish(document),
    }
}

/// Same as [`write_new`], for results that cannot be reproduced. If the file cannot be written,
/// prints them on standard output, or on standard error if standard output is `Taken`.
pub(crate) fn write_measured(
    path: Option<&Path>,
    document: &OutputText,
    stdout: StandardOutput,
) -> Result<(), CliError> {
    let Some(path) = path.filter(|path| !is_stdout(path)) else {
        return print_document(document);
    };
    let written =
        OutputFile::create(path, OverwritePolicy::Keep).and_then(|file| file.finish(document));
    written.or_else(|failure| {
        if stdout == StandardOutput::Taken {
            eprint_document(document);
            return Err(failure.after_measurement("it is on standard error instead"));
        }
        print_document(document)?;
        let help = "it is on standard output instead";
        Err(failure.after_measurement(help))
    })
}

/// Writes a file. Returns the error of the system without an explanation.
pub(crate) fn write_file(
    path: &Path,
    existing: OverwritePolicy,
    document: &OutputText,
) -> io::Result<()> {
    OutputFile::open(path, existing)?.write(document.in_file().as_bytes())
}

fn site(requested: &Path) -> io::Result<DestinationKind> {
    let refused = |reason: &str| Err(io::Error::other(reason));
    let metadata = match fs::metadata(requested) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(requested).is_ok() {
                // The final rename would replace the link instead of creating its target.
                return refused("it is a dangling symbolic link");
            }
            if requested.file_name().is_none() {
                return refused("it has no file name");
            }
            return Ok(DestinationKind::File(requested.to_owned(), None));
        }
        Err(error) => return Err(error),
    };
    let kind = metadata.file_type();
    if kind.is_dir() {
        return refused("it is a directory");
    }
    if kind.is_block_device() {
        // A report would overwrite the contents of the device.
        return refused("it is a block device");
    }
    if !kind.is_file() || is_descriptor(requested) {
        return Ok(DestinationKind::Direct);
    }
    Ok(DestinationKind::File(
        // A rename to the link itself would replace the link instead of its target.
        fs::canonicalize(requested)?,
        Some(metadata.permissions()),
    ))
}

/// Returns `true` if a path leads to a descriptor of a process, as `/dev/stderr` does. An open
/// descriptor cannot be replaced by another file.
fn is_descriptor(path: &Path) -> bool {
    let mut path = path.to_owned();
    // The kernel gives up with ELOOP after the same number of links.
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

fn open_draft(path: &Path) -> io::Result<(File, OutputDraft)> {
    if let Some(file) = open_nameless(directory_of(path)) {
        return Ok((file, OutputDraft::Unnamed));
    }
    let (draft, file) = with_new_name(path, |draft| {
        OpenOptions::new().write(true).create_new(true).open(draft)
    })?;
    Ok((file, OutputDraft::Named(draft)))
}

/// Opens a file without a name; `None` if the kernel or the file system does not support that.
fn open_nameless(directory: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::from_raw_mode(MODE));
    let file: OwnedFd = opened.ok()?;
    let file = File::from(file);
    // Without `/proc` the file could never get a name.
    fs::metadata(descriptor_path(&file)).is_ok().then_some(file)
}

fn descriptor_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Calls `make` with new random names in the directory of `path` until one did not exist.
fn with_new_name<T>(
    path: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    let mut refused = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..NAME_ATTEMPTS {
        // Another user must not be able to guess the name and create a link there first.
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

fn give_name(draft: &Path, path: &Path, existing: OverwritePolicy) -> io::Result<()> {
    if existing == OverwritePolicy::Replace {
        return fs::rename(draft, path);
    }
    match renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE) {
        // Some file systems do not support `RENAME_NOREPLACE`.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => move_by_link(draft, path),
        done => Ok(done?),
    }
}

/// Gives a draft its name by link(2), which never replaces a file.
fn move_by_link(draft: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(draft, path) {
        Ok(()) => fs::remove_file(draft),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems do not support links either, such as FAT.
        Err(_) if !path.exists() => fs::rename(draft, path),
        Err(error) => Err(error),
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_by_link_never_replaces_a_file() {
        let site = tempfile::tempdir().unwrap();
        let [draft, path] = ["draft", "path"].map(|name| site.path().join(name));
        fs::write(&draft, "new").unwrap();
        move_by_link(&draft, &path).unwrap();
        assert!(!draft.exists());
        fs::write(&draft, "newer").unwrap();
        let refused = move_by_link(&draft, &path).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
}
