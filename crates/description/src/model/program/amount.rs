//! How much is read or written, and where.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Bytes;

use super::{LawChoice, LawTable};
use crate::flaw::Flaw;
use crate::model::DistributionChoice;
use crate::model::by_key::{Keyed, by_key};
use plan::Distribution;
use plan::program::{FilePath, Where};

/// What begins a text that names another file's size.
const SIZE_OF: &str = "size of ";

/// How much is read or written.
#[derive(Debug, Clone, PartialEq)]
pub enum AmountChoice {
    /// A size, or one that is drawn.
    Law(LawChoice<Bytes>),
    /// Until a read returns nothing.
    Rest,
    /// As much as the file has by its fileset.
    Size,
    /// As much as the file of a handle has by its fileset.
    SizeOf(String),
}

impl Serialize for AmountChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Law(law) => law.serialize(serializer),
            Self::Rest => serializer.serialize_str("rest"),
            Self::Size => serializer.serialize_str("size"),
            Self::SizeOf(handle) => serializer.serialize_str(&format!("{SIZE_OF}@{handle}")),
        }
    }
}

impl<'de> Deserialize<'de> for AmountChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

/// Whether a text is meant as a number with a unit.
fn begins_as_number(text: &str) -> bool {
    let first = text.trim_start().chars().next();
    first.is_some_and(|it| it.is_ascii_digit() || matches!(it, '.' | '-' | '+'))
}

struct AmountVisitor;

impl<'de> Visitor<'de> for AmountVisitor {
    type Value = AmountChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size, a law, `rest`, `size` or `size of @HANDLE`")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<AmountChoice, E> {
        LawChoice::deserialize(value.into_deserializer()).map(AmountChoice::Law)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<AmountChoice, E> {
        LawChoice::deserialize(value.into_deserializer()).map(AmountChoice::Law)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<AmountChoice, E> {
        match value {
            "rest" => return Ok(AmountChoice::Rest),
            "size" => return Ok(AmountChoice::Size),
            _ => {}
        }
        if let Some(handle) = value.strip_prefix(SIZE_OF) {
            let handle = handle.trim().trim_start_matches('@');
            return Ok(AmountChoice::SizeOf(handle.to_owned()));
        }
        if begins_as_number(value) {
            return LawChoice::deserialize(value.into_deserializer()).map(AmountChoice::Law);
        }
        Err(E::custom(format!(
            "`{}` is not an amount; write a size such as `4KiB`, `rest`, `size` or \
             `size of @HANDLE`",
            plan::printable(value)
        )))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AmountChoice, A::Error> {
        let law = LawTable::deserialize(MapAccessDeserializer::new(map))?;
        Ok(AmountChoice::Law(LawChoice::Drawn(law)))
    }
}

impl JsonSchema for AmountChoice {
    fn schema_name() -> Cow<'static, str> {
        "AmountChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let law = generator.subschema_for::<LawChoice<Bytes>>();
        json_schema!({
            "description": "How much is read or written.",
            "anyOf": [{"type": "string", "pattern": "^(rest|size|size of @.*)$"}, law],
        })
    }
}

/// Where in a file something is read or written.
#[derive(Debug, Clone, PartialEq)]
pub enum PlaceChoice {
    /// Behind the last read or write that said so.
    Here,
    /// Where the last read or write was.
    Same,
    /// At the end of the file.
    End,
    /// By chance, everywhere alike.
    Anywhere,
    /// From this byte on.
    At(Bytes),
    /// By chance, or along a path.
    Table(PlaceTable),
}

/// A place by chance or along a path: one of `random`, `shuffled`, `backward`, `strided` and
/// `blocks`. A path begins anew in each phase, for each worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlaceTable {
    /// How it is distributed: `"uniform"`, `{ zipf = 1.2 }`, `{ pareto = 0.2 }`,
    /// `{ normal = 10 }`, `{ zones = [..] }` or `"no-repeat"`.
    pub random: Option<DistributionChoice>,
    /// What `random` is a multiple of. Default: the bytes of one request.
    pub align: Option<Bytes>,
    /// `random` uses the size that the fileset gives the file, whatever its length. Default: false,
    /// its length; for writes at least that size.
    pub nominal: Option<bool>,
    /// Each multiple of this once, in a random order.
    pub shuffled: Option<Bytes>,
    /// From the last multiple of this to the beginning.
    pub backward: Option<Bytes>,
    /// From one call to the next, from the beginning on.
    pub strided: Option<Bytes>,
    /// How much further on a `strided` path begins each time that it has come to the end. Default:
    /// 0.
    pub shift: Option<Bytes>,
    /// What a `strided` path leaves free at the end. Default: 0.
    pub margin: Option<Bytes>,
    /// One call behind the other in blocks of this size.
    pub blocks: Option<Bytes>,
    /// From one of the `blocks` to the next. Default: the size of a block.
    pub stride: Option<Bytes>,
    /// How much further on each worker begins with its `blocks` than the one before. Default: the
    /// size of a block.
    pub each: Option<Bytes>,
}

