//! A user namespace, in which an ordinary user may mount file systems in memory.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::catalog::CreationMethod;
use crate::choice::FileSystemChoice;
use crate::error::LabError;

/// Set for the program that already runs in a namespace.
const INSIDE_VARIABLE: &str = "PGMETER_LAB_INSIDE";

/// Restarts this program with the same arguments as root of a user namespace, if these file systems
/// need nothing more. Returns if this is not necessary or not sufficient.
///
/// # Errors
/// If user namespaces are not available, or the program cannot be started.
pub(crate) fn become_root_for(choices: &[FileSystemChoice]) -> Result<(), LabError> {
    let is_wanted = namespace_suffices(choices)
        && !rustix::process::geteuid().is_root()
        // Without the variable, a namespace that does not make root would restart the program
        // forever.
        && std::env::var_os(INSIDE_VARIABLE).is_none();
    if !is_wanted {
        return Ok(());
    }
    let own = std::env::current_exe()
        .map_err(|error| LabError::system("find", Path::new("/proc/self/exe"), error))?;
    // `exec` replaces this program, so a failure must be known before.
    let mut trial = unshare(Path::new("true"));
    trial
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if !trial.status().is_ok_and(|status| status.success()) {
        let action = "mounting tmpfs, as there are no user namespaces here,".to_owned();
        return Err(LabError::NotRoot { what: action });
    }
    let mut again = unshare(&own);
    again
        .args(std::env::args_os().skip(1))
        .env(INSIDE_VARIABLE, "1");
    let error = again.exec();
    Err(LabError::system("start", Path::new("unshare"), error))
}

/// `true` if one of the file systems is in memory, and none needs a device.
fn namespace_suffices(choices: &[FileSystemChoice]) -> bool {
    let is_in_memory = |choice: &FileSystemChoice| {
        choice
            .entry()
            .is_some_and(|entry| entry.creation_method == CreationMethod::Memory)
    };
    choices.iter().any(is_in_memory) && !choices.iter().any(FileSystemChoice::needs_device)
}

fn unshare(program: &Path) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "--"])
        .arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_enough_for_memory_but_not_for_devices() {
        let is_enough = |text: &str| {
            namespace_suffices(&FileSystemChoice::read_all(&[text.to_owned()]).unwrap())
        };
        assert!(is_enough("tmpfs") && is_enough("tmpfs,path:/mnt"));
        assert!(!is_enough("tmpfs,ext4") && !is_enough("path:/mnt"));
    }
}
