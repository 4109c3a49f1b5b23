//! What is preloaded into the kernel of guests: [`preload::LIBRARY`].

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};

/// Where the dynamic linker is told what to load before all else.
///
/// Source: ld.so(8).
const VARIABLE: &str = "LD_PRELOAD";

/// Has the library preloaded into what the command starts, behind what the user preloads. It lies
/// in memory: where images are, programs and libraries may be forbidden. What is returned is kept
/// until the command is started; none where there is no use for the library.
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

/// A file in memory, which programs that are started find open under the same number.
fn in_memory(content: &[u8]) -> io::Result<OwnedFd> {
    let name = "pgmeter-ptrace";
    // Kernels before 6.3 do not know that it can be executed, and do not mind.
    let made = match memfd_create(name, MemfdFlags::EXEC) {
        Err(rustix::io::Errno::INVAL) => memfd_create(name, MemfdFlags::empty()),
        made => made,
    };
    let mut file = File::from(made?);
    file.write_all(content)?;
    Ok(file.into())
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_started_with_the_library() {
        let _turn = crate::TURN
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut command = Command::new("cat");
        let held = preload_into(command.arg("/proc/self/maps")).unwrap();
        let done = command.output().unwrap();
        drop(held);
        let maps = String::from_utf8_lossy(&done.stdout);
        assert!(maps.contains("memfd:pgmeter-ptrace"), "{maps}");
        assert!(done.stderr.is_empty(), "{done:?}");
    }
}
