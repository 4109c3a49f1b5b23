//! What a worker does: an act is a table whose key is a verb, or the verb alone.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use units::{Bytes, Span};

use super::names::{Handles, Names};
use super::{AmountChoice, LawChoice, PickChoice, PlaceChoice, Unsaid, unsaid};
use crate::flaw::Flaw;
use crate::model::by_key::{Keyed, by_key};
use plan::program::{
    Act, Call, Due, FileOperation, FilesetPlan, Measure, On, Program, Turn, Which, Whose,
};

/// One thing that a worker does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
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

impl ActWord {
    /// All words.
    pub(super) const ALL: [Self; 5] = [
        Self::Close,
        Self::Fsync,
        Self::Fdatasync,
        Self::Fstat,
        Self::Sync,
    ];

    /// What it asks.
    pub(super) const fn operation(self) -> FileOperation {
        match self {
            Self::Close => FileOperation::Close,
            Self::Fsync => FileOperation::Fsync,
            Self::Fdatasync => FileOperation::Fdatasync,
            Self::Fstat => FileOperation::Stat,
            Self::Sync => FileOperation::Sync,
        }
    }
}

/// The keys that a verb takes beside it; none where it is no verb.
fn keys_beside(verb: &str) -> Option<&'static [&'static str]> {
    Some(match verb {
        "create" | "open" => &["pick", "which", "turn", "handle", "way", "label"],
        "stat" | "unlink" | "mkdir" | "rmdir" | "list" | "chmod" => {
            &["pick", "which", "turn", "handle", "label"]
        }
        "rename" | "link" | "symlink" => &[
            "pick", "which", "turn", "handle", "label", "to", "to_pick", "to_which", "to_turn",
        ],
        "close" | "fsync" | "fdatasync" | "fstat" => &["label"],
        "read" | "write" => &["piece", "at", "handle", "label"],
        "truncate" => &["handle", "label"],
        "times" | "step" | "transaction" => &["do"],
        "put" => &["count", "whose"],
        "take" => &["count", "whose", "per_calls", "per_bytes", "of"],
        "mix" | "think" | "burn" | "meet" => &[],
        _ => return None,
    })
}

/// The only verb of a table, beside which nothing stands that has no meaning there.
fn only_verb(table: &ActTable) -> Result<&'static str, Flaw> {
    let written = table.written();
    let mut verbs = written
        .iter()
        .filter_map(|key| Some((*key, keys_beside(key)?)));
    let Some((verb, taken)) = verbs.next() else {
        let help = "write a verb, such as `{ open = \"FILESET\" }`";
        return Err(Flaw::of_value("the act says nothing to do", help));
    };
    if let Some((second, _)) = verbs.next() {
        let message = format!("`{verb}` and `{second}` are two acts");
        let help = "write each as an act of its own";
        return Err(Flaw::new(second, message, help));
    }
    let mut keys = written.iter().filter(|key| **key != verb);
    match keys.find(|key| !taken.contains(key)) {
        Some(key) => Err(Flaw::idle(key, verb)),
        None => Ok(verb),
    }
}

/// Reads the acts of a group.
pub(super) struct ActReader<'a> {
    pub names: &'a mut Names,
    pub handles: Handles,
    pub filesets: &'a [FilesetPlan],
}

impl ActReader<'_> {
    /// The acts under a key.
    pub fn list(&mut self, key: &'static str, acts: Vec<ActChoice>) -> Result<Vec<Act>, Flaw> {
        let acts = acts.into_iter().enumerate();
        acts.map(|(index, act)| self.act(act).map_err(|flaw| flaw.within(key, index)))
            .collect()
    }

    fn act(&mut self, act: ActChoice) -> Result<Act, Flaw> {
        let mut table = match act {
            ActChoice::Word(word) => return Ok(Act::Call(Call::new(word.operation(), On::Handle))),
            ActChoice::Table(table) => *table,
        };
        let verb = only_verb(&table)?;
        let label = table.step.as_ref().or(table.transaction.as_ref());
        let label = label.map(|label| self.names.label(verb, label));
        let label = label.transpose()?;
        let acts = self.list("do", std::mem::take(&mut table.acts))?;
        let whose = table.whose.unwrap_or_default();
        Ok(if let Some(law) = &table.times {
            Act::Times(law.law(verb)?, acts)
        } else if let Some(label) = label {
            match table.step.is_some() {
                true => Act::Step(label, acts),
                false => Act::Transaction(label, acts),
            }
        } else if let Some(branches) = table.mix {
            let branches = branches.into_iter().enumerate().map(|(index, branch)| {
                let branch = self.branch(branch);
                branch.map_err(|flaw| flaw.within("mix", index))
            });
            Act::Mix(branches.collect::<Result<_, _>>()?)
        } else if let Some(time) = &table.think {
            Act::Think(time.law(verb)?)
        } else if let Some(time) = &table.burn {
            Act::Burn(time.law(verb)?)
        } else if let Some(name) = &table.put {
            Act::Put {
                tokens: self.names.tokens(verb, name)?,
                count: table.count.unwrap_or(1),
                whose,
            }
        } else if let Some(name) = &table.take {
            Act::Take {
                tokens: self.names.tokens(verb, name)?,
                count: self.due(&table)?,
                whose,
            }
        } else if let Some(name) = &table.meet {
            Act::Meet(self.names.meeting(verb, name)?)
        } else {
            Act::Call(self.call(table, verb)?)
        })
    }

    fn branch(&mut self, branch: BranchTable) -> Result<(u32, Vec<Act>), Flaw> {
        let no_share = || Flaw::of_value("one of the `mix` has no `share`", "add `share = 1`");
        let share = branch.share.ok_or_else(no_share)?;
        let acts = match (branch.step, branch.transaction) {
            (None, None) => self.list("do", branch.acts)?,
            (Some(_), Some(_)) => {
                let message = "`step` and `transaction` are two acts";
                return Err(Flaw::new("step", message, "leave one of them out"));
            }
            (step, transaction) => {
                let table = ActTable {
                    step,
                    transaction,
                    acts: branch.acts,
                    ..ActTable::default()
                };
                vec![self.act(ActChoice::Table(Box::new(table)))?]
            }
        };
        Ok((share, acts))
    }

    fn due(&mut self, table: &ActTable) -> Result<Due, Flaw> {
        let label = table.of.as_ref();
        let label = label.map(|name| self.names.label("of", name)).transpose()?;
        let (what, each) = match (table.count, table.per_calls, table.per_bytes, label) {
            (count, None, None, None) => return Ok(Due::Fixed(count.unwrap_or(1))),
            (_, None, None, Some(_)) => {
                let message = "`of` needs `per_calls` or `per_bytes`";
                return Err(Flaw::leave_out("of", message));
            }
            (None, Some(calls), None, None) => (Measure::Calls, calls),
            (None, Some(calls), None, Some(label)) => (Measure::Steps(label), calls),
            (None, None, Some(bytes), None) => (Measure::Bytes, bytes.0),
            (None, None, Some(bytes), Some(label)) => (Measure::StepBytes(label), bytes.0),
            _ => {
                let message = "how much is taken is said twice";
                let help = "write one of `count`, `per_calls` and `per_bytes`";
                return Err(Flaw::new("take", message, help));
            }
        };
        Ok(Due::Since { what, each })
    }
}

