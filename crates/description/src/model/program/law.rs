//! Random sizes, times and counts.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Span};

use crate::flaw::ValueError;
use crate::model::keys::FileForm;
use crate::nearest::listed;
use plan::program::{Band, InvalidLaw, Law, Shape};

/// A unit that a law can draw: a size, a time, a count.
pub trait LawUnit: Copy + Default + Serialize + for<'de> Deserialize<'de> + FileForm<u64> {
    /// Unit symbol after a number of bytes or nanoseconds; empty for a plain number.
    const SUFFIX: &str;
}

impl LawUnit for Bytes {
    const SUFFIX: &str = "B";
}

impl LawUnit for Span {
    const SUFFIX: &str = "ns";
}

impl LawUnit for u64 {
    const SUFFIX: &str = "";
}

/// A mean, a median or a deviation: an amount that may be fractional.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FractionalAmount<U> {
    /// Bytes, nanoseconds, or a plain number.
    pub amount: f64,
    unit: PhantomData<U>,
}

impl<U> FractionalAmount<U> {
    /// The mean of this amount.
    #[must_use]
    pub const fn of(amount: f64) -> Self {
        Self {
            amount,
            unit: PhantomData,
        }
    }
}

impl<U: LawUnit> FractionalAmount<U> {
    fn of_unit(unit: U) -> Self {
        Self::of(unit.meant() as f64)
    }
}

/// Below this value, every whole floating-point number is exact.
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

impl<U: LawUnit> Serialize for FractionalAmount<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let amount = self.amount;
        // A whole amount is written like every other size or time.
        if amount.fract() == 0.0 && (0.0..EXACT_BELOW).contains(&amount) {
            return U::of(&(amount as u64)).serialize(serializer);
        }
        match U::SUFFIX {
            "" => serializer.serialize_f64(amount),
            suffix => serializer.collect_str(&format_args!("{amount:?}{suffix}")),
        }
    }
}

impl<'de, U: LawUnit> Deserialize<'de> for FractionalAmount<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MeanVisitor(PhantomData))
    }
}

/// Reads fractions; leaves everything else to the unit.
struct MeanVisitor<U>(PhantomData<U>);

impl<U: LawUnit> Visitor<'_> for MeanVisitor<U> {
    type Value = FractionalAmount<U>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<FractionalAmount<U>, E> {
        U::deserialize(value.into_deserializer()).map(FractionalAmount::of_unit)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<FractionalAmount<U>, E> {
        U::deserialize(value.into_deserializer()).map(FractionalAmount::of_unit)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<FractionalAmount<U>, E> {
        if U::SUFFIX.is_empty() {
            return Ok(FractionalAmount::of(value));
        }
        U::deserialize(value.into_deserializer()).map(FractionalAmount::of_unit)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<FractionalAmount<U>, E> {
        let number = value.strip_suffix(U::SUFFIX);
        // Every text ends with an empty suffix. `NaN` also parses, but `Law::flaw` refuses it.
        if let Some(Ok(amount)) = number.filter(|_| !U::SUFFIX.is_empty()).map(str::parse) {
            return Ok(FractionalAmount::of(amount));
        }
        U::deserialize(value.into_deserializer()).map(FractionalAmount::of_unit)
    }
}

/// A fixed or a random amount.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged, bound(serialize = "U: LawUnit"))]
#[schemars(rename = "AmountOf{U}", bound = "U: Default + JsonSchema")]
pub enum LawChoice<U> {
    /// Written as a plain value.
    Fixed(U),
    /// Written as a table.
    Drawn(LawTable<U>),
}

/// The law of a random amount: one of `uniform`, `exponential`, `gamma`, `normal`, `lognormal` and
/// `table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    bound(serialize = "U: LawUnit", deserialize = "U: LawUnit")
)]
#[schemars(rename = "LawOf{U}", bound = "U: Default + JsonSchema")]
pub struct LawTable<U> {
    /// Lower and upper bound, with all values between them equally likely.
    pub uniform: Option<[U; 2]>,
    /// Mean of an exponential law, as for times between independent events.
    #[schemars(with = "Option<U>")]
    pub exponential: Option<FractionalAmount<U>>,
    /// Mean of a gamma law; needs `shape`.
    #[schemars(with = "Option<U>")]
    pub gamma: Option<FractionalAmount<U>>,
    /// Shape of `gamma`, 0.001 to 10000; 1 makes it exponential.
    pub shape: Option<f64>,
    /// Mean of a normal law; needs `deviation`.
    #[schemars(with = "Option<U>")]
    pub normal: Option<FractionalAmount<U>>,
    /// Standard deviation of `normal`.
    #[schemars(with = "Option<U>")]
    pub deviation: Option<FractionalAmount<U>>,
    /// Median of a lognormal law; needs `spread`.
    #[schemars(with = "Option<U>")]
    pub lognormal: Option<FractionalAmount<U>>,
    /// Standard deviation of the natural logarithm of `lognormal`.
    pub spread: Option<f64>,
    /// Bands with their shares, uniform within each band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<BandTable<U>>>,
    /// Amount added to each drawn value. Default: 0.
    pub base: Option<U>,
    /// Lower limit of the result. Default: 0.
    pub least: Option<U>,
    /// Upper limit of the result. Default: no limit.
    pub most: Option<U>,
    /// The result is rounded down to a multiple of this. Default: not rounded.
    pub step: Option<U>,
}

