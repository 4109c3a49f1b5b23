//! Values as fio reads them: sizes, times, shares, lists, expressions.

mod arithmetic;
mod lists;
mod number;
mod random;
mod unit;

pub(super) use arithmetic::evaluate_plain;
pub(super) use lists::{block_shares, cpus, file_names, floats, pattern, shares_by_direction};
pub(super) use number::number;
pub(super) use random::distribution;
pub(super) use unit::Unit;

pub use lists::{BlockShare, Pattern, PatternPart};
pub use random::{Distribution, ZoneShare};

use super::settings::{Amount, ByDirection};
use super::table::{Bounds, Kind};

/// A value, read by the kind of its option.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Of flags and of 0 or 1.
    Flag(bool),
    /// Numbers and times, by direction, or the ends of a range in the first two.
    Numbers(ByDirection<Option<i64>>),
    Ranges(ByDirection<Option<(u64, u64)>>),
    Amount(Amount),
    Floats(Vec<f64>),
    Text(String),
    Idle,
}

/// What was read, and what stands behind a number without being part of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub value: Value,
    /// How fio understands a text that looks like something else.
    pub remark: Option<String>,
}

impl Value {
    /// Reads a value; `kilo` is what `k` stands for.
    ///
    /// # Errors
    /// It is not of that kind: what is wanted.
    pub(super) fn read(kind: Kind, text: Option<&str>, kilo: u64) -> Result<Reading, String> {
        let plain = |value| Reading {
            value,
            remark: None,
        };
        let Some(text) = text.filter(|it| !it.is_empty()) else {
            return match kind {
                Kind::Flag if text.is_none() => Ok(plain(Self::Flag(true))),
                Kind::TextOrNone => Ok(plain(Self::Text(String::new()))),
                Kind::Idle => Ok(plain(Self::Idle)),
                _ => Err("it needs a value".to_owned()),
            };
        };
        let bytes = Unit::Bytes { kilo };
        Ok(match kind {
            Kind::Idle => plain(Self::Idle),
            Kind::Text | Kind::TextOrNone => plain(Self::Text(text.trim().to_owned())),
            Kind::Choice(words) => plain(Self::Text(choice(words, text)?)),
            Kind::Bool | Kind::Flag => plain(Self::Flag(flag(text)?)),
            Kind::Number(bounds) => numbers(text, bytes, bounds)?,
            Kind::Seconds => numbers(text, Unit::Seconds, TIMES)?,
            Kind::Microseconds => numbers(text, Unit::Microseconds, TIMES)?,
            Kind::Amount => amount(text, kilo)?,
            Kind::Ranges => plain(ranges(text, kilo)?),
            Kind::Floats(min, max) => plain(Self::Floats(floats(text, min, max)?)),
        })
    }

