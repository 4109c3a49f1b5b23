//! What is checked, and what came of it.

use serde::{Deserialize, Serialize};
use workload::plan::EngineKind;

/// A figure whose true value is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckName {
    /// How much else the machine had to do.
    OtherLoad,
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
    /// The rate of requests that are due at equal distances.
    RateUniform,
    /// The rate of requests that are due at random.
    RatePoisson,
    /// How often intervals of repetitions hold the true rate.
    IntervalsMeasured,
    /// How often a thing is called different from itself.
    SameAsItself,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The machine or the program, whatever the engine.
    All,
    /// An engine.
    #[serde(untagged)]
    Engine(EngineKind),
}

/// One check on one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
            Self::OtherLoad => "load of others",
            Self::ClockRate => "clock",
            Self::ClockProcessors => "clocks apart",
            Self::Histogram => "lost by the histogram",
            Self::IntervalsSimulated => "intervals, simulated",
            Self::OwnCost => "cost of an operation",
            Self::RateUniform => "rate, uniform",
            Self::RatePoisson => "rate, Poisson",
            Self::IntervalsMeasured => "intervals, measured",
            Self::SameAsItself => "different from itself",
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
            Self::ClockRate | Self::ClockProcessors | Self::OwnCost => Unit::Nanoseconds,
            Self::RateUniform | Self::RatePoisson => Unit::PerSecond,
            Self::OtherLoad | Self::IntervalsSimulated => Unit::Share,
            Self::IntervalsMeasured | Self::SameAsItself | Self::Histogram => Unit::Count,
        }
    }

    /// What it means for other runs when it is wrong, and what to do.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::OtherLoad => {
                "other programs use the processors, and would use them in every run; end them and \
                 try again"
            }
            Self::ClockRate => {
                "every rate and every latency is wrong by this much; look at `pgmeter doctor`, and \
                 start pgmeter without wrappers that change time"
            }
            Self::ClockProcessors => {
                "a latency is wrong by this much when a thread changes its processor; boot with a \
                 clock source that the kernel trusts"
            }
            Self::Histogram => {
                "percentiles are wrong: this build or this machine's memory is broken; build \
                 pgmeter again, test the memory"
            }
            Self::IntervalsSimulated => {
                "intervals within a run do not hold what they promise: this build is broken; build \
                 pgmeter again"
            }
            Self::OwnCost => {
                "pgmeter itself is slow here; build it with `--release`, and start it without \
                 tracers"
            }
            Self::RateUniform | Self::RatePoisson => {
                "requests do not begin when they are due, so response times at a rate are not \
                 those of that rate; give pgmeter a processor of its own"
            }
            Self::IntervalsMeasured => {
                "intervals of repetitions do not hold the truth as often as they say; do not trust \
                 the intervals of `estimates`"
            }
            Self::SameAsItself => {
                "`compare` finds differences that are none; measure in turn (`compare --target A \
                 --target B`) with more repetitions"
            }
        }
    }
}

impl Bound {
    /// Whether a figure is allowed. One that is no number is not.
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
