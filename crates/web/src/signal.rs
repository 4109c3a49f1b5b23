//! Signals to the processes of runs.

use std::fs;

use axum::http::StatusCode;
use results::Owner;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::answer::Refusal;

/// Sends a signal to the process that makes a run, and to no other that has its number by now.
pub(crate) fn send(owner: &Owner, signal: Signal) -> Result<(), Refusal> {
    let gone = || Refusal::conflict("the run is over");
    if !owner.shares_numbers() {
        let error = "the run goes on elsewhere, and can only be ended there";
        return Err(Refusal::conflict(error));
    }
    let number = i32::try_from(owner.pid).ok().and_then(Pid::from_raw);
    let number = number.ok_or_else(gone)?;
    let process = pidfd_open(number, PidfdFlags::empty()).map_err(|_| gone())?;
    // Asked once the process is held.
    if !owner.may_run() {
        return Err(gone());
    }
    pidfd_send_signal(process, signal).map_err(|error| {
        let error = format!("cannot send {signal:?} to process {}: {error}", owner.pid);
        Refusal::new(StatusCode::FORBIDDEN, error)
    })
}

/// Whether the process has something to do at that signal, which would end it otherwise.
///
/// Source: Linux, `Documentation/filesystems/proc.rst`, `SigCgt` of `/proc/<pid>/status`.
pub(crate) fn heeds(owner: &Owner, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", owner.pid)).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (signal.as_raw() - 1) & 1 == 1
}
