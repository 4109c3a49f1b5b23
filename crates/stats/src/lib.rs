//! Histograms, intervals and estimates. Every type that accumulates has one `merge`, which is
//! associative and commutative.
//!
//! Recording an operation does not allocate or lock. Percentiles are computed on request, never
//! while recording.

mod autocorrelation;
mod bootstrap;
mod bucket;
mod change;
mod counter;
mod describe;
mod draw;
mod drift;
mod estimate;
mod hdr;
mod histogram;
mod hypothesis;
mod interval;
mod line;
mod long_run;
mod quantile;
mod ratio;
mod response_curve;
mod simulated;
mod steady;
mod stopping;
mod uncertain;
mod warm_up;

pub use bootstrap::{BOOTSTRAP_MIN, Bootstrap};
pub use bucket::Bucket;
pub use change::ChangePoint;
pub use counter::{Counter, ERRNO_OTHER};
pub use describe::{mean, median, stddev};
pub use draw::{SPLIT_MIX_STEP, SplitMixRng, mix};
pub use drift::Drift;
pub use estimate::Estimate;
pub use histogram::{Histogram, samples_needed};
pub use hypothesis::{KolmogorovSmirnov, WelchTest, holm};
pub use interval::{Interval, OPERATION_COUNT_MAX};
pub use ratio::{Ratio, RatioConfidence};
pub use response_curve::{CurveOrigin, ResponsePoint, overall_response_time};
pub use simulated::Simulated;
pub use steady::{SteadyRule, SteadyState, SteadyVerdict, SteadyWindow};
pub use stopping::{REPETITIONS_MIN, StoppingRule, StoppingVerdict};
pub use uncertain::{INTERVALS_MIN, UncertainMean};
pub use warm_up::WarmUp;
