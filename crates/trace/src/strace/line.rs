//! The parts of a line: thread, time and text.

use memchr::memmem;

use crate::fields::first_word;
use crate::number::{self, NS_PER_S};

use super::call::CallText;

/// A line of strace.
pub(super) struct StraceLine<'a> {
    pub(super) thread: u32,
    pub(super) time: StraceTime,
    pub(super) text: StraceText<'a>,
}

/// Time of a line.
pub(super) enum StraceTime {
    /// Seconds since 1970 (`-ttt`).
    Epoch(i128),
    /// Since the previous line (`-r`).
    Relative(i128),
    /// Since midnight (`-t` and `-tt`).
    OfDay(i128),
    Missing,
}

/// The rest of a line.
pub(super) enum StraceText<'a> {
    Call(&'a [u8]),
    /// The start of a call, without the mark.
    Unfinished(&'a [u8]),
    /// The end of a call, without the mark.
    Resumed(&'a [u8]),
    Note,
}

/// Times above this many seconds are dates, below it relative.
const EPOCH_NS_MIN: i128 = 100_000_000 * NS_PER_S;

impl<'a> StraceLine<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Self {
        let (thread, rest) = thread(line);
        let (time, rest) = time(rest);
        Self {
            thread,
            time,
            text: text(rest),
        }
    }
}

/// `true` if a line is a call that ended.
pub(crate) fn is_call(line: &[u8]) -> bool {
    match StraceLine::parse(line).text {
        StraceText::Call(text) => CallText::parse(text).is_some(),
        StraceText::Unfinished(_) | StraceText::Resumed(_) => true,
        StraceText::Note => false,
    }
}

/// `123 `, `[pid 123] ` or nothing, as with `-ff`.
fn thread(line: &[u8]) -> (u32, &[u8]) {
    let (word, rest) = match line.strip_prefix(b"[pid") {
        Some(rest) => {
            let (word, rest) = first_word(rest);
            (word.strip_suffix(b"]").unwrap_or(word), rest)
        }
        None => first_word(line),
    };
    let number = number::whole(word).and_then(|number| u32::try_from(number).ok());
    number.map_or((0, line), |number| (number, rest))
}

fn time(line: &[u8]) -> (StraceTime, &[u8]) {
    let (word, rest) = first_word(line);
    if !word.first().is_some_and(u8::is_ascii_digit) {
        return (StraceTime::Missing, line);
    }
    if word.contains(&b':') {
        return match number::time_of_day(word) {
            Some(ns) => (StraceTime::OfDay(ns), rest),
            None => (StraceTime::Missing, line),
        };
    }
    match number::nanoseconds(word, NS_PER_S) {
        Some(ns) if ns >= EPOCH_NS_MIN => (StraceTime::Epoch(ns), rest),
        Some(ns) => (StraceTime::Relative(ns), rest),
        None => (StraceTime::Missing, line),
    }
}

fn text(line: &[u8]) -> StraceText<'_> {
    let line = line.trim_ascii_start();
    if let Some(rest) = line.strip_prefix(b"<... ") {
        let mark = memmem::find(rest, b" resumed>");
        return mark.map_or(StraceText::Note, |at| StraceText::Resumed(&rest[at + 9..]));
    }
    let end = line.trim_ascii_end();
    if let Some(start) = end.strip_suffix(b"<unfinished ...>") {
        // `= ? <unfinished ...>` stands for a call that the end of the process interrupted.
        let start = start.trim_ascii_end();
        return match start.ends_with(b"= ?") {
            true => StraceText::Call(start),
            false => StraceText::Unfinished(start),
        };
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let name_end = line.iter().position(|byte| !is_name(byte)).unwrap_or(0);
    match name_end > 0 && line[name_end] == b'(' {
        true => StraceText::Call(line),
        false => StraceText::Note,
    }
}
