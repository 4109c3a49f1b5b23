//! A table of mounts for this process and what it starts.

use std::fs;
use std::io;

use engine::own_mounts;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};

/// A table of mounts that no other process sees, or why there is none.
#[derive(Debug)]
pub struct OwnMounts(Result<(), String>);

impl OwnMounts {
    /// To be called before other threads are started: only then can those who are not root have
    /// one.
    #[must_use]
    pub fn make() -> Self {
        Self(make().map_err(|error| {
            format!("needs mounts of its own, as root or in a user namespace: {error}")
        }))
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        self.0.clone()
    }
}

fn make() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    if own_mounts(false).is_err() {
        own_mounts(true)?;
        // Everybody stays who they are.
        fs::write("/proc/self/setgroups", "deny")?;
        let user = user.as_raw();
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        let group = group.as_raw();
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // What is mounted from now on is not passed on to where these mounts came from.
    let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    Ok(mount_change("/", flags)?)
}
