//! Values of options, and what is wrong with them.

use std::fmt::Display;
use std::str::FromStr;

/// A value as it was written.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    /// The name of its option.
    pub option: &'a str,
    /// The value.
    pub text: &'a str,
    pub(super) shown: fn(&str) -> String,
}

impl<'a> Value<'a> {
    /// That of an option, as it was written.
    pub const fn of(option: &'a str, text: &'a str) -> Self {
        Self {
            option,
            text,
            shown: plan::printable,
        }
    }

    /// A part of it.
    pub const fn part(&self, text: &'a str) -> Self {
        Self { text, ..*self }
    }

    /// What is said of one that is not what is wanted.
    pub fn not(&self, wanted: &str) -> String {
        format!("`{} {}` is not {wanted}", self.option, self.shown())
    }

    /// The value as it is shown.
    pub fn shown(&self) -> String {
        (self.shown)(self.text)
    }

    /// A number.
    ///
    /// # Errors
    /// It is none.
    pub fn number<N: FromStr>(&self) -> Result<N, String> {
        self.text.parse().map_err(|_| self.not("a number"))
    }

    /// A number within limits, which are told together with what is wanted.
    ///
    /// # Errors
    /// It is none, or beyond them.
    pub fn number_within<N>(&self, low: N, high: N) -> Result<N, String>
    where
        N: FromStr + PartialOrd + Display,
    {
        let read = self.text.parse().ok();
        let read = read.filter(|it| (&low..=&high).contains(&it));
        read.ok_or_else(|| self.not(&format!("a number from {low} to {high}")))
    }

    /// A number, which is then held against limits.
    ///
    /// # Errors
    /// It is none, or beyond them.
    pub fn limited(&self, low: u64, high: u64) -> Result<u64, String> {
        within(self.option, self.number()?, low, high)
    }

    /// Yes or no.
    ///
    /// # Errors
    /// It is neither.
    pub fn is_yes(&self) -> Result<bool, String> {
        match self.text.to_ascii_lowercase().as_str() {
            "y" | "yes" | "t" | "true" => Ok(true),
            "n" | "no" | "f" | "false" => Ok(false),
            _ => Err(self.not("Y or N")),
        }
    }

    /// A size in bytes, in which a letter may stand for 1024 and its powers.
    ///
    /// # Errors
    /// It is none.
    pub fn size(&self) -> Result<u64, String> {
        bytes(self.text, 1).ok_or_else(|| self.not("a number"))
    }
}

/// A size with a letter (`k`, `m`, `g` or `t`, 1024 each), in bytes; `unit` is that of a number
/// alone.
pub fn bytes(text: &str, unit: u64) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches(['k', 'm', 'g', 't']);
    let unit = match &lower[number.len()..] {
        "" => unit,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// Takes what an option is.
///
/// # Errors
/// It is beyond limits.
pub fn within(option: &str, value: u64, low: u64, high: u64) -> Result<u64, String> {
    match (low..=high).contains(&value) {
        true => Ok(value),
        false => Err(format!("`{option}` is {value}, not from {low} to {high}")),
    }
}

/// Takes the names of options, what they are and what they are at least.
///
/// # Errors
/// All that are less.
pub fn at_least(options: &[(&str, u64, u64)]) -> Result<(), String> {
    let less = options.iter().filter(|(_, value, least)| value < least);
    all_of(
        less.map(|(name, value, least)| {
            format!("`{name}` is {value}, and must be at least {least}")
        }),
    )
}

/// Takes what may be wrong with several options, and what is said of it.
///
/// # Errors
/// All that are so.
pub fn rule_out(flaws: &[(bool, &str)]) -> Result<(), String> {
    let found = flaws.iter().filter(|(is_so, _)| *is_so);
    all_of(found.map(|(_, message)| (*message).to_owned()))
}

/// Takes all flaws that were found.
///
/// # Errors
/// There are some; each has a line.
pub fn all_of(flaws: impl IntoIterator<Item = String>) -> Result<(), String> {
    let flaws: Vec<String> = flaws.into_iter().collect();
    match flaws.is_empty() {
        true => Ok(()),
        false => Err(flaws.join("\n")),
    }
}

/// Takes the only interface to files that there is here.
///
/// # Errors
/// It is another one.
pub fn is_posix<T>(_: &mut T, value: &Value<'_>) -> Result<(), String> {
    only(value, "interface", "POSIX")
}

/// Takes the only thing of that kind that there is here, in letters of any case.
///
/// # Errors
/// It is another one.
pub fn only(value: &Value<'_>, kind: &str, known: &str) -> Result<(), String> {
    match value.text.eq_ignore_ascii_case(known) {
        true => Ok(()),
        false => Err(format!(
            "the {kind} `{}` is not {known}, the only one here",
            value.shown()
        )),
    }
}
