//! Semaphores of System V, at which processes that know only a key wait for each other.

use std::io;
use std::time::Duration;

use rustix::io::Errno;

/// Everybody may read and change the semaphores.
const PERMISSIONS: libc::c_int = 0o666;
/// Longest wait within the kernel, so that a stop request ends the wait.
const STEP: Duration = Duration::from_millis(1);

/// An existing set of semaphores, which remains after the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SemaphoreSet {
    id: libc::c_int,
}

impl SemaphoreSet {
    /// Opens the set with this key.
    ///
    /// Source: semget(2).
    ///
    /// # Errors
    /// There is no such set (`ENOENT`), or others may not use it (`EACCES`).
    pub fn open(key: i32) -> io::Result<Self> {
        Self::get(key, 0, PERMISSIONS)
    }

    /// Opens the set with this key, or creates it, and gives all its semaphores the value `value`.
    ///
    /// # Errors
    /// The existing set has fewer semaphores (`EINVAL`), others may not use it (`EACCES`), or the
    /// value is above the system's limit (`ERANGE`).
    pub fn create(key: i32, count: u16, value: u16) -> io::Result<Self> {
        let set = Self::get(key, count, PERMISSIONS | libc::IPC_CREAT)?;
        for number in 0..count {
            let (number, value) = (libc::c_int::from(number), libc::c_int::from(value));
            // SAFETY: SETVAL takes a number, and touches no memory of this process.
            check(unsafe { libc::semctl(set.id, number, libc::SETVAL, value) })?;
        }
        Ok(set)
    }

    fn get(key: i32, count: u16, flags: libc::c_int) -> io::Result<Self> {
        // SAFETY: the call takes three numbers and touches no memory.
        let id = check(unsafe { libc::semget(key, libc::c_int::from(count), flags) })?;
        Ok(Self { id })
    }

    /// Removes the set; processes that wait for it fail with `EIDRM`.
    ///
    /// # Errors
    /// The set belongs to another user (`EPERM`), or is gone (`EINVAL`).
    pub fn remove(self) -> io::Result<()> {
        // SAFETY: IPC_RMID takes no further argument and touches no memory of this process.
        check(unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) }).map(|_| ())
    }

    /// Decrements a semaphore and waits until it is 0, or until `is_stopped` returns `true`.
    ///
    /// # Errors
    /// The semaphore already is 0 (`EAGAIN`), does not exist (`EFBIG`), or was removed (`EIDRM`).
    pub fn meet(self, number: u16, is_stopped: impl Fn() -> bool) -> io::Result<()> {
        self.operate(number, -1)?;
        while !is_stopped() {
            match self.operate(number, 0) {
                Err(error) if error.raw_os_error() == Some(Errno::AGAIN.raw_os_error()) => {
                    std::thread::sleep(STEP);
                }
                outcome => return outcome,
            }
        }
        Ok(())
    }

    /// Adds `change` to a semaphore; 0 succeeds only if the value is 0. Never waits.
    fn operate(self, number: u16, change: i16) -> io::Result<()> {
        let mut operation = libc::sembuf {
            sem_num: number,
            sem_op: change,
            sem_flg: libc::IPC_NOWAIT as i16,
        };
        // SAFETY: the pointer refers to one operation, which lives until the call returns.
        check(unsafe { libc::semop(self.id, &raw mut operation, 1) }).map(|_| ())
    }
}

fn check(outcome: libc::c_int) -> io::Result<libc::c_int> {
    match outcome {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// A key that no other process of the tests uses.
    fn key() -> i32 {
        0x7067_0000 ^ std::process::id().cast_signed()
    }

    #[test]
    fn the_last_process_releases_all_others() {
        let set = SemaphoreSet::create(key(), 2, 2).unwrap();
        assert_eq!(SemaphoreSet::open(key()).unwrap(), set);
        let is_last = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                set.meet(1, || false).unwrap();
                is_last.load(Ordering::SeqCst)
            });
            std::thread::sleep(Duration::from_millis(20));
            is_last.store(true, Ordering::SeqCst);
            set.meet(1, || false).unwrap();
            assert!(first.join().unwrap(), "the first did not wait");
        });
        let errno = |outcome: io::Result<()>| outcome.unwrap_err().raw_os_error();
        let full = Some(Errno::AGAIN.raw_os_error());
        assert_eq!(errno(set.meet(1, || false)), full);
        // A stop ends the wait.
        set.meet(0, || true).unwrap();
        set.remove().unwrap();
        assert!(SemaphoreSet::open(key()).is_err());
        assert!(set.remove().is_err());
    }
}
