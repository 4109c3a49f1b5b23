//! Amounts that are read or written, and positions in files.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Bytes;

use super::{LawChoice, LawTable};
use crate::flaw::ValueError;
use crate::model::DistributionChoice;
use crate::model::keyed::{Keyed, keyed_deserialize};
use plan::Distribution;
use plan::program::{CallPosition, FilePath};

/// Prefix of a text that refers to another file's size.
const SIZE_PREFIX: &str = "size of ";

/// Amount to read or write.
#[derive(Debug, Clone, PartialEq)]
pub enum AmountChoice {
    /// A fixed or random size.
    Law(LawChoice<Bytes>),
    /// The rest of the file: reads until one returns nothing.
    Rest,
    /// The size that the fileset gives the file.
    Size,
    /// The size that the fileset gives the file of this handle.
    SizeOf(String),
}

impl Serialize for AmountChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Law(law) => law.serialize(serializer),
            Self::Rest => serializer.serialize_str("rest"),
            Self::Size => serializer.serialize_str("size"),
            Self::SizeOf(handle) => serializer.serialize_str(&format!("{SIZE_PREFIX}@{handle}")),
        }
    }
}

impl<'de> Deserialize<'de> for AmountChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

/// Whether a text looks like a number with a unit.
fn starts_with_number(text: &str) -> bool {
    let first = text.trim_start().chars().next();
    // A sign counts as part of a number, so that `-1` gets the message for sizes.
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
        if let Some(handle) = value.strip_prefix(SIZE_PREFIX) {
            let handle = handle.trim().trim_start_matches('@');
            return Ok(AmountChoice::SizeOf(handle.to_owned()));
        }
        if starts_with_number(value) {
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
            "description": "Amount to read or write.",
            "anyOf": [{"type": "string", "pattern": "^(rest|size|size of @.*)$"}, law],
        })
    }
}

/// Position in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum PositionChoice {
    /// After the last request that used `here`.
    Here,
    /// At the position of the last request.
    Same,
    /// At the end of the file.
    End,
    /// At a random position, uniformly distributed.
    Anywhere,
    /// At this offset in bytes.
    At(Bytes),
    /// At a random position, or along a path.
    Table(PositionTable),
}

/// A random position or a path through the file: one of `random`, `shuffled`, `dealt`, `backward`,
/// `strided` and `blocks`. Each worker starts its path again in each phase.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PositionTable {
    /// Distribution of random positions: `"uniform"`, `{ zipf = 1.2 }`, `{ pareto = 0.2 }`, `{
    /// normal = 10 }`, `{ zones = [..] }` or `"no-repeat"`.
    pub random: Option<DistributionChoice>,
    /// Random positions are multiples of this. Default: the bytes of one request.
    pub align: Option<Bytes>,
    /// Use the size that the fileset gives the file, instead of its length. Default: false, its
    /// length; for writes at least the size in the fileset.
    pub nominal: Option<bool>,
    /// Each multiple of this once, in random order.
    pub shuffled: Option<Bytes>,
    /// The same, but the workers of the group share the multiples: together they visit each once.
    pub dealt: Option<Bytes>,
    /// Backward in steps of this size, from the last multiple of it to the beginning.
    pub backward: Option<Bytes>,
    /// Distance from one request to the next, from the beginning on.
    pub strided: Option<Bytes>,
    /// Offset added to the start of a `strided` path each time it reaches the end. Default: 0.
    pub shift: Option<Bytes>,
    /// Bytes that a `strided` path leaves unused at the end. Default: 0.
    pub margin: Option<Bytes>,
    /// Sequential requests within blocks of this size.
    pub blocks: Option<Bytes>,
    /// Distance from the start of one of the `blocks` to the next. Default: the block size.
    pub stride: Option<Bytes>,
    /// Distance between the first `blocks` of consecutive workers. Default: the block size.
    pub each: Option<Bytes>,
    /// Number of `blocks` after which the path starts over. Default: it never does.
    pub count: Option<u64>,
}

keyed_deserialize! {
    PositionTable, place_keys:
    random, align, nominal, shuffled, dealt, backward, strided, shift, margin, blocks, stride, each,
    count,
}

const POSITION_NAMES: [&str; 4] = ["here", "same", "end", "random"];

impl Serialize for PositionChoice {
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

impl<'de> Deserialize<'de> for PositionChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PositionVisitor)
    }
}

struct PositionVisitor;

