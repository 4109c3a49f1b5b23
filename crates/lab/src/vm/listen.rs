//! The host listens to a guest, and reads what it left.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::guest::{Guest, Heard};
use super::order::read_answer;
use crate::error::LabError;

/// A guest that has not said anything by then does not come up.
const UP_WITHIN: Duration = Duration::from_secs(180);
/// How often it is looked whether somebody wants to end it all.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What to do after a guest has said something.
pub(crate) enum AfterLine {
    /// Hear what it says then.
    Listen,
    /// Turn to something else.
    Leave,
}

/// Hears what a guest says, until it has ended or the hearer leaves; returns whether it has ended.
///
/// It is killed where somebody wants to end it all, or where it is silent for too long.
pub(crate) fn listen(
    guest: &mut Guest,
    stop: &AtomicBool,
    silent_max: Duration,
    mut hear: impl FnMut(&str) -> AfterLine,
) -> Result<bool, LabError> {
    let mut heard_at = Instant::now();
    let mut is_up = false;
    loop {
        if stop.load(Ordering::Relaxed) {
            guest.kill();
            return Err(LabError::Stopped);
        }
        match guest.hear(LOOK_EVERY) {
            Heard::Ended => return Ok(true),
            Heard::Line(line) => {
                is_up = true;
                heard_at = Instant::now();
                if let AfterLine::Leave = hear(&line) {
                    return Ok(false);
                }
            }
            Heard::Nothing if !is_up && heard_at.elapsed() > UP_WITHIN => {
                guest.kill();
                let how = format!("did not come up within {UP_WITHIN:?}");
                return Err(ended(guest, how));
            }
            Heard::Nothing if heard_at.elapsed() > silent_max => {
                guest.kill();
                return Err(ended(guest, format!("said nothing for {silent_max:?}")));
            }
            Heard::Nothing => {}
        }
    }
}

/// Reads what a guest left, where it has ended.
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
        console: guest.last_words(),
    }
}
