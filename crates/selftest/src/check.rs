//! The checks and their outcomes.

use plan::EngineKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A result whose true value is known.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CheckName {
    /// Duration of the whole self-test, by the clock that all results use.
    ClockRate,
    /// Difference between the clocks of two CPUs.
    ClockProcessors,
    /// Percentiles of known values.
    Histogram,
    /// Share of simulated runs whose confidence interval contains the true mean.
    IntervalsSimulated,
    /// CPU time of an operation that does nothing.
    OwnCost,
    /// Median latency of requests that take a known time.
    Latency,
    /// Rate of a closed loop.
    RateClosed,
    /// Rate of an open loop whose requests are due at equal distances.
    RateUniform,
    /// Rate of an open loop whose requests are due at random (Poisson arrivals).
    RatePoisson,
    /// Mean response time during a stall.
    StallMean,
    /// 99th percentile of the response time during a stall.
    StallTail,
    /// Number of comparisons that find a difference between identical runs.
    SameAsItself,
    /// Number of measured confidence intervals that contain the true rate.
    IntervalsMeasured,
    /// CPU time used by other programs.
    OtherLoad,
}

/// Unit of a check's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A time in nanoseconds.
    Nanoseconds,
    /// Requests per second.
    PerSecond,
    /// A share, from 0 to 1.
    Share,
    /// A number of items.
    Count,
}

/// Allowed range of a measured value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// At most this far from the true value, in either direction.
    Within {
        /// Maximum error, as a share of the true value.
        share: f64,
    },
    /// Between two values, both in the check's unit.
    Between {
        /// Minimum.
        low: f64,
        /// Maximum.
        high: f64,
    },
    /// At most this value, in the check's unit.
    AtMost {
        /// Maximum.
        high: f64,
    },
}

/// Verdict on one reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Verdict")]
pub enum CheckVerdict {
    /// Within the allowed range.
    Right,
    /// Outside the allowed range, with no other explanation.
    Wrong,
    /// Outside the allowed range while the machine was busy with other work.
    Disturbed,
    /// Not checked.
    Skipped,
}

/// The engine that was checked, or the whole machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The machine or the program, independent of the engine.
    All,
    /// An engine.
    // An engine appears under its own name, next to `all`.
    #[serde(untagged)]
    Engine(EngineKind),
}

/// One check on one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The engine that was checked, or `all`.
    pub subject: Subject,
    /// Value measured by pgmeter; null if the check was skipped.
    pub measured: Option<f64>,
    /// Total number of items, if the value is a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// True value, in the same unit; null if only a range is known.
    pub truth: Option<f64>,
    /// Allowed range; null if the check was skipped.
    pub bound: Option<Bound>,
    /// Verdict on the measured value.
    pub verdict: CheckVerdict,
    /// Reason for a skipped check, or an additional remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// Number of measurements; after several, the median is used.
    pub attempts: u32,
}

/// A result whose true value is known, on all engines that produce it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Name of the check.
    pub name: CheckName,
    /// Unit of its values.
    pub unit: Unit,
    /// Its outcomes, one per subject.
    pub outcomes: Vec<Outcome>,
}

