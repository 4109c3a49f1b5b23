//! Where requests go, and what they write.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where requests go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PositionRule {
    /// Uniform over all aligned offsets that fit, never past the end, from a modern generator.
    Uniform,
    /// As Iometer computes it, with its generator and its bias.
    Iometer,
}

/// Who shares the position from which sequential requests continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CursorKind {
    /// Each worker has its own position in each target, as in Iometer.
    Worker,
    /// All workers share one position per target, as in the pgmeter of 2001.
    Shared,
}

/// Where random requests go.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Distribution {
    /// Every aligned offset is as likely as any other.
    #[default]
    Uniform,
    /// Rank r is drawn in proportion to r^-theta; ranks are scattered over the span.
    Zipf {
        /// Skew, above 0 and not 1.
        theta: f64,
    },
    /// Pareto with shape h, 0 < h < 1: the share h of the places gets the share 1-h of the
    /// requests, on every scale, so that 0.2 is the 80/20 law.
    Pareto {
        /// Shape.
        h: f64,
    },
    /// Normal around the middle of the span.
    Normal {
        /// Standard deviation, in percent of the span.
        deviation_percent: f64,
    },
    /// Zones in the order of the span, each with its share of requests and of the span.
    Zones {
        /// The zones; both shares add up to 100.
        zones: Vec<Zone>,
    },
    /// Every aligned start once before any comes again, in a random order without a map.
    NoRepeat,
}

/// A zone of a span.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Zone {
    /// Share of the requests, in percent.
    pub access_percent: f64,
    /// Share of the span, in percent.
    pub size_percent: f64,
}

/// Where requests that are not random go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Sequence {
    /// After the last request.
    #[default]
    Forward,
    /// Before the last request.
    Backward,
    /// A fixed distance from the start of the last request.
    Strided {
        /// Distance from start to start, in bytes.
        stride_bytes: u64,
    },
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ContentPlan {
    /// Random bytes, every 4096-byte block different from all others.
    Incompressible,
    /// One random byte repeated, another for each request (Iometer's pattern 0).
    Repeating,
    /// A block of random bytes filled once (Iometer's pattern 1).
    PseudoRandom,
    /// A random window into 16 MiB of random bytes (Iometer's pattern 2).
    FullRandom,
    /// Zeros.
    Zero,
    /// A buffer of random bytes per slot, filled once before the loop and written again and again.
    Constant,
    /// Blocks that a storage system can shrink by a known share.
    Reducible {
        /// Share of each block that compresses to nothing, in percent.
        compress_percent: f64,
        /// Share of the blocks that repeat another block, in percent.
        dedupe_percent: f64,
    },
}
