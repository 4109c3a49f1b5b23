//! The user's workloads: files in a folder next to the results store. Whatever the name of a file,
//! nothing outside the folder is accessed, and no link is followed.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;

use crate::answer::RefusedAnswer;
use crate::body::BODY_BYTES_MAX;
use crate::scratch::random_name;

/// Maximum length of a file name, in bytes.
const NAME_LENGTH_MAX: usize = 100;
/// Maximum number of listed files.
const FILES_MAX: usize = 10_000;

/// The folder with the user's workloads.
#[derive(Debug, Clone)]
pub(crate) struct OwnFolder(PathBuf);

/// A file in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnFile {
    pub name: String,
    pub size_bytes: u64,
    /// Seconds since 1970.
    pub modified_s: i64,
}

impl OwnFolder {
    /// The folder next to a store.
    pub fn next_to(store: &Path) -> Self {
        Self(store.with_file_name("workloads"))
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its files, sorted by name. Only regular files with plain names are listed.
    pub fn list(&self) -> Result<Vec<OwnFile>, RefusedAnswer> {
        let Some(folder) = self.open().map_err(|error| self.failed("read", error))? else {
            return Ok(Vec::new());
        };
        let entries = std::fs::read_dir(&self.0).map_err(|error| self.failed("read", error))?;
        let names = entries
            .flatten()
            .filter_map(|it| it.file_name().into_string().ok());
        let file = |name: String| {
            let stat = statat(&folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            (is_file && is_plain(&name)).then_some(OwnFile {
                name,
                size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
                modified_s: stat.st_mtime as i64,
            })
        };
        let mut files: Vec<OwnFile> = names.filter_map(file).take(FILES_MAX).collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(files)
    }

    /// Text of a file.
    pub fn load(&self, name: &str) -> Result<String, RefusedAnswer> {
        check_name(name)?;
        let folder = self.open().map_err(|error| self.failed("read", error))?;
        let folder = folder.ok_or_else(|| self.missing(name))?;
        // `NONBLOCK`: opening a named pipe must not wait for a writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat2(&folder, name, flags, Mode::empty(), beneath());
        let file = match file {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Err(self.missing(name)),
            Err(Errno::LOOP) => {
                let error = format!("`{name}` is a link, and links are not followed");
                return Err(RefusedAnswer::bad(error));
            }
            Err(error) => return Err(self.failed("read", error.into())),
        };
        let metadata = file
            .metadata()
            .map_err(|error| self.failed("read", error))?;
        if !metadata.is_file() || metadata.len() > BODY_BYTES_MAX as u64 {
            let error = format!("`{name}` is not a file of at most {BODY_BYTES_MAX} bytes");
            return Err(RefusedAnswer::bad(error));
        }
        let mut bytes = Vec::new();
        // The file may have grown since its size was checked.
        let read = file.take(BODY_BYTES_MAX as u64).read_to_end(&mut bytes);
        read.map_err(|error| self.failed("read", error))?;
        String::from_utf8(bytes)
            .map_err(|_| RefusedAnswer::bad(format!("`{name}` is not UTF-8 text")))
    }

    /// Saves a file. An existing file is replaced only if `replace` is set.
    pub fn save(&self, name: &str, text: &str, replace: bool) -> Result<(), RefusedAnswer> {
        check_name(name)?;
        let created = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0);
        created.map_err(|error| self.failed("create files", error))?;
        let folder = self.open().map_err(|error| self.failed("write", error))?;
        let folder = folder.ok_or_else(|| self.missing(name))?;
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Err(error) => return Err(self.failed("write", error.into())),
            Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => {
                return Err(RefusedAnswer::conflict(format!(
                    "`{name}` exists and is not a regular file"
                )));
            }
            Ok(_) if !replace => return Err(taken(name)),
            Ok(_) => {}
        }
        write_atomically(&folder, (name, replace), text).map_err(|error| match error.kind() {
            // Another request has created it meanwhile.
            io::ErrorKind::AlreadyExists => taken(name),
            _ => self.failed("write", error),
        })
    }

    /// Deletes a file.
    pub fn delete(&self, name: &str) -> Result<(), RefusedAnswer> {
        check_name(name)?;
        let folder = self.open().map_err(|error| self.failed("write", error))?;
        let folder = folder.ok_or_else(|| self.missing(name))?;
        // For a link, this removes the link and not its target.
        match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) => Ok(()),
            Err(Errno::NOENT) => Err(self.missing(name)),
            Err(error) => Err(self.failed("write", error.into())),
        }
    }

    fn open(&self) -> io::Result<Option<OwnedFd>> {
        // A link in place of the folder could lead anywhere.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::open(&self.0, flags, Mode::empty()) {
            Ok(folder) => Ok(Some(folder)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn missing(&self, name: &str) -> RefusedAnswer {
        RefusedAnswer::missing(format!(
            "there is no workload `{name}` in `{}`",
            self.0.display()
        ))
    }

    fn failed(&self, action: &str, error: io::Error) -> RefusedAnswer {
        RefusedAnswer::failed(format!(
            "cannot {action} in `{}`: {error}",
            self.0.display()
        ))
    }
}

fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS
}

fn taken(name: &str) -> RefusedAnswer {
    let error = format!("a workload `{name}` already exists");
    RefusedAnswer::conflict(error).help("set `replace`, or choose another name")
}

