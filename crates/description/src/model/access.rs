//! Access specifications: the mix of requests that a worker issues to its targets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Percent, Span};

use plan::{Distribution, Zone};

/// A mix of access lines, chosen at random by their shares.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSpec {
    /// Name, unique in the file regardless of case; `Idle` is reserved. Default: the workload's
    /// name.
    pub name: Option<String>,
    /// Access lines; their `of_size` must add up to 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<AccessLine>,
}

/// One kind of transaction of an access specification.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessLine {
    /// Bytes per request, at most 1 GiB. Required.
    pub size: Option<Bytes>,
    /// Share of the transactions that use this line, in percent; a line with 0 is kept but never
    /// used. Default: 100.
    pub of_size: Option<Percent>,
    /// Share of the transactions that read, in percent. Default: 100.
    pub read: Option<Percent>,
    /// Share of the requests that start at a random position, in percent. Default: 0.
    pub random: Option<Percent>,
    /// Pause before each burst, during which the worker issues nothing. Default: 0.
    pub delay: Option<Span>,
    /// Number of consecutive transactions that use this line once it is chosen; 0 and 1 mean one.
    /// Default: 1.
    pub burst: Option<u32>,
    /// Offsets are multiples of this; 0 means the target's sector size. Default: 0.
    pub align: Option<Bytes>,
    /// Bytes of the reply after each request, in the opposite direction; 0 means none. Default: 0.
    pub reply: Option<Bytes>,
    /// Distribution of random requests: `"uniform"`, `{ zipf = 1.2 }`, `{ pareto = 0.2 }`, `{
    /// normal = 10 }`, `{ zones = [..] }` or `"no-repeat"`. Default: `uniform`.
    pub distribution: Option<DistributionChoice>,
    /// Order of requests that are not random: `"forward"`, `"backward"` or `{ strided = "1MiB" }`.
    /// Default: `forward`.
    pub sequence: Option<SequenceChoice>,
}

/// Distribution of random requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DistributionChoice {
    /// All aligned offsets are equally likely.
    Uniform,
    /// Zipf's law with this skew, above 0 and not 1: rank r is drawn in proportion to r^-skew.
    Zipf(f64),
    /// Pareto's law with this shape h, between 0 and 1: the share h of the offsets gets the share
    /// 1-h of the requests, on every scale. 0.2 is the 80/20 law.
    Pareto(f64),
    /// Normal around the middle of the span, with this standard deviation in percent of the span.
    Normal(Percent),
    /// Zones in the order of their offsets, each with its share of the requests and of the span.
    Zones(Vec<ZoneChoice>),
    /// Every aligned offset is used once before any repeats.
    NoRepeat,
}

impl From<&DistributionChoice> for Distribution {
    fn from(choice: &DistributionChoice) -> Self {
        match choice {
            DistributionChoice::Uniform => Self::Uniform,
            DistributionChoice::Zipf(theta) => Self::Zipf { theta: *theta },
            DistributionChoice::Pareto(h) => Self::Pareto { h: *h },
            DistributionChoice::Normal(deviation) => Self::Normal {
                deviation_percent: deviation.0,
            },
            DistributionChoice::NoRepeat => Self::NoRepeat,
            DistributionChoice::Zones(zones) => Self::Zones {
                zones: zones
                    .iter()
                    .map(|zone| Zone {
                        access_percent: zone.access.0,
                        size_percent: zone.size.0,
                    })
                    .collect(),
            },
        }
    }
}

impl From<&Distribution> for DistributionChoice {
    fn from(distribution: &Distribution) -> Self {
        match distribution {
            Distribution::Uniform => Self::Uniform,
            Distribution::Zipf { theta } => Self::Zipf(*theta),
            Distribution::Pareto { h } => Self::Pareto(*h),
            Distribution::Normal { deviation_percent } => Self::Normal(Percent(*deviation_percent)),
            Distribution::NoRepeat => Self::NoRepeat,
            Distribution::Zones { zones } => {
                let zones = zones.iter().map(|zone| ZoneChoice {
                    access: Percent(zone.access_percent),
                    size: Percent(zone.size_percent),
                });
                Self::Zones(zones.collect())
            }
        }
    }
}

/// A zone of the used span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneChoice {
    /// Share of the requests that go here, in percent; the zones' shares add up to 100.
    pub access: Percent,
    /// Share of the span, in percent; the zones' shares add up to 100.
    pub size: Percent,
}

/// Order of requests that are not random.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceChoice {
    /// Each starts where the previous one ended.
    Forward,
    /// Each ends where the previous one started.
    Backward,
    /// Each starts this many bytes after the start of the previous one.
    Strided(Bytes),
}
