//! The clock that reports are made from: the system's, or readings told beforehand.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;
const SECOND_DIGITS: usize = 6;

/// A clock of microseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WallClock {
    /// The system's.
    System,
    /// Readings to give one after the other; the last is repeated.
    Told {
        /// At least one.
        readings_us: Vec<i64>,
        /// The next to give.
        next: usize,
    },
}

/// Readings that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReadingError {
    #[error("`{0}` is not a time in seconds")]
    NotATime(String),
    #[error("there is no reading of the clock")]
    Nothing,
}

impl WallClock {
    /// A clock that reads what the text says: seconds, with up to six decimals, between commas or
    /// blanks.
    pub(super) fn told(text: &str) -> Result<Self, ReadingError> {
        let separators = |c: char| c == ',' || c.is_ascii_whitespace();
        let words = text.split(separators).filter(|word| !word.is_empty());
        let readings_us = words
            .map(|word| reading_us(word).ok_or_else(|| ReadingError::NotATime(word.to_owned())))
            .collect::<Result<Vec<_>, _>>()?;
        if readings_us.is_empty() {
            return Err(ReadingError::Nothing);
        }
        Ok(Self::Told {
            readings_us,
            next: 0,
        })
    }

    /// Reads the clock.
    pub(super) fn read_us(&mut self) -> i64 {
        match self {
            Self::System => system_us(),
            Self::Told { readings_us, next } => {
                let reading = readings_us.get(*next).or(readings_us.last());
                *next += 1;
                reading.copied().unwrap_or(0)
            }
        }
    }
}

fn system_us() -> i64 {
    // A clock before 1970 has never been set; what it says does not matter then.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    })
}

fn reading_us(word: &str) -> Option<i64> {
    let (seconds, decimals) = word.split_once('.').unwrap_or((word, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(seconds) || !is_number(decimals) || decimals.len() > SECOND_DIGITS {
        return None;
    }
    let micros: i64 = format!("{decimals:0<SECOND_DIGITS$}").parse().ok()?;
    let seconds: i64 = seconds.parse().ok()?;
    seconds.checked_mul(SECOND_US)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_readings_come_in_their_order_and_the_last_again() {
        let mut clock = WallClock::told("1000,1002.5\n 7.000001").unwrap();
        let readings = [(); 4].map(|()| clock.read_us());
        assert_eq!(
            readings,
            [1_000_000_000, 1_002_500_000, 7_000_001, 7_000_001]
        );
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "x",
            "1,-2",
            "1.2.3",
            "1.",
            ".5",
            "1.1234567",
            "99999999999999999999",
        ] {
            let seen = WallClock::told(text);
            assert!(matches!(seen, Err(ReadingError::NotATime(_))), "{text}");
        }
        assert_eq!(WallClock::told(" ,\n"), Err(ReadingError::Nothing));
    }

    #[test]
    fn the_systems_clock_does_not_stand() {
        let mut clock = WallClock::System;
        assert!(clock.read_us() > 1_700_000_000 * SECOND_US);
    }
}
