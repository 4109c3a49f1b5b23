//! Standard input by line. A signal ends a wait for input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Interval between checks of the stop flag while waiting, in nanoseconds.
const POLL_INTERVAL_NS: i64 = 100_000_000;

/// Standard input, which reports end of file once `stop` is set.
pub(super) struct StoppableStdin {
    input: BufReader<File>,
    stop: Arc<AtomicBool>,
}

impl StoppableStdin {
    /// This process's standard input.
    pub(super) fn new(stop: Arc<AtomicBool>) -> io::Result<Self> {
        // Not `io::stdin()` itself, whose buffer is hidden: `poll` would wait for data that it
        // already has.
        let own = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self {
            input: BufReader::new(File::from(own)),
            stop,
        })
    }

    /// Waits for input. Returns `false` if `stop` was set first.
    fn wait(&self) -> bool {
        let look = Timespec {
            tv_sec: 0,
            tv_nsec: POLL_INTERVAL_NS,
        };
        // A signal does not end a `read`: the kernel restarts it, or another thread handles the
        // signal.
        while !self.stop.load(Ordering::Relaxed) {
            let mut waited = [PollFd::new(self.input.get_ref(), PollFlags::IN)];
            match poll(&mut waited, Some(&look)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // Inputs that cannot be polled can be read without waiting.
                Ok(_) | Err(_) => return true,
            }
        }
        false
    }
}

impl Read for StoppableStdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for StoppableStdin {
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
