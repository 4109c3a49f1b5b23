//! Mounts that no other process sees.

use std::io;

use rustix::thread::UnshareFlags;

/// Gives the calling thread, and the threads and processes that it starts from now on, a table of
/// mounts of their own, and with `as_user` the right to mount without being root. The mounts go
/// with the last of these processes, however it ends.
///
/// # Errors
/// When the system does not allow it; with `as_user` also when the process has other threads.
///
/// Source: Linux, `mount_namespaces(7)`, `user_namespaces(7)`.
pub fn own_mounts(as_user: bool) -> io::Result<()> {
    let mut flags = UnshareFlags::NEWNS;
    if as_user {
        flags |= UnshareFlags::NEWUSER;
    }
    // SAFETY: no memory and no file descriptor depends on the table of mounts or on the user.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}
