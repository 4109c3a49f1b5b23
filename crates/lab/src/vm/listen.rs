//! The host reads a guest's output and its answer.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::guest::{Guest, GuestOutput};
use super::order::read_answer;
use crate::error::LabError;

/// Maximum time until the first line of a guest.
const UP_WITHIN: Duration = Duration::from_secs(180);
/// Interval of checks for a stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What to do after a line of a guest.
pub(crate) enum ListenAction {
    /// Wait for the next line.
    Listen,
    /// Stop listening.
    Leave,
}

/// Passes a guest's lines to `hear` until the guest ends or `hear` leaves. Returns `true` if it has
/// ended.
///
/// Kills the guest if `stop` is set, or if it is silent for too long.
pub(crate) fn listen(
    guest: &mut Guest,
    stop: &AtomicBool,
    silent_max: Duration,
    mut hear: impl FnMut(&str) -> ListenAction,
) -> Result<bool, LabError> {
    let mut heard_at = Instant::now();
    let mut is_up = false;
    loop {
        if stop.load(Ordering::Relaxed) {
            guest.kill();
            return Err(LabError::Stopped);
        }
        match guest.hear(LOOK_EVERY) {
            GuestOutput::Ended => return Ok(true),
            GuestOutput::Line(line) => {
                is_up = true;
                // Only lines of the program count: a kernel that repeats messages may still hang.
                heard_at = Instant::now();
                if let ListenAction::Leave = hear(&line) {
                    return Ok(false);
                }
            }
            GuestOutput::Nothing if !is_up && heard_at.elapsed() > UP_WITHIN => {
                guest.kill();
                let how = format!("did not come up within {UP_WITHIN:?}");
                return Err(ended(guest, how));
            }
            GuestOutput::Nothing if heard_at.elapsed() > silent_max => {
                guest.kill();
                return Err(ended(guest, format!("said nothing for {silent_max:?}")));
            }
            GuestOutput::Nothing => {}
        }
    }
}

/// Reads the answer of a guest that has ended.
pub(crate) fn answer_of<A: DeserializeOwned>(guest: &Guest, path: &Path) -> Result<A, LabError> {
    match read_answer(path) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(text)) => Err(LabError::InGuest { text }),
        Err(_) => Err(ended(guest, "ended without an answer".to_owned())),
    }
}

fn ended(guest: &Guest, how: String) -> LabError {
    LabError::Guest {
        how,
        console: guest.last_kernel_messages(),
    }
}