by_key! {
    PlaceTable, place_keys:
    random, align, nominal, shuffled, backward, strided, shift, margin, blocks, stride, each,
}

/// The words for a place.
const PLACES: [&str; 4] = ["here", "same", "end", "random"];

impl Serialize for PlaceChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Here => serializer.serialize_str("here"),
            Self::Same => serializer.serialize_str("same"),
            Self::End => serializer.serialize_str("end"),
            Self::Anywhere => serializer.serialize_str("random"),
            Self::At(offset) => offset.serialize(serializer),
            Self::Table(place) => place.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PlaceChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlaceVisitor)
    }
}

struct PlaceVisitor;

impl<'de> Visitor<'de> for PlaceVisitor {
    type Value = PlaceChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "`here`, `same`, `end`, `random`, an offset or a table such as `{ random = .. }`",
        )
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<PlaceChoice, E> {
        Bytes::deserialize(value.into_deserializer()).map(PlaceChoice::At)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<PlaceChoice, E> {
        Bytes::deserialize(value.into_deserializer()).map(PlaceChoice::At)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<PlaceChoice, E> {
        Ok(match value {
            "here" => PlaceChoice::Here,
            "same" => PlaceChoice::Same,
            "end" => PlaceChoice::End,
            "random" => PlaceChoice::Anywhere,
            _ if begins_as_number(value) => {
                PlaceChoice::At(Bytes::deserialize(value.into_deserializer())?)
            }
            _ => return Err(E::unknown_variant(value, &PLACES)),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PlaceChoice, A::Error> {
        PlaceTable::deserialize(MapAccessDeserializer::new(map)).map(PlaceChoice::Table)
    }
}

impl JsonSchema for PlaceChoice {
    fn schema_name() -> Cow<'static, str> {
        "PlaceChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let offset = generator.subschema_for::<Bytes>();
        let random = generator.subschema_for::<PlaceTable>();
        json_schema!({
            "description": "Where in a file something is read or written.",
            "anyOf": [{"type": "string", "enum": PLACES}, offset, random],
        })
    }
}

impl PlaceChoice {
    /// Where requests of so many bytes go.
    pub(super) fn place(choice: Option<Self>, request_bytes: u32) -> Result<Where, Flaw> {
        Ok(match choice {
            None | Some(Self::Here) => Where::Here,
            Some(Self::Same) => Where::Same,
            Some(Self::End) => Where::End,
            Some(Self::At(offset)) => Where::At(offset.0),
            Some(Self::Anywhere) => Where::Random {
                distribution: Distribution::Uniform,
                align_bytes: request_bytes,
                is_nominal: false,
            },
            Some(Self::Table(table)) => table.place(request_bytes)?,
        })
    }

    /// How that is written, where it is not the usual place.
    pub(super) fn of(place: &Where, request_bytes: u32) -> Option<Self> {
        Some(match place {
            Where::Here => return None,
            Where::Same => Self::Same,
            Where::End => Self::End,
            Where::At(offset) => Self::At(Bytes(*offset)),
            Where::Random {
                distribution: Distribution::Uniform,
                align_bytes,
                is_nominal: false,
            } if *align_bytes == request_bytes => Self::Anywhere,
            Where::Random {
                distribution,
                align_bytes,
                is_nominal,
            } => Self::Table(PlaceTable {
                random: Some(distribution.into()),
                align: differing(u64::from(*align_bytes), request_bytes.into()),
                nominal: is_nominal.then_some(true),
                ..PlaceTable::default()
            }),
            Where::Along(path) => Self::Table(PlaceTable::along(*path)),
            // Without a card that says where.
            Where::Dealt { .. } => Self::At(Bytes(0)),
        })
    }
}

fn differing(bytes: u64, usual: u64) -> Option<Bytes> {
    (bytes != usual).then_some(Bytes(bytes))
}

/// The forms of a place, each with the keys that it takes.
const FORMS: [(&str, &[&str]); 5] = [
    ("random", &["align", "nominal"]),
    ("shuffled", &[]),
    ("backward", &[]),
    ("strided", &["shift", "margin"]),
    ("blocks", &["stride", "each"]),
];

impl PlaceTable {
    fn place(&self, request_bytes: u32) -> Result<Where, Flaw> {
        let written = self.written();
        let mut forms = FORMS.iter().filter(|(form, _)| written.contains(form));
        let (Some((form, taken)), None) = (forms.next(), forms.next()) else {
            let forms = "`random`, `shuffled`, `backward`, `strided` and `blocks`";
            let message = format!("a place is one of {forms}");
            return Err(Flaw::new("at", message, "write one of them"));
        };
        let mut idle = written.iter();
        if let Some(key) = idle.find(|key| *key != form && !taken.contains(key)) {
            let message = format!("`{key}` does not apply to `{form}`");
            return Err(Flaw::new("at", message, format!("leave `{key}` out")));
        }
        let bytes = |key: Option<Bytes>, usual: u64| key.map_or(usual, |it| it.0);
        let step = |key: Bytes| u32::try_from(key.0).unwrap_or(u32::MAX);
        if let Some(random) = &self.random {
            return Ok(Where::Random {
                distribution: Distribution::from(random),
                align_bytes: self.align.map_or(request_bytes, step),
                is_nominal: self.nominal == Some(true),
            });
        }
        Ok(Where::Along(
            match (self.shuffled, self.backward, self.strided) {
                (Some(shuffled), ..) => FilePath::Shuffled {
                    step_bytes: step(shuffled),
                },
                (_, Some(backward), _) => FilePath::Backward {
                    step_bytes: step(backward),
                },
                (.., Some(strided)) => FilePath::Strided {
                    stride_bytes: strided.0,
                    shift_bytes: bytes(self.shift, 0),
                    margin_bytes: bytes(self.margin, 0),
                },
                _ => {
                    let block_bytes = bytes(self.blocks, 0);
                    FilePath::Blocks {
                        block_bytes,
                        stride_bytes: bytes(self.stride, block_bytes),
                        each_bytes: bytes(self.each, block_bytes),
                    }
                }
            },
        ))
    }

    fn along(path: FilePath) -> Self {
        let mut table = Self::default();
        match path {
            FilePath::Backward { step_bytes } => table.backward = Some(Bytes(step_bytes.into())),
            FilePath::Shuffled { step_bytes } => table.shuffled = Some(Bytes(step_bytes.into())),
            FilePath::Strided {
                stride_bytes,
                shift_bytes,
                margin_bytes,
            } => {
                table.strided = Some(Bytes(stride_bytes));
                table.shift = differing(shift_bytes, 0);
                table.margin = differing(margin_bytes, 0);
            }
            FilePath::Blocks {
                block_bytes,
                stride_bytes,
                each_bytes,
            } => {
                table.blocks = Some(Bytes(block_bytes));
                table.stride = differing(stride_bytes, block_bytes);
                table.each = differing(each_bytes, block_bytes);
            }
        }
        table
    }
}