/// A band of a `table` law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "U: LawUnit"))]
#[schemars(rename = "BandOf{U}")]
pub struct BandTable<U> {
    /// Weight of the band relative to the others.
    pub share: u32,
    /// Smallest value in the band.
    pub low: U,
    /// Largest value in the band.
    pub high: U,
}

impl<'de, U: LawUnit> Deserialize<'de> for LawChoice<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LawVisitor(PhantomData))
    }
}

/// Leaves everything but a table to the unit, so that the unit's own error messages are kept.
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

impl<U: LawUnit> LawChoice<U> {
    /// The law; an error in it is reported under the key.
    pub(super) fn law(&self, key: &'static str) -> Result<Law, ValueError> {
        match self {
            Self::Fixed(value) => Ok(Law::fixed(value.meant())),
            Self::Drawn(table) => table.law().map_err(|flaw| flaw.under(key)),
        }
    }
}

impl<U: LawUnit> LawTable<U> {
    fn law(&self) -> Result<Law, ValueError> {
        let (key, shape) = self.only_shape()?;
        let amount = |it: Option<U>, usual| it.map_or(usual, |it| it.meant());
        let law = Law {
            shape,
            base: amount(self.base, 0),
            least: amount(self.least, 0),
            most: amount(self.most, u64::MAX),
            step: amount(self.step, 0),
        };
        let Some(flaw) = law.flaw() else {
            return Ok(law);
        };
        let (key, help) = match flaw {
            InvalidLaw::Limits => ("most", "write a larger `most`"),
            InvalidLaw::Range => (key, "write the smaller one first"),
            InvalidLaw::Parameter(name) => (name, "write a number above 0"),
            InvalidLaw::Shape => (
                "shape",
                "a smaller one, or `normal` with a small `deviation`",
            ),
            InvalidLaw::Empty => (key, "write `table = [{ share = 1, low = 1, high = 8 }]`"),
        };
        Err(ValueError::new(key, flaw.to_string(), help))
    }

