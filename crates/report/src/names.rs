//! Names of things, as reports have them.

use plan::{CacheMode, EngineKind};
use results::{Phase, Status, SteadyVerdict, Timestamp};
use units::format;

/// The engine's name as in the command line.
pub fn engine_name(engine: EngineKind) -> &'static str {
    match engine {
        EngineKind::Psync => "psync",
        EngineKind::IoUring => "io_uring",
        EngineKind::Mmap => "mmap",
        EngineKind::Null => "null",
    }
}

/// What a table calls a kind of transaction of that phase, so that it is taken neither for an
/// operation nor for what the program itself calls a transaction.
pub fn kind_name(phase: &str, kind: &str) -> String {
    match phase == Phase::Measure.name() {
        true => format!("{kind} (transaction)"),
        false => format!("{kind} (whole file)"),
    }
}

/// The cache mode's name as in the command line.
pub fn cache_name(cache: CacheMode) -> &'static str {
    match cache {
        CacheMode::Direct => "direct",
        CacheMode::Buffered => "buffered",
        CacheMode::Dontcache => "dontcache",
    }
}

/// The verdict in words.
pub fn verdict_name(verdict: SteadyVerdict) -> &'static str {
    match verdict {
        SteadyVerdict::Steady => "steady",
        SteadyVerdict::NotSteady => "not steady",
        SteadyVerdict::NotYet => "not yet",
    }
}

/// How a run ended, in a word.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Complete => "complete",
        Status::Interrupted => "interrupted",
        Status::Failed => "failed",
    }
}

/// Number of workers, in words.
pub fn workers(count: u32) -> String {
    match count {
        1 => "1 worker".to_owned(),
        count => format!("{count} workers"),
    }
}

/// When something began, and how long it took.
pub fn when(start: Timestamp, end: Option<Timestamp>) -> String {
    let took = end.map(|end| end.as_nanosecond() - start.as_nanosecond());
    let took_ns = took.and_then(|ns| u64::try_from(ns).ok());
    let start = start.strftime("%Y-%m-%d %H:%M:%S UTC");
    match took_ns {
        Some(ns) => format!("{start}, took {}", format::span(ns)),
        None => start.to_string(),
    }
}

/// Letter of a run or side: A to Z, then AA, AB and so on.
pub fn letter(mut place: usize) -> String {
    let mut text = String::new();
    loop {
        text.insert(0, char::from(b'A' + (place % 26) as u8));
        place /= 26;
        if place == 0 {
            return text;
        }
        place -= 1;
    }
}

/// `text` with a capital at its beginning.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
