//! Names used in reports.

use plan::CacheMode;
use results::{Phase, Status, SteadyVerdict, Timestamp};
use units::format;

/// Returns the name of a kind of transaction in a table. It differs from operations, and from the
/// transactions of the program itself.
pub fn kind_name(phase: &str, kind: &str) -> String {
    match phase == Phase::Measure.name() {
        true => format!("{kind} (transaction)"),
        false => format!("{kind} (whole file)"),
    }
}

/// Returns the name of the cache mode, as on the command line.
pub fn cache_name(cache: CacheMode) -> &'static str {
    match cache {
        CacheMode::Direct => "direct",
        CacheMode::Buffered => "buffered",
        CacheMode::Dontcache => "dontcache",
    }
}

/// Returns the verdict in words.
pub fn verdict_name(verdict: SteadyVerdict) -> &'static str {
    match verdict {
        SteadyVerdict::Steady => "steady",
        SteadyVerdict::NotSteady => "not steady",
        SteadyVerdict::NotYet => "not yet",
    }
}

/// Returns the final status of a run in one word.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Complete => "complete",
        Status::Interrupted => "interrupted",
        Status::Failed => "failed",
    }
}

/// Formats the number of workers.
pub fn workers(count: u32) -> String {
    match count {
        1 => "1 worker".to_owned(),
        count => format!("{count} workers"),
    }
}

/// Formats a start time, with the duration if known.
pub fn when(start: Timestamp, end: Option<Timestamp>) -> String {
    let took = end.map(|end| end.as_nanosecond() - start.as_nanosecond());
    // Negative if the clock was set back during the run.
    let took_ns = took.and_then(|ns| u64::try_from(ns).ok());
    let start = start.strftime("%Y-%m-%d %H:%M:%S UTC");
    match took_ns {
        Some(ns) => format!("{start}, took {}", format::span(ns)),
        None => start.to_string(),
    }
}

/// Returns the letter of a run or side: A to Z, then AA, AB and so on.
pub fn letter(mut index: usize) -> String {
    let mut text = String::new();
    loop {
        text.insert(0, char::from(b'A' + (index % 26) as u8));
        index /= 26;
        if index == 0 {
            return text;
        }
        // The letters have no zero: Z is followed by AA, not by BA.
        index -= 1;
    }
}

/// Capitalizes the first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Joins items as in `a, b and c`.
pub(crate) fn listed(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => items.concat(),
    }
}