/// Writes the acts of a group.
pub(super) struct ActWriter<'a> {
    pub program: &'a Program,
    pub names: &'a Names,
    pub handles: Handles,
}

impl ActWriter<'_> {
    pub fn list(&self, acts: &[Act]) -> Result<Vec<ActChoice>, Unsaid> {
        acts.iter().map(|act| self.act(act)).collect()
    }

    pub fn label(&self, label: u8) -> Option<String> {
        Some(self.names.labels[usize::from(label)].clone())
    }

    fn act(&self, act: &Act) -> Result<ActChoice, Unsaid> {
        let mut table = ActTable::default();
        let of_tokens = |tokens: u8| self.names.tokens.get(usize::from(tokens)).cloned();
        let unusual = |whose| (whose != Whose::Mine).then_some(whose);
        match act {
            Act::Call(call) => return self.call(call),
            Act::Times(law, acts) => {
                table.times = Some(law.into());
                table.acts = self.list(acts)?;
            }
            Act::Mix(branches) => {
                let branches = branches.iter();
                let branches = branches.map(|(share, acts)| self.branch(*share, acts));
                table.mix = Some(branches.collect::<Result<_, _>>()?);
            }
            Act::Walk(_) => return unsaid("files come as directories list them"),
            Act::Deal(_) => return unsaid("what is done follows from no rule"),
            Act::Step(label, acts) => {
                table.step = self.label(*label);
                table.acts = self.list(acts)?;
            }
            Act::Transaction(label, acts) => {
                table.transaction = self.label(*label);
                table.acts = self.list(acts)?;
            }
            Act::Think(law) => table.think = Some(law.into()),
            Act::Burn(law) => table.burn = Some(law.into()),
            Act::Put {
                tokens,
                count,
                whose,
            } => {
                table.put = of_tokens(*tokens);
                table.count = (*count != 1).then_some(*count);
                table.whose = unusual(*whose);
            }
            Act::Take {
                tokens,
                count,
                whose,
            } => {
                table.take = of_tokens(*tokens);
                table.whose = unusual(*whose);
                self.write_due(*count, &mut table)?;
            }
            Act::Meet(number) => table.meet = Some(format!("meeting-{}", number + 1)),
        }
        Ok(ActChoice::Table(Box::new(table)))
    }

    fn branch(&self, share: u32, acts: &[Act]) -> Result<BranchTable, Unsaid> {
        let (step, transaction, acts) = match acts {
            [Act::Step(label, acts)] => (self.label(*label), None, acts.as_slice()),
            [Act::Transaction(label, acts)] => (None, self.label(*label), acts.as_slice()),
            acts => (None, None, acts),
        };
        Ok(BranchTable {
            share: Some(share),
            step,
            transaction,
            acts: self.list(acts)?,
        })
    }

    fn write_due(&self, due: Due, table: &mut ActTable) -> Result<(), Unsaid> {
        let (what, each) = match due {
            Due::Fixed(count) => {
                table.count = (count != 1).then_some(count);
                return Ok(());
            }
            Due::Since { what, each } => (what, each),
        };
        match what {
            Measure::Rounds => return unsaid("something is taken for each round"),
            Measure::Calls | Measure::Steps(_) => table.per_calls = Some(each),
            Measure::Bytes | Measure::StepBytes(_) => table.per_bytes = Some(Bytes(each)),
        }
        if let Measure::Steps(label) | Measure::StepBytes(label) = what {
            table.of = self.label(label);
        }
        Ok(())
    }
}
