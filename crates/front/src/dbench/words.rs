//! Words of load files that stand for others: names, drawn texts, places.

use std::collections::HashMap;

use generate::mix;
use workload::program::WORKER_MARK;

use super::line::number;

/// Bytes of a component of a name, and of a whole name; less than Linux takes, as numbers of
/// clients are still to come.
const COMPONENT_BYTES_MAX: usize = 239;
const NAME_BYTES_MAX: usize = 3000;
/// What lies between two numbers that are mixed.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a file draws as it is read.
#[derive(Default)]
pub(super) struct Texts {
    strings: HashMap<u64, String>,
    last_place: u64,
    random: u64,
}

impl Texts {
    /// Keeps a text under its number.
    pub(super) fn keep(&mut self, index: u64, text: String) {
        self.strings.insert(index, text);
    }

    /// A text with `$1` and the like replaced.
    pub(super) fn with_strings(&self, text: &str) -> String {
        let mut replaced = text.to_owned();
        for (index, string) in &self.strings {
            replaced = replaced.replace(&format!("${index}"), string);
        }
        replaced
    }

    /// A text with each `[...]` replaced by one of its characters.
    pub(super) fn random(&mut self, pattern: &str) -> Result<String, String> {
        let mut drawn = String::new();
        let mut rest = pattern;
        while let Some((before, behind)) = rest.split_once('[') {
            let (set, behind) = behind.split_once(']').ok_or("`[` has no `]`")?;
            drawn.push_str(before);
            let count = set.chars().count().max(1);
            let index = (self.draw() % count as u64) as usize;
            drawn.extend(set.chars().nth(index));
            rest = behind;
        }
        drawn.push_str(rest);
        Ok(drawn)
    }

    /// Where in a file: a number, `+` for so much behind the last, or `*` for anywhere, with
    /// `/y`, `%y` and `+y` behind it to align, to limit and to add.
    pub(super) fn place(&mut self, word: &str) -> Result<u64, String> {
        let wrong = || format!("`{word}` is no place in a file");
        let (mut place, mut rest) = match (word.strip_prefix('*'), word.strip_prefix('+')) {
            (Some(rest), _) => (self.draw() >> 1, rest),
            (None, Some(step)) => {
                let step = number(step).ok_or_else(wrong)?;
                (self.last_place.wrapping_add(step), "")
            }
            (None, None) => (number(word).ok_or_else(wrong)?, ""),
        };
        while let Some(sign) = rest.chars().next() {
            let behind = rest.get(1..).unwrap_or("");
            let end = behind.find(['/', '%', '+']).unwrap_or(behind.len());
            let by = number(&behind[..end]).ok_or_else(wrong)?;
            place = match sign {
                '/' => place / by.max(1) * by.max(1),
                '%' => place % by.max(1),
                '+' => place.saturating_add(by),
                _ => return Err(wrong()),
            };
            rest = &behind[end..];
        }
        self.last_place = place;
        Ok(place)
    }

    /// A random number, the same in each reading.
    fn draw(&mut self) -> u64 {
        let drawn = mix(self.random);
        self.random = self.random.wrapping_add(GOLDEN);
        drawn
    }
}

/// A name below the directory, whatever it is for: each client has its own number in it.
pub(super) fn beneath(text: &str) -> Result<String, String> {
    let text = text.replace('\\', "/");
    if text.contains('\0') {
        return Err("a name has a zero byte in it".to_owned());
    }
    let parts: Vec<&str> = text
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.contains(&"..") {
        return Err(format!("`{text}` leads out of the directory"));
    }
    let is_long = |part: &&str| part.len() > COMPONENT_BYTES_MAX;
    if text.len() > NAME_BYTES_MAX || parts.iter().any(is_long) {
        return Err("a name is too long".to_owned());
    }
    Ok(match parts.is_empty() {
        true => ".".to_owned(),
        false => parts
            .join("/")
            .replace("client1", &format!("client{WORKER_MARK}")),
    })
}
