//! The host reads a guest's output and its answer.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::guest::{Guest, GuestOutput};
use super::order::read_answer;
use crate::error::LabError;

/// Maximum time until the first line of a guest.
const BOOT_TIMEOUT: Duration = Duration::from_secs(180);
/// Interval of checks for a stop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What to do after a line of a guest.
pub(crate) enum ListenAction {
    /// Wait for the next line.
    Listen,
    Stop,
}

/// Passes a guest's lines to `hear` until the guest ends or `hear` leaves. Returns `true` if it has
/// ended.
///
/// Kills the guest if `stop` is set, or if it is silent for too long.
pub(crate) fn listen(
    guest: &mut Guest,
    stop: &AtomicBool,
    silence_max: Duration,
    mut on_line: impl FnMut(&str) -> ListenAction,
) -> Result<bool, LabError> {
    let mut last_line_at = Instant::now();
    let mut is_up = false;
    loop {
        if stop.load(Ordering::Relaxed) {
            guest.kill();
            return Err(LabError::Stopped);
        }
        match guest.hear(POLL_INTERVAL) {
            GuestOutput::Ended => return Ok(true),
            GuestOutput::Line(line) => {
                is_up = true;
                // Only lines of the program count: a kernel that repeats messages may still hang.
                last_line_at = Instant::now();
                if let ListenAction::Stop = on_line(&line) {
                    return Ok(false);
                }
            }
            GuestOutput::None if !is_up && last_line_at.elapsed() > BOOT_TIMEOUT => {
                guest.kill();
                let reason = format!("did not come up within {BOOT_TIMEOUT:?}");
                return Err(ended(guest, reason));
            }
            GuestOutput::None if last_line_at.elapsed() > silence_max => {
                guest.kill();
                return Err(ended(guest, format!("said nothing for {silence_max:?}")));
            }
            GuestOutput::None => {}
        }
    }
}

/// Reads the answer of a guest that has ended.
pub(crate) fn answer_of<A: DeserializeOwned>(guest: &Guest, path: &Path) -> Result<A, LabError> {
    match read_answer(path) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(text)) => Err(LabError::GuestError { text }),
        Err(_) => Err(ended(guest, "ended without an answer".to_owned())),
    }
}

fn ended(guest: &Guest, reason: String) -> LabError {
    LabError::GuestEnded {
        how: reason,
        console: guest.last_kernel_messages(),
    }
}
