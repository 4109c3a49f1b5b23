//! Standard input as lines, waited for so that a signal ends the wait.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long a signal may go unnoticed.
const LOOK_NS: i64 = 100_000_000;

/// Standard input, which has ended once `stop` is set.
pub(super) struct Prompt {
    input: BufReader<File>,
    stop: Arc<AtomicBool>,
}

impl Prompt {
    /// This process's standard input.
    pub(super) fn new(stop: Arc<AtomicBool>) -> io::Result<Self> {
        let own = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self {
            input: BufReader::new(File::from(own)),
            stop,
        })
    }

    /// Waits until there is something to read; false if `stop` was set before.
    fn wait(&self) -> bool {
        let look = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_NS,
        };
        while !self.stop.load(Ordering::Relaxed) {
            let mut waited = [PollFd::new(self.input.get_ref(), PollFlags::IN)];
            match poll(&mut waited, Some(&look)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // What cannot be waited for can be read at once.
                Ok(_) | Err(_) => return true,
            }
        }
        false
    }
}

impl Read for Prompt {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Prompt {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.input.buffer().is_empty() && !self.wait() {
            return Ok(&[]);
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
    }
}
