//! All checks, one after another.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use workload::plan::{ArrivalKind, EngineKind};

use crate::check::{Bound, Check, CheckName, Outcome, Subject, Verdict};
use crate::clock::{ClockPair, Moment, apart_ns};
use crate::load::{Load, LoadSample, LoadWatch, OTHERS_MAX};
use crate::measure::{Measurer, Trouble};
use crate::repeats::{Repeated, repeat};
use crate::selftest::{SELFTEST_FORMAT, SelfTest};
use crate::{histogram, intervals, open_loop, own_cost};

/// What is beyond its bound is measured so often, and the median counts.
const ATTEMPTS: u32 = 3;
/// Nothing is measured again when the self-test has taken so long.
const AGAIN_UNTIL: Duration = Duration::from_secs(75);
/// How far the clock may be off, as a share; a clock that is being set right is off by half.
const CLOCK_OFF_MAX: f64 = 1e-3;
/// How far the clocks of two processors may be apart.
const APART_MAX_NS: f64 = 1000.0;
/// The chance that an interval holds the true mean.
const HOLDS: f64 = 0.95;

/// What to check.
#[derive(Debug, Clone)]
pub struct Options {
    /// The engines.
    pub engines: Vec<EngineKind>,
    /// Set from outside to end early.
    pub stop: Arc<AtomicBool>,
    /// Version of pgmeter, for the record.
    pub version: String,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A figure is going to be measured.
    Begins {
        /// The figure.
        name: CheckName,
        /// On what.
        subject: Subject,
        /// How often it was measured before.
        attempts: u32,
    },
}

/// Checks everything, or until the stop flag is set.
pub fn run(options: &Options, listener: &mut dyn FnMut(Event)) -> SelfTest {
    let begin = Instant::now();
    let mut course = Course {
        begin,
        measurer: Measurer::new(Arc::clone(&options.stop)),
        load: LoadWatch::new(),
        listener,
        checks: Vec::new(),
    };
    let started_at = Timestamp::now();
    let clocks = ClockPair::start().and_then(|pair| Ok((pair.read()?, pair)));
    let load_before = course.load.look();
    course.of_all();
    if options.engines.contains(&EngineKind::Null) {
        course.of_null();
    }
    course.clock_rate(clocks);
    let load = course.load.look().since(&load_before);
    course.other_load(load);
    let mut selftest = SelfTest {
        format: SELFTEST_FORMAT.to_owned(),
        version: options.version.clone(),
        started_at,
        took_ns: u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX),
        is_interrupted: course.measurer.is_stopped(),
        load,
        verdict: Verdict::Skipped,
        checks: course.checks,
    };
    selftest.conclude();
    selftest
}

/// One measurement of a figure.
struct Reading {
    measured: f64,
    of: Option<u64>,
    truth: Option<f64>,
    bound: Bound,
}

impl Reading {
    fn is_right(&self) -> bool {
        self.bound.allows(self.measured, self.truth)
    }
}

type Read<T> = Result<T, Trouble>;

struct Course<'a> {
    begin: Instant,
    measurer: Measurer,
    load: LoadWatch,
    listener: &'a mut dyn FnMut(Event),
    checks: Vec<Check>,
}

