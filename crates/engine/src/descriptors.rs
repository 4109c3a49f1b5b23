//! A private table of file descriptors for a thread.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use rustix::thread::UnshareFlags;

const OPEN_DESCRIPTORS: &str = "/proc/thread-self/fd";

/// Runs `work`, and everything the calling thread does afterwards, with a private table of file
/// descriptors. If the kernel refuses, the thread keeps the shared table.
///
/// If threads share a table, the kernel takes a reference to the file in each call on it, and locks
/// the table in each `open` and `close`. Single-threaded programs avoid these costs, and so does a
/// thread with a private table. That table starts as a copy of the shared one. Files that were open
/// before can be used in `work`, and stay open in the shared table until they are closed there. The
/// kernel closes the copies when it has removed the thread, shortly after the thread can be joined.
///
/// Descriptors that `work` opens are invalid in other threads, so `work` must close them all. It
/// must not use files that other threads open in the meantime.
///
/// # Panics
/// If a file that `work` opened is still open: using or closing its descriptor elsewhere would
/// affect another thread's file with the same number.
///
/// Source: Linux, `unshare(2)`, `CLONE_FILES`; `fs/file.c`, `__fget_light`.
pub fn with_own_descriptors<T>(work: impl FnOnce() -> T) -> T {
    in_own_table(|_| work())
}

/// As [`with_own_descriptors`], with the thread's copies of files that another owner keeps open
/// until this thread has ended. The copies need no further descriptors; the files are duplicated
/// only if the table is not private.
///
/// The thread may close the copies, so it must not use `files` in any other way.
///
/// # Errors
/// If the files could not be duplicated.
///
/// # Panics
/// As for [`with_own_descriptors`], and if there is no other owner of the files.
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
            // SAFETY: nothing else uses the copy in this table. The caller does not use `files`,
            // and their other owner uses the descriptors of another table.
            true => Ok(unsafe { OwnedFd::from_raw_fd(file.as_raw_fd()) }),
            false => file.try_clone(),
        };
        let copies: Vec<OwnedFd> = files.iter().map(copy).collect::<io::Result<_>>()?;
        Ok(work(copies))
    })
}

/// Runs `work`, passing `true` if the table is private to the thread.
fn in_own_table<T>(work: impl FnOnce(bool) -> T) -> T {
    // SAFETY: no memory depends on it. The check below ensures that no descriptor of this table is
    // used in another: on return, this table has no entries that the shared one did not have.
    let is_own = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }.is_ok();
    // Only a private table cannot change through other threads.
    let before = is_own.then(open_descriptors);
    let done = work(is_own);
    // Without `/proc` there is nothing to compare.
    if let Some(Ok(before)) = before
        && let Ok(after) = open_descriptors()
    {
        // Numbers are compared instead of counts, because a thread may close an inherited file and
        // leave another open.
        let is_left = |descriptor: &&i32| !before.contains(descriptor);
        let left = after.iter().find(is_left);
        assert!(
            left.is_none(),
            "what a thread opens in its own table is closed by it: {left:?} is open"
        );
    }
    done
}

/// Descriptors that are open in this thread's table.
fn open_descriptors() -> io::Result<Vec<i32>> {
    let numbers = fs::read_dir(OPEN_DESCRIPTORS)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut open: Vec<i32> = numbers.collect();
    // The listing includes the descriptor of the directory itself.
    open.retain(|number| is_open(*number));
    Ok(open)
}

fn is_open(number: i32) -> bool {
    // SAFETY: the call only checks a number in the table, which need not be open.
    unsafe { libc::fcntl(number, libc::F_GETFD) >= 0 }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Mutex;
    use std::thread;

    use super::*;

    #[test]
    fn a_file_closed_in_a_threads_own_table_stays_open_in_others() {
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
    fn a_thread_gets_its_own_copies_of_files_and_the_originals_stay_open() {
        let files: Arc<[OwnedFd]> = [File::open("/dev/zero").unwrap().into()].into();
        let number = files[0].as_raw_fd();
        let shared = Arc::clone(&files);
        let work = move || {
            let read = with_own_files(&shared, |copies| {
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

    /// `true` if a thread does not panic after `leave` took a file from the thread's own table.
    fn thread_ends_cleanly(leave: impl FnOnce(File) + Send) -> bool {
        let work = || with_own_descriptors(|| leave(File::open("/dev/zero").unwrap()));
        thread::scope(|scope| scope.spawn(work).join().is_ok())
    }

    #[test]
    fn files_opened_in_a_threads_own_table_cannot_leave_it() {
        assert!(thread_ends_cleanly(drop));
        let slot = Mutex::new(None);
        assert!(!thread_ends_cleanly(
            |file| *slot.lock().unwrap() = Some(file)
        ));
        // In this table, the file's number belongs to another file or to none.
        std::mem::forget(slot);
        let returned = || with_own_descriptors(|| File::open("/dev/zero"));
        assert!(thread::spawn(move || returned().map(drop)).join().is_err());
    }
}
