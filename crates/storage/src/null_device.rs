//! A file without content, for programs and engines that do no real I/O.

use std::fs::File;
use std::io;

use rustix::fs::{MemfdFlags, memfd_create};

/// The null device. If `/dev` has none, an empty memory file, which keeps written data.
///
/// # Errors
/// If neither is available.
pub fn null_device() -> io::Result<File> {
    opened("/dev/null")
}

fn opened(device: &str) -> io::Result<File> {
    let null = File::options().read(true).write(true).open(device);
    null.or_else(|_| Ok(memfd_create("null", MemfdFlags::CLOEXEC)?.into()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_missing_null_device_is_replaced_by_an_empty_file() {
        for device in ["/dev/null", "/dev/is/not/there"] {
            let mut null = opened(device).expect("a file");
            let mut text = String::new();
            assert_eq!(null.read_to_string(&mut text).expect("text"), 0, "{device}");
            null.write_all(b"some").expect("room");
            assert_eq!(null.read_to_string(&mut text).expect("text"), 0, "{device}");
        }
    }
}
