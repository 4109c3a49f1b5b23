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
/// Maximum time without a sign of life. Then the guest's kernel hangs: a User-Mode Linux on a busy
/// machine was seen to read its clock forever, without running any process.
const HANG_TIMEOUT: Duration = Duration::from_secs(300);
/// Interval of checks for a stop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What to do after a line of a guest.
pub(crate) enum ListenAction {
    /// Wait for the next line.
    Listen,
    Stop,
}

/// Passes a guest's lines to `on_line` until the guest ends or `on_line` asks to stop. Returns
/// `true` if the guest has ended.
///
/// Kills the guest if `stop` is set, if its program prints no line for `silence_max`, or if its
/// kernel hangs.
pub(crate) fn listen(
    guest: &mut Guest,
    stop: &AtomicBool,
    silence_max: Duration,
    on_line: impl FnMut(&str) -> ListenAction,
) -> Result<bool, LabError> {
    listen_within(guest, stop, [silence_max, HANG_TIMEOUT], on_line)
}

fn listen_within(
    guest: &mut Guest,
    stop: &AtomicBool,
    [silence_max, hang_timeout]: [Duration; 2],
    mut on_line: impl FnMut(&str) -> ListenAction,
) -> Result<bool, LabError> {
    let mut last_line_at = Instant::now();
    let mut last_sign_at = last_line_at;
    let mut is_up = false;
    loop {
        if stop.load(Ordering::Relaxed) {
            guest.kill();
            return Err(LabError::Stopped);
        }
        match guest.next_line(POLL_INTERVAL) {
            GuestOutput::Ended => return Ok(true),
            GuestOutput::Line(line) => {
                is_up = true;
                // Only lines of the program count: a kernel that repeats messages may still hang.
                last_line_at = Instant::now();
                last_sign_at = last_line_at;
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
            GuestOutput::None if is_up && last_sign_at.elapsed() > hang_timeout => {
                guest.kill();
                let reason = format!("hung: no sign of life for {hang_timeout:?}");
                return Err(ended(guest, reason));
            }
            GuestOutput::Heartbeat => last_sign_at = Instant::now(),
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

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::sync::mpsc::{Sender, channel};

    use super::super::guest::{HEARTBEAT, MESSAGE_PREFIX};
    use super::*;

    fn guest() -> (Guest, Sender<String>) {
        let (sender, lines) = channel();
        let mut command = Command::new("sleep");
        // A guest is killed with its process group.
        let child = command.arg("600").process_group(0).spawn().unwrap();
        let guest = Guest::of_lines(child, lines);
        sender.send(format!("{MESSAGE_PREFIX}up")).unwrap();
        (guest, sender)
    }

    fn listen_for(guest: &mut Guest, hang_timeout: Duration) -> Result<bool, LabError> {
        let limits = [Duration::MAX, hang_timeout];
        listen_within(guest, &AtomicBool::new(false), limits, |_| {
            ListenAction::Listen
        })
    }

    #[test]
    fn a_guest_without_a_sign_of_life_is_killed() {
        // The other end stays open, as with a guest that runs.
        let (mut guest, _sender) = guest();
        let error = listen_for(&mut guest, Duration::from_millis(300)).unwrap_err();
        assert!(error.to_string().contains("no sign of life"), "{error}");
        assert_eq!(guest.next_line(POLL_INTERVAL), GuestOutput::Ended);
    }

    #[test]
    fn a_quiet_guest_that_is_alive_may_take_its_time() {
        let (mut guest, sender) = guest();
        // Its output ends after several times the limit, with one sign of life per tenth of it.
        std::thread::spawn(move || {
            for _ in 0..40 {
                sender.send(HEARTBEAT.to_owned()).unwrap();
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        assert!(listen_for(&mut guest, Duration::from_secs(1)).unwrap());
    }
}
