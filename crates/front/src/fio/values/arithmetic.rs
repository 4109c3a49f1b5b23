//! Evaluates expressions in parentheses.

use super::unit::{NumberUnit, UnitNumber};
use crate::scanning::split;

/// Maximum nesting depth.
const DEPTH_MAX: u32 = 32;

/// Evaluates an expression such as `(4k*2+1)`; times without a unit are microseconds.
pub(super) fn evaluate(text: &str, unit: NumberUnit) -> Result<UnitNumber, String> {
    let unit = match unit {
        NumberUnit::Seconds => NumberUnit::Microseconds,
        other => other,
    };
    let mut reader = ArithmeticReader {
        rest: text,
        unit,
        depth: 0,
    };
    let value = reader.primary()?;
    if !reader.rest.trim().is_empty() {
        return Err("remove the text after the parenthesis".to_owned());
    }
    in_range(value).map(|value| UnitNumber {
        value,
        suffix: None,
        has_rest: false,
    })
}

/// Evaluates an expression without parentheses, such as `2*4096`; `None` if it is invalid.
pub(in crate::fio) fn evaluate_plain(text: &str) -> Option<i64> {
    let mut reader = ArithmeticReader {
        rest: text,
        unit: NumberUnit::Bytes { kilo: 1024 },
        depth: 0,
    };
    let value = reader.sum().ok()?;
    let is_whole = reader.rest.trim().is_empty();
    in_range(value).ok().filter(|_| is_whole)
}

fn in_range(value: f64) -> Result<i64, String> {
    // Slightly below the largest `i64`, which a float cannot represent exactly.
    match value.is_finite() && value.abs() < 9e18 {
        true => Ok(value as i64),
        false => Err("its value is not a number, or too large".to_owned()),
    }
}

struct ArithmeticReader<'a> {
    rest: &'a str,
    unit: NumberUnit,
    depth: u32,
}

impl ArithmeticReader<'_> {
    /// Consumes the next character if it is one of the marks.
    fn takes(&mut self, marks: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next().filter(|it| marks.contains(it))?;
        self.rest = &self.rest[1..];
        Some(first)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(mark) = self.takes(&['+', '-']) {
            let other = self.product()?;
            value += if mark == '+' { other } else { -other };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.power()?;
        while let Some(mark) = self.takes(&['*', '/', '%']) {
            let other = self.power()?;
            value = match mark {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.primary()?;
        match self.takes(&['^']) {
            // Exponents nest to the right, so a chain of them needs the limit, too.
            Some(_) => Ok(base.powf(self.nested(Self::power)?)),
            None => Ok(base),
        }
    }

    fn primary(&mut self) -> Result<f64, String> {
        if self.takes(&['-']).is_some() {
            return Ok(-self.nested(Self::primary)?);
        }
        if self.takes(&['(']).is_none() {
            return self.number();
        }
        let value = self.nested(Self::sum)?;
        match self.takes(&[')']) {
            Some(_) => Ok(value),
            None => Err("a parenthesis is not closed".to_owned()),
        }
    }

    /// Parses one level deeper, up to the maximum depth.
    fn nested(&mut self, inner: fn(&mut Self) -> Result<f64, String>) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("it nests deeper than {DEPTH_MAX}"));
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn number(&mut self) -> Result<f64, String> {
        let hex = self.rest.strip_prefix("0x");
        let (digits, behind) = match hex {
            Some(hex) => split(hex, |it| it.is_ascii_hexdigit()),
            // Unlike plain numbers, numbers in fio's expressions may have decimals.
            None => split(self.rest, |it| it.is_ascii_digit() || it == '.'),
        };
        let value = match hex {
            Some(_) => u64::from_str_radix(digits, 16).ok().map(|it| it as f64),
            None => digits.parse().ok(),
        };
        let value: f64 = value.ok_or("it needs a number")?;
        let (letters, behind) = split(behind, |it| it.is_ascii_alphabetic());
        self.rest = behind;
        match self.unit.factor(letters) {
            (factor, None, false) => Ok(value * factor as f64),
            _ => Err(format!("`{letters}` is not a unit")),
        }
    }
}
