//! The checks that each engine gets.

use plan::{ArrivalKind, EngineKind};

use crate::check::{Bound, CheckName, CheckVerdict, Outcome, Subject};
use crate::delay::DelayTarget;
use crate::measure::Measurer;
use crate::reading::CheckReading;
use crate::repeats::{ComparisonCounts, RepeatedCheck};
use crate::run_checks::SelfTestRun;
use crate::{delayed, open_loop, own_cost};

/// The checks of engines on a file whose reads take a known time.
const DELAYED: [CheckName; 7] = [
    CheckName::Latency,
    CheckName::RateClosed,
    CheckName::RateUniform,
    CheckName::StallMean,
    CheckName::StallTail,
    CheckName::SameAsItself,
    CheckName::IntervalsMeasured,
];

impl SelfTestRun<'_> {
    /// Checks the `null` engine.
    pub fn of_null(&mut self) {
        let subject = Subject::Engine(EngineKind::Null);
        self.check(CheckName::OwnCost, subject, |measurer, _| {
            Ok(CheckReading {
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
                open_loop::rate(measurer, arrivals, attempt)
            });
        }
        self.repeats(subject, &mut RepeatedCheck::of_null());
    }

    /// Checks engines on the delayed file, or skips them with the reason why there is no such file.
    pub fn of_delayed(&mut self, engines: &[EngineKind], target: Result<DelayTarget, String>) {
        let mut target = match target {
            Ok(target) => target,
            Err(reason) => return self.skip_delayed(engines, &reason),
        };
        // The server works for the self-test; its CPU time is no disturbance by others.
        self.load.count_as_own(target.server_id());
        for engine in engines.iter().copied() {
            self.of_engine(&mut target, engine);
        }
        self.load.stop_counting();
    }

    fn of_engine(&mut self, target: &mut DelayTarget, engine: EngineKind) {
        let subject = Subject::Engine(engine);
        self.check(CheckName::Latency, subject, |measurer, _| {
            delayed::latency(measurer, target, engine)
        });
        self.check(CheckName::RateClosed, subject, |measurer, _| {
            delayed::closed_rate(measurer, target, engine)
        });
        self.check(CheckName::RateUniform, subject, |measurer, _| {
            delayed::open_rate(measurer, target, engine)
        });
        self.stall(target, engine);
        let mut repeats = RepeatedCheck::of_delayed(target, engine);
        self.repeats(subject, &mut repeats);
    }

    fn skip_delayed(&mut self, engines: &[EngineKind], reason: &str) {
        for engine in engines {
            for name in DELAYED {
                let outcome = Outcome {
                    subject: Subject::Engine(*engine),
                    measured: None,
                    of: None,
                    truth: None,
                    bound: None,
                    verdict: CheckVerdict::Skipped,
                    remark: Some(reason.to_owned()),
                    attempts: 0,
                };
                self.add(name, outcome);
            }
        }
    }

    /// Checks the mean and the tail of the same stall.
    fn stall(&mut self, target: &mut DelayTarget, engine: EngineKind) {
        let subject = Subject::Engine(engine);
        let mut reading: Option<CheckReading> = None;
        let is_disturbed = self.check(CheckName::StallMean, subject, |measurer, _| {
            let [mean, tail] = delayed::stall(measurer, target, engine)?;
            reading = Some(tail);
            Ok(mean)
        });
        // The first attempt judges the stall that the mean was taken from; further attempts need a
        // new one.
        let tail = |measurer: &Measurer, _| match reading.take() {
            Some(tail) => Ok(tail),
            None => Ok(delayed::stall(measurer, target, engine)?[1]),
        };
        self.check_after(CheckName::StallTail, subject, is_disturbed, tail);
    }

    /// Checks false differences and interval coverage with the same repetitions.
    fn repeats(&mut self, subject: Subject, repeats: &mut RepeatedCheck<'_>) {
        let mut counts: Option<ComparisonCounts> = None;
        let is_disturbed = self.check(CheckName::SameAsItself, subject, |measurer, attempt| {
            let repeated = *counts.insert(repeats.run(measurer, attempt)?);
            Ok(CheckReading {
                measured: f64::from(repeated.different),
                of: Some(repeated.comparisons.into()),
                truth: None,
                bound: repeated.difference_bound(),
            })
        });
        let holding = |measurer: &Measurer, attempt| {
            let repeated = match counts.take() {
                Some(repeated) => repeated,
                None => repeats.run(measurer, attempt)?,
            };
            Ok(CheckReading {
                measured: f64::from(repeated.covering),
                of: Some(repeated.intervals.into()),
                truth: None,
                bound: repeated.coverage_bound(),
            })
        };
        self.check_after(CheckName::IntervalsMeasured, subject, is_disturbed, holding);
    }
}
