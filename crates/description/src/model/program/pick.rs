//! Which file an act takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Percent;

use super::LawChoice;
use crate::model::ZoneChoice;

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
