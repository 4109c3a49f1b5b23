//! Flowops as acts.

use std::collections::BTreeMap;

use workload::printable;
use workload::program::{
    Act, Call, FileOperation, Law, Measure, On, Order, Pick, Share, Turn, Which,
};

use crate::acts::{described, number_of, quota};
use crate::{Difference, DifferenceKind};

use super::attributes::{Attributes, Variables};
use super::script::{Entity, Read};
use super::writer::{Op, Slot, Writer};
use crate::tokens::error;

/// How long a store of `hog` takes, in nanoseconds for a hundred.
const HUNDRED_STORES_NS: u64 = 22;
/// Acts of a thread, composites written out, at most.
const ACTS_MAX: usize = 10_000;
/// How deep composites may be in each other.
const COMPOSITES_DEEP_MAX: u32 = 6;
/// What some flowops do otherwise than in the original.
const OTHERWISE: [(&str, &str); 3] = [
    ("aiowrite", "each write is waited for"),
    ("hog", "stores take 0.22 ns each, whatever the machine"),
    ("listdir", "the bytes of names are not counted"),
];

impl Writer<'_> {
    /// Has the group do the flowops of the thread.
    pub(super) fn flowops(&mut self, thread: &Attributes<'_>) -> Read<()> {
        let (flowops, variables) = (&thread.entity.inner, thread.variables);
        // Once to learn what is closed in the end, and how many slots take turns.
        self.acts(flowops, variables, "")?;
        self.thread.group.enter.clear();
        self.thread.open.clear();
        self.thread.filesets.clear();
        self.thread.last = None;
        for turn in 0..self.thread.turns.max(1) {
            self.thread.turn = turn;
            let acts = self.acts(flowops, variables, "")?;
            self.thread.group.body.extend(acts);
        }
        Ok(())
    }

    /// The acts of flowops one after the other.
    fn acts(
        &mut self,
        flowops: &[Entity],
        variables: Variables<'_>,
        prefix: &str,
    ) -> Read<Vec<Act>> {
        let mut acts = Vec::new();
        for entity in flowops {
            self.thread.act_count += 1;
            if self.thread.act_count > ACTS_MAX {
                let message = format!("a thread has more than {ACTS_MAX} flowops");
                return Err(error(entity.place, message, "use fewer, with `iters`"));
            }
            let own = Attributes { entity, variables };
            let name = format!("{prefix}{}", own.needed("name")?);
            let op = Op {
                own,
                label: number_of(&mut self.program.labels, name.clone()),
                times: own.amount("iters")?.unwrap_or(Law::fixed(1)),
            };
            let mut composites = self.composites.iter();
            let done = match composites.find(|it| it.word == entity.word) {
                Some(composite) => Some(self.composite(composite, &op, &name)?),
                None => self.done(&op, &mut acts)?,
            };
            if let Some((word, note)) = OTHERWISE.iter().find(|(word, _)| op.word() == *word) {
                self.differs(&op, &format!("`{word}`"), note);
            }
            acts.extend(done.map(|act| match op.times.always() {
                Some(1) => act,
                _ => Act::Times(op.times, vec![act]),
            }));
        }
        Ok(acts)
    }

    fn composite(&mut self, composite: &Entity, op: &Op<'_>, name: &str) -> Read<Act> {
        let (flowop, variables) = (op.own.entity, op.own.variables);
        if self.thread.depth >= COMPOSITES_DEEP_MAX {
            let message = format!("composites are more than {COMPOSITES_DEEP_MAX} deep");
            return Err(op.error(message, "nest them less"));
        }
        let mut locals = BTreeMap::new();
        for (name, default) in &composite.locals {
            let handed = flowop.locals.get(name).and_then(Option::as_ref);
            if let Some(value) = handed.or(default.as_ref()) {
                locals.insert(name.clone(), variables.settled(value, flowop.place)?);
            }
        }
        let inner = Variables {
            locals: &locals,
            ..variables
        };
        self.thread.depth += 1;
        let acts = self.acts(&composite.inner, inner, &format!("{name}."))?;
        self.thread.depth -= 1;
        Ok(Act::Step(op.label, acts))
    }

    /// What a flowop does each time, if anything; what comes before the first is added to `acts`.
    fn done(&mut self, op: &Op<'_>, acts: &mut Vec<Act>) -> Read<Option<Act>> {
        use FileOperation::{Close, Create, List, Mkdir, Open, Rmdir, Stat, Unlink};
        let call = match op.word() {
            "openfile" => self.opened_by_name(op, Open, Which::Present)?,
            "createfile" => self.opened_by_name(op, Create, Which::Absent)?,
            "closefile" => {
                let slot = self.slot(op)?;
                self.thread.open.remove(&slot);
                self.thread.closed.insert(slot);
                self.call(op, slot, Close, On::Handle)
            }
            "deletefile" => {
                let slot = self.slot(op)?;
                match matches!(slot, Slot::Numbered(1..))
                    && self.thread.filesets.contains_key(&slot)
                {
                    true => self.call(op, slot, Unlink, On::Same),
                    false => self.named(op, Unlink, Which::Present)?,
                }
            }
            "statfile" => {
                let slot = self.slot(op)?;
                match self.thread.open.contains(&slot) {
                    true => self.call(op, slot, Stat, On::Handle),
                    false => self.named(op, Stat, Which::Present)?,
                }
            }
            "makedir" => self.named(op, Mkdir, Which::Absent)?,
            "removedir" => self.named(op, Rmdir, Which::Present)?,
            "listdir" => self.named(op, List, Which::Any)?,
            "read" | "write" | "aiowrite" | "appendfile" | "appendfilerand" | "readwholefile"
            | "writewholefile" | "fsync" => return self.moved(op, acts),
            "fsyncset" => return self.synced(op),
            "hog" => {
                let ns = op.value()?.saturating_mul(HUNDRED_STORES_NS) / 100;
                return Ok(op.step(vec![Act::Burn(Law::fixed(ns))]));
            }
            "delay" => {
                let ns = op.value()?.saturating_mul(1_000_000_000);
                return Ok(op.step(vec![Act::Think(Law::fixed(ns))]));
            }
            "finishoncount" | "finishonbytes" => return self.quota(op).map(|()| None),
            "aiowait" => return Ok(None),
            "block" | "wakeup" | "semblock" | "sempost" | "eventlimit" | "opslimit"
            | "iopslimit" | "bwlimit" => return self.waits(op),
            word => {
                let message = format!("`{word}` is not done here");
                return Err(op.error(message, "leave the flowop out"));
            }
        };
        Ok(Some(Act::Call(call)))
    }

    /// The fileset of a flowop.
    pub(super) fn fileset(&self, op: &Op<'_>) -> Read<Option<u8>> {
        let name = op.own.text("filesetname")?;
        let found = name.map(|name| self.find(&name, op.own.entity.place));
        found.transpose()
    }

    fn needed_fileset(&self, op: &Op<'_>) -> Read<u8> {
        let lacks = || op.lacks("filesetname", "add `filesetname=...`");
        self.fileset(op)?.ok_or_else(lacks)
    }

    pub(super) fn slot(&mut self, op: &Op<'_>) -> Read<Slot> {
        let number = op.own.number("fd", 127)?.unwrap_or(0);
        if number > 0 {
            // At most 127.
            return Ok(Slot::Numbered(number as u8));
        }
        let of = self.fileset(op)?.map(Slot::Of);
        let slot = of.or(self.thread.last).unwrap_or(Slot::Numbered(0));
        self.thread.last = Some(slot);
        Ok(slot)
    }

    /// The register that stands for a slot.
    pub(super) fn handle(&mut self, slot: Slot) -> u8 {
        number_of(&mut self.thread.registers, slot)
    }

    pub(super) fn call(
        &mut self,
        op: &Op<'_>,
        slot: Slot,
        operation: FileOperation,
        on: On,
    ) -> Call {
        Call {
            handle: self.handle(slot),
            label: Some(op.label),
            ..Call::new(operation, on)
        }
    }

    /// A call on a name, which leaves nothing open.
    fn named(&mut self, op: &Op<'_>, operation: FileOperation, which: Which) -> Read<Call> {
        let mut fileset = self.needed_fileset(op)?;
        if operation == FileOperation::List {
            fileset = self.directories_of(fileset);
        }
        let on = On::Name(pick(op, fileset, which)?);
        Ok(self.call(op, Slot::Named, operation, on))
    }

    fn opened_by_name(
        &mut self,
        op: &Op<'_>,
        operation: FileOperation,
        which: Which,
    ) -> Read<Call> {
        let fileset = self.needed_fileset(op)?;
        let slot = self.slot(op)?;
        self.opening(op, slot, operation, pick(op, fileset, which)?)
    }

    /// A call that opens a file in a slot.
    pub(super) fn opening(
        &mut self,
        op: &Op<'_>,
        slot: Slot,
        operation: FileOperation,
        pick: Pick,
    ) -> Read<Call> {
        self.thread.open.insert(slot);
        self.thread.filesets.insert(slot, pick.fileset);
        Ok(Call {
            way: self.way(op, pick.fileset)?,
            ..self.call(op, slot, operation, On::Name(pick))
        })
    }

    fn way(&mut self, op: &Op<'_>, fileset: u8) -> Read<u8> {
        let access = self.access[usize::from(fileset)];
        let way = described(access, op.own.flag("directio")?, op.own.flag("dsync")?);
        if op.own.flag("noreadahead")? {
            let note = "the kernel reads ahead as it does by itself";
            let kind = DifferenceKind::NoEffect;
            self.tell(op, Difference::new(kind, "`noreadahead`", note));
        }
        Ok(number_of(&mut self.program.ways, way))
    }

    /// All that is open of a fileset.
    fn synced(&mut self, op: &Op<'_>) -> Read<Option<Act>> {
        let fileset = self.needed_fileset(op)?;
        let mut calls = Vec::new();
        for (slot, of) in self.thread.filesets.clone() {
            if of == fileset && self.thread.open.contains(&slot) {
                let call = self.call(op, slot, FileOperation::Fsync, On::Handle);
                calls.push(Act::Call(Call {
                    label: None,
                    ..call
                }));
            }
        }
        Ok(op.step(calls))
    }

    /// The label of the flowop that another one is about.
    pub(super) fn target(&self, op: &Op<'_>) -> Read<Option<u8>> {
        let Some(target) = op.own.text("target")? else {
            return Ok(None);
        };
        // At most 254.
        let label = self.program.labels.iter().position(|it| *it == target);
        label.map(|label| Some(label as u8)).ok_or_else(|| {
            let message = format!("there is no flowop `{}`", printable(&target));
            op.error(message, "name a flowop of this thread")
        })
    }

    fn quota(&mut self, op: &Op<'_>) -> Read<()> {
        let value = op.value()?;
        // Bytes are to be exceeded.
        let quota = match (self.target(op)?, op.word()) {
            (Some(label), "finishoncount") => quota(Measure::Steps(label), value, Share::Each),
            (Some(label), _) => quota(Measure::StepBytes(label), value + 1, Share::Each),
            (None, "finishoncount") => quota(Measure::Calls, value, Share::Group),
            (None, _) => quota(Measure::Bytes, value + 1, Share::Group),
        };
        number_of(&mut self.thread.group.quotas, quota);
        Ok(())
    }
}

/// A pick of a file, by its number where one is drawn.
pub(super) fn pick(op: &Op<'_>, fileset: u8, which: Which) -> Read<Pick> {
    let index = op.own.amount("indexed")?;
    Ok(Pick {
        fileset,
        which,
        order: index.map_or(Order::Around, Order::ByLaw),
        turn: Turn::Shared,
    })
}
