//! Files of a call trace, as far as its calls show: which existed before, and how large they were.

use std::collections::HashMap;

/// What is known about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathState {
    /// No file has this name.
    Absent,
    /// Index of the file that has this name.
    Present(usize),
}

/// A file or directory.
#[derive(Debug, Clone, Default)]
pub(super) struct TracedFile {
    /// Path at which it existed before the trace; `None` if the trace creates it.
    pub origin: Option<String>,
    pub is_directory: bool,
    /// Bytes that must exist before the trace, because it reads them.
    pub needed_bytes: u64,
    /// End of the furthest write or known byte.
    pub size_bytes: u64,
}

/// The files of a trace at one point of it.
#[derive(Debug, Default)]
pub(super) struct TracedFiles {
    paths: HashMap<String, PathState>,
    files: Vec<TracedFile>,
}

impl TracedFiles {
    pub(super) fn state(&self, path: &str) -> Option<PathState> {
        self.paths.get(path).copied()
    }

    pub(super) fn file(&mut self, index: usize) -> &mut TracedFile {
        &mut self.files[index]
    }

    /// Index of the file at a path. If nothing is known, it existed before the trace.
    pub(super) fn existing(&mut self, path: &str, is_directory: bool) -> usize {
        match self.state(path) {
            Some(PathState::Present(index)) => {
                self.files[index].is_directory |= is_directory;
                index
            }
            _ => {
                self.need_parents(path);
                self.insert(
                    path,
                    TracedFile {
                        origin: Some(path.to_owned()),
                        is_directory,
                        ..TracedFile::default()
                    },
                )
            }
        }
    }

    /// Index of a new file that the trace creates at a path.
    pub(super) fn created(&mut self, path: &str, is_directory: bool) -> usize {
        self.need_parents(path);
        let file = TracedFile {
            is_directory,
            ..TracedFile::default()
        };
        self.insert(path, file)
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.paths.insert(path.to_owned(), PathState::Absent);
    }

    /// Moves a file, and everything below a directory.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let index = self.existing(from, false);
        self.need_parents(to);
        let below = format!("{from}/");
        let moved: Vec<(String, PathState)> = match self.files[index].is_directory {
            true => self
                .paths
                .iter()
                .filter_map(|(path, state)| Some((path.strip_prefix(&below)?.to_owned(), *state)))
                .collect(),
            false => Vec::new(),
        };
        for (rest, state) in moved {
            self.paths
                .insert(format!("{below}{rest}"), PathState::Absent);
            self.paths.insert(format!("{to}/{rest}"), state);
        }
        self.remove(from);
        self.paths.insert(to.to_owned(), PathState::Present(index));
    }

    /// Files and directories that must exist before the trace, directories first.
    pub(super) fn origins(&self) -> Vec<&TracedFile> {
        let mut origins: Vec<&TracedFile> =
            self.files.iter().filter(|it| it.origin.is_some()).collect();
        // A directory comes before what it contains.
        origins.sort_unstable_by(|a, b| {
            (!a.is_directory, &a.origin).cmp(&(!b.is_directory, &b.origin))
        });
        origins
    }

    fn need_parents(&mut self, path: &str) {
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.existing(parent, true);
        }
    }

    fn insert(&mut self, path: &str, file: TracedFile) -> usize {
        self.files.push(file);
        let index = self.files.len() - 1;
        self.paths
            .insert(path.to_owned(), PathState::Present(index));
        index
    }
}

/// A path of a trace as one below a directory: absolute, without `.` and `..`, and decoded. `None`
/// for what is no file of a file system.
pub(super) fn relative_path(traced: &[u8]) -> Option<String> {
    let traced = traced.strip_suffix(b" (deleted)").unwrap_or(traced);
    let traced = traced.strip_suffix(b"(deleted)").unwrap_or(traced);
    let decoded = decoded(traced);
    let text = String::from_utf8_lossy(&decoded);
    if text.is_empty() || text.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            // The root is its own parent.
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let is_other = match parts.as_slice() {
        ["proc" | "sys", ..] => true,
        ["dev", rest @ ..] => rest.first() != Some(&"shm"),
        // Names of pipes and sockets have no slash.
        [name] => text.starts_with(name) && name.contains(":["),
        parts => parts.is_empty(),
    };
    // Backslashes would separate directories in calls of Windows.
    (!is_other).then(|| parts.join("/").replace('\\', "_"))
}

/// The bytes of an escaped text: strace writes other bytes than ASCII as `\303` or `\n`.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let digits = rest
            .iter()
            .take(3)
            .take_while(|it| (b'0'..=b'7').contains(it))
            .count();
        if digits > 0 {
            let number = rest[..digits]
                .iter()
                .fold(0_u32, |sum, it| sum * 8 + u32::from(it - b'0'));
            bytes.push(number as u8);
            rest = &rest[digits..];
        } else if let [letter, tail @ ..] = rest {
            bytes.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'v' => 0x0b,
                b'f' => 0x0c,
                other => *other,
            });
            rest = tail;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_directory() {
        for (traced, wanted) in [
            ("/a/b", Some("a/b")),
            ("/../../etc/passwd", Some("etc/passwd")),
            ("a/./b/../c", Some("a/c")),
            ("/tmp/\\303\\244", Some("tmp/ä")),
            ("/tmp/x (deleted)", Some("tmp/x")),
            ("/dev/shm/x", Some("dev/shm/x")),
            ("/dev/null", None),
            ("/proc/self/maps", None),
            ("pipe:[123]", None),
            ("/", None),
            ("", None),
        ] {
            let found = relative_path(traced.as_bytes());
            assert_eq!(found.as_deref(), wanted, "{traced}");
        }
    }

    #[test]
    fn what_is_used_before_it_is_created_existed() {
        let mut files = TracedFiles::default();
        files.created("d/new", false);
        files.existing("d/old", false);
        files.rename("d/old", "e/moved");
        files.existing("e/moved", false);
        files.remove("d/new");
        files.created("d/new", true);
        let origins: Vec<_> = files
            .origins()
            .iter()
            .filter_map(|it| it.origin.as_deref())
            .collect();
        assert_eq!(origins, ["d", "e", "d/old"]);
    }

    #[test]
    fn the_content_of_a_renamed_directory_moves() {
        let mut files = TracedFiles::default();
        files.created("a", true);
        let index = files.created("a/x", false);
        files.rename("a", "b");
        assert_eq!(files.state("b/x"), Some(PathState::Present(index)));
        assert_eq!(files.state("a/x"), Some(PathState::Absent));
    }
}
