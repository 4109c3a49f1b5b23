//! Which file an act takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Percent;

use super::{LawChoice, Unsaid, unsaid};
use crate::flaw::Flaw;
use crate::model::{DistributionChoice, ZoneChoice};
use plan::Distribution;
use plan::program::Order;

/// In which order files are taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PickChoice {
    /// As they are numbered, each once in a phase.
    Next,
    /// From the last to the first, each once in a phase.
    Back,
    /// In a random order, each once in a phase.
    Shuffled,
    /// As they are numbered, from the start again behind the last.
    Around,
    /// By chance, each as likely as any other.
    Uniform,
    /// By Zipf's law with this skew, above 0 and not 1.
    Zipf(f64),
    /// By Pareto's law with this shape h, between 0 and 1: the share h of the files gets the share
    /// 1-h of the acts, on every scale. 0.2 is the 80/20 law.
    Pareto(f64),
    /// Normal around the middle number, with this standard deviation in percent of their count.
    Normal(Percent),
    /// By zones in the order of their numbers, each with its share of the acts and of the files.
    Zones(Vec<ZoneChoice>),
    /// Each once before any comes again, in a random order.
    NoRepeat,
    /// Always the one of this number, from 0.
    Index(u32),
    /// The one of a number that is drawn, counted around: a number or a law.
    Law(LawChoice<u64>),
}

impl PickChoice {
    /// The order that is written under the key; without any, files are taken as they are numbered.
    pub(super) fn order(choice: Option<Self>, key: &'static str) -> Result<Order, Flaw> {
        let distribution = match choice {
            None | Some(Self::Next) => return Ok(Order::Next),
            Some(Self::Back) => return Ok(Order::Back),
            Some(Self::Shuffled) => return Ok(Order::Shuffled),
            Some(Self::Around) => return Ok(Order::Around),
            Some(Self::Index(index)) => return Ok(Order::Index(index)),
            Some(Self::Law(law)) => return Ok(Order::ByLaw(law.law(key)?)),
            Some(Self::Uniform) => DistributionChoice::Uniform,
            Some(Self::Zipf(theta)) => DistributionChoice::Zipf(theta),
            Some(Self::Pareto(h)) => DistributionChoice::Pareto(h),
            Some(Self::Normal(deviation)) => DistributionChoice::Normal(deviation),
            Some(Self::Zones(zones)) => DistributionChoice::Zones(zones),
            Some(Self::NoRepeat) => DistributionChoice::NoRepeat,
        };
        Ok(Order::Drawn(Distribution::from(&distribution)))
    }

    /// How an order is written, where it is not the usual one.
    pub(super) fn of(order: &Order) -> Result<Option<Self>, Unsaid> {
        let distribution = match order {
            Order::Next => return Ok(None),
            Order::Back => return Ok(Some(Self::Back)),
            Order::Shuffled => return Ok(Some(Self::Shuffled)),
            Order::Around => return Ok(Some(Self::Around)),
            Order::Index(index) => return Ok(Some(Self::Index(*index))),
            Order::ByLaw(law) => return Ok(Some(Self::Law(law.into()))),
            Order::Listed(_) => return unsaid("the order of files follows from no rule"),
            Order::Drawn(distribution) => DistributionChoice::from(distribution),
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
