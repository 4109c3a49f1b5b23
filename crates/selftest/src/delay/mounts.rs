//! A mount namespace for this process and its children.

use std::fs;
use std::io;

use engine::unshare_mounts;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};

/// A mount namespace that no other process can see, or the reason why there is none.
#[derive(Debug)]
pub struct PrivateMounts(Result<(), String>);

impl PrivateMounts {
    /// Creates the namespace. Must be called before other threads are started: without root, the
    /// kernel allows it only in a single-threaded process.
    #[must_use]
    pub fn make() -> Self {
        Self(make().map_err(|error| {
            format!("needs its own mount namespace, as root or in a user namespace: {error}")
        }))
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        self.0.clone()
    }
}

fn make() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    // Without `CAP_SYS_ADMIN`, the kernel creates a mount namespace only with a user namespace.
    if unshare_mounts(false).is_err() {
        unshare_mounts(true)?;
        // Without this line, an unprivileged process may not write its `gid_map`
        // (user_namespaces(7)).
        fs::write("/proc/self/setgroups", "deny")?;
        // User and group ids stay the same inside the namespace.
        let user = user.as_raw();
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        let group = group.as_raw();
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // New mounts must not propagate back to the original namespace.
    let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    Ok(mount_change("/", flags)?)
}
