//! A table of file descriptors for one thread.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

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
    in_own_table(|_| work())
}

/// As [`with_own_descriptors`], with the thread's own copies of files that somebody else keeps open
/// until this thread is gone. They take no further descriptors; only where the table is not its own
/// are they opened once more.
///
/// The thread may close the copies and so does nothing else with `files`.
///
/// # Errors
/// The files could not be opened once more.
///
/// # Panics
/// As [`with_own_descriptors`], and when nobody else keeps the files.
pub fn with_own_files<T>(
    files: &Arc<[OwnedFd]>,
    work: impl FnOnce(Vec<OwnedFd>) -> T,
) -> io::Result<T> {
    assert!(
        Arc::strong_count(files) > 1,
        "files that a thread has copies of are closed elsewhere"
    );
    in_own_table(|is_own| {
        let copy = |file: &OwnedFd| match is_own {
            // SAFETY: this table's copy belongs to nobody else. The caller lets it be, and whoever
            // else keeps `files` uses the descriptors of another table.
            true => Ok(unsafe { OwnedFd::from_raw_fd(file.as_raw_fd()) }),
            false => file.try_clone(),
        };
        let copies: Vec<OwnedFd> = files.iter().map(copy).collect::<io::Result<_>>()?;
        Ok(work(copies))
    })
}

/// Does `work`, which is told whether the table is the thread's own.
fn in_own_table<T>(work: impl FnOnce(bool) -> T) -> T {
    // SAFETY: no memory depends on it. That no descriptor of this table is used in another is
    // looked after below: when this returns, this table has no more than the shared one had.
    let is_own = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }.is_ok();
    // Only in a table of its own nobody else opens anything.
    let before = is_own.then(open_descriptors);
    let done = work(is_own);
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

    #[test]
    fn files_of_others_are_a_threads_own_in_its_table_and_stay_open_in_theirs() {
        let files: Arc<[OwnedFd]> = [File::open("/dev/zero").unwrap().into()].into();
        let number = files[0].as_raw_fd();
        let lent = Arc::clone(&files);
        let work = move || {
            let read = with_own_files(&lent, |copies| {
                let mut byte = [1];
                rustix::io::read(&copies[0], &mut byte).map(|count| (count, byte))
            });
            assert_eq!(read.unwrap(), Ok((1, [0])));
            assert!(!is_open(number));
        };
        thread::spawn(work).join().unwrap();
        assert!(is_open(number));
        let alone = move || with_own_files(&files, drop).is_ok();
        assert!(thread::spawn(alone).join().is_err());
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
