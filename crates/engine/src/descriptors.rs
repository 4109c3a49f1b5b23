//! A table of file descriptors for one thread.

use std::fs;
use std::io;

use rustix::thread::UnshareFlags;

const OPEN_DESCRIPTORS: &str = "/proc/thread-self/fd";

/// Does `work`, and whatever the calling thread does after it, with a table of file descriptors
/// that is the thread's own; where the kernel refuses, with the one that all threads share.
///
/// Where threads share a table, the kernel takes a reference to a file in each call on it, and a
/// lock of the table in each `open` and `close`, which programs of one thread are spared. With a
/// table of its own a thread works as such a program does. The table begins as a copy of the
/// shared one: what was open before can be used in `work`, and stays open in the others' table
/// until it is closed there. The copies go when the kernel has taken the thread down, which is a
/// little after it can be joined.
///
/// What `work` opens means nothing to other threads, so it closes all of it, and it works with
/// nothing that others open meanwhile.
///
/// # Panics
/// When something that `work` opened is still open: whoever holds it would use, or close, another
/// thread's file of the same number.
///
/// Source: Linux, `unshare(2)`, `CLONE_FILES`; `fs/file.c`, `__fget_light`.
pub fn with_own_descriptors<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: no memory depends on it. That no descriptor of this table is used in another is
    // looked after below: when this returns, this table has no more than the shared one had.
    let is_own = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }.is_ok();
    // Only in a table of its own nobody else opens anything.
    let before = is_own.then(open_descriptors);
    let done = work();
    if let Some(Ok(before)) = before
        && let Ok(after) = open_descriptors()
    {
        let is_left = |descriptor: &&i32| !before.contains(descriptor);
        let left = after.iter().find(is_left);
        assert!(
            left.is_none(),
            "what a thread opens in its own table is closed by it: {left:?} is open"
        );
    }
    done
}

/// What is open in this thread's table.
fn open_descriptors() -> io::Result<Vec<i32>> {
    let numbers = fs::read_dir(OPEN_DESCRIPTORS)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut open: Vec<i32> = numbers.collect();
    // The directory itself was among them.
    open.retain(|number| is_open(*number));
    Ok(open)
}

fn is_open(number: i32) -> bool {
    // SAFETY: the call looks at a number in the table, whether it stands for anything or not.
    unsafe { libc::fcntl(number, libc::F_GETFD) >= 0 }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::sync::Mutex;
    use std::thread;

    use super::*;

    #[test]
    fn what_a_thread_closes_in_its_own_table_stays_open_for_the_others() {
        let shared = File::open("/dev/null").unwrap();
        let number = shared.as_raw_fd();
        thread::scope(|scope| {
            let work = || {
                with_own_descriptors(|| {
                    assert!(is_open(number));
                    // SAFETY: this table's copy belongs to nobody else.
                    drop(unsafe { OwnedFd::from_raw_fd(number) });
                    assert!(!is_open(number));
                    File::open("/dev/zero").map(drop).unwrap();
                });
            };
            scope.spawn(work).join().unwrap();
        });
        assert!(is_open(number));
        drop(shared);
    }

    /// Whether a thread that leaves a file in such a place can end in order.
    fn may_leave(leave: impl FnOnce(File) + Send) -> bool {
        let work = || with_own_descriptors(|| leave(File::open("/dev/zero").unwrap()));
        thread::scope(|scope| scope.spawn(work).join().is_ok())
    }

    #[test]
    fn nothing_that_was_opened_in_a_table_of_its_own_leaves_it() {
        assert!(may_leave(drop));
        let place = Mutex::new(None);
        assert!(!may_leave(|file| *place.lock().unwrap() = Some(file)));
        // Here its number is another file's, or none's.
        std::mem::forget(place);
        let returned = || with_own_descriptors(|| File::open("/dev/zero"));
        assert!(thread::spawn(move || returned().map(drop)).join().is_err());
    }
}
