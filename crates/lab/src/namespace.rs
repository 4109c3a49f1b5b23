//! A user namespace, where an ordinary user may mount file systems in memory.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::catalog::Maker;
use crate::choice::Choice;
use crate::error::LabError;

/// Set for the program that runs in a namespace already.
const INSIDE: &str = "PGMETER_LAB_INSIDE";

/// Starts this program again, with the same arguments, as root of a user namespace, where that is
/// all that these file systems need; returns where it is not needed or would not be enough.
///
/// # Errors
/// When there are no such namespaces here, or the program cannot be started.
pub(crate) fn become_root_for(choices: &[Choice]) -> Result<(), LabError> {
    let is_wanted = is_enough_for(choices)
        && !rustix::process::geteuid().is_root()
        && std::env::var_os(INSIDE).is_none();
    if !is_wanted {
        return Ok(());
    }
    let own = std::env::current_exe()
        .map_err(|error| LabError::system("find", Path::new("/proc/self/exe"), error))?;
    let mut trial = unshare(Path::new("true"));
    trial
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if !trial.status().is_ok_and(|status| status.success()) {
        let what = "mounting tmpfs, as there are no user namespaces here,".to_owned();
        return Err(LabError::NotRoot { what });
    }
    let mut again = unshare(&own);
    again.args(std::env::args_os().skip(1)).env(INSIDE, "1");
    let error = again.exec();
    Err(LabError::system("start", Path::new("unshare"), error))
}

/// Whether one of them is in memory, and none needs a device.
fn is_enough_for(choices: &[Choice]) -> bool {
    let is_in_memory = |choice: &Choice| {
        choice
            .entry()
            .is_some_and(|entry| entry.maker == Maker::Memory)
    };
    choices.iter().any(is_in_memory) && !choices.iter().any(Choice::needs_device)
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
        let is_enough = |text: &str| is_enough_for(&Choice::read_all(&[text.to_owned()]).unwrap());
        assert!(is_enough("tmpfs") && is_enough("tmpfs,path:/mnt"));
        assert!(!is_enough("tmpfs,ext4") && !is_enough("path:/mnt"));
    }
}