impl Course<'_> {
    /// What all engines have in common.
    fn of_all(&mut self) {
        self.check(CheckName::ClockProcessors, Subject::All, |_, _| {
            let apart = apart_ns().map_err(|it| Trouble::Cannot(it.to_string()))?;
            let one = || Trouble::Cannot("there is only one processor".to_owned());
            Ok(Reading {
                measured: apart.ok_or_else(one)? as f64,
                of: None,
                truth: Some(0.0),
                bound: Bound::AtMost { high: APART_MAX_NS },
            })
        });
        self.check(CheckName::Histogram, Subject::All, |_, _| {
            let (lost, _) = histogram::lost(|counter, value| counter.record(0, value));
            Ok(Reading {
                measured: lost as f64,
                of: None,
                truth: Some(0.0),
                bound: Bound::AtMost { high: 0.0 },
            })
        });
        self.check(CheckName::IntervalsSimulated, Subject::All, |_, _| {
            let (low, high) = intervals::CLAIM;
            Ok(Reading {
                measured: intervals::coverage(),
                of: None,
                truth: Some(HOLDS),
                bound: Bound::Between { low, high },
            })
        });
    }

    /// The engine that does nothing.
    fn of_null(&mut self) {
        let subject = Subject::Engine(EngineKind::Null);
        self.check(CheckName::OwnCost, subject, |measurer, _| {
            Ok(Reading {
                measured: own_cost::cost_ns(measurer)?,
                of: None,
                truth: None,
                bound: Bound::AtMost {
                    high: own_cost::COST_MAX_NS,
                },
            })
        });
        for (name, arrivals) in [
            (CheckName::RateUniform, ArrivalKind::Uniform),
            (CheckName::RatePoisson, ArrivalKind::Poisson),
        ] {
            self.check(name, subject, |measurer, attempt| {
                let (measured, truth, bound) = open_loop::rate(measurer, arrivals, attempt)?;
                Ok(Reading {
                    measured,
                    of: None,
                    truth: Some(truth),
                    bound,
                })
            });
        }
        self.repeats(subject);
    }

    /// Both figures of the same repetitions.
    fn repeats(&mut self, subject: Subject) {
        let mut seen: Option<Repeated> = None;
        let is_disturbed = self.check(CheckName::SameAsItself, subject, |measurer, attempt| {
            let repeated = *seen.insert(repeat(measurer, attempt)?);
            Ok(Reading {
                measured: f64::from(repeated.different),
                of: Some(repeated.comparisons.into()),
                truth: None,
                bound: repeated.different_bound(),
            })
        });
        let holding = |measurer: &Measurer, attempt| {
            let repeated = match seen.take() {
                Some(repeated) => repeated,
                None => repeat(measurer, attempt)?,
            };
            Ok(Reading {
                measured: f64::from(repeated.holding),
                of: Some(repeated.intervals.into()),
                truth: None,
                bound: repeated.holding_bound(),
            })
        };
        self.check_after(CheckName::IntervalsMeasured, subject, is_disturbed, holding);
    }

    /// The clock over the whole self-test.
    fn clock_rate(&mut self, clocks: std::io::Result<(Moment, ClockPair)>) {
        let passed = clocks.and_then(|(begin, pair)| Ok(pair.read()?.since(begin)));
        self.check(CheckName::ClockRate, Subject::All, |_, _| {
            let cannot = |error: &std::io::Error| Trouble::Cannot(error.to_string());
            let (own_ns, kernel_ns) = passed.as_ref().map_err(cannot)?;
            Ok(Reading {
                measured: *own_ns as f64,
                of: None,
                truth: Some(*kernel_ns as f64),
                bound: Bound::Within {
                    share: CLOCK_OFF_MAX,
                },
            })
        });
    }

    fn other_load(&mut self, load: Load) {
        let bound = Bound::AtMost { high: OTHERS_MAX };
        let verdict = match load.disturbs() {
            true => Verdict::Disturbed,
            false => Verdict::Right,
        };
        let outcome = Outcome {
            subject: Subject::All,
            measured: Some(load.others),
            of: None,
            truth: None,
            bound: Some(bound),
            verdict,
            remark: None,
            attempts: 1,
        };
        self.add(CheckName::OtherLoad, outcome);
    }

    /// As [`Self::check_after`], of nothing that was measured before.
    fn check(
        &mut self,
        name: CheckName,
        subject: Subject,
        read: impl FnMut(&Measurer, u32) -> Read<Reading>,
    ) -> bool {
        self.check_after(name, subject, false, read)
    }

    /// Measures a figure, again where it is beyond its bound, and judges the median; whether it was
    /// disturbed, or what was measured for it before.
    fn check_after(
        &mut self,
        name: CheckName,
        subject: Subject,
        mut is_disturbed: bool,
        mut read: impl FnMut(&Measurer, u32) -> Read<Reading>,
    ) -> bool {
        let mut readings: Vec<Reading> = Vec::new();
        let outcome = loop {
            if self.measurer.is_stopped() {
                break judged(subject, Err(Trouble::Stopped), readings, is_disturbed);
            }
            let attempts = readings.len() as u32;
            (self.listener)(Event::Begins {
                name,
                subject,
                attempts,
            });
            let before: LoadSample = self.load.look();
            let reading = read(&self.measurer, attempts);
            let load = self.load.look().since(&before);
            is_disturbed |= load.disturbs() && name.can_be_disturbed();
            let reading = match reading {
                Ok(reading) => reading,
                Err(trouble) => break judged(subject, Err(trouble), readings, is_disturbed),
            };
            let is_first_right = readings.is_empty() && reading.is_right();
            readings.push(reading);
            let is_enough = readings.len() as u32 >= ATTEMPTS || !name.can_be_disturbed();
            if is_first_right || is_enough || self.begin.elapsed() > AGAIN_UNTIL {
                break judged(subject, Ok(()), readings, is_disturbed);
            }
        };
        self.add(name, outcome);
        is_disturbed
    }

    fn add(&mut self, name: CheckName, outcome: Outcome) {
        match self.checks.iter_mut().find(|check| check.name == name) {
            Some(check) => check.outcomes.push(outcome),
            None => self.checks.push(Check {
                name,
                unit: name.unit(),
                outcomes: vec![outcome],
            }),
        }
    }
}

