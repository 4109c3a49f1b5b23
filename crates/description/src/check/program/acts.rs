//! Acts as they are written: one verb, and the keys that have a meaning beside it.

use super::super::{Flaw, Step};
use super::Writer;
use super::laws::law_under;
use crate::model::{ActChoice, ActTable, ActWord, BranchTable};
use plan::program::{Act, Call, FileOperation, On};

/// Keys beside verbs that open files, name them, rename them, and so on.
const OF_OPENS: &[&str] = &["pick", "which", "turn", "handle", "way", "label"];
const OF_NAMES: &[&str] = &["pick", "which", "turn", "handle", "label"];
const OF_SECONDS: &[&str] = &[
    "pick", "which", "turn", "handle", "label", "to", "to_pick", "to_which", "to_turn",
];
const OF_HANDLES: &[&str] = &["label"];
const OF_MOVES: &[&str] = &["piece", "at", "handle", "label"];
const OF_LENGTHS: &[&str] = &["handle", "label"];
const OF_LISTS: &[&str] = &["do"];
const OF_PUTS: &[&str] = &["count", "whose"];
const OF_TAKES: &[&str] = &["count", "whose", "per_calls", "per_bytes", "of"];
const OF_NONE: &[&str] = &[];

impl Writer<'_> {
    /// The acts under a key.
    pub fn list(&mut self, key: &'static str, acts: &[ActChoice]) -> Result<Vec<Act>, Flaw> {
        let acts = acts.iter().enumerate();
        acts.map(|(index, act)| self.act(act).map_err(|flaw| flaw.within(key, index)))
            .collect()
    }

    fn act(&mut self, act: &ActChoice) -> Result<Act, Flaw> {
        match act {
            ActChoice::Word(word) => Ok(Act::Call(of_word(*word))),
            ActChoice::Table(table) => {
                let verb = only_verb(table)?;
                no_other_keys(table, verb)?;
                self.table(table, verb)
            }
        }
    }

    fn table(&mut self, table: &ActTable, verb: &'static str) -> Result<Act, Flaw> {
        if let Some(law) = &table.times {
            let law = law_under("times", law)?;
            return Ok(Act::Times(law, self.list("do", &table.acts)?));
        }
        if let Some(time) = &table.think {
            return Ok(Act::Think(law_under("think", time)?));
        }
        if let Some(time) = &table.burn {
            return Ok(Act::Burn(law_under("burn", time)?));
        }
        if let Some(act) = self.wait(table)? {
            return Ok(act);
        }
        if let Some(branches) = &table.mix {
            return self.mix(branches);
        }
        if let Some(label) = &table.step {
            let label = self.names.label("step", label)?;
            return Ok(Act::Step(label, self.list("do", &table.acts)?));
        }
        if let Some(label) = &table.transaction {
            let label = self.names.label("transaction", label)?;
            return Ok(Act::Transaction(label, self.list("do", &table.acts)?));
        }
        self.call(table, verb).map(Act::Call)
    }

    fn mix(&mut self, branches: &[BranchTable]) -> Result<Act, Flaw> {
        let branches = branches.iter().enumerate().map(|(index, branch)| {
            let branch = self.branch(branch);
            branch.map_err(|flaw| flaw.within("mix", index))
        });
        Ok(Act::Mix(branches.collect::<Result<_, _>>()?))
    }

    fn branch(&mut self, branch: &BranchTable) -> Result<(u32, Vec<Act>), Flaw> {
        let Some(share) = branch.share else {
            let flaw = Flaw {
                path: Vec::<Step>::new(),
                message: "one of the `mix` has no `share`".to_owned(),
                help: "add `share = 1`".to_owned(),
            };
            return Err(flaw);
        };
        let acts = match (&branch.step, &branch.transaction) {
            (Some(_), Some(_)) => {
                let message = "`step` and `transaction` are two acts";
                return Err(Flaw::new("step", message, "leave one of them out"));
            }
            (Some(label), None) => {
                let label = self.names.label("step", label)?;
                vec![Act::Step(label, self.list("do", &branch.acts)?)]
            }
            (None, Some(label)) => {
                let label = self.names.label("transaction", label)?;
                vec![Act::Transaction(label, self.list("do", &branch.acts)?)]
            }
            (None, None) => self.list("do", &branch.acts)?,
        };
        Ok((share, acts))
    }
}

