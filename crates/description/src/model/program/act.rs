//! What a worker does: an act is a table whose key is a verb, or the verb alone.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Span};

use super::super::by_key::by_key;
use super::{AmountChoice, LawChoice, PickChoice, PlaceChoice};
use plan::program::{Turn, Which, Whose};

/// One thing that a worker does.
#[derive(Debug, Clone, PartialEq)]
pub enum ActChoice {
    /// A verb that needs nothing beside it.
    Word(ActWord),
    /// A verb with what it needs.
    Table(Box<ActTable>),
}

/// A verb that stands for itself: what the first handle has open is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ActWord {
    /// Closes the file.
    Close,
    /// Makes its data and metadata durable.
    Fsync,
    /// Makes its data durable.
    Fdatasync,
    /// Reads the attributes of the open file.
    Fstat,
    /// Makes all file systems of the machine durable.
    Sync,
}

/// An act: one verb, and what it takes. A file is named by its fileset, from which one is picked,
/// or by `@` and a handle, which is the file that was picked last under that handle; `@` alone is
/// the one without a name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ActTable {
    /// Makes a file that is not there, and leaves it open: a fileset, or `@`.
    pub create: Option<String>,
    /// Opens a file that is there: a fileset, or `@`.
    pub open: Option<String>,
    /// Reads the attributes of a file by its name: a fileset, or `@`.
    pub stat: Option<String>,
    /// Removes a file: a fileset, or `@`.
    pub unlink: Option<String>,
    /// Makes a directory: a fileset whose names are directories, or `directory of @`.
    pub mkdir: Option<String>,
    /// Removes a directory: a fileset whose names are directories, or `directory of @`.
    pub rmdir: Option<String>,
    /// Lists the directory that a file is in: a fileset, or `directory of @`.
    pub list: Option<String>,
    /// Renames a file, `to` a name of a fileset: a fileset, or `@`.
    pub rename: Option<String>,
    /// Adds a hard link to a file, `to` a name of a fileset: a fileset, or `@`.
    pub link: Option<String>,
    /// Adds a symbolic link to a file, `to` a name of a fileset: a fileset, or `@`.
    pub symlink: Option<String>,
    /// Sets the permissions of a file to 0644: a fileset, or `@`.
    pub chmod: Option<String>,
    /// Closes what is open: `@` and a handle. Short for `{ close = "@" }` is `"close"`.
    pub close: Option<String>,
    /// Makes data and metadata durable, of what is open or of the directory that it is in: `@`,
    /// or `directory of @`. Short for `{ fsync = "@" }` is `"fsync"`.
    pub fsync: Option<String>,
    /// Makes data durable: `@`. Short for `{ fdatasync = "@" }` is `"fdatasync"`.
    pub fdatasync: Option<String>,
    /// Reads the attributes of what is open: `@`. Short for `{ fstat = "@" }` is `"fstat"`.
    pub fstat: Option<String>,
    /// Reads so much: a size, a law, `rest` (until the end), `size` (of the file by its fileset),
    /// or `size of @HANDLE`.
    pub read: Option<AmountChoice>,
    /// Writes so much: a size, a law, `size` (of the file by its fileset), or `size of @HANDLE`.
    pub write: Option<AmountChoice>,
    /// Sets the length of what is open: a size, a law, `size`, or `size of @HANDLE`.
    pub truncate: Option<AmountChoice>,
    /// Does what stands in `do` so many times: a number, or a law.
    pub times: Option<LawChoice<u64>>,
    /// Does one of several, by their shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Vec<BranchTable>>,
    /// Does what stands in `do`, counted and timed as one thing under this label.
    pub step: Option<String>,
    /// As `step`, and the rate of the phase is that of its transactions.
    pub transaction: Option<String>,
    /// Sleeps: a time, or a law.
    pub think: Option<LawChoice<Span>>,
    /// Computes: a time, or a law.
    pub burn: Option<LawChoice<Span>>,
    /// Adds to the counter of `[[tokens]]`, and waits for `room` where it has little: a name.
    pub put: Option<String>,
    /// Takes from the counter of `[[tokens]]`, and waits until enough lies there: a name.
    pub take: Option<String>,
    /// Waits for all workers of the phase that come to the meeting of this name and are not done.
    pub meet: Option<String>,
    /// How much is put or taken. Default: 1.
    pub count: Option<u32>,
    /// Which of several counters: that of the worker's number (`mine`), `each` one after the other,
    /// or those of its share in turn (`turns`). Default: `mine`.
    pub whose: Option<Whose>,
    /// In place of `count`: one is taken for each so many calls that the worker made.
    pub per_calls: Option<u64>,
    /// In place of `count`: one is taken for each so many bytes that the worker moved.
    pub per_bytes: Option<Bytes>,
    /// Label whose calls or bytes alone count for `per_calls` and `per_bytes`. Default: all count.
    pub of: Option<String>,
    /// What `times`, `step` and `transaction` do.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<ActChoice>,
    /// In which order files are picked: `next`, `back`, `shuffled`, `around`, `uniform`,
    /// `{ zipf = 0.9 }`, `{ pareto = 0.2 }`, `{ normal = 10 }` or `{ index = 0 }`. Default:
    /// `next`, which ends behind the last file.
    pub pick: Option<PickChoice>,
    /// Which files are picked from: `any`, `present` or `absent`. Default: `present`, but
    /// `absent` for `create` and `mkdir`.
    pub which: Option<Which>,
    /// Whose turn counts: each worker goes through all files (`own`), through its share of them
    /// (`slice`), or all workers go through them together (`shared`). Default: `own`, but `shared`
    /// with `around`.
    pub turn: Option<Turn>,
    /// Fileset whose name is taken by `rename`, `link` and `symlink`.
    pub to: Option<String>,
    /// In which order names are picked for `to`, as `pick`. Default: `next`.
    pub to_pick: Option<PickChoice>,
    /// Which names are picked for `to`, as `which`; with `any`, `rename` takes the place of a file
    /// that is there. Default: `absent`.
    pub to_which: Option<Which>,
    /// Whose turn counts for `to`, as `turn`. Default: as `turn`.
    pub to_turn: Option<Turn>,
    /// Name under which the file is known to other acts of the group. Default: the one without
    /// a name.
    pub handle: Option<String>,
    /// The `[[way]]` in which `create` and `open` open it. Default: to read and to write.
    pub way: Option<String>,
    /// Bytes of one request of `read` and `write`, at most 64 MiB. Default: all at once, but at
    /// most 1 MiB.
    pub piece: Option<Bytes>,
    /// Where in the file: `here` (behind the last one), `same` (where the last one was), `end`, an
    /// offset, `random`, or a table such as `{ random = { zipf = 1.2 }, align = "4KiB" }`.
    /// Default: `here`.
    pub at: Option<PlaceChoice>,
    /// Label under which it is counted and timed, besides its operation. Default: none.
    pub label: Option<String>,
}