impl CheckName {
    /// Name of the check in tables.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::OtherLoad => "other load",
            Self::ClockRate => "clock rate",
            Self::ClockProcessors => "clock skew between CPUs",
            Self::Histogram => "histogram errors",
            Self::IntervalsSimulated => "CI coverage, simulated",
            Self::OwnCost => "CPU cost per operation",
            Self::Latency => "latency, median",
            Self::RateClosed => "closed loop",
            Self::RateUniform => "open loop, uniform",
            Self::RatePoisson => "open loop, Poisson",
            Self::StallMean => "stall, mean response",
            Self::StallTail => "stall, p99 response",
            Self::SameAsItself => "false differences (A/A)",
            Self::IntervalsMeasured => "CI coverage, measured",
        }
    }

    /// `true` if other programs can cause a wrong value. They cannot change a pure computation or
    /// the passage of time.
    #[must_use]
    pub const fn can_be_disturbed(self) -> bool {
        !matches!(
            self,
            Self::Histogram | Self::IntervalsSimulated | Self::ClockRate
        )
    }

    /// Unit of the check's values.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::ClockRate
            | Self::ClockProcessors
            | Self::OwnCost
            | Self::Latency
            | Self::StallMean
            | Self::StallTail => Unit::Nanoseconds,
            Self::RateClosed | Self::RateUniform | Self::RatePoisson => Unit::PerSecond,
            Self::OtherLoad | Self::IntervalsSimulated => Unit::Share,
            Self::IntervalsMeasured | Self::SameAsItself | Self::Histogram => Unit::Count,
        }
    }

    /// Consequence of a wrong value for other runs, and advice.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::OtherLoad => {
                "other programs use the CPUs, and would in every run; stop them and repeat"
            }
            Self::ClockRate => {
                "every rate and every latency is wrong by this much; look at `pgmeter doctor`, and \
                 run without faketime or other time-changing preloads"
            }
            Self::ClockProcessors if cfg!(target_arch = "x86_64") => {
                "latencies are off by this much when a thread migrates between CPUs; boot with \
                 `tsc=unstable`"
            }
            Self::ClockProcessors => {
                "latencies are off by this much when a thread migrates between CPUs"
            }
            Self::Histogram => {
                "percentiles are wrong: this build or this machine's memory is broken; build \
                 pgmeter again, test the memory"
            }
            Self::IntervalsSimulated => {
                "confidence intervals within a run cover the truth less often than stated: this \
                 build is broken; build pgmeter again"
            }
            Self::OwnCost => {
                "pgmeter itself is slow here; build it with `--release`, and run it without tracers"
            }
            Self::Latency => {
                "latencies of this engine are off by this much; compare with another engine, and \
                 look at the frequency governor in \
                 `pgmeter doctor`"
            }
            Self::RateClosed => {
                "this engine keeps fewer requests in flight than it should, or miscounts them; \
                 compare with another engine"
            }
            Self::StallMean | Self::StallTail => {
                "response times hide or invent what requests wait while storage stalls; do not \
                 trust open-loop response times of this engine"
            }
            Self::RateUniform | Self::RatePoisson => {
                "requests do not start on time, so open-loop response times are wrong; stop other \
                 load and repeat"
            }
            Self::IntervalsMeasured => {
                "confidence intervals cover the truth less often than stated; report a bug with \
                 `--json`"
            }
            Self::SameAsItself => {
                "`compare` reports differences where there are none; report a bug with `--json`"
            }
        }
    }
}

impl Bound {
    /// `true` if a value is within the bound. NaN is not, nor is any value without a needed
    /// `truth`.
    #[must_use]
    pub fn allows(self, measured: f64, truth: Option<f64>) -> bool {
        match self {
            Self::Within { share } => {
                truth.is_some_and(|truth| (measured - truth).abs() <= share * truth.abs())
            }
            Self::Between { low, high } => (low..=high).contains(&measured),
            Self::AtMost { high } => measured <= high,
        }
    }
}

impl CheckVerdict {
    /// The verdict as one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "WRONG",
            Self::Disturbed => "disturbed",
            Self::Skipped => "skipped",
        }
    }
}

impl Subject {
    /// Name of the engine; empty for [`Self::All`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Engine(engine) => engine.name(),
        }
    }
}

impl Outcome {
    /// Relative error, as a share of the true value; `None` if the true value is unknown or 0.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        let truth = self.truth.filter(|truth| *truth != 0.0)?;
        Some(self.measured? / truth - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_allows_its_ends_but_not_nan() {
        let within = Bound::Within { share: 0.5 };
        assert!(within.allows(1.5, Some(1.0)) && within.allows(0.5, Some(1.0)));
        assert!(!within.allows(1.6, Some(1.0)) && !within.allows(1.0, None));
        let between = Bound::Between {
            low: 1.0,
            high: 2.0,
        };
        assert!(between.allows(1.0, None) && !between.allows(2.5, None));
        assert!(Bound::AtMost { high: 1.0 }.allows(1.0, None));
        for bound in [within, between, Bound::AtMost { high: 1.0 }] {
            assert!(!bound.allows(f64::NAN, Some(1.0)), "{bound:?}");
        }
    }

    #[test]
    fn the_error_is_relative_to_the_true_value() {
        let outcome = |truth| Outcome {
            subject: Subject::All,
            measured: Some(1.5),
            of: None,
            truth,
            bound: None,
            verdict: CheckVerdict::Right,
            remark: None,
            attempts: 1,
        };
        assert_eq!(outcome(Some(1.0)).error(), Some(0.5));
        assert_eq!(outcome(Some(0.0)).error(), None);
        assert_eq!(outcome(None).error(), None);
    }
}
