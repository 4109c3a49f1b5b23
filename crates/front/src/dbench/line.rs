//! A line of a load file.

use workload::program::TraceEnd;

/// Words of a line, at most.
const WORDS_MAX: usize = 19;

/// A line in its words.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    /// When the call was made, in nanoseconds.
    pub due_ns: Option<u64>,
    /// What is done.
    pub verb: &'a str,
    words: [&'a str; WORDS_MAX],
    count: usize,
}

impl<'a> Line<'a> {
    /// The words of a line; none where there is nothing in it, or a comment.
    ///
    /// # Errors
    /// A text without its end.
    pub(super) fn read(text: &'a str) -> Result<Option<Self>, String> {
        let mut line = Self::default();
        let mut rest = text.trim_ascii();
        if rest.is_empty() || rest.starts_with('#') {
            return Ok(None);
        }
        if rest.as_bytes()[0].is_ascii_digit() {
            let (time, behind) = split(rest);
            let time: f64 = time
                .parse()
                .ok()
                .filter(|it| (0.0..=1e9).contains(it))
                .ok_or_else(|| format!("`{time}` is no time in seconds"))?;
            line.due_ns = Some((time * 1e9) as u64);
            rest = behind;
        }
        (line.verb, rest) = split(rest);
        while !rest.is_empty() && line.count < WORDS_MAX {
            let word;
            (word, rest) = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let end = quoted.find('"').ok_or("a text in quotes has no end")?;
                    (&quoted[..end], quoted[end + 1..].trim_ascii_start())
                }
                None => split(rest),
            };
            line.words[line.count] = word;
            line.count += 1;
        }
        Ok((!line.verb.is_empty()).then_some(line))
    }

    /// How the call ended, which the last word says.
    pub(super) fn end(&self) -> Option<TraceEnd> {
        let last = self.words[..self.count].last()?;
        if let Some(name) = last.strip_prefix("NT_STATUS_") {
            return Some(ended_well(name == "OK"));
        }
        if let Some(digits) = last.strip_prefix("0x") {
            return Some(ended_well(digits.bytes().all(|digit| digit == b'0')));
        }
        match *last {
            "*" => Some(TraceEnd::Any),
            word if word.eq_ignore_ascii_case("SUCCESS") => Some(TraceEnd::Well),
            word if word.eq_ignore_ascii_case("ERROR") => Some(TraceEnd::Ill),
            _ => None,
        }
    }

    /// A word behind the verb, from 0.
    ///
    /// # Errors
    /// There are not so many.
    pub(super) fn word(&self, index: usize) -> Result<&'a str, String> {
        let word = self.words[..self.count].get(index).copied();
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
}

const fn ended_well(is_well: bool) -> TraceEnd {
    match is_well {
        true => TraceEnd::Well,
        false => TraceEnd::Ill,
    }
}

/// A number, decimal, or hexadecimal behind `0x`.
pub(super) fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// The first word, and what stands behind it.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| it.is_ascii_whitespace());
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (word, rest.trim_ascii_start())
}
