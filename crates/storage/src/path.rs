//! Operations on the text of paths, without system calls.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Removes trailing slashes, which would make the kernel follow a link.
pub(crate) fn without_trailing_slashes(path: &Path) -> &Path {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(bytes.len().min(1), |at| at + 1);
    Path::new(std::ffi::OsStr::from_bytes(&bytes[..end]))
}

/// `true` if a path can name a new file: it ends neither in a slash nor in dots.
pub(crate) fn may_name_file(path: &Path) -> bool {
    path.file_name().is_some() && without_trailing_slashes(path).as_os_str() == path.as_os_str()
}

/// The directory that contains a path; `.` for a bare name.
pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => Path::new("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_slashes_are_removed_except_for_the_root() {
        assert_eq!(
            without_trailing_slashes(Path::new("a/b//")),
            Path::new("a/b")
        );
        assert_eq!(without_trailing_slashes(Path::new("//")).as_os_str(), "/");
        assert_eq!(without_trailing_slashes(Path::new("")).as_os_str(), "");
        assert_eq!(parent_of(Path::new("x")), Path::new("."));
        assert_eq!(parent_of(Path::new("/x")), Path::new("/"));
    }
}
