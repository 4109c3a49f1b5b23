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
    /// What stands behind a number of bytes or nanoseconds; nothing behind a mere number.
    const SUFFIX: &str;

    /// In bytes, in nanoseconds, or just a number.
    fn amount(self) -> u64;

    /// The one of that amount.
    fn of(amount: u64) -> Self;
}

impl LawUnit for Bytes {
    const SUFFIX: &str = "B";

    fn amount(self) -> u64 {
        self.0
    }

    fn of(amount: u64) -> Self {
        Self(amount)
    }
}

impl LawUnit for Span {
    const SUFFIX: &str = "ns";

    fn amount(self) -> u64 {
        self.0
    }

    fn of(amount: u64) -> Self {
        Self(amount)
    }
}

impl LawUnit for u64 {
    const SUFFIX: &str = "";

    fn amount(self) -> u64 {
        self
    }

    fn of(amount: u64) -> Self {
        amount
    }
}

/// A mean, a median or a deviation: an amount that need not be whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean<U> {
    /// In bytes, in nanoseconds, or just a number.
    pub amount: f64,
    unit: PhantomData<U>,
}

impl<U> Mean<U> {
    /// The one of that amount.
    #[must_use]
    pub const fn of(amount: f64) -> Self {
        Self {
            amount,
            unit: PhantomData,
        }
    }
}

/// Below this every whole floating-point number is exact.
const WHOLE_BELOW: f64 = 9_007_199_254_740_992.0;

impl<U: LawUnit> Serialize for Mean<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let amount = self.amount;
        if amount.fract() == 0.0 && (0.0..WHOLE_BELOW).contains(&amount) {
            return U::of(amount as u64).serialize(serializer);
        }
        match U::SUFFIX {
            "" => serializer.serialize_f64(amount),
            suffix => serializer.collect_str(&format_args!("{amount:?}{suffix}")),
        }
    }
}

impl<'de, U: LawUnit> Deserialize<'de> for Mean<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MeanVisitor(PhantomData))
    }
}

/// Reads what is not whole; all else is the unit's.
struct MeanVisitor<U>(PhantomData<U>);

impl<U: LawUnit> Visitor<'_> for MeanVisitor<U> {
    type Value = Mean<U>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Mean<U>, E> {
        U::deserialize(value.into_deserializer()).map(|it| Mean::of(it.amount() as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Mean<U>, E> {
        U::deserialize(value.into_deserializer()).map(|it| Mean::of(it.amount() as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Mean<U>, E> {
        if U::SUFFIX.is_empty() {
            return Ok(Mean::of(value));
        }
        U::deserialize(value.into_deserializer()).map(|it| Mean::of(it.amount() as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Mean<U>, E> {
        let number = value.strip_suffix(U::SUFFIX);
        if let Some(Ok(amount)) = number.filter(|_| !U::SUFFIX.is_empty()).map(str::parse) {
            return Ok(Mean::of(amount));
        }
        U::deserialize(value.into_deserializer()).map(|it| Mean::of(it.amount() as f64))
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
#[serde(
    deny_unknown_fields,
    default,
    bound(serialize = "U: LawUnit", deserialize = "U: LawUnit")
)]
#[schemars(rename = "LawOf{U}")]
pub struct LawTable<U> {
    /// The least and the most, with all in between as likely.
    pub uniform: Option<[U; 2]>,
    /// The mean of an exponential law, as of times between independent events.
    #[schemars(with = "Option<U>")]
    pub exponential: Option<Mean<U>>,
    /// The mean of a gamma law, which takes `shape`.
    #[schemars(with = "Option<U>")]
    pub gamma: Option<Mean<U>>,
    /// The shape of `gamma`, 0.001 to 10000; 1 makes it exponential.
    pub shape: Option<f64>,
    /// The mean of a normal law, which takes `deviation`.
    #[schemars(with = "Option<U>")]
    pub normal: Option<Mean<U>>,
    /// The standard deviation of `normal`.
    #[schemars(with = "Option<U>")]
    pub deviation: Option<Mean<U>>,
    /// The median of a law whose logarithm is normal, which takes `spread`.
    #[schemars(with = "Option<U>")]
    pub lognormal: Option<Mean<U>>,
    /// The standard deviation of the natural logarithm of `lognormal`.
    pub spread: Option<f64>,
    /// Bands with their shares, uniform within each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<BandTable<U>>>,
    /// What is added to what is drawn. Default: 0.
    pub base: Option<U>,
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
            base: None,
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

impl<U: LawUnit> Serialize for LawChoice<U> {
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
