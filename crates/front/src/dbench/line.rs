//! A line of a load file.

use workload::program::TraceEnd;

use crate::scanning::number;
use crate::tokens::Language;

/// Words of a line, at most.
const WORDS_MAX: usize = 19;

const LANGUAGE: Language = Language {
    marks: "",
    begins_word: |_| true,
    is_in_word: |it| !it.is_ascii_whitespace(),
    is_script: false,
};

/// A line in its words.
pub(super) struct Line<'a> {
    /// When the call was made, in nanoseconds.
    pub due_ns: u64,
    /// What is done.
    pub verb: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Line<'a> {
    /// The words of a line; none where there is nothing in it, or a comment.
    ///
    /// # Errors
    /// A text without its end.
    pub(super) fn read(text: &'a str) -> Result<Option<Self>, String> {
        if text.trim_ascii_start().starts_with('#') {
            return Ok(None);
        }
        let mut words = LANGUAGE.words(text)?;
        let mut due_ns = 0;
        if let Some(time) = words
            .first()
            .filter(|it| it.starts_with(|it: char| it.is_ascii_digit()))
        {
            let seconds = time.parse().ok().filter(|it| (0.0..=1e9).contains(it));
            let seconds: f64 = seconds.ok_or_else(|| format!("`{time}` is no time in seconds"))?;
            due_ns = (seconds * 1e9) as u64;
            words.remove(0);
        }
        words.truncate(1 + WORDS_MAX);
        Ok((!words.is_empty()).then(|| Self {
            due_ns,
            verb: words.remove(0),
            words,
        }))
    }

    /// How the call ended, which the last word says.
    pub(super) fn end(&self) -> Option<TraceEnd> {
        let last = self.words.last()?;
        let (status, code) = (last.strip_prefix("NT_STATUS_"), last.strip_prefix("0x"));
        let is_well = match (status, code) {
            (Some(name), _) => name == "OK",
            (_, Some(digits)) => digits.bytes().all(|digit| digit == b'0'),
            _ if *last == "*" => return Some(TraceEnd::Any),
            _ if last.eq_ignore_ascii_case("SUCCESS") => true,
            _ if last.eq_ignore_ascii_case("ERROR") => false,
            _ => return None,
        };
        Some(match is_well {
            true => TraceEnd::Well,
            false => TraceEnd::Ill,
        })
    }

    /// A word behind the verb, from 0.
    ///
    /// # Errors
    /// There are not so many.
    pub(super) fn word(&self, index: usize) -> Result<&'a str, String> {
        let word = self.words.get(index).copied();
        word.ok_or_else(|| format!("`{}` lacks its word number {}", self.verb, index + 1))
    }

    /// A number behind the verb, decimal, or hexadecimal behind `0x`.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn number(&self, index: usize) -> Result<u64, String> {
        let word = self.word(index)?;
        number(word).ok_or_else(|| format!("`{word}` is no number"))
    }

    /// How often something is done.
    ///
    /// # Errors
    /// It is no number, 0 or above a million.
    pub(super) fn times(&self) -> Result<u64, String> {
        let times = Some(self.number(0)?).filter(|it| (1..=1_000_000).contains(it));
        times.ok_or_else(|| format!("`{}` is for 1 to 1000000 times", self.verb))
    }
}