/// The median of the readings with its verdict, or why there is none.
fn judged(
    subject: Subject,
    ended: Read<()>,
    mut readings: Vec<Reading>,
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
    match ended {
        Err(Trouble::Stopped) => return without(Verdict::Skipped, "interrupted".to_owned()),
        Err(Trouble::Cannot(why)) => return without(Verdict::Skipped, why),
        Err(Trouble::Broken(what)) => return without(Verdict::Wrong, what),
        Ok(()) => {}
    }
    readings.sort_by(|a, b| a.measured.total_cmp(&b.measured));
    // Of two the one that is wrong: it was to be confirmed, and was not refuted.
    let wrong = readings.iter().position(|it| !it.is_right());
    let place = match readings.len() {
        2 => wrong.unwrap_or_default(),
        count => count / 2,
    };
    let reading = readings.swap_remove(place);
    let verdict = match (reading.is_right(), is_disturbed) {
        (true, _) => Verdict::Right,
        (false, true) => Verdict::Disturbed,
        (false, false) => Verdict::Wrong,
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

    fn reading(measured: f64) -> Reading {
        Reading {
            measured,
            of: None,
            truth: Some(1.0),
            bound: Bound::Within { share: 0.1 },
        }
    }

    fn verdict(measured: &[f64], is_disturbed: bool) -> Verdict {
        let readings = measured.iter().map(|it| reading(*it)).collect();
        judged(Subject::All, Ok(()), readings, is_disturbed).verdict
    }

    #[test]
    fn a_load_beside_tells_disturbed_from_wrong_and_excuses_nothing_that_is_right() {
        assert_eq!(verdict(&[1.0], false), Verdict::Right);
        assert_eq!(verdict(&[1.0], true), Verdict::Right);
        assert_eq!(verdict(&[2.0, 1.9, 1.8], false), Verdict::Wrong);
        assert_eq!(verdict(&[2.0, 1.9, 1.8], true), Verdict::Disturbed);
    }

    #[test]
    fn the_median_of_three_counts_and_of_two_the_worse() {
        assert_eq!(verdict(&[2.0, 1.0, 1.01], false), Verdict::Right);
        assert_eq!(verdict(&[2.0, 0.5, 1.3], false), Verdict::Wrong);
        assert_eq!(verdict(&[2.0, 1.0], false), Verdict::Wrong);
    }

    #[test]
    fn what_cannot_be_measured_is_skipped_and_what_must_not_happen_is_wrong() {
        let of = |trouble| judged(Subject::All, Err(trouble), Vec::new(), false).verdict;
        assert_eq!(of(Trouble::Cannot("no".to_owned())), Verdict::Skipped);
        assert_eq!(of(Trouble::Stopped), Verdict::Skipped);
        assert_eq!(of(Trouble::Broken("no".to_owned())), Verdict::Wrong);
    }
}
