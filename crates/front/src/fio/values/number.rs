//! Parses one number with its unit.

use super::arithmetic;
use super::unit::{NumberUnit, UnitNumber};

/// Reads a number: digits or `0x` digits with a unit, or an expression in parentheses.
///
/// # Errors
/// A text without a number, or a number that is too large.
pub(in crate::fio) fn number(text: &str, unit: NumberUnit) -> Result<UnitNumber, String> {
    if text.starts_with('(') {
        return arithmetic::evaluate(text, unit);
    }
    let trimmed = text.trim_start();
    let (value, tail) = integer(trimmed)?;
    let (factor, suffix, has_rest) = unit.factor(tail);
    // fio lets the product wrap around, which would silently select another size.
    let value = value.checked_mul(factor).ok_or("it is too large")?;
    Ok(UnitNumber {
        value,
        suffix,
        has_rest,
    })
}

/// Reads sign and digits; also returns the rest of the text.
fn integer(text: &str) -> Result<(i64, &str), String> {
    let unsigned = text.trim_start_matches(['+', '-']);
    if text.len() - unsigned.len() > 1 {
        return Err("it needs a number".to_owned());
    }
    let hex = unsigned.strip_prefix("0x");
    let hex = hex.or_else(|| unsigned.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((unsigned, 10), |digits| (digits, 16));
    let end = digits.find(|it: char| !it.is_digit(radix));
    let (digits, tail) = digits.split_at(end.unwrap_or(digits.len()));
    if digits.is_empty() {
        return Err("it needs a number".to_owned());
    }
    let value = i64::from_str_radix(digits, radix).map_err(|_| "it is too large")?;
    let is_negative = text.starts_with('-');
    Ok((if is_negative { -value } else { value }, tail))
}