impl<'de> Visitor<'de> for PositionVisitor {
    type Value = PositionChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "`here`, `same`, `end`, `random`, an offset or a table such as `{ random = .. }`",
        )
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<PositionChoice, E> {
        Bytes::deserialize(value.into_deserializer()).map(PositionChoice::At)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<PositionChoice, E> {
        Bytes::deserialize(value.into_deserializer()).map(PositionChoice::At)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<PositionChoice, E> {
        Ok(match value {
            "here" => PositionChoice::Here,
            "same" => PositionChoice::Same,
            "end" => PositionChoice::End,
            "random" => PositionChoice::Anywhere,
            _ if starts_with_number(value) => {
                PositionChoice::At(Bytes::deserialize(value.into_deserializer())?)
            }
            _ => return Err(E::unknown_variant(value, &POSITION_NAMES)),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PositionChoice, A::Error> {
        PositionTable::deserialize(MapAccessDeserializer::new(map)).map(PositionChoice::Table)
    }
}

impl JsonSchema for PositionChoice {
    fn schema_name() -> Cow<'static, str> {
        "PositionChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let offset = generator.subschema_for::<Bytes>();
        let random = generator.subschema_for::<PositionTable>();
        json_schema!({
            "description": "Position in a file.",
            "anyOf": [{"type": "string", "enum": POSITION_NAMES}, offset, random],
        })
    }
}

impl PositionChoice {
    /// The position of requests that have this size in bytes.
    pub(super) fn place(
        choice: Option<Self>,
        request_bytes: u32,
    ) -> Result<CallPosition, ValueError> {
        Ok(match choice {
            None | Some(Self::Here) => CallPosition::Here,
            Some(Self::Same) => CallPosition::Same,
            Some(Self::End) => CallPosition::End,
            Some(Self::At(offset)) => CallPosition::At(offset.0),
            Some(Self::Anywhere) => CallPosition::Random {
                distribution: Distribution::Uniform,
                align_bytes: request_bytes,
                is_nominal: false,
            },
            Some(Self::Table(table)) => table.place(request_bytes)?,
        })
    }

    /// The key value for a position; `None` for the default position.
    pub(super) fn of(position: &CallPosition, request_bytes: u32) -> Option<Self> {
        Some(match position {
            CallPosition::Here => return None,
            CallPosition::Same => Self::Same,
            CallPosition::End => Self::End,
            CallPosition::At(offset) => Self::At(Bytes(*offset)),
            CallPosition::Random {
                distribution: Distribution::Uniform,
                align_bytes,
                is_nominal: false,
            } if *align_bytes == request_bytes => Self::Anywhere,
            CallPosition::Random {
                distribution,
                align_bytes,
                is_nominal,
            } => Self::Table(PositionTable {
                random: Some(distribution.into()),
                align: differing(u64::from(*align_bytes), request_bytes.into()),
                nominal: is_nominal.then_some(true),
                ..PositionTable::default()
            }),
            CallPosition::Along(path) => Self::Table(PositionTable::along(*path)),
            // The cards of a deck, which would give the offset, are not in the table.
            CallPosition::Dealt { .. } => Self::At(Bytes(0)),
        })
    }
}

fn differing(bytes: u64, usual: u64) -> Option<Bytes> {
    (bytes != usual).then_some(Bytes(bytes))
}

/// Ways to write a position, each with the keys that it takes.
const POSITION_FORMS: [(&str, &[&str]); 6] = [
    ("random", &["align", "nominal"]),
    ("shuffled", &[]),
    ("dealt", &[]),
    ("backward", &[]),
    ("strided", &["shift", "margin"]),
    ("blocks", &["stride", "each", "count"]),
];

impl PositionTable {
    fn place(&self, request_bytes: u32) -> Result<CallPosition, ValueError> {
        let written = self.written();
        let mut forms = POSITION_FORMS
            .iter()
            .filter(|(form, _)| written.contains(form));
        let (Some((form, taken)), None) = (forms.next(), forms.next()) else {
            let forms = "`random`, `shuffled`, `dealt`, `backward`, `strided` and `blocks`";
            let message = format!("a place is one of {forms}");
            return Err(ValueError::new("at", message, "write one of them"));
        };
        let mut idle = written.iter();
        if let Some(key) = idle.find(|key| *key != form && !taken.contains(key)) {
            let message = format!("`{key}` does not apply to `{form}`");
            return Err(ValueError::new("at", message, format!("leave `{key}` out")));
        }
        let bytes = |key: Option<Bytes>, usual: u64| key.map_or(usual, |it| it.0);
        let step = |bytes: Bytes| {
            u32::try_from(bytes.0).map_err(|_| {
                // `random` takes its step from `align`; each other form has its own.
                let key = if *form == "random" { "align" } else { *form };
                let message = format!("`{key}` is {bytes}, not below 4GiB");
                ValueError::new("at", message, format!("write `{key} = \"1GiB\"` or less"))
            })
        };
        if let Some(random) = &self.random {
            return Ok(CallPosition::Random {
                distribution: Distribution::from(random),
                align_bytes: self.align.map_or(Ok(request_bytes), step)?,
                is_nominal: self.nominal == Some(true),
            });
        }
        Ok(CallPosition::Along(
            match (self.shuffled, self.dealt, self.backward, self.strided) {
                (Some(shuffled), ..) => FilePath::Shuffled {
                    step_bytes: step(shuffled)?,
                },
                (_, Some(dealt), ..) => FilePath::Dealt {
                    step_bytes: step(dealt)?,
                },
                (_, _, Some(backward), _) => FilePath::Backward {
                    step_bytes: step(backward)?,
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
                        block_count: self.count.unwrap_or(0),
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
            FilePath::Dealt { step_bytes } => table.dealt = Some(Bytes(step_bytes.into())),
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
                block_count,
            } => {
                table.count = (block_count > 0).then_some(block_count);
                table.blocks = Some(Bytes(block_bytes));
                table.stride = differing(stride_bytes, block_bytes);
                table.each = differing(each_bytes, block_bytes);
            }
        }
        table
    }
}
