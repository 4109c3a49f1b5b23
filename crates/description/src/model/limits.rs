//! Limits of times.

use units::Span;

use crate::flaw::ValueError;

/// Longest time of a cell. A longer one is most likely a typing error, and Iometer's own clock
/// overflows at 24.8 days.
pub(crate) const TIME_MAX: Span = Span::from_secs(30 * 86_400);

/// Refuses a time above the limit.
pub(crate) fn time(key: &'static str, value: Option<Span>) -> Result<(), ValueError> {
    match value {
        Some(value) if value > TIME_MAX => {
            let message = format!("`{key}` is {value}, more than {TIME_MAX}");
            let help = format!("write `{key} = \"{TIME_MAX}\"` or less");
            Err(ValueError::new(key, message, help))
        }
        _ => Ok(()),
    }
}
