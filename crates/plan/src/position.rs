//! Offsets of requests, and content of writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How random offsets are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PositionRule {
    /// Uniform over all aligned offsets that fit, never past the end, from a modern generator.
    Uniform,
    /// As Iometer computes them, with its generator and its bias.
    Iometer,
}

/// Which workers share the position from which sequential requests continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CursorKind {
    /// Each worker has its own position in each target, as in Iometer.
    Worker,
    /// All workers share one position per target, as in the pgmeter of 2001.
    Shared,
}

/// Distribution of random requests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Distribution {
    /// All aligned offsets are equally likely.
    #[default]
    Uniform,
    /// Rank r is drawn in proportion to r^-theta; ranks are scattered over the span.
    Zipf {
        /// Skew, above 0 and not 1.
        theta: f64,
    },
    /// Pareto's law with shape h, 0 < h < 1: the share h of the offsets gets the share 1-h of the
    /// requests, on every scale, so that 0.2 is the 80/20 law.
    Pareto {
        /// The shape h.
        h: f64,
    },
    /// Normal around the middle of the span.
    Normal {
        /// Standard deviation, in percent of the span.
        deviation_percent: f64,
    },
    /// Zones in the order of their offsets, each with its share of the requests and of the span.
    Zones {
        /// The zones; each kind of share adds up to 100.
        zones: Vec<Zone>,
    },
    /// Every aligned offset once before any repeats, in a random order that needs no map.
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

/// Order of requests that are not random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Sequence {
    /// Each starts where the previous one ended.
    #[default]
    Forward,
    /// Each ends where the previous one started.
    Backward,
    /// Each starts a fixed distance after the start of the previous one.
    Strided {
        /// Distance from start to start, in bytes.
        stride_bytes: u64,
    },
}

/// Content of the data that is written.
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
    /// A buffer of random bytes per slot, filled once before the measurement and written
    /// repeatedly.
    Constant,
    /// Blocks that a storage system can shrink by a known share.
    Reducible {
        /// Share of each block that compresses to nothing, in percent.
        compress_percent: f64,
        /// Share of the blocks that repeat another block, in percent.
        dedupe_percent: f64,
    },
}
