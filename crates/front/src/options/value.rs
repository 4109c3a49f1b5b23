//! Values of options, and their errors.

use std::fmt::Display;
use std::str::FromStr;

use super::escaped;

/// A value as the user wrote it.
#[derive(Clone, Copy)]
pub struct WrittenValue<'a> {
    /// Name of the option.
    pub option: &'a str,
    /// The value.
    pub text: &'a str,
    pub(super) format: fn(&str) -> String,
}

impl<'a> WrittenValue<'a> {
    /// The value of an option.
    pub const fn of(option: &'a str, text: &'a str) -> Self {
        Self {
            option,
            text,
            format: plan::printable,
        }
    }

    /// A part of the value.
    pub const fn part(&self, text: &'a str) -> Self {
        Self { text, ..*self }
    }

    /// The message that the value is not the wanted one.
    pub fn not(&self, wanted: &str) -> String {
        format!("`{} {}` is not {wanted}", self.option, self.shown())
    }

    /// The message that the value is not a size. It contains the size in a form that the program
    /// accepts if only the letters after `k`, `m`, `g` or `t` are wrong.
    pub fn not_size(&self) -> String {
        let lower = self.text.to_ascii_lowercase();
        let short = lower.strip_suffix("ib").or(lower.strip_suffix('b'));
        let is_size = |it: &&str| it.ends_with(['k', 'm', 'g', 't']) && bytes(it, 1).is_some();
        match short.filter(is_size) {
            Some(short) => format!("{}; write `{} {short}`", self.not("a size"), self.option),
            None => self.not("a number with an optional unit: `k`, `m`, `g` or `t`"),
        }
    }

    /// The value as messages show it.
    pub fn shown(&self) -> String {
        (self.format)(self.text)
    }

    /// A number.
    ///
    /// # Errors
    /// The value is not a number.
    pub fn number<N: FromStr>(&self) -> Result<N, String> {
        self.text.parse().map_err(|_| self.not("a number"))
    }

    /// A number within limits. The error names the limits.
    ///
    /// # Errors
    /// The value is not a number or is outside of the limits.
    pub fn number_within<N>(&self, low: N, high: N) -> Result<N, String>
    where
        N: FromStr + PartialOrd + Display,
    {
        let read = self.text.parse().ok();
        let read = read.filter(|it| (&low..=&high).contains(&it));
        read.ok_or_else(|| self.not(&format!("a number from {low} to {high}")))
    }

    /// A number, checked against limits in a second step with its own error.
    ///
    /// # Errors
    /// The value is not a number or is outside of the limits.
    pub fn limited(&self, low: u64, high: u64) -> Result<u64, String> {
        within(self.option, self.number()?, low, high)
    }

    /// `true` for yes, `false` for no.
    ///
    /// # Errors
    /// The value is neither yes nor no.
    pub fn is_yes(&self) -> Result<bool, String> {
        match self.text.to_ascii_lowercase().as_str() {
            "y" | "yes" | "t" | "true" => Ok(true),
            "n" | "no" | "f" | "false" => Ok(false),
            _ => Err(self.not("Y or N")),
        }
    }

    /// A size in bytes, with an optional unit that is a power of 1024.
    ///
    /// # Errors
    /// The value is not a size.
    pub fn size(&self) -> Result<u64, String> {
        bytes(self.text, 1).ok_or_else(|| self.not_size())
    }
}

/// Parses a size, in bytes, with an optional unit (`k`, `m`, `g` or `t`, powers of 1024). A plain
/// number is multiplied by `unit`.
pub fn bytes(text: &str, unit: u64) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    // All unit letters are cut off, so that `1kk` is rejected below.
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

/// Returns an option's value if it is within limits.
///
/// # Errors
/// The value is outside of the limits.
pub fn within(option: &str, value: u64, low: u64, high: u64) -> Result<u64, String> {
    match (low..=high).contains(&value) {
        true => Ok(value),
        false => Err(format!("`{option}` is {value}, not from {low} to {high}")),
    }
}

/// Checks options, given by name, value and minimum.
///
/// # Errors
/// All options whose value is less than the minimum.
pub fn at_least(options: &[(&str, u64, u64)]) -> Result<(), String> {
    let less = options.iter().filter(|(_, value, least)| value < least);
    all_of(
        less.map(|(name, value, least)| {
            format!("`{name}` is {value}, and must be at least {least}")
        }),
    )
}

/// Checks conditions that must not be true, each with its message.
///
/// # Errors
/// The messages of all conditions that are true.
pub fn rule_out(flaws: &[(bool, &str)]) -> Result<(), String> {
    let found = flaws.iter().filter(|(is_so, _)| *is_so);
    all_of(found.map(|(_, message)| (*message).to_owned()))
}

/// Turns messages into an error.
///
/// # Errors
/// There is at least one message; each is on its own line.
pub fn all_of(flaws: impl IntoIterator<Item = String>) -> Result<(), String> {
    let flaws: Vec<String> = flaws.into_iter().collect();
    match flaws.is_empty() {
        true => Ok(()),
        false => Err(flaws.join("\n")),
    }
}

/// The message about a mistake in a line of a file.
pub fn located(name: &str, line_number: u32, flaw: &str) -> String {
    format!("{}, line {line_number}: {flaw}", escaped(name))
}

/// Parses an interface of IOR and mdtest: `false` for POSIX, `true` for DUMMY, which does no I/O.
///
/// # Errors
/// The value is another interface.
pub fn posix_or_dummy(value: &WrittenValue<'_>) -> Result<bool, String> {
    match value.text.to_ascii_uppercase().as_str() {
        "POSIX" => Ok(false),
        "DUMMY" => Ok(true),
        _ => Err(format!(
            "the interface `{}` is not POSIX or DUMMY, the only ones here",
            value.shown()
        )),
    }
}

/// Accepts a value only if it is the supported one, regardless of case.
///
/// # Errors
/// The value is another one.
pub fn only(value: &WrittenValue<'_>, kind: &str, allowed: &str) -> Result<(), String> {
    match value.text.eq_ignore_ascii_case(allowed) {
        true => Ok(()),
        false => Err(format!(
            "the {kind} `{}` is not {allowed}, the only one here",
            value.shown()
        )),
    }
}
