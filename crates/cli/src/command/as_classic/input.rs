//! Standard input as lines, waited for so that a signal ends the wait.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use workload::postmark::next_line;

/// How long a signal may go unnoticed.
const LOOK_NS: i64 = 100_000_000;

/// Lines of standard input.
pub(super) struct Prompt(BufReader<File>);

impl Prompt {
    /// Lines of this process's standard input.
    pub(super) fn new() -> io::Result<Self> {
        let own = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self(BufReader::new(File::from(own))))
    }

    /// The next line; none at the end, where nothing can be read, and once `stop` is set.
    pub(super) fn line(&mut self, stop: &AtomicBool) -> Option<Vec<u8>> {
        if self.0.buffer().is_empty() && !self.wait(stop) {
            return None;
        }
        next_line(&mut self.0).ok().flatten()
    }

    /// Waits until there is something to read; false if `stop` was set before.
    fn wait(&self, stop: &AtomicBool) -> bool {
        let look = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_NS,
        };
        while !stop.load(Ordering::Relaxed) {
            let mut waited = [PollFd::new(self.0.get_ref(), PollFlags::IN)];
            match poll(&mut waited, Some(&look)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // What cannot be waited for can be read at once.
                Ok(_) | Err(_) => return true,
            }
        }
        false
    }
}
