//! Parses option values as fio does: sizes, times, shares, lists, expressions.

mod arithmetic;
mod lists;
mod number;
mod random;
mod unit;

pub(super) use arithmetic::evaluate_plain;
pub(super) use lists::{block_shares, cpus, file_names, floats, pattern, shares_by_direction};
pub(super) use number::number;
pub(super) use random::distribution;
pub(super) use unit::NumberUnit;

pub use lists::{BlockShare, BytePattern, PatternPart};
pub use random::{RandomDistribution, ZoneShare};

use plan::printable;

use super::settings::{ByDirection, SizeAmount};
use super::table::{NumberBounds, ValueKind};

/// A parsed value; the kind of the option selects the variant.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OptionValue {
    /// Value of a flag or boolean.
    Flag(bool),
    /// Numbers or times by direction; a range uses the first two for its ends.
    Numbers(ByDirection<Option<i64>>),
    Ranges(ByDirection<Option<(u64, u64)>>),
    Amount(SizeAmount),
    Floats(Vec<f64>),
    Text(String),
    Ignored,
}

/// A value, and a remark if it may surprise the user.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedValue {
    pub value: OptionValue,
    /// How fio reads a text that looks like another value.
    pub remark: Option<String>,
}

impl OptionValue {
    /// Reads a value; `kilo` is the meaning of `k`.
    ///
    /// # Errors
    /// A value of another kind; the text says what is expected.
    pub(super) fn read(
        kind: ValueKind,
        text: Option<&str>,
        kilo: u64,
    ) -> Result<ParsedValue, String> {
        let plain = |value| ParsedValue {
            value,
            remark: None,
        };
        let Some(text) = text.filter(|it| !it.is_empty()) else {
            return match kind {
                ValueKind::Flag if text.is_none() => Ok(plain(Self::Flag(true))),
                ValueKind::TextOrNone => Ok(plain(Self::Text(String::new()))),
                ValueKind::Ignored => Ok(plain(Self::Ignored)),
                _ => Err("it needs a value".to_owned()),
            };
        };
        let bytes = NumberUnit::Bytes { kilo };
        Ok(match kind {
            ValueKind::Ignored => plain(Self::Ignored),
            ValueKind::Text | ValueKind::TextOrNone => plain(Self::Text(text.trim().to_owned())),
            ValueKind::Choice(words) => plain(Self::Text(choice(words, text)?)),
            ValueKind::Bool | ValueKind::Flag => plain(Self::Flag(flag(text)?)),
            ValueKind::Number(bounds) => numbers(text, bytes, bounds)?,
            ValueKind::Seconds => numbers(text, NumberUnit::Seconds, TIMES)?,
            ValueKind::Microseconds => numbers(text, NumberUnit::Microseconds, TIMES)?,
            ValueKind::Amount => amount(text, kilo)?,
            ValueKind::Ranges => ranges(text, kilo)?,
            ValueKind::Floats(min, max) => plain(Self::Floats(floats(text, min, max)?)),
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

    /// Numbers by direction, with negative ones as 0.
    pub(super) fn numbers(&self) -> ByDirection<Option<u64>> {
        match self {
            Self::Numbers(numbers) => numbers.map(|it| it.map(|it| it.try_into().unwrap_or(0))),
            _ => ByDirection::default(),
        }
    }

    /// The first number; 0 if there is none.
    pub(super) fn signed(&self) -> i64 {
        match self {
            Self::Numbers(numbers) => numbers.read.unwrap_or_default(),
            _ => 0,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.signed().try_into().unwrap_or(0)
    }

    /// The first number, limited to the range of `u32`.
    pub(super) fn count(&self) -> u32 {
        self.number().try_into().unwrap_or(u32::MAX)
    }

    /// Both ends of a range; a single number is both.
    pub(super) fn range(&self) -> (u64, u64) {
        let numbers = self.numbers();
        let first = numbers.read.unwrap_or_default();
        let second = numbers.write.unwrap_or(first);
        (first.min(second), first.max(second))
    }
}

/// Bounds of times, which are not negative.
const TIMES: NumberBounds = NumberBounds {
    min: Some(0),
    max: None,
};

/// Checks that the word before the first colon is in the list.
fn choice(words: &str, text: &str) -> Result<String, String> {
    let word = text.split(':').next().unwrap_or_default();
    if words.split(' ').any(|it| it == word) {
        return Ok(text.to_owned());
    }
    let known = words.split(' ');
    Err(match description::nearest(word, known) {
        _ if word.starts_with(' ') => "remove the blank after the equals sign".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", words.replace(' ', ", ")),
    })
}

fn flag(text: &str) -> Result<bool, String> {
    let wanted = || "use 0 or 1".to_owned();
    // fio reads flags with sscanf(3), which accepts signs, hexadecimal digits and text after the
    // number.
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

/// Maximum number of values by direction: for reads, writes and trims.
const DIRECTION_COUNT: usize = 3;

/// Numbers with this maximum are percentages, so they may end in `%`.
const PERCENT_MAX: i64 = 100;

/// Reads up to three numbers; the last one also applies to the remaining directions.
fn numbers(text: &str, unit: NumberUnit, bounds: NumberBounds) -> Result<ParsedValue, String> {
    let mut remark = None;
    let mut given = [None; DIRECTION_COUNT];
    let parts = parts(text);
    for (at, part) in parts.iter().enumerate().take(given.len()) {
        // In `,16k`, reads keep their value. In `16k,`, writes do, because only a last part that is
        // not empty is repeated.
        if part.is_empty() {
            continue;
        }
        let read = number(part, unit)?;
        let is_share = read.suffix == Some('%') && bounds.max == Some(PERCENT_MAX);
        let number = match is_share {
            true => read.value,
            false => read.plain()?,
        };
        let number = check_bounds(number, bounds)?;
        given[at] = Some(number);
        if at + 1 == parts.len() {
            given[at..].fill(Some(number));
        }
        remark = remark.or_else(|| read.remark(part, unit));
    }
    if given == [None; DIRECTION_COUNT] {
        return Err("it needs a number".to_owned());
    }
    let remark = remark.or_else(|| surplus_remark(text, parts.len()));
    let [read, write, trim] = given;
    let value = OptionValue::Numbers(ByDirection { read, write, trim });
    Ok(ParsedValue { value, remark })
}

/// Says that fio drops further values; `None` if there are none.
fn surplus_remark(text: &str, count: usize) -> Option<String> {
    let text = printable(text);
    (count > DIRECTION_COUNT).then(|| {
        format!(
            "`{text}` has {count} values, but fio uses the first three: for reads, writes and trims"
        )
    })
}

/// Splits a list by direction, or a range into its two ends.
fn parts(text: &str) -> Vec<&str> {
    // In an expression, `-` subtracts and does not separate the ends of a range.
    if text.starts_with('(') {
        return split_outside_parentheses(text, ',');
    }
    // fio splits at commas, else at colons, else at dashes.
    let separator = [',', ':'].into_iter().find(|it| text.contains(*it));
    if let Some(separator) = separator {
        return text.split(separator).collect();
    }
    // A leading dash is a sign.
    let dash = text.char_indices().skip(1).find(|(_, it)| *it == '-');
    match dash {
        Some((at, _)) => vec![&text[..at], &text[at + 1..]],
        None => vec![text],
    }
}

/// Splits the text at separators outside parentheses.
fn split_outside_parentheses(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0_i64;
    let is_between = |it: char| {
        depth += i64::from(it == '(') - i64::from(it == ')');
        depth <= 0 && it == separator
    };
    text.split(is_between).collect()
}

fn check_bounds(number: i64, bounds: NumberBounds) -> Result<i64, String> {
    if let Some(min) = bounds.min.filter(|it| number < *it) {
        return Err(format!("use at least {min}"));
    }
    match bounds.max.filter(|it| number > *it) {
        Some(max) => Err(format!("use at most {max}")),
        None => Ok(number),
    }
}

fn amount(text: &str, kilo: u64) -> Result<ParsedValue, String> {
    let first = parts(text).first().copied().unwrap_or_default();
    let unit = NumberUnit::Bytes { kilo };
    let read = number(first, unit)?;
    let share = |most: i64| {
        let share = check_bounds(
            read.value,
            NumberBounds {
                min: Some(0),
                max: Some(most),
            },
        )?;
        u32::try_from(share).map_err(|_| "it is too large".to_owned())
    };
    let value = match read.suffix {
        Some('%') => SizeAmount::Percent(share(100)?),
        Some('z') => SizeAmount::Zones(share(i64::from(u32::MAX))?),
        _ => SizeAmount::Bytes(check_bounds(read.value, TIMES)?.unsigned_abs()),
    };
    Ok(ParsedValue {
        value: OptionValue::Amount(value),
        remark: read.remark(first, unit),
    })
}

/// Reads `1k-4k,4k-8k`, with ends in either order; the last range also applies to the remaining
/// directions.
fn ranges(text: &str, kilo: u64) -> Result<ParsedValue, String> {
    let unit = NumberUnit::Bytes { kilo };
    let mut remark = None;
    let mut given = [None; DIRECTION_COUNT];
    let parts: Vec<&str> = text.split(',').collect();
    for (at, part) in parts.iter().enumerate().take(given.len()) {
        if part.is_empty() {
            continue;
        }
        let ends = part.split_once(['-', ':']);
        let (low, high) = ends.ok_or("use a range such as `1k-4k`")?;
        let ends = [number(low, unit)?, number(high, unit)?];
        remark = remark
            .or_else(|| ends[0].remark(low, unit))
            .or_else(|| ends[1].remark(high, unit));
        let (first, second) = (ends[0].plain()?, ends[1].plain()?);
        let (low, high) = (first.min(second), first.max(second));
        remark = remark.or_else(|| {
            let part = printable(part);
            (first > second).then(|| format!("`{part}` is read as {low} to {high}, as in fio"))
        });
        let low = u64::try_from(low).ok().filter(|it| *it > 0);
        let low = low.ok_or("use at least 1")?;
        let range = Some((low, high.unsigned_abs()));
        given[at] = range;
        if at + 1 == parts.len() {
            given[at..].fill(range);
        }
    }
    let [read, write, trim] = given;
    match given == [None; DIRECTION_COUNT] {
        true => Err("use a range such as `1k-4k`".to_owned()),
        false => Ok(ParsedValue {
            value: OptionValue::Ranges(ByDirection { read, write, trim }),
            remark: remark.or_else(|| surplus_remark(text, parts.len())),
        }),
    }
}
