//! Access specifications: what a worker asks of its targets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Percent, Span};

use plan::{Distribution, Zone};

/// A mix of access lines, drawn from by weight.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSpec {
    /// Name, unique in the file regardless of case; `Idle` is reserved. Default: the workload's
    /// name.
    pub name: Option<String>,
    /// The access lines; their `of_size` add up to 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<AccessLine>,
}

/// One kind of transaction of an access specification.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessLine {
    /// Bytes that a request moves, at most 1 GiB. Must be written.
    pub size: Option<Bytes>,
    /// Share of the transactions that use this line, in percent; a line with 0 is kept and never
    /// used. Default: 100.
    pub of_size: Option<Percent>,
    /// Share of the transactions that read, in percent. Default: 100.
    pub read: Option<Percent>,
    /// Share of the requests that start at a random position, in percent. Default: 0.
    pub random: Option<Percent>,
    /// Wait before each burst; the worker issues nothing meanwhile. Default: 0.
    pub delay: Option<Span>,
    /// Transactions in a row that use this line once it is drawn; 0 and 1 mean one. Default: 1.
    pub burst: Option<u32>,
    /// Offsets are multiples of this; 0 means the target's sector size. Default: 0.
    pub align: Option<Bytes>,
    /// Bytes of the reply that follows each request in the opposite direction; 0 means none.
    /// Default: 0.
    pub reply: Option<Bytes>,
    /// Where random requests go: `"uniform"`, `{ zipf = 1.2 }`, `{ pareto = 0.2 }`,
    /// `{ normal = 10 }`, `{ zones = [..] }` or `"no-repeat"`. Default: `uniform`.
    pub distribution: Option<DistributionChoice>,
    /// Where requests go that are not random: `"forward"`, `"backward"` or
    /// `{ strided = "1MiB" }`. Default: `forward`.
    pub sequence: Option<SequenceChoice>,
}

/// Where random requests go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DistributionChoice {
    /// Every aligned offset is as likely as any other.
    Uniform,
    /// Zipf's law with this skew, above 0 and not 1: rank r is drawn in proportion to r^-skew.
    Zipf(f64),
    /// Pareto with this shape h, between 0 and 1: the share h of the places gets the share 1-h of
    /// the requests, on every scale. 0.2 is the 80/20 law.
    Pareto(f64),
    /// Normal around the middle of the span, with this standard deviation in percent of the span.
    Normal(Percent),
    /// Zones in the order of the span, each with its share of the requests and of the span.
    Zones(Vec<ZoneChoice>),
    /// Every aligned offset once before any repeats.
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

/// A zone of the span that is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneChoice {
    /// Share of the requests that go here, in percent; the zones' shares add up to 100.
    pub access: Percent,
    /// Share of the span, in percent; the zones' shares add up to 100.
    pub size: Percent,
}

/// Where requests go that are not random.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceChoice {
    /// After the last request.
    Forward,
    /// Before the last request.
    Backward,
    /// This many bytes from the start of the last request.
    Strided(Bytes),
}