/// Writes a file completely or not at all.
fn write_atomically(folder: &OwnedFd, (name, replace): (&str, bool), text: &str) -> io::Result<()> {
    // Random, because another request may be writing the same file. With the leading dot, no list
    // shows the draft.
    let draft = format!(".{}-{name}", random_name()?);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let file = openat2(folder, draft.as_str(), flags, mode, beneath())?;
    let mut file = File::from(file);
    let written = file
        .write_all(text.as_bytes())
        // Without it, a power failure could leave the new name with an empty file.
        .and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| give_name(folder, &draft, (name, replace)));
    if renamed.is_err() {
        let _ = unlinkat(folder, draft.as_str(), AtFlags::empty());
    }
    renamed
}

fn give_name(folder: &OwnedFd, draft: &str, (name, replace): (&str, bool)) -> io::Result<()> {
    let flags = match replace {
        true => RenameFlags::empty(),
        false => RenameFlags::NOREPLACE,
    };
    match renameat_with(folder, draft, folder, name, flags) {
        // Some file systems do not support `RENAME_NOREPLACE`; the caller has checked the name.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            Ok(renameat(folder, draft, folder, name)?)
        }
        done => Ok(done?),
    }
}

/// `true` for a file name that contains only safe characters and cannot lead out of the folder.
fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || " -_.+()".contains(letter);
    let is_short = !name.is_empty() && name.len() <= NAME_LENGTH_MAX;
    // A leading dot would allow `..` and drafts, a leading hyphen would look like an option.
    is_short && !name.starts_with(['.', '-', ' ']) && name.chars().all(is_plain)
}

/// Refuses names that are not plain.
pub(crate) fn check_name(name: &str) -> Result<(), RefusedAnswer> {
    if is_plain(name) {
        return Ok(());
    }
    let shown: String = name.chars().take(NAME_LENGTH_MAX).collect();
    let error = format!("`{shown}` is not a valid file name");
    Err(RefusedAnswer::bad(error).help(
        "use at most 100 letters, digits, spaces and any of `-_.+()`, and begin with a letter or \
         digit",
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder() -> (tempfile::TempDir, OwnFolder) {
        let site = tempfile::tempdir().unwrap();
        let folder = OwnFolder::next_to(&site.path().join("results.db"));
        (site, folder)
    }

    #[test]
    fn a_saved_workload_is_listed_and_loaded_until_it_is_deleted() {
        let (_site, folder) = folder();
        assert!(folder.list().unwrap().is_empty() && folder.load("a.toml").is_err());
        folder.save("a.toml", "x = 1\n", false).unwrap();
        folder.save("My load (2).icf", "y", false).unwrap();
        let names: Vec<String> = folder
            .list()
            .unwrap()
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(names, ["My load (2).icf", "a.toml"]);
        assert_eq!(folder.load("a.toml").unwrap(), "x = 1\n");
        assert!(folder.save("a.toml", "z", false).is_err());
        folder.save("a.toml", "z", true).unwrap();
        assert_eq!(folder.load("a.toml").unwrap(), "z");
        folder.delete("a.toml").unwrap();
        assert!(folder.delete("a.toml").is_err());
        assert_eq!(folder.list().unwrap().len(), 1);
    }

    #[test]
    fn parallel_saves_to_one_name_do_not_mix() {
        let (_site, folder) = folder();
        let texts: Vec<String> = ('a'..='h')
            .map(|it| it.to_string().repeat(1 << 16))
            .collect();
        for round in 0..4 {
            let new = format!("new-{round}.toml");
            let save = |text: &str| {
                let is_first = folder.save(&new, text, false).is_ok();
                folder.save("a.toml", text, true).unwrap();
                is_first
            };
            let first_count = std::thread::scope(|scope| {
                let saves = texts.iter().map(|text| scope.spawn(|| save(text)));
                // Collected, so that all threads start before the first one is awaited.
                let saves: Vec<_> = saves.collect();
                let firsts = saves.into_iter().map(|it| it.join().unwrap());
                firsts.filter(|is_first| *is_first).count()
            });
            assert_eq!(first_count, 1);
            assert!(texts.contains(&folder.load("a.toml").unwrap()));
            assert!(texts.contains(&folder.load(&new).unwrap()));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5);
    }

    #[test]
    fn no_name_escapes_the_folder() {
        let (site, folder) = folder();
        folder.save("a.toml", "x", false).unwrap();
        std::fs::write(site.path().join("secret"), "s").unwrap();
        let long = "a".repeat(101);
        for name in [
            "../secret",
            "/etc/passwd",
            "..",
            ".",
            "",
            ".hidden",
            "-x",
            "a/b",
            "a\0b",
            "a\nb",
            "<script>",
            "a\u{202e}b",
            &long,
        ] {
            assert!(folder.load(name).is_err(), "{name}");
            assert!(folder.save(name, "x", true).is_err(), "{name}");
            assert!(folder.delete(name).is_err(), "{name}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let (site, folder) = folder();
        folder.save("a.toml", "x", false).unwrap();
        let secret = site.path().join("secret");
        std::fs::write(&secret, "s").unwrap();
        symlink(&secret, folder.path().join("link.toml")).unwrap();
        assert!(folder.load("link.toml").is_err());
        assert!(folder.save("link.toml", "y", true).is_err());
        assert_eq!(folder.list().unwrap().len(), 1);
        folder.delete("link.toml").unwrap();
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "s");
        let outside = tempfile::tempdir().unwrap();
        std::fs::remove_dir_all(folder.path()).unwrap();
        symlink(outside.path(), folder.path()).unwrap();
        assert!(folder.list().is_err() && folder.save("b.toml", "x", true).is_err());
    }
}
