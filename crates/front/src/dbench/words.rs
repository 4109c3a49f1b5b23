//! Words of load files that stand for others: drawn texts and places.

use std::collections::HashMap;

use generate::mix;

use crate::scanning::{number, split};

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
    /// Draws a text, and keeps it under its number.
    pub(super) fn keep(&mut self, index: u64, pattern: &str) -> Result<(), String> {
        let drawn = self.random(pattern)?;
        self.strings.insert(index, drawn);
        Ok(())
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
    fn random(&mut self, pattern: &str) -> Result<String, String> {
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
            let (by, behind) = split(behind, |it| !"/%+".contains(it));
            let by = number(by).ok_or_else(wrong)?;
            place = match sign {
                '/' => place / by.max(1) * by.max(1),
                '%' => place % by.max(1),
                '+' => place.saturating_add(by),
                _ => return Err(wrong()),
            };
            rest = behind;
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
