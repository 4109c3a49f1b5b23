//! I/O priority of a thread.

use std::io;

/// `IOPRIO_WHO_PROCESS`: a thread, by its number.
const WHO_PROCESS: libc::c_int = 1;

/// Position of the class in a priority, above the level.
const CLASS_SHIFT: u8 = 13;

/// Sets the priority of all further requests of the calling thread. `class` is 1 for real time, 2
/// for best effort, 3 for idle; `level` is from 0, the highest, to 7.
///
/// Source: ioprio_set(2).
///
/// # Errors
/// If the thread may not have this priority (`EPERM`), or it does not exist (`EINVAL`).
pub fn set_io_priority(class: u8, level: u8) -> io::Result<()> {
    let priority = libc::c_int::from(class) << CLASS_SHIFT | libc::c_int::from(level);
    // SAFETY: the call takes three numbers and touches no memory; 0 is the calling thread.
    let done = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, priority) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_lower_its_priority_but_not_use_an_unknown_class() {
        std::thread::spawn(|| {
            set_io_priority(2, 7).unwrap();
            assert!(set_io_priority(7, 7).is_err());
        })
        .join()
        .unwrap();
    }
}
