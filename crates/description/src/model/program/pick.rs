//! Order in which acts pick files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Percent;

use super::{LawChoice, NotExpressible, not_expressible};
use crate::flaw::ValueError;
use crate::model::{DistributionChoice, ZoneChoice};
use plan::Distribution;
use plan::program::PickOrder;

/// Order in which files are picked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PickChoice {
    /// In the order of their numbers, each once per phase.
    Next,
    /// From the last number to the first, each once per phase.
    Back,
    /// In random order, each once per phase.
    Shuffled,
    /// In the order of their numbers, starting over after the last.
    Around,
    /// At random, all equally likely.
    Uniform,
    /// Zipf's law with this skew, above 0 and not 1.
    Zipf(f64),
    /// Pareto's law with this shape h, between 0 and 1: the share h of the files gets the share 1-h
    /// of the acts, on every scale. 0.2 is the 80/20 law.
    Pareto(f64),
    /// Normal around the middle number, with this standard deviation in percent of their count.
    Normal(Percent),
    /// Zones in the order of the file numbers, each with its share of the acts and of the files.
    Zones(Vec<ZoneChoice>),
    /// In random order; no file repeats before all others were picked.
    NoRepeat,
    /// Always the file with this number, from 0.
    Index(u32),
    /// The file with a random number, modulo their count: a number or a law.
    Law(LawChoice<u64>),
}

impl PickChoice {
    /// The order written under the key; without a choice, the order of the numbers.
    pub(super) fn order(choice: Option<Self>, key: &'static str) -> Result<PickOrder, ValueError> {
        let distribution = match choice {
            None | Some(Self::Next) => return Ok(PickOrder::Next),
            Some(Self::Back) => return Ok(PickOrder::Back),
            Some(Self::Shuffled) => return Ok(PickOrder::Shuffled),
            Some(Self::Around) => return Ok(PickOrder::Around),
            Some(Self::Index(index)) => return Ok(PickOrder::Index(index)),
            Some(Self::Law(law)) => return Ok(PickOrder::ByLaw(law.law(key)?)),
            Some(Self::Uniform) => DistributionChoice::Uniform,
            Some(Self::Zipf(theta)) => DistributionChoice::Zipf(theta),
            Some(Self::Pareto(h)) => DistributionChoice::Pareto(h),
            Some(Self::Normal(deviation)) => DistributionChoice::Normal(deviation),
            Some(Self::Zones(zones)) => DistributionChoice::Zones(zones),
            Some(Self::NoRepeat) => DistributionChoice::NoRepeat,
        };
        Ok(PickOrder::Drawn(Distribution::from(&distribution)))
    }

    /// The key value for an order; `None` for the default order.
    pub(super) fn of(order: &PickOrder) -> Result<Option<Self>, NotExpressible> {
        let distribution = match order {
            PickOrder::Next => return Ok(None),
            PickOrder::Back => return Ok(Some(Self::Back)),
            PickOrder::Shuffled => return Ok(Some(Self::Shuffled)),
            PickOrder::Around => return Ok(Some(Self::Around)),
            PickOrder::Index(index) => return Ok(Some(Self::Index(*index))),
            PickOrder::ByLaw(law) => return Ok(Some(Self::Law(law.into()))),
            PickOrder::Listed(_) => return not_expressible("the order of files is arbitrary"),
            PickOrder::Drawn(distribution) => DistributionChoice::from(distribution),
        };
        Ok(Some(match distribution {
            DistributionChoice::Uniform => Self::Uniform,
            DistributionChoice::Zipf(theta) => Self::Zipf(theta),
            DistributionChoice::Pareto(h) => Self::Pareto(h),
            DistributionChoice::Normal(deviation) => Self::Normal(deviation),
            DistributionChoice::Zones(zones) => Self::Zones(zones),
            DistributionChoice::NoRepeat => Self::NoRepeat,
        }))
    }
}
