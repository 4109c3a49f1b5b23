//! Signal handling. The first SIGINT, SIGTERM or SIGHUP ends the run in order, the second ends it
//! immediately. SIGUSR1 skips to the next cell. At SIGTSTP and SIGCONT the display leaves and
//! re-enters the full screen. Signals ignored at the start stay ignored, also for child processes.
//! `nohup` and background jobs of shells rely on that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::failure::CliError;

/// Returns a flag that the first signal sets. The second signal calls `on_second_interrupt`, which
/// must not return.
pub(crate) fn stop_flag(on_second_interrupt: fn() -> !) -> Result<Arc<AtomicBool>, CliError> {
    let failed = |source: std::io::Error| CliError::system("cannot catch signals", &source);
    let ignored = ignored();
    let heeded = [SIGINT, SIGHUP, SIGTSTP].into_iter();
    let heeded = heeded.filter(|signal| !is_in(*signal, ignored));
    // Neither `nohup` nor a shell ignores SIGTERM, so it is always heeded.
    let mut signals = Signals::new(heeded.chain([SIGTERM, SIGCONT])).map_err(failed)?;
    let stop = Arc::new(AtomicBool::new(false));
    // With a handler, a write beyond the file size limit fails instead of killing the process.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(failed)?;
    let flag = Arc::clone(&stop);
    let watch = move || {
        for signal in &mut signals {
            match signal {
                // With a handler, the kernel does not stop the process. It stops itself after it
                // has left the full screen.
                SIGTSTP => display::release_while_stopped(|| {
                    // Stopping cannot fail: it is the default action of SIGTSTP.
                    let _ = emulate_default_handler(SIGTSTP);
                }),
                SIGCONT => display::resume(),
                _ if flag.swap(true, Ordering::Relaxed) => on_second_interrupt(),
                _ => {}
            }
        }
    };
    // A thread instead of a handler, because restoring the terminal is not async-signal-safe.
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(watch)
        .map_err(failed)?;
    Ok(stop)
}

/// Sets the flag at each SIGUSR1, to skip to the next cell.
pub(crate) fn skip_at_signal(skip: &Arc<AtomicBool>) -> Result<(), CliError> {
    let registered = signal_hook::flag::register(SIGUSR1, Arc::clone(skip));
    let failed = |source| CliError::system("cannot catch signals", &source);
    registered.map(drop).map_err(failed)
}

/// Returns the signals that this process ignores, with signal 1 in the lowest bit. Empty if the
/// system does not report them.
///
/// Source: Linux, `Documentation/filesystems/proc.rst`, `SigIgn` of `/proc/<pid>/status`.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    parse_ignored_signals(&status)
}

fn parse_ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

fn is_in(signal: i32, mask: u64) -> bool {
    mask >> (signal - 1) & 1 == 1
}

/// Sets a flag whenever the process continues after a stop, until dropped.
pub(crate) struct ResumeFlag {
    flag: Arc<AtomicBool>,
    signal_id: SigId,
}

impl ResumeFlag {
    pub fn watch() -> Result<Self, CliError> {
        let flag = Arc::new(AtomicBool::new(false));
        let registered = signal_hook::flag::register(SIGCONT, Arc::clone(&flag))
            .map_err(|source| CliError::system("cannot catch signals", &source))?;
        Ok(Self {
            flag,
            signal_id: registered,
        })
    }

    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

impl Drop for ResumeFlag {
    fn drop(&mut self) {
        signal_hook::low_level::unregister(self.signal_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        let status = "Name:\tpgmeter\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n";
        let mask = parse_ignored_signals(status);
        assert!(is_in(SIGHUP, mask) && !is_in(SIGINT, mask) && !is_in(SIGTERM, mask));
        assert_eq!(
            (
                parse_ignored_signals(""),
                parse_ignored_signals("SigIgn:\tx\n")
            ),
            (0, 0)
        );
    }
}
