//! Signals to the processes of runs.

use std::fs;

use axum::http::StatusCode;
use results::ProcessIdentity;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::answer::RefusedAnswer;

/// Sends a signal to the process of a run, but never to another process that reuses its id.
pub(crate) fn send(owner: &ProcessIdentity, signal: Signal) -> Result<(), RefusedAnswer> {
    let ended = || RefusedAnswer::conflict("the run has ended");
    if !owner.shares_pids() {
        let error = "the run is running elsewhere and can only be stopped there";
        return Err(RefusedAnswer::conflict(error));
    }
    let number = i32::try_from(owner.pid).ok().and_then(Pid::from_raw);
    let number = number.ok_or_else(ended)?;
    let process = pidfd_open(number, PidfdFlags::empty()).map_err(|_| ended())?;
    // Check the process after opening its pidfd, so that the id cannot be reused in between.
    if !owner.may_run() {
        return Err(ended());
    }
    pidfd_send_signal(process, signal).map_err(|error| {
        let error = format!("cannot send {signal:?} to process {}: {error}", owner.pid);
        RefusedAnswer::new(StatusCode::FORBIDDEN, error)
    })
}

/// `true` if the process catches the signal; otherwise the signal would kill it.
///
/// Source: Linux, `Documentation/filesystems/proc.rst`, `SigCgt` of `/proc/<pid>/status`.
pub(crate) fn catches_signal(owner: &ProcessIdentity, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", owner.pid)).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 stands for signal 1.
    mask.unwrap_or(0) >> (signal.as_raw() - 1) & 1 == 1
}
