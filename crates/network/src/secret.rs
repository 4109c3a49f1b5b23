//! Reading secrets from files.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Reads a secret from a file that only its owner can read.
///
/// At most two bytes more than `length_max` are read: room for a line break, and a byte that shows
/// that the text is too long.
///
/// # Errors
/// Why the file cannot be used: it cannot be read, is not a regular file or not text, or other
/// users can read it.
pub fn secret_in_file(path: &Path, length_max: usize) -> Result<String, String> {
    let message = |error: io::Error| error.to_string();
    // `NONBLOCK`: opening a named pipe must not wait for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty());
    let file = File::from(file.map_err(|errno| message(errno.into()))?);
    // Metadata of the open file, so that nobody can replace the file between check and read.
    let metadata = file.metadata().map_err(message)?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if metadata.mode() & 0o077 != 0 {
        let mode = metadata.mode() & 0o777;
        return Err(format!(
            "its mode is {mode:03o}, so others can read it; change it to 600"
        ));
    }
    let mut text = String::new();
    let read = file.take(length_max as u64 + 2).read_to_string(&mut text);
    read.map_err(message)?;
    Ok(text)
}
