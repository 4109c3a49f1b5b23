//! Checks whether guests run here, by starting one that does nothing.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::guest::{Guest, GuestOutput, Host};
use super::kernel::{Kernel, MEMORY_BYTES_MIN};
use super::order::{Image, read_answer};
use crate::bench::Lab;
use crate::error::LabError;

/// Maximum duration of this guest.
const PROBE_TIMEOUT: Duration = Duration::from_secs(180);
/// Interval of checks for a stop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Finds the guest kernel and starts a guest with a task that does nothing, in a temporary lab.
///
/// # Errors
/// If something is missing, or guests do not run.
pub fn probe<T: Serialize>(
    directory: &Path,
    nothing: T,
    stop: &AtomicBool,
) -> Result<Kernel, LabError> {
    let host = Host {
        kernel: Kernel::find()?,
        memory_bytes: MEMORY_BYTES_MIN,
    };
    let mut lab = Lab::begin(directory)?;
    let probed = lab.probe_guest(&host, nothing, stop);
    // Also if guests do not run; nothing may remain of a check.
    lab.end()?;
    probed.map(|()| host.kernel)
}

impl Lab {
    /// Starts a guest with a task that does nothing, before anything is created, and removes it
    /// again.
    ///
    /// # Errors
    /// [`LabError::NoGuests`] if it crashes or takes too long, [`LabError::Stopped`] if `stop` is
    /// set meanwhile.
    pub fn probe_guest<T: Serialize>(
        &mut self,
        host: &Host,
        nothing: T,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        let probed = self.try_guest(host, nothing, stop);
        self.remove_image()?;
        probed
    }

    fn try_guest<T: Serialize>(
        &mut self,
        host: &Host,
        nothing: T,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        self.empty_image()?;
        let mut guest = self.boot(&Image::empty(), nothing, host)?;
        let start = Instant::now();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(LabError::Stopped);
            }
            if start.elapsed() > PROBE_TIMEOUT {
                let reason = format!("one did not end within {} s", PROBE_TIMEOUT.as_secs());
                return Err(no_guests(reason, &guest));
            }
            if guest.next_line(POLL_INTERVAL) == GuestOutput::Ended {
                break;
            }
        }
        match read_answer::<()>(&self.answer()) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(text)) => Err(no_guests(text, &guest)),
            Err(_) => Err(no_guests("one ended without an answer".to_owned(), &guest)),
        }
    }
}

fn no_guests(reason: String, guest: &Guest) -> LabError {
    LabError::NoGuests {
        how: reason,
        console: guest.last_kernel_messages(),
    }
}
