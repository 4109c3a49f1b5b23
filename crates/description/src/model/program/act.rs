//! Acts of a worker: a table whose key is a verb, or the verb alone.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use units::{Bytes, Span};

use super::names::{GroupHandles, ProgramNames};
use super::verbs::only_verb;
use super::{AmountChoice, LawChoice, NotExpressible, PickChoice, PositionChoice, not_expressible};
use crate::flaw::ValueError;
use crate::model::keyed::{Keyed, keyed_deserialize};
use plan::program::{
    Act, Call, CallObject, CounterSelection, FileFilter, FileOperation, FileSharing, FilesetPlan,
    Measure, Program, TakeAmount,
};

/// One act of a worker.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ActChoice {
    /// A verb without arguments.
    Word(BareVerb),
    /// A verb with its arguments.
    Table(Box<ActTable>),
}

/// A verb on its own; it works on the file that is open under the handle without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BareVerb {
    /// Closes the file.
    Close,
    /// Makes the data and metadata of the file durable (`fsync`).
    Fsync,
    /// Makes the data of the file durable (`fdatasync`).
    Fdatasync,
    /// Reads the attributes of the open file.
    Fstat,
    /// Makes all file systems of the machine durable.
    Sync,
}

/// An act: one verb and its arguments. A file is named either by a fileset, from which one is
/// picked, or by `@` and a handle: the file last picked under that handle. `@` alone is the handle
/// without a name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ActTable {
    /// Creates a file that does not exist, and leaves it open: a fileset, or `@`.
    pub create: Option<String>,
    /// Opens an existing file: a fileset, or `@`.
    pub open: Option<String>,
    /// Reads the attributes of a file by its name: a fileset, or `@`.
    pub stat: Option<String>,
    /// Removes a file: a fileset, or `@`.
    pub unlink: Option<String>,
    /// Creates a directory: a fileset whose names are directories, or `directory of @`.
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
    /// Closes an open file: `@` and a handle. `"close"` is short for `{ close = "@" }`.
    pub close: Option<String>,
    /// Makes data and metadata durable, of an open file or of the directory that contains it: `@`,
    /// or `directory of @`. `"fsync"` is short for `{ fsync = "@" }`.
    pub fsync: Option<String>,
    /// Makes data durable: `@`. `"fdatasync"` is short for `{ fdatasync = "@" }`.
    pub fdatasync: Option<String>,
    /// Reads the attributes of an open file: `@`. `"fstat"` is short for `{ fstat = "@" }`.
    pub fstat: Option<String>,
    /// Reads this many bytes: a size, a law, `rest` (to the end of the file), `size` (the size that
    /// the fileset gives the file), or `size of @HANDLE`.
    pub read: Option<AmountChoice>,
    /// Writes this many bytes: a size, a law, `size` (the size that the fileset gives the file), or
    /// `size of @HANDLE`.
    pub write: Option<AmountChoice>,
    /// Sets the length of an open file: a size, a law, `size`, or `size of @HANDLE`.
    pub truncate: Option<AmountChoice>,
    /// Sets an extended attribute of an open file to a value of this many bytes, at most 64 KiB: a
    /// size, or a law. `attribute` names it.
    pub setxattr: Option<AmountChoice>,
    /// Reads an extended attribute of an open file, of at most this many bytes: a size, or a law.
    pub getxattr: Option<AmountChoice>,
    /// Name of the extended attribute, beginning with `user.`. Default: `user.pgmeter`.
    pub attribute: Option<String>,
    /// Repeats the acts in `do` this many times: a number, or a law.
    pub times: Option<LawChoice<u64>>,
    /// Does one of several branches, chosen at random by their shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Vec<BranchTable>>,
    /// Does the acts in `do` and counts and times them as one unit under this label.
    pub step: Option<String>,
    /// As `step`; in addition, the rate of the phase is its number of transactions per second.
    pub transaction: Option<String>,
    /// Sleeps: a time, or a law.
    pub think: Option<LawChoice<Span>>,
    /// Computes: a time, or a law.
    pub burn: Option<LawChoice<Span>>,
    /// Adds to the counter of `[[tokens]]` with this name; waits while it has no `room`.
    pub put: Option<String>,
    /// Takes from the counter of `[[tokens]]` with this name; waits until it holds enough.
    pub take: Option<String>,
    /// Waits for all workers of the phase that take part in the meeting of this name and are not
    /// done.
    pub meet: Option<String>,
    /// Amount to put or take. Default: 1.
    pub count: Option<u32>,
    /// Which of several counters: the one with the worker's number (`mine`), `each` one after the
    /// other, or the worker's share of them in turn (`turns`). Default: `mine`.
    pub whose: Option<CounterSelection>,
    /// Take one per this many calls that the worker made, instead of a `count`.
    pub per_calls: Option<u64>,
    /// Take one per this many bytes that the worker moved, instead of a `count`.
    pub per_bytes: Option<Bytes>,
    /// Label whose calls or bytes count for `per_calls` and `per_bytes`. Default: all count.
    pub of: Option<String>,
    /// Acts of `times`, `step` and `transaction`.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<ActChoice>,
    /// Order in which files are picked: `next`, `back`, `shuffled`, `around`, `uniform`, `{ zipf =
    /// 0.9 }`, `{ pareto = 0.2 }`, `{ normal = 10 }` or `{ index = 0 }`. Default: `next`, which
    /// stops after the last file.
    pub pick: Option<PickChoice>,
    /// Files to pick from: `any`, `present` or `absent`. Default: `present`, but `absent` for
    /// `create` and `mkdir`.
    pub which: Option<FileFilter>,
    /// How workers divide the files: each goes through all files (`own`), each goes through its
    /// share of them (`slice`), or all go through them together (`shared`). Default: `own`, but
    /// `shared` with `around`.
    pub turn: Option<FileSharing>,
    /// Fileset from which `rename`, `link` and `symlink` pick the new name.
    pub to: Option<String>,
    /// Order in which names are picked for `to`, as in `pick`. Default: `next`.
    pub to_pick: Option<PickChoice>,
    /// Names to pick from for `to`, as in `which`; with `any`, `rename` may replace an existing
    /// file. Default: `absent`.
    pub to_which: Option<FileFilter>,
    /// How workers divide the names for `to`, as in `turn`. Default: as `turn`.
    pub to_turn: Option<FileSharing>,
    /// Name under which other acts of the group refer to the file. Default: the handle without a
    /// name.
    pub handle: Option<String>,
    /// The `[[way]]` in which `create` and `open` open the file. Default: for reading and writing.
    pub way: Option<String>,
    /// Bytes per request of `read` and `write`, at most 64 MiB. Default: all at once, but at most 1
    /// MiB.
    pub piece: Option<Bytes>,
    /// Position in the file: `here` (after the last request), `same` (at the last request), `end`,
    /// an offset, `random`, or a table such as `{ random = { zipf = 1.2 }, align = "4KiB" }`.
    /// Default: `here`.
    pub at: Option<PositionChoice>,
    /// Label under which the act is counted and timed, in addition to its operation. Default: none.
    pub label: Option<String>,
}

