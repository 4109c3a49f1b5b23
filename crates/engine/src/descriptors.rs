//! A table of file descriptors for one thread.

use std::marker::PhantomData;

use rustix::thread::UnshareFlags;

/// Standard input, output and error stay open.
const FIRST_TO_CLOSE: libc::c_uint = 3;

/// The calling thread's own table of file descriptors.
///
/// Where threads share a table, the kernel takes a reference to a file in each call on it, and a
/// lock of the table in each `open` and `close`, which programs of one thread are spared. With a
/// table of its own a thread works as such a program does. The table begins as a copy of the
/// shared one.
///
/// What is opened afterwards means nothing to other threads: it must be closed by this thread. What
/// was opened before stays open in the others' table until it is closed there.
///
/// Source: Linux, `unshare(2)`, `CLONE_FILES`; `fs/file.c`, `__fget_light`.
#[derive(Debug)]
pub struct OwnDescriptors {
    is_own: bool,
    /// It is this thread's.
    thread: PhantomData<*const ()>,
}

impl OwnDescriptors {
    /// Gives this thread its own table; where the kernel refuses, the thread goes on with the
    /// shared one.
    #[must_use]
    pub fn take() -> Self {
        // SAFETY: no memory depends on it. Who takes a table sees to it that what is opened in it
        // is closed by the same thread, as said above.
        let taken = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) };
        Self {
            is_own: taken.is_ok(),
            thread: PhantomData,
        }
    }

    /// Closes everything in the table but the standard streams, if it is the thread's own.
    ///
    /// A thread counts as ended a little before the kernel closes its files, and a file system
    /// that is unmounted in between is busy. Nothing that holds a descriptor may be dropped by
    /// this thread afterwards.
    pub fn close_all(self) {
        if self.is_own {
            // SAFETY: the table is this thread's own, and nothing in it is used any more.
            let _ = unsafe { libc::close_range(FIRST_TO_CLOSE, libc::c_uint::MAX, 0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn what_a_thread_opens_and_closes_is_its_own() {
        let shared = File::open("/dev/null").expect("a file");
        let work = || {
            let own = OwnDescriptors::take();
            let is_own = own.is_own;
            let opened = File::open("/dev/zero").expect("a file");
            let number = opened.as_raw_fd();
            drop(opened);
            own.close_all();
            (is_own, number)
        };
        let (is_own, number) = std::thread::scope(|scope| {
            let thread = scope.spawn(work);
            thread.join().expect("no panic")
        });
        assert!(is_own);
        assert!(number > shared.as_raw_fd());
        // The copy that was closed there was not this one.
        assert!(rustix::io::fcntl_getfd(&shared).is_ok());
    }
}
