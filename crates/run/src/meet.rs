//! Waits for other processes or for the user, before a phase starts.

use std::os::fd::AsFd;

use engine::SemaphoreSet;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};

use crate::RunError;

/// Longest wait within the kernel, so that Ctrl-C ends the wait.
const STEP: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// The semaphores at which phases wait for other processes.
pub fn open_semaphores(key: i32) -> Result<SemaphoreSet, RunError> {
    let opened = SemaphoreSet::open(key);
    opened.map_err(|source| RunError::Semaphores { key, source })
}

/// Reads a line from the input and drops it. The end of the input also counts as a line.
// Single bytes, because a buffer would take lines from the next prompt.
pub fn skip_line(input: impl AsFd, is_cut: impl Fn() -> bool) -> Result<(), RunError> {
    let mut byte = [0];
    while !is_cut() {
        let ready = poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&STEP));
        let count = match ready {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => read(&input, &mut byte).map_err(failure)?,
            Err(errno) => return Err(failure(errno)),
        };
        if count == 0 || byte == *b"\n" {
            break;
        }
    }
    Ok(())
}

fn failure(errno: Errno) -> RunError {
    RunError::System {
        what: "wait for a line on standard input".to_owned(),
        source: errno.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn each_call_takes_one_line_until_the_input_ends() {
        let (input, mut output) = std::io::pipe().unwrap();
        output.write_all(b"\nsecond\nlast").unwrap();
        // No line is there, so only the stop ends the wait.
        skip_line(&input, || true).unwrap();
        for _ in 0..2 {
            skip_line(&input, || false).unwrap();
        }
        drop(output);
        skip_line(&input, || false).unwrap();
        assert_eq!(read(&input, &mut [0; 8]), Ok(0));
    }
}