keyed_deserialize! {
    ActTable, act_keys:
    create, open, stat, unlink, mkdir, rmdir, list, rename, link, symlink, chmod, close, fsync,
    fdatasync, fstat, read, write, truncate, setxattr, getxattr, attribute, times, mix, step,
    transaction, think, burn, put, take, meet, count, whose, per_calls, per_bytes, of, acts = "do",
    pick, which, turn, to, to_pick, to_which, to_turn, handle, way, piece, at, label,
}

/// A branch of a `mix`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BranchTable {
    /// Weight of this branch relative to the others. Required.
    pub share: Option<u32>,
    /// Label under which the acts are counted as one unit.
    pub step: Option<String>,
    /// As `step`; in addition, the rate of the phase is its number of transactions per second.
    pub transaction: Option<String>,
    /// Acts of the branch. Required.
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
        BareVerb::deserialize(value.into_deserializer()).map(ActChoice::Word)
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
        let word = generator.subschema_for::<BareVerb>();
        let table = generator.subschema_for::<ActTable>();
        json_schema!({
            "description": "An act of a worker.",
            "anyOf": [word, table],
        })
    }
}

impl BareVerb {
    pub(super) const ALL: [Self; 5] = [
        Self::Close,
        Self::Fsync,
        Self::Fdatasync,
        Self::Fstat,
        Self::Sync,
    ];

    /// The operation that the word stands for.
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

/// Converts the tables of a group to acts.
pub(super) struct ActReader<'a> {
    pub names: &'a mut ProgramNames,
    pub handles: GroupHandles,
    pub filesets: &'a [FilesetPlan],
}

