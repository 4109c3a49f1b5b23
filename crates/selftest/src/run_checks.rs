//! Runs all checks, one after another.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use plan::EngineKind;

use crate::check::{Bound, Check, CheckName, CheckVerdict, Outcome, Subject};
use crate::clock::{ClockMoment, ClockPair, max_skew_ns};
use crate::delay::{DelayTarget, PrivateMounts};
use crate::load::{LoadSample, LoadWatch, OTHERS_SHARE_MAX, OtherLoad};
use crate::measure::{Measurer, MissingValue};
use crate::reading::{CheckReading, Read, judged};
use crate::selftest::{SELFTEST_FORMAT, SelfTest};
use crate::{histogram, intervals};

/// Number of measurements if the first one is out of bounds; the median is used.
const ATTEMPTS: u32 = 3;
/// After this time, no check is repeated.
const RETRY_UNTIL: Duration = Duration::from_secs(75);
/// Maximum error of the clock, as a share. A system clock that NTP is slewing is off by up to half
/// of this.
const CLOCK_ERROR_MAX: f64 = 1e-3;
/// Maximum difference between the clocks of two CPUs, in nanoseconds.
const CLOCK_SKEW_MAX_NS: f64 = 1000.0;
/// Probability with which an interval should contain the true mean.
const COVERAGE: f64 = 0.95;

/// Options of a self-test.
#[derive(Debug)]
pub struct SelfTestOptions {
    /// The engines to check.
    pub engines: Vec<EngineKind>,
    /// Set by the caller to end the self-test early.
    pub stop: Arc<AtomicBool>,
    /// Version of pgmeter, for the record.
    pub version: String,
    /// Mount namespace for the file system whose reads take a known time; not needed for the `null`
    /// engine.
    pub mounts: Option<PrivateMounts>,
    /// Arguments with which this program calls [`serve`](crate::serve).
    pub server_arguments: Vec<String>,
}

/// Progress of the self-test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A measurement begins.
    Begins {
        /// The check.
        name: CheckName,
        /// The engine, or the whole machine.
        subject: Subject,
        /// Number of earlier measurements of this check.
        attempts: u32,
    },
}

/// Runs all checks, or as many as it can until the stop flag is set.
pub fn run(options: &SelfTestOptions, listener: &mut dyn FnMut(Event)) -> SelfTest {
    let begin = Instant::now();
    let mut run = SelfTestRun {
        begin,
        measurer: Measurer::new(Arc::clone(&options.stop)),
        load: LoadWatch::new(),
        listener,
        checks: Vec::new(),
    };
    let started_at = Timestamp::now();
    // Read before the first and after the last check: over a minute, the error of the two readings
    // does not matter.
    let clocks = ClockPair::start().and_then(|pair| Ok((pair.read()?, pair)));
    let load_before = run.load.look();
    run.of_all();
    let (null, others): (Vec<EngineKind>, _) = options
        .engines
        .iter()
        .partition(|engine| **engine == EngineKind::Null);
    if !null.is_empty() {
        run.of_null();
    }
    if !others.is_empty() {
        let mounts = options.mounts.as_ref();
        let mounts = mounts.ok_or_else(|| "there is no mount namespace".to_owned());
        let target = mounts.and_then(|it| DelayTarget::start(it, &options.server_arguments));
        run.of_delayed(&others, target);
    }
    run.check_clock_rate(clocks);
    let load = run.load.look().since(&load_before);
    run.check_other_load(load);
    // The order of the table differs from the order of the run: the clock is judged late.
    run.checks.sort_by_key(|check| check.name);
    let mut selftest = SelfTest {
        format: SELFTEST_FORMAT.to_owned(),
        version: options.version.clone(),
        started_at,
        took_ns: u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX),
        is_interrupted: run.measurer.is_stopped(),
        load,
        verdict: CheckVerdict::Skipped,
        checks: run.checks,
    };
    selftest.conclude();
    selftest
}

pub(crate) struct SelfTestRun<'a> {
    begin: Instant,
    measurer: Measurer,
    pub load: LoadWatch,
    listener: &'a mut dyn FnMut(Event),
    checks: Vec<Check>,
}

