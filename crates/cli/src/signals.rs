//! SIGINT, SIGTERM and SIGHUP: the first ends the run in order, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// A flag that the first signal sets; at the second, `at_once` is called and must not return.
pub(crate) fn stop_flag(at_once: fn() -> !) -> Result<Arc<AtomicBool>, Failure> {
    let failed = |source: std::io::Error| Failure::system("cannot catch signals", &source);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let stop = Arc::new(AtomicBool::new(false));
    // Caught, so that writing beyond the limit on file size fails instead of ending the process.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(failed)?;
    let seen = Arc::clone(&stop);
    let watch = move || {
        for _ in &mut signals {
            if seen.swap(true, Ordering::Relaxed) {
                at_once();
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(watch)
        .map_err(failed)?;
    Ok(stop)
}
