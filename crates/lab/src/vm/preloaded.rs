//! Preloads [`preload::LIBRARY`] into the guest kernel.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};

/// The variable with libraries that the dynamic linker loads first.
///
/// Source: ld.so(8).
const VARIABLE: &str = "LD_PRELOAD";

/// Preloads the library into the program of the command, after the user's libraries. The library is
/// in a memory file, because the file system of the images may forbid execution. The return value
/// must live until the command is started; `None` if no library is needed.
pub(super) fn preload_into(command: &mut Command) -> io::Result<Option<OwnedFd>> {
    let Some(library) = preload::LIBRARY else {
        return Ok(None);
    };
    let file = in_memory(library)?;
    let mut list = std::env::var_os(VARIABLE).unwrap_or_default();
    if !list.is_empty() {
        list.push(":");
    }
    list.push(OsString::from(format!(
        "/proc/self/fd/{}",
        file.as_raw_fd()
    )));
    command.env(VARIABLE, list);
    Ok(Some(file))
}

/// A memory file that started programs inherit under the same number.
fn in_memory(content: &[u8]) -> io::Result<OwnedFd> {
    let name = "pgmeter-ptrace";
    // Kernels before 6.3 do not have the flag and allow execution anyway.
    let fd = match memfd_create(name, MemfdFlags::EXEC) {
        Err(rustix::io::Errno::INVAL) => memfd_create(name, MemfdFlags::empty()),
        made => made,
    };
    let mut file = File::from(fd?);
    file.write_all(content)?;
    Ok(file.into())
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_started_with_the_library_preloaded() {
        let _turn = crate::TEST_LOCK
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut command = Command::new("cat");
        let library = preload_into(command.arg("/proc/self/maps")).unwrap();
        let done = command.output().unwrap();
        drop(library);
        let maps = String::from_utf8_lossy(&done.stdout);
        assert!(maps.contains("memfd:pgmeter-ptrace"), "{maps}");
        assert!(done.stderr.is_empty(), "{done:?}");
    }
}