impl SelfTestRun<'_> {
    /// Runs the checks that do not depend on an engine.
    fn of_all(&mut self) {
        self.check(CheckName::ClockProcessors, Subject::All, |_, _| {
            let apart = max_skew_ns().map_err(|it| MissingValue::Unsupported(it.to_string()))?;
            let one = || MissingValue::Unsupported("this machine has only one CPU".to_owned());
            Ok(CheckReading {
                measured: apart.ok_or_else(one)? as f64,
                of: None,
                truth: Some(0.0),
                bound: Bound::AtMost {
                    high: CLOCK_SKEW_MAX_NS,
                },
            })
        });
        self.check(CheckName::Histogram, Subject::All, |_, _| {
            let (lost, _) = histogram::lost(|counter, value| counter.record(0, value));
            Ok(CheckReading {
                measured: lost as f64,
                of: None,
                truth: Some(0.0),
                bound: Bound::AtMost { high: 0.0 },
            })
        });
        self.check(CheckName::IntervalsSimulated, Subject::All, |_, _| {
            let (low, high) = intervals::COVERAGE_RANGE;
            Ok(CheckReading {
                measured: intervals::coverage(),
                of: None,
                truth: Some(COVERAGE),
                bound: Bound::Between { low, high },
            })
        });
    }

    /// Checks the clock over the whole self-test.
    fn check_clock_rate(&mut self, clocks: std::io::Result<(ClockMoment, ClockPair)>) {
        let passed = clocks.and_then(|(begin, pair)| Ok(pair.read()?.since(begin)));
        self.check(CheckName::ClockRate, Subject::All, |_, _| {
            let cannot = |error: &std::io::Error| MissingValue::Unsupported(error.to_string());
            let (own_ns, kernel_ns) = passed.as_ref().map_err(cannot)?;
            Ok(CheckReading {
                measured: *own_ns as f64,
                of: None,
                truth: Some(*kernel_ns as f64),
                bound: Bound::Within {
                    share: CLOCK_ERROR_MAX,
                },
            })
        });
    }

    fn check_other_load(&mut self, load: OtherLoad) {
        let bound = Bound::AtMost {
            high: OTHERS_SHARE_MAX,
        };
        let verdict = match load.disturbs() {
            true => CheckVerdict::Disturbed,
            false => CheckVerdict::Right,
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

    /// Like [`Self::check_after`], for a check that does not depend on an earlier one.
    pub fn check(
        &mut self,
        name: CheckName,
        subject: Subject,
        read: impl FnMut(&Measurer, u32) -> Read<CheckReading>,
    ) -> bool {
        self.check_after(name, subject, false, read)
    }

    /// Measures a check and judges the median; repeats the measurement if the first one is out of
    /// bounds. `is_disturbed` says whether an earlier check that this one depends on was disturbed.
    /// Returns whether this one or the earlier one was.
    pub fn check_after(
        &mut self,
        name: CheckName,
        subject: Subject,
        mut is_disturbed: bool,
        mut read: impl FnMut(&Measurer, u32) -> Read<CheckReading>,
    ) -> bool {
        let mut readings: Vec<CheckReading> = Vec::new();
        let outcome = loop {
            if self.measurer.is_stopped() {
                break judged(subject, Err(MissingValue::Stopped), readings, is_disturbed);
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
            // A later reading that is right does not end the attempts: the median of all of them
            // decides.
            let is_first_right = readings.is_empty() && reading.is_right();
            readings.push(reading);
            // Checks that cannot be disturbed would give the same value again.
            let is_enough = readings.len() as u32 >= ATTEMPTS || !name.can_be_disturbed();
            if is_first_right || is_enough || self.begin.elapsed() > RETRY_UNTIL {
                break judged(subject, Ok(()), readings, is_disturbed);
            }
        };
        self.add(name, outcome);
        is_disturbed
    }

    pub fn add(&mut self, name: CheckName, outcome: Outcome) {
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
