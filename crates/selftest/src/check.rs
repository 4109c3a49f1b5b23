//! What is checked, and what came of it.

use plan::EngineKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure whose true value is known.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CheckName {
    /// The time that passed, by the clock of all figures.
    ClockRate,
    /// How far the clocks of two processors are apart.
    ClockProcessors,
    /// Percentiles of known values.
    Histogram,
    /// How often intervals of simulated runs hold the true mean.
    IntervalsSimulated,
    /// Processor time of an operation that does nothing.
    OwnCost,
    /// The latency of requests that take a known time.
    Latency,
    /// The rate of requests that follow each other.
    RateClosed,
    /// The rate of requests that are due at equal distances.
    RateUniform,
    /// The rate of requests that are due at random.
    RatePoisson,
    /// The mean response time where nothing is answered for a while.
    StallMean,
    /// The 99th percentile of response times where nothing is answered for a while.
    StallTail,
    /// How often a thing is called different from itself.
    SameAsItself,
    /// How often intervals of repetitions hold the true rate.
    IntervalsMeasured,
    /// How much else the machine had to do.
    OtherLoad,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A time in nanoseconds.
    Nanoseconds,
    /// Requests each second.
    PerSecond,
    /// A share, from 0 to 1.
    Share,
    /// Things.
    Count,
}

/// What a figure may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Off the truth by so much of it at most, on either side.
    Within {
        /// As a share of the truth.
        share: f64,
    },
    /// Between two values, both in the figure's unit.
    Between {
        /// The least.
        low: f64,
        /// The most.
        high: f64,
    },
    /// So much at most, in the figure's unit.
    AtMost {
        /// The most.
        high: f64,
    },
}

/// What one reading says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within its bound.
    Right,
    /// Beyond its bound, and nothing else explains it.
    Wrong,
    /// Beyond its bound while the machine had much else to do.
    Disturbed,
    /// Not checked.
    Skipped,
}

/// On what a figure was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The machine or the program, whatever the engine.
    All,
    /// An engine.
    #[serde(untagged)]
    Engine(EngineKind),
}

/// One check on one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// On what it was measured.
    pub subject: Subject,
    /// What pgmeter says; none where it was not checked.
    pub measured: Option<f64>,
    /// Of how many, where things are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// What is true, in the same unit; none where there is only a bound.
    pub truth: Option<f64>,
    /// What is allowed; none where it was not checked.
    pub bound: Option<Bound>,
    /// Whether it is allowed.
    pub verdict: Verdict,
    /// Why it was skipped, or what there is to say besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// How often it was measured; of several the median counts.
    pub attempts: u32,
}

/// A figure whose true value is known, on all engines that have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What it is.
    pub name: CheckName,
    /// What its figures count.
    pub unit: Unit,
    /// What came of it.
    pub outcomes: Vec<Outcome>,
}

impl CheckName {
    /// The name in tables.
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

    /// Whether other programs can make it wrong. They cannot change what is computed, nor how much
    /// time passes.
    #[must_use]
    pub const fn can_be_disturbed(self) -> bool {
        !matches!(
            self,
            Self::Histogram | Self::IntervalsSimulated | Self::ClockRate
        )
    }

    /// What its figures count.
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

    /// What it means for other runs when it is wrong, and what to do.
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
    /// Whether a figure is allowed. One that is not a number is not.
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

impl Verdict {
    /// The verdict in a word.
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
    /// The engine's name; none for what all engines have in common.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Engine(EngineKind::Psync) => "psync",
            Self::Engine(EngineKind::IoUring) => "io_uring",
            Self::Engine(EngineKind::Mmap) => "mmap",
            Self::Engine(EngineKind::Null) => "null",
        }
    }
}

impl Outcome {
    /// How far off it is, as a share of the truth; none where nothing is known but a bound.
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
    fn a_bound_allows_what_is_on_it_and_nothing_that_is_no_number() {
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
    fn an_error_is_a_share_of_the_truth() {
        let outcome = |truth| Outcome {
            subject: Subject::All,
            measured: Some(1.5),
            of: None,
            truth,
            bound: None,
            verdict: Verdict::Right,
            remark: None,
            attempts: 1,
        };
        assert_eq!(outcome(Some(1.0)).error(), Some(0.5));
        assert_eq!(outcome(Some(0.0)).error(), None);
        assert_eq!(outcome(None).error(), None);
    }
}