    pub(super) fn flag(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// Numbers by direction, negative ones as 0.
    pub(super) fn numbers(&self) -> ByDirection<Option<u64>> {
        match self {
            Self::Numbers(numbers) => numbers.map(|it| it.map(|it| it.try_into().unwrap_or(0))),
            _ => ByDirection::default(),
        }
    }

    /// The first number, as it is.
    pub(super) fn signed(&self) -> i64 {
        match self {
            Self::Numbers(numbers) => numbers.read.unwrap_or_default(),
            _ => 0,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.signed().try_into().unwrap_or(0)
    }

    /// The first number as far as it fits.
    pub(super) fn count(&self) -> u32 {
        self.number().try_into().unwrap_or(u32::MAX)
    }

    /// Both ends of a range, which one number has in common.
    pub(super) fn range(&self) -> (u64, u64) {
        let numbers = self.numbers();
        let first = numbers.read.unwrap_or_default();
        let second = numbers.write.unwrap_or(first);
        (first.min(second), first.max(second))
    }
}

/// Times are not negative.
const TIMES: Bounds = Bounds {
    min: Some(0),
    max: None,
};

/// The word before a colon must be one of the words.
fn choice(words: &str, text: &str) -> Result<String, String> {
    let word = text.split(':').next().unwrap_or_default();
    if words.split(' ').any(|it| it == word) {
        return Ok(text.to_owned());
    }
    let known = words.split(' ');
    Err(match description::nearest(word, known) {
        _ if word.starts_with(' ') => "there must be no blank behind the equals sign".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", words.replace(' ', ", ")),
    })
}

fn flag(text: &str) -> Result<bool, String> {
    let wanted = || "use 0 or 1".to_owned();
    let digits = text.trim_start().trim_start_matches(['+', '-']);
    let (digits, radix) = match digits.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    let end = digits.find(|it: char| !it.is_digit(radix));
    let digits = &digits[..end.unwrap_or(digits.len())];
    let number = u32::from_str_radix(digits, radix).map_err(|_| wanted())?;
    (number <= 1).then_some(number == 1).ok_or_else(wanted)
}

/// The most of what is in percent anyway, so that it may say so.
const PERCENT_MAX: i64 = 100;

/// Up to three numbers: the last given fills the directions behind it.
fn numbers(text: &str, unit: Unit, bounds: Bounds) -> Result<Reading, String> {
    let mut remark = None;
    let mut given = [None; 3];
    let parts = parts(text);
    for (at, part) in parts.iter().enumerate().take(given.len()) {
        if part.is_empty() {
            continue;
        }
        let read = number(part, unit)?;
        let is_share = read.suffix == Some('%') && bounds.max == Some(PERCENT_MAX);
        let number = match is_share {
            true => read.value,
            false => read.plain()?,
        };
        let number = bounded(number, bounds)?;
        given[at] = Some(number);
        if at + 1 == parts.len() {
            given[at..].fill(Some(number));
        }
        remark = remark.or_else(|| read.remark(part, unit));
    }
    if given == [None; 3] {
        return Err("it needs a number".to_owned());
    }
    let [read, write, trim] = given;
    let value = Value::Numbers(ByDirection { read, write, trim });
    Ok(Reading { value, remark })
}

/// The pieces of a list by direction; a range has two.
fn parts(text: &str) -> Vec<&str> {
    if text.starts_with('(') {
        return split_outside(text, ',');
    }
    let separator = [',', ':'].into_iter().find(|it| text.contains(*it));
    if let Some(separator) = separator {
        return text.split(separator).collect();
    }
    // A dash in front is a sign.
    let dash = text.char_indices().skip(1).find(|(_, it)| *it == '-');
    match dash {
        Some((at, _)) => vec![&text[..at], &text[at + 1..]],
        None => vec![text],
    }
}

/// The pieces between separators that stand in no parentheses.
fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0_i64;
    let is_between = |it: char| {
        depth += i64::from(it == '(') - i64::from(it == ')');
        depth <= 0 && it == separator
    };
    text.split(is_between).collect()
}

fn bounded(number: i64, bounds: Bounds) -> Result<i64, String> {
    if let Some(min) = bounds.min.filter(|it| number < *it) {
        return Err(format!("it is at least {min}"));
    }
    match bounds.max.filter(|it| number > *it) {
        Some(max) => Err(format!("it is at most {max}")),
        None => Ok(number),
    }
}

fn amount(text: &str, kilo: u64) -> Result<Reading, String> {
    let first = parts(text).first().copied().unwrap_or_default();
    let unit = Unit::Bytes { kilo };
    let read = number(first, unit)?;
    let share = |most: i64| {
        let share = bounded(
            read.value,
            Bounds {
                min: Some(0),
                max: Some(most),
            },
        )?;
        u32::try_from(share).map_err(|_| "it is too large".to_owned())
    };
    let value = match read.suffix {
        Some('%') => Amount::Percent(share(100)?),
        Some('z') => Amount::Zones(share(i64::from(u32::MAX))?),
        _ => Amount::Bytes(bounded(read.value, TIMES)?.unsigned_abs()),
    };
    Ok(Reading {
        value: Value::Amount(value),
        remark: read.remark(first, unit),
    })
}

/// `1k-4k,4k-8k`, in either order, the last filling what is behind it.
fn ranges(text: &str, kilo: u64) -> Result<Value, String> {
    let unit = Unit::Bytes { kilo };
    let mut given = [None; 3];
    let parts: Vec<&str> = text.split(',').collect();
    for (at, part) in parts.iter().enumerate().take(given.len()) {
        if part.is_empty() {
            continue;
        }
        let ends = part.split_once(['-', ':']);
        let (low, high) = ends.ok_or("it is a range such as `1k-4k`")?;
        let (low, high) = (number(low, unit)?.plain()?, number(high, unit)?.plain()?);
        let (low, high) = (low.min(high), low.max(high));
        let low = u64::try_from(low).ok().filter(|it| *it > 0);
        let low = low.ok_or("it is at least 1")?;
        let range = Some((low, high.unsigned_abs()));
        given[at] = range;
        if at + 1 == parts.len() {
            given[at..].fill(range);
        }
    }
    let [read, write, trim] = given;
    match given == [None; 3] {
        true => Err("it is a range such as `1k-4k`".to_owned()),
        false => Ok(Value::Ranges(ByDirection { read, write, trim })),
    }
}
