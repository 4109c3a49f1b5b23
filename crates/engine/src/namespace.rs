//! Private mounts.

use std::io;

use rustix::thread::UnshareFlags;

/// Gives the calling thread, and the threads and processes that it starts from now on, a private
/// mount namespace. With `as_user` they may mount without being root. The kernel removes the mounts
/// when the last of these processes ends.
///
/// # Errors
/// If the system does not allow it; with `as_user` also if the process has other threads.
///
/// Source: Linux, `mount_namespaces(7)`, `user_namespaces(7)`.
pub fn unshare_mounts(as_user: bool) -> io::Result<()> {
    let mut flags = UnshareFlags::NEWNS;
    if as_user {
        flags |= UnshareFlags::NEWUSER;
    }
    // SAFETY: no memory and no file descriptor depends on the mount or user namespace.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}
