//! A measured value, and the verdict on several measurements of it.

use crate::check::{Bound, CheckVerdict, Outcome, Subject};
use crate::measure::MissingValue;

/// One measurement of a check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CheckReading {
    pub measured: f64,
    pub of: Option<u64>,
    pub truth: Option<f64>,
    pub bound: Bound,
}

impl CheckReading {
    /// A reading that may differ from the true value by a share of it; an error if either is
    /// missing.
    pub fn within(measured: Option<f64>, truth: Option<f64>, share: f64) -> Read<Self> {
        let nothing = || MissingValue::Broken("nothing was measured".to_owned());
        Ok(Self {
            measured: measured.ok_or_else(nothing)?,
            of: None,
            truth: Some(truth.ok_or_else(nothing)?),
            bound: Bound::Within { share },
        })
    }

    pub fn is_right(&self) -> bool {
        self.bound.allows(self.measured, self.truth)
    }
}

/// A measurement, or the reason why there is none.
pub(crate) type Read<T> = Result<T, MissingValue>;

/// The median reading with its verdict, or the reason why there is none.
pub(crate) fn judged(
    subject: Subject,
    result: Read<()>,
    mut readings: Vec<CheckReading>,
    is_disturbed: bool,
) -> Outcome {
    let attempts = readings.len() as u32;
    let without = |verdict, remark: String| Outcome {
        subject,
        measured: None,
        of: None,
        truth: None,
        bound: None,
        verdict,
        remark: Some(remark),
        attempts,
    };
    match result {
        Err(MissingValue::Stopped) => {
            return without(CheckVerdict::Skipped, "interrupted".to_owned());
        }
        Err(MissingValue::Unsupported(why)) => return without(CheckVerdict::Skipped, why),
        Err(MissingValue::Broken(what)) => return without(CheckVerdict::Wrong, what),
        Ok(()) => {}
    }
    readings.sort_by(|a, b| a.measured.total_cmp(&b.measured));
    // Of two readings, use the wrong one: without a third reading, nothing outvotes it.
    let failing = readings.iter().position(|it| !it.is_right());
    let index = match readings.len() {
        2 => failing.unwrap_or_default(),
        count => count / 2,
    };
    let reading = readings.swap_remove(index);
    let verdict = match (reading.is_right(), is_disturbed) {
        (true, _) => CheckVerdict::Right,
        (false, true) => CheckVerdict::Disturbed,
        (false, false) => CheckVerdict::Wrong,
    };
    Outcome {
        subject,
        measured: Some(reading.measured),
        of: reading.of,
        truth: reading.truth,
        bound: Some(reading.bound),
        verdict,
        remark: None,
        attempts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(measured: f64) -> CheckReading {
        CheckReading {
            measured,
            of: None,
            truth: Some(1.0),
            bound: Bound::Within { share: 0.1 },
        }
    }

    fn verdict(measured: &[f64], is_disturbed: bool) -> CheckVerdict {
        let readings = measured.iter().map(|it| reading(*it)).collect();
        judged(Subject::All, Ok(()), readings, is_disturbed).verdict
    }

    #[test]
    fn concurrent_load_turns_wrong_into_disturbed() {
        assert_eq!(verdict(&[1.0], false), CheckVerdict::Right);
        assert_eq!(verdict(&[1.0], true), CheckVerdict::Right);
        assert_eq!(verdict(&[2.0, 1.9, 1.8], false), CheckVerdict::Wrong);
        assert_eq!(verdict(&[2.0, 1.9, 1.8], true), CheckVerdict::Disturbed);
    }

    #[test]
    fn the_median_of_three_or_the_worse_of_two_decides() {
        assert_eq!(verdict(&[2.0, 1.0, 1.01], false), CheckVerdict::Right);
        assert_eq!(verdict(&[2.0, 0.5, 1.3], false), CheckVerdict::Wrong);
        assert_eq!(verdict(&[2.0, 1.0], false), CheckVerdict::Wrong);
    }

    #[test]
    fn unmeasurable_checks_are_skipped_and_broken_ones_are_wrong() {
        let of = |trouble| judged(Subject::All, Err(trouble), Vec::new(), false).verdict;
        assert_eq!(
            of(MissingValue::Unsupported("no".to_owned())),
            CheckVerdict::Skipped
        );
        assert_eq!(of(MissingValue::Stopped), CheckVerdict::Skipped);
        assert_eq!(
            of(MissingValue::Broken("no".to_owned())),
            CheckVerdict::Wrong
        );
    }
}