impl ActReader<'_> {
    /// Converts the acts listed under a key.
    pub fn list(
        &mut self,
        key: &'static str,
        acts: Vec<ActChoice>,
    ) -> Result<Vec<Act>, ValueError> {
        let acts = acts.into_iter().enumerate();
        acts.map(|(index, act)| self.act(act).map_err(|flaw| flaw.within(key, index)))
            .collect()
    }

    fn act(&mut self, act: ActChoice) -> Result<Act, ValueError> {
        let mut table = match act {
            ActChoice::Word(word) => {
                return Ok(Act::Call(Call::new(word.operation(), CallObject::Handle)));
            }
            ActChoice::Table(table) => *table,
        };
        let verb = only_verb(&table.written())?;
        let label = table.step.as_ref().or(table.transaction.as_ref());
        let label = label.map(|label| self.names.label(verb, label));
        let label = label.transpose()?;
        let acts = self.list("do", std::mem::take(&mut table.acts))?;
        let selection = table.whose.unwrap_or_default();
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
                whose: selection,
            }
        } else if let Some(name) = &table.take {
            Act::Take {
                tokens: self.names.tokens(verb, name)?,
                count: self.due(&table)?,
                whose: selection,
            }
        } else if let Some(name) = &table.meet {
            Act::Meet(self.names.meeting(verb, name)?)
        } else {
            Act::Call(self.call(table, verb)?)
        })
    }

    fn branch(&mut self, branch: BranchTable) -> Result<(u32, Vec<Act>), ValueError> {
        let no_share = || ValueError::of_value("a `mix` entry has no `share`", "add `share = 1`");
        let share = branch.share.ok_or_else(no_share)?;
        let acts = match (branch.step, branch.transaction) {
            (None, None) => self.list("do", branch.acts)?,
            (Some(_), Some(_)) => {
                let message = "`step` and `transaction` are two acts";
                return Err(ValueError::new("step", message, "leave one of them out"));
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

    fn due(&mut self, table: &ActTable) -> Result<TakeAmount, ValueError> {
        let label = table.of.as_ref();
        let label = label.map(|name| self.names.label("of", name)).transpose()?;
        let (what, each) = match (table.count, table.per_calls, table.per_bytes, label) {
            (count, None, None, None) => return Ok(TakeAmount::Fixed(count.unwrap_or(1))),
            (_, None, None, Some(_)) => {
                let message = "`of` needs `per_calls` or `per_bytes`";
                return Err(ValueError::leave_out("of", message));
            }
            (None, Some(calls), None, None) => (Measure::Calls, calls),
            (None, Some(calls), None, Some(label)) => (Measure::Steps(label), calls),
            (None, None, Some(bytes), None) => (Measure::Bytes, bytes.0),
            (None, None, Some(bytes), Some(label)) => (Measure::StepBytes(label), bytes.0),
            _ => {
                let message = "the amount to take is set twice";
                let help = "write one of `count`, `per_calls` and `per_bytes`";
                return Err(ValueError::new("take", message, help));
            }
        };
        Ok(TakeAmount::Since { what, each })
    }
}

/// Converts the acts of a group to tables.
pub(super) struct ActWriter<'a> {
    pub program: &'a Program,
    pub names: &'a ProgramNames,
    pub handles: GroupHandles,
}

impl ActWriter<'_> {
    pub fn list(&self, acts: &[Act]) -> Result<Vec<ActChoice>, NotExpressible> {
        acts.iter().map(|act| self.act(act)).collect()
    }

    pub fn label(&self, label: u8) -> Option<String> {
        Some(self.names.labels[usize::from(label)].clone())
    }

    fn act(&self, act: &Act) -> Result<ActChoice, NotExpressible> {
        let mut table = ActTable::default();
        let token_name = |tokens: u8| self.names.tokens.get(usize::from(tokens)).cloned();
        let unusual = |selection| (selection != CounterSelection::Mine).then_some(selection);
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
            Act::Walk(_) => return not_expressible("files come in the order of their directories"),
            Act::Deal(_) => return not_expressible("its acts follow an arbitrary list"),
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
                table.put = token_name(*tokens);
                table.count = (*count != 1).then_some(*count);
                table.whose = unusual(*whose);
            }
            Act::Take {
                tokens,
                count,
                whose,
            } => {
                table.take = token_name(*tokens);
                table.whose = unusual(*whose);
                self.write_due(*count, &mut table)?;
            }
            Act::Meet(number) => table.meet = Some(format!("meeting-{}", number + 1)),
        }
        Ok(ActChoice::Table(Box::new(table)))
    }

    fn branch(&self, share: u32, acts: &[Act]) -> Result<BranchTable, NotExpressible> {
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

    fn write_due(&self, due: TakeAmount, table: &mut ActTable) -> Result<(), NotExpressible> {
        let (what, each) = match due {
            TakeAmount::Fixed(count) => {
                table.count = (count != 1).then_some(count);
                return Ok(());
            }
            TakeAmount::Since { what, each } => (what, each),
        };
        match what {
            Measure::Rounds => return not_expressible("tokens are taken per round"),
            Measure::Calls | Measure::Steps(_) => table.per_calls = Some(each),
            Measure::Bytes | Measure::StepBytes(_) => table.per_bytes = Some(Bytes(each)),
        }
        if let Measure::Steps(label) | Measure::StepBytes(label) = what {
            table.of = self.label(label);
        }
        Ok(())
    }
}
