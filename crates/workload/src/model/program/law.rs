//! Sizes, times and counts that are drawn.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Span};

/// What can be drawn by a law: a size, a time, a count.
pub trait LawUnit: Copy + Serialize + for<'de> Deserialize<'de> {
    /// In bytes, in nanoseconds, or just a number.
    fn amount(self) -> u64;
}

impl LawUnit for Bytes {
    fn amount(self) -> u64 {
        self.0
    }
}

impl LawUnit for Span {
    fn amount(self) -> u64 {
        self.0
    }
}

impl LawUnit for u64 {
    fn amount(self) -> u64 {
        self
    }
}

/// Always the same, or drawn.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged, rename = "AmountOf{U}")]
pub enum LawChoice<U> {
    /// Written as a plain value.
    Fixed(U),
    /// Written as a table.
    Drawn(LawTable<U>),
}

/// How an amount is drawn, by one of `uniform`, `exponential`, `gamma`, `normal`, `lognormal` and
/// `table`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, bound(deserialize = "U: LawUnit"))]
#[schemars(rename = "LawOf{U}")]
pub struct LawTable<U> {
    /// The least and the most, with all in between as likely.
    pub uniform: Option<[U; 2]>,
    /// The mean of an exponential law, as of times between independent events.
    pub exponential: Option<U>,
    /// The mean of a gamma law, which takes `shape`.
    pub gamma: Option<U>,
    /// The shape of `gamma`, above 0; 1 makes it exponential.
    pub shape: Option<f64>,
    /// The mean of a normal law, which takes `deviation`.
    pub normal: Option<U>,
    /// The standard deviation of `normal`.
    pub deviation: Option<U>,
    /// The median of a law whose logarithm is normal, which takes `spread`.
    pub lognormal: Option<U>,
    /// The standard deviation of the natural logarithm of `lognormal`.
    pub spread: Option<f64>,
    /// Bands with their shares, uniform within each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<BandTable<U>>>,
    /// The least that may come. Default: 0.
    pub least: Option<U>,
    /// The most that may come. Default: no limit.
    pub most: Option<U>,
    /// What is drawn is rounded down to a multiple of this. Default: not rounded.
    pub step: Option<U>,
}

impl<U> Default for LawTable<U> {
    fn default() -> Self {
        Self {
            uniform: None,
            exponential: None,
            gamma: None,
            shape: None,
            normal: None,
            deviation: None,
            lognormal: None,
            spread: None,
            table: None,
            least: None,
            most: None,
            step: None,
        }
    }
}

/// A band of a law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "U: LawUnit"))]
#[schemars(rename = "BandOf{U}")]
pub struct BandTable<U> {
    /// How often it comes, beside the shares of the other bands.
    pub share: u32,
    /// The least in it.
    pub low: U,
    /// The most in it.
    pub high: U,
}

impl<U: Serialize> Serialize for LawChoice<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(value) => value.serialize(serializer),
            Self::Drawn(table) => table.serialize(serializer),
        }
    }
}

impl<'de, U: LawUnit> Deserialize<'de> for LawChoice<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LawVisitor(PhantomData))
    }
}

/// Hands everything but a table to the unit, so that its own messages are kept.
struct LawVisitor<U>(PhantomData<U>);

impl<'de, U: LawUnit> Visitor<'de> for LawVisitor<U> {
    type Value = LawChoice<U>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plain value or a law such as `{ uniform = [1, 8] }`")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        U::deserialize(value.into_deserializer()).map(LawChoice::Fixed)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        U::deserialize(value.into_deserializer()).map(LawChoice::Fixed)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        U::deserialize(value.into_deserializer()).map(LawChoice::Fixed)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        U::deserialize(value.into_deserializer()).map(LawChoice::Fixed)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        LawTable::deserialize(MapAccessDeserializer::new(map)).map(LawChoice::Drawn)
    }
}