by_key! {
    ActTable, act_keys:
    create, open, stat, unlink, mkdir, rmdir, list, rename, link, symlink, chmod, close, fsync,
    fdatasync, fstat, read, write, truncate, times, mix, step, transaction, think, burn, put,
    take, meet, count, whose, per_calls, per_bytes, of, acts = "do", pick, which, turn, to,
    to_pick, to_which, to_turn, handle, way, piece, at, label,
}

/// One of several, of which one is done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BranchTable {
    /// How often it is done, beside the shares of the others. Must be written.
    pub share: Option<u32>,
    /// Counts what it does under this label.
    pub step: Option<String>,
    /// As `step`, and the rate of the phase is that of its transactions.
    pub transaction: Option<String>,
    /// What it does. Must be written.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<ActChoice>,
}

impl Serialize for ActChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(word) => word.serialize(serializer),
            Self::Table(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ActChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ActVisitor)
    }
}

struct ActVisitor;

impl<'de> Visitor<'de> for ActVisitor {
    type Value = ActChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an act, such as `\"close\"` or `{ open = \"FILESET\" }`")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<ActChoice, E> {
        ActWord::deserialize(value.into_deserializer()).map(ActChoice::Word)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ActChoice, A::Error> {
        ActTable::deserialize(MapAccessDeserializer::new(map))
            .map(|table| ActChoice::Table(Box::new(table)))
    }
}

impl JsonSchema for ActChoice {
    fn schema_name() -> Cow<'static, str> {
        "ActChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<ActWord>();
        let table = generator.subschema_for::<ActTable>();
        json_schema!({
            "description": "One thing that a worker does.",
            "anyOf": [word, table],
        })
    }
}
