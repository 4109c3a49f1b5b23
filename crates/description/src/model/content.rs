//! Content of the data that is written.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Percent;

use plan::ContentPlan;

/// Words for `content`, in the order of the plain variants.
const NAMES: [&str; 6] = [
    "incompressible",
    "repeating",
    "pseudo-random",
    "full-random",
    "zero",
    "constant",
];

/// Content of the data that is written.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentChoice {
    /// Random bytes, every block different from all others.
    Incompressible,
    /// One random byte repeated, another for each request (Iometer's data pattern 0).
    Repeating,
    /// A block of random bytes filled once (Iometer's data pattern 1).
    PseudoRandom,
    /// A random window into 16 MiB of random bytes (Iometer's data pattern 2).
    FullRandom,
    /// Zeros.
    Zero,
    /// A buffer of random bytes, filled once before the measurement and written repeatedly.
    Constant,
    /// Blocks that a storage system can shrink by a known share.
    Reducible(Reducible),
}

/// Share of the data that compression and deduplication can save.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reducible {
    /// Share of each block that compresses to nothing, in percent. Default: 0.
    pub compress: Option<Percent>,
    /// Share of the blocks that repeat another block, in percent. Default: 0.
    pub dedupe: Option<Percent>,
}

impl ContentChoice {
    /// The word in workload files; `None` for reducible content.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        let index = match self {
            Self::Incompressible => 0,
            Self::Repeating => 1,
            Self::PseudoRandom => 2,
            Self::FullRandom => 3,
            Self::Zero => 4,
            Self::Constant => 5,
            Self::Reducible(_) => return None,
        };
        Some(NAMES[index])
    }
}

impl From<&ContentChoice> for ContentPlan {
    fn from(choice: &ContentChoice) -> Self {
        match choice {
            ContentChoice::Incompressible => Self::Incompressible,
            ContentChoice::Repeating => Self::Repeating,
            ContentChoice::PseudoRandom => Self::PseudoRandom,
            ContentChoice::FullRandom => Self::FullRandom,
            ContentChoice::Zero => Self::Zero,
            ContentChoice::Constant => Self::Constant,
            ContentChoice::Reducible(shares) => Self::Reducible {
                compress_percent: shares.compress.map_or(0.0, |share| share.0),
                dedupe_percent: shares.dedupe.map_or(0.0, |share| share.0),
            },
        }
    }
}

impl From<ContentPlan> for ContentChoice {
    fn from(plan: ContentPlan) -> Self {
        match plan {
            ContentPlan::Incompressible => Self::Incompressible,
            ContentPlan::Repeating => Self::Repeating,
            ContentPlan::PseudoRandom => Self::PseudoRandom,
            ContentPlan::FullRandom => Self::FullRandom,
            ContentPlan::Zero => Self::Zero,
            ContentPlan::Constant => Self::Constant,
            ContentPlan::Reducible {
                compress_percent,
                dedupe_percent,
            } => Self::Reducible(Reducible {
                compress: Some(Percent(compress_percent)),
                dedupe: Some(Percent(dedupe_percent)),
            }),
        }
    }
}

impl Serialize for ContentChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self, self.name()) {
            (Self::Reducible(reducible), _) => reducible.serialize(serializer),
            // Only reducible content has no name, and it is handled above.
            (_, name) => serializer.serialize_str(name.unwrap_or_default()),
        }
    }
}

impl<'de> Deserialize<'de> for ContentChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = ContentChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a kind of content or `{ compress = 50, dedupe = 20 }`")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<ContentChoice, E> {
        Ok(match value {
            "incompressible" => ContentChoice::Incompressible,
            "repeating" => ContentChoice::Repeating,
            "pseudo-random" => ContentChoice::PseudoRandom,
            "full-random" => ContentChoice::FullRandom,
            "zero" => ContentChoice::Zero,
            "constant" => ContentChoice::Constant,
            _ => return Err(E::unknown_variant(value, &NAMES)),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ContentChoice, A::Error> {
        Reducible::deserialize(MapAccessDeserializer::new(map)).map(ContentChoice::Reducible)
    }
}

impl JsonSchema for ContentChoice {
    fn schema_name() -> Cow<'static, str> {
        "Content".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let reducible = generator.subschema_for::<Reducible>();
        json_schema!({
            "description": "Content of the data that is written.",
            "anyOf": [{"type": "string", "enum": NAMES}, reducible],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        content: ContentChoice,
    }

    #[test]
    fn every_name_reads_back_as_written() {
        for name in NAMES {
            let text = format!("content = \"{name}\"\n");
            let holder: Holder = toml::from_str(&text).unwrap();
            assert_eq!(toml::to_string(&holder).unwrap(), text);
        }
    }

    #[test]
    fn ratios_are_a_table() {
        let holder: Holder = toml::from_str("content = { compress = 50, dedupe = 20 }").unwrap();
        assert!(matches!(holder.content, ContentChoice::Reducible(_)));
        let again: Holder = toml::from_str(&toml::to_string(&holder).unwrap()).unwrap();
        assert_eq!(holder, again);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = toml::from_str::<Holder>("content = \"zeros\"").unwrap_err();
        assert_eq!(
            error.message(),
            "unknown variant `zeros`, expected one of `incompressible`, `repeating`, \
             `pseudo-random`, `full-random`, `zero`, `constant`"
        );
    }
}