    /// All shapes, each with its key and the second key that it needs.
    fn shapes(&self) -> [(&'static str, &'static str, Option<Shape>); 6] {
        let of = |mean: Option<FractionalAmount<U>>, shape: fn(f64, f64) -> Shape, second: f64| {
            mean.map(|it| shape(it.amount, second))
        };
        let uniform = self.uniform.map(|ends| ends.map(|it| it.meant()));
        let bands = |bands: &Vec<BandTable<U>>| bands.iter().map(BandTable::band).collect();
        let shape = self.shape.unwrap_or_default();
        let deviation = self.deviation.map_or(0.0, |it| it.amount);
        let spread = self.spread.unwrap_or_default();
        let exponential = of(self.exponential, |mean, _| Shape::Exponential { mean }, 0.0);
        let gamma = of(
            self.gamma,
            |mean, shape| Shape::Gamma { mean, shape },
            shape,
        );
        let normal = |mean, deviation| Shape::Normal { mean, deviation };
        let lognormal = |median, spread| Shape::LogNormal { median, spread };
        [
            (
                "uniform",
                "",
                uniform.map(|[low, high]| Shape::Uniform { low, high }),
            ),
            ("exponential", "", exponential),
            ("gamma", "shape", gamma),
            ("normal", "deviation", of(self.normal, normal, deviation)),
            ("lognormal", "spread", of(self.lognormal, lognormal, spread)),
            (
                "table",
                "",
                self.table.as_ref().map(bands).map(Shape::Table),
            ),
        ]
    }

    /// The only shape that is written and its key; an error if there are several or a key does not
    /// fit.
    fn only_shape(&self) -> Result<(&'static str, Shape), ValueError> {
        let shapes = self.shapes();
        let keys = listed(shapes.iter().map(|(key, ..)| *key));
        let mut written = shapes
            .into_iter()
            .filter_map(|(key, needed, shape)| Some((key, needed, shape?)));
        let Some((key, needed, shape)) = written.next() else {
            let message = "the law has no distribution";
            return Err(ValueError::of_value(
                message,
                format!("write one of {keys}"),
            ));
        };
        if let Some((second, ..)) = written.next() {
            let message = format!("`{key}` and `{second}` are two laws");
            return Err(ValueError::new(second, message, "leave one of them out"));
        }
        let parameters = [
            ("shape", self.shape.is_some()),
            ("deviation", self.deviation.is_some()),
            ("spread", self.spread.is_some()),
        ];
        for (parameter, is_written) in parameters {
            if is_written && parameter != needed {
                return Err(ValueError::idle(parameter, key));
            }
            if !is_written && parameter == needed {
                let message = format!("`{key}` needs `{needed}`");
                return Err(ValueError::new(key, message, format!("add `{needed}`")));
            }
        }
        Ok((key, shape))
    }
}

impl<U: LawUnit> BandTable<U> {
    fn band(&self) -> Band {
        Band {
            weight: self.share,
            low: self.low.meant(),
            high: self.high.meant(),
        }
    }
}

impl<U: LawUnit> From<&Law> for LawChoice<U> {
    fn from(law: &Law) -> Self {
        if let Some(amount) = law.always() {
            return Self::Fixed(U::of(&amount));
        }
        let above = |amount: u64| (amount > 0).then(|| U::of(&amount));
        let mean = |amount: &f64| Some(FractionalAmount::of(*amount));
        let mut table = LawTable {
            base: above(law.base),
            least: above(law.least),
            most: (law.most < u64::MAX).then(|| U::of(&law.most)),
            step: above(law.step),
            ..LawTable::default()
        };
        match &law.shape {
            // Not reached, because `always` has a value for this shape.
            Shape::Fixed(amount) => table.uniform = Some([U::of(amount); 2]),
            Shape::Uniform { low, high } => table.uniform = Some([U::of(low), U::of(high)]),
            Shape::Exponential { mean: of } => table.exponential = mean(of),
            Shape::Gamma { mean: of, shape } => {
                (table.gamma, table.shape) = (mean(of), Some(*shape));
            }
            Shape::Normal {
                mean: of,
                deviation,
            } => (table.normal, table.deviation) = (mean(of), mean(deviation)),
            Shape::LogNormal { median, spread } => {
                (table.lognormal, table.spread) = (mean(median), Some(*spread));
            }
            Shape::Table(bands) => {
                let bands = bands.iter().map(|band| BandTable {
                    share: band.weight,
                    low: U::of(&band.low),
                    high: U::of(&band.high),
                });
                table.table = Some(bands.collect());
            }
        }
        Self::Drawn(table)
    }
}
