//! Serves a file system with delays and faults until it is unmounted or interrupted.
//!
//! `faultfs MOUNTPOINT [--delay-us N] [--read-delay-us N] [--write-delay-us N]
//! [--capacity-mib N] [--threads N] [--sleep] [--async-direct] [--fault CALL:N[+]:EFFECT]...`
//!
//! A call is one of `read`, `write`, `create`, `open`, `unlink`, `fsync`, `mkdir`, `rmdir`; an
//! effect one of `eio`, `enospc`, `emfile`, `enfile`, `erofs`, `short`, `flip`, `stall=SECONDS`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use end_to_end::FixtureError;
use end_to_end::faultfs::{Fault, Settings, serve};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), FixtureError> {
    let mut settings = Settings::default();
    let mut faults: Vec<Fault> = Vec::new();
    let mountpoint = PathBuf::from(
        arguments
            .next()
            .ok_or_else(|| FixtureError::Syntax("no mount point given".to_owned()))?,
    );
    while let Some(option) = arguments.next() {
        match option.as_str() {
            "--sleep" => {
                settings.polls_clock = false;
                continue;
            }
            "--async-direct" => {
                settings.async_direct = true;
                continue;
            }
            _ => {}
        }
        let value = arguments
            .next()
            .ok_or_else(|| FixtureError::Syntax(format!("`{option}` needs a value")))?;
        match option.as_str() {
            "--fault" => faults.push(value.parse()?),
            "--delay-us" => {
                settings.read_delay = Duration::from_micros(number(&value)?);
                settings.write_delay = settings.read_delay;
            }
            "--read-delay-us" => settings.read_delay = Duration::from_micros(number(&value)?),
            "--write-delay-us" => settings.write_delay = Duration::from_micros(number(&value)?),
            "--capacity-mib" => settings.capacity_bytes = number(&value)? << 20,
            "--threads" => settings.thread_count = number(&value)?.clamp(1, 256) as usize,
            _ => return Err(FixtureError::Syntax(format!("unknown option `{option}`"))),
        }
    }
    unmount_on_signal(mountpoint.clone())?;
    serve(settings, &faults, &mountpoint)
}

/// Without its server a mount would stay and answer nothing, so a signal unmounts it; serving
/// then ends by itself.
fn unmount_on_signal(mountpoint: PathBuf) -> Result<(), FixtureError> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|source| FixtureError::File {
        path: "signals".into(),
        source,
    })?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if let Err(error) = end_to_end::unmount(&mountpoint) {
                eprintln!("warning: {error}");
            }
        }
    });
    Ok(())
}

fn number(text: &str) -> Result<u64, FixtureError> {
    text.parse()
        .map_err(|_| FixtureError::Syntax(format!("`{text}` is no number")))
}