fn of_word(word: ActWord) -> Call {
    let operation = match word {
        ActWord::Close => FileOperation::Close,
        ActWord::Fsync => FileOperation::Fsync,
        ActWord::Fdatasync => FileOperation::Fdatasync,
        ActWord::Fstat => FileOperation::Stat,
        ActWord::Sync => FileOperation::Sync,
    };
    super::calls::plain(operation, On::Handle)
}

/// A verb, whether it is written, and which keys it takes.
type Verb = (&'static str, bool, &'static [&'static str]);

/// All verbs of an act.
fn verbs(table: &ActTable) -> [Verb; 27] {
    [
        ("create", table.create.is_some(), OF_OPENS),
        ("open", table.open.is_some(), OF_OPENS),
        ("stat", table.stat.is_some(), OF_NAMES),
        ("unlink", table.unlink.is_some(), OF_NAMES),
        ("mkdir", table.mkdir.is_some(), OF_NAMES),
        ("rmdir", table.rmdir.is_some(), OF_NAMES),
        ("list", table.list.is_some(), OF_NAMES),
        ("rename", table.rename.is_some(), OF_SECONDS),
        ("link", table.link.is_some(), OF_SECONDS),
        ("symlink", table.symlink.is_some(), OF_SECONDS),
        ("chmod", table.chmod.is_some(), OF_NAMES),
        ("close", table.close.is_some(), OF_HANDLES),
        ("fsync", table.fsync.is_some(), OF_HANDLES),
        ("fdatasync", table.fdatasync.is_some(), OF_HANDLES),
        ("fstat", table.fstat.is_some(), OF_HANDLES),
        ("read", table.read.is_some(), OF_MOVES),
        ("write", table.write.is_some(), OF_MOVES),
        ("truncate", table.truncate.is_some(), OF_LENGTHS),
        ("times", table.times.is_some(), OF_LISTS),
        ("mix", table.mix.is_some(), OF_NONE),
        ("step", table.step.is_some(), OF_LISTS),
        ("transaction", table.transaction.is_some(), OF_LISTS),
        ("think", table.think.is_some(), OF_NONE),
        ("burn", table.burn.is_some(), OF_NONE),
        ("put", table.put.is_some(), OF_PUTS),
        ("take", table.take.is_some(), OF_TAKES),
        ("meet", table.meet.is_some(), OF_NONE),
    ]
}

fn only_verb(table: &ActTable) -> Result<&'static str, Flaw> {
    let all = verbs(table);
    let mut written = all.iter().filter(|(_, is_written, _)| *is_written);
    let Some((first, ..)) = written.next() else {
        return Err(Flaw {
            path: Vec::<Step>::new(),
            message: "the act says nothing to do".to_owned(),
            help: "write a verb, such as `{ open = \"FILESET\" }`".to_owned(),
        });
    };
    match written.next() {
        None => Ok(first),
        Some((second, ..)) => {
            let message = format!("`{first}` and `{second}` are two acts");
            Err(Flaw::new(
                second,
                message,
                "write each as an act of its own",
            ))
        }
    }
}

fn no_other_keys(table: &ActTable, verb: &'static str) -> Result<(), Flaw> {
    let all = verbs(table);
    let taken = all.iter().find(|(name, ..)| *name == verb);
    let taken = taken.map_or(OF_NONE, |(_, _, taken)| *taken);
    let keys = [
        ("do", !table.acts.is_empty()),
        ("pick", table.pick.is_some()),
        ("which", table.which.is_some()),
        ("turn", table.turn.is_some()),
        ("to", table.to.is_some()),
        ("to_pick", table.to_pick.is_some()),
        ("to_which", table.to_which.is_some()),
        ("to_turn", table.to_turn.is_some()),
        ("handle", table.handle.is_some()),
        ("way", table.way.is_some()),
        ("piece", table.piece.is_some()),
        ("at", table.at.is_some()),
        ("label", table.label.is_some()),
        ("count", table.count.is_some()),
        ("whose", table.whose.is_some()),
        ("per_calls", table.per_calls.is_some()),
        ("per_bytes", table.per_bytes.is_some()),
        ("of", table.of.is_some()),
    ];
    let mut keys = keys.iter();
    match keys.find(|(key, is_written)| *is_written && !taken.contains(key)) {
        None => Ok(()),
        Some((key, _)) => {
            let message = format!("`{key}` does not apply to `{verb}`");
            Err(Flaw::new(key, message, format!("leave `{key}` out")))
        }
    }
}
