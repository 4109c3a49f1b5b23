//! Flowops as acts.

use std::collections::BTreeMap;

use workload::Diagnostic;
use workload::program::{
    Access, Act, Call, FileOperation, Law, Measure, On, OpenSync, Order, Pick, Quota, Share, Turn,
    Way, Which,
};

use crate::DifferenceKind;

use super::op::{Common, Op};
use super::script::{Composite, Flowop};
use super::slots::{Slot, Slots};
use super::values::Scope;

/// How long a store of `hog` takes, in nanoseconds for a hundred.
const HUNDRED_STORES_NS: u64 = 22;
/// Acts of a thread, composites written out, at most.
const ACTS_MAX: usize = 10_000;
/// How deep composites may be in each other.
const COMPOSITES_DEEP_MAX: u32 = 6;
/// A thread on its way to a group of workers.
pub(super) struct ThreadWriter<'a, 'b> {
    pub common: &'a mut Common<'b>,
    pub slots: Slots,
    pub enter: Vec<Act>,
    pub quotas: Vec<Quota>,
    /// How often the flowops are written out, so that slots take turns.
    pub turns: u32,
    /// Which of these it is.
    pub turn: u32,
    /// How many threads there are of it.
    pub workers: u32,
    pub act_count: usize,
    pub depth: u32,
}

impl ThreadWriter<'_, '_> {
    /// The acts of flowops one after the other.
    pub(super) fn acts(
        &mut self,
        flowops: &[Flowop],
        scope: Scope<'_>,
        prefix: &str,
    ) -> Result<Vec<Act>, Diagnostic> {
        let mut acts = Vec::new();
        for flowop in flowops {
            acts.extend(self.flowop(flowop, scope, prefix)?);
        }
        Ok(acts)
    }

    pub(super) fn flowop(
        &mut self,
        flowop: &Flowop,
        scope: Scope<'_>,
        prefix: &str,
    ) -> Result<Vec<Act>, Diagnostic> {
        self.act_count += 1;
        if self.act_count > ACTS_MAX {
            let message = format!("a thread has more than {ACTS_MAX} flowops");
            return Err(scope
                .error(flowop.place, message)
                .help("use fewer, with `iters`"));
        }
        let name = scope.needed(&flowop.attributes, "name", "flowop", flowop.place)?;
        let name = format!("{prefix}{name}");
        let label = self.common.label(&name);
        let composites = self.common.composites;
        let composite = composites.iter().find(|it| it.name == flowop.kind);
        let times = scope.amount(&flowop.attributes, "iters")?;
        let times = times.map_or(Law::fixed(1), |times| times.law);
        let op = Op {
            flowop,
            scope,
            label,
            times,
        };
        match composite {
            Some(composite) => {
                let acts = self.composite(composite, &op, &name)?;
                Ok(op.repeated(acts))
            }
            None => self.plain(&op),
        }
    }

    pub(super) fn composite(
        &mut self,
        composite: &Composite,
        op: &Op<'_>,
        name: &str,
    ) -> Result<Vec<Act>, Diagnostic> {
        let (flowop, scope) = (op.flowop, op.scope);
        if self.depth >= COMPOSITES_DEEP_MAX {
            let message = format!("composites are more than {COMPOSITES_DEEP_MAX} deep");
            return Err(scope.error(flowop.place, message).help("nest them less"));
        }
        let mut locals = BTreeMap::new();
        for (name, default) in &composite.locals {
            if let Some(value) = flowop.locals.get(name).or(default.as_ref()) {
                locals.insert(name.clone(), scope.settled(value, flowop.place)?);
            }
        }
        let inner = Scope {
            locals: &locals,
            ..scope
        };
        self.depth += 1;
        let acts = self.acts(&composite.flowops, inner, &format!("{name}."))?;
        self.depth -= 1;
        Ok(vec![Act::Step(op.label, acts)])
    }

    pub(super) fn differs(&mut self, op: &Op<'_>, what: &str, note: &str) {
        let kind = DifferenceKind::Differs;
        self.common.differs(op.flowop.place, what, kind, note);
    }

    pub(super) fn plain(&mut self, op: &Op<'_>) -> Result<Vec<Act>, Diagnostic> {
        use FileOperation as File;
        match op.kind() {
            "openfile" => self.opened_by_name(op, File::Open, Which::Present),
            "createfile" => self.opened_by_name(op, File::Create, Which::Absent),
            "closefile" => self.closed(op),
            "deletefile" => self.deleted(op),
            "statfile" => self.statted(op),
            "makedir" => self.named(op, File::Mkdir, Which::Absent),
            "removedir" => self.named(op, File::Rmdir, Which::Present),
            "listdir" => self.named(op, File::List, Which::Any),
            "read" | "write" | "aiowrite" | "appendfile" | "appendfilerand" | "readwholefile"
            | "writewholefile" | "fsync" => self.moved(op),
            "fsyncset" => self.synced(op),
            "hog" => {
                let ns = op.value()?.saturating_mul(HUNDRED_STORES_NS) / 100;
                let note = "stores take 0.22 ns each, whatever the machine";
                self.differs(op, "`hog`", note);
                Ok(op.repeated(vec![Act::Step(op.label, vec![Act::Burn(Law::fixed(ns))])]))
            }
            "delay" => {
                let ns = op.value()?.saturating_mul(1_000_000_000);
                Ok(op.repeated(vec![Act::Step(op.label, vec![Act::Think(Law::fixed(ns))])]))
            }
            "finishoncount" | "finishonbytes" => self.quota(op).map(|()| Vec::new()),
            "aiowait" => Ok(Vec::new()),
            "block" | "wakeup" | "semblock" | "sempost" | "eventlimit" | "opslimit"
            | "iopslimit" | "bwlimit" => self.waits(op),
            kind => {
                let message = format!("`{kind}` is not done here");
                Err(op.error(message).help("leave the flowop out"))
            }
        }
    }

    /// The fileset of a flowop.
    pub(super) fn fileset(&self, op: &Op<'_>) -> Result<Option<u8>, Diagnostic> {
        let Some(name) = op.text("filesetname")? else {
            return Ok(None);
        };
        self.common
            .sets
            .find(&name, op.flowop.place, &op.scope)
            .map(Some)
    }

    pub(super) fn needed_fileset(&self, op: &Op<'_>) -> Result<u8, Diagnostic> {
        self.fileset(op)?.ok_or_else(|| {
            let message = format!("`{}` has no `filesetname`", op.kind());
            op.error(message).help("add `filesetname=...`")
        })
    }

    pub(super) fn slot(&mut self, op: &Op<'_>) -> Result<Slot, Diagnostic> {
        let number = op.number("fd", 127)?.unwrap_or(0);
        if number > 0 {
            // At most 127.
            return Ok(Slot::Numbered(number as u8));
        }
        let fileset = self.fileset(op)?;
        let slot = fileset.map(Slot::Of).or(self.slots.last);
        let slot = slot.unwrap_or(Slot::Numbered(0));
        self.slots.last = Some(slot);
        Ok(slot)
    }

    /// A pick of a file, by its number where one is drawn.
    pub(super) fn pick(&self, op: &Op<'_>, fileset: u8, which: Which) -> Result<Pick, Diagnostic> {
        let order = match op.amount("indexed")? {
            Some(law) => Order::ByLaw(law),
            None => Order::Around,
        };
        Ok(Pick {
            fileset,
            which,
            order,
            turn: Turn::Shared,
        })
    }

    pub(super) fn way(&mut self, op: &Op<'_>, fileset: u8) -> Result<u8, Diagnostic> {
        let access = self.common.sets.access[usize::from(fileset)];
        let is_direct = op.flag("directio")?;
        let is_synced = op.flag("dsync")?;
        if op.flag("noreadahead")? {
            let note = "the kernel reads ahead as it does by itself";
            let kind = DifferenceKind::NoEffect;
            self.common
                .differs(op.flowop.place, "`noreadahead`", kind, note);
        }
        let mut name = match access {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "read and write",
        }
        .to_owned();
        for (is, what) in [(is_direct, ", direct"), (is_synced, ", synced")] {
            name.push_str(if is { what } else { "" });
        }
        Ok(self.common.way(Way {
            name,
            access,
            is_direct,
            sync: match is_synced {
                true => OpenSync::All,
                false => OpenSync::No,
            },
            ..Way::default()
        }))
    }

    /// The file of a slot, else any.
    pub(super) fn deleted(&mut self, op: &Op<'_>) -> Result<Vec<Act>, Diagnostic> {
        let slot = self.slot(op)?;
        let is_of_slot =
            matches!(slot, Slot::Numbered(1..)) && self.slots.filesets.contains_key(&slot);
        if !is_of_slot {
            return self.named(op, FileOperation::Unlink, Which::Present);
        }
        let call = Call {
            handle: self.slots.handle(slot),
            label: Some(op.label),
            ..Call::new(FileOperation::Unlink, On::Same)
        };
        Ok(op.repeated(vec![Act::Call(call)]))
    }

    pub(super) fn statted(&mut self, op: &Op<'_>) -> Result<Vec<Act>, Diagnostic> {
        let slot = self.slot(op)?;
        if !self.slots.is_open(slot) {
            return self.named(op, FileOperation::Stat, Which::Present);
        }
        let call = Call {
            handle: self.slots.handle(slot),
            label: Some(op.label),
            ..Call::new(FileOperation::Stat, On::Handle)
        };
        Ok(op.repeated(vec![Act::Call(call)]))
    }

    /// A call on a name.
    pub(super) fn named(
        &mut self,
        op: &Op<'_>,
        operation: FileOperation,
        which: Which,
    ) -> Result<Vec<Act>, Diagnostic> {
        let mut fileset = self.needed_fileset(op)?;
        if operation == FileOperation::List {
            fileset = self.common.sets.directories_of(fileset);
            self.differs(op, "`listdir`", "the bytes of names are not counted");
        }
        let call = Call {
            handle: self.slots.handle(Slot::Named),
            label: Some(op.label),
            ..Call::new(operation, On::Name(self.pick(op, fileset, which)?))
        };
        Ok(op.repeated(vec![Act::Call(call)]))
    }

    /// All that is open of a fileset.
    pub(super) fn synced(&mut self, op: &Op<'_>) -> Result<Vec<Act>, Diagnostic> {
        let fileset = self.needed_fileset(op)?;
        let slots = self.slots.filesets.iter();
        let slots: Vec<Slot> = slots
            .filter(|(slot, of)| **of == fileset && self.slots.is_open(**slot))
            .map(|(slot, _)| *slot)
            .collect();
        let mut calls = Vec::new();
        for slot in slots {
            calls.push(Act::Call(Call {
                handle: self.slots.handle(slot),
                ..Call::new(FileOperation::Fsync, On::Handle)
            }));
        }
        match calls.is_empty() {
            true => Ok(calls),
            false => Ok(op.repeated(vec![Act::Step(op.label, calls)])),
        }
    }

    /// The label of the flowop that another one is about.
    pub(super) fn target(&self, op: &Op<'_>) -> Result<Option<u8>, Diagnostic> {
        let Some(target) = op.text("target")? else {
            return Ok(None);
        };
        let labels = &self.common.labels;
        match labels.iter().position(|it| *it == target) {
            // At most 254.
            Some(label) => Ok(Some(label as u8)),
            None => {
                let message = format!("there is no flowop `{}`", workload::printable(&target));
                Err(op.error(message).help("name a flowop of this thread"))
            }
        }
    }

    pub(super) fn quota(&mut self, op: &Op<'_>) -> Result<(), Diagnostic> {
        let value = op.value()?;
        let target = self.target(op)?;
        let is_count = op.kind() == "finishoncount";
        let what = match (target, is_count) {
            (Some(label), true) => Measure::Steps(label),
            (Some(label), false) => Measure::StepBytes(label),
            (None, true) => Measure::Calls,
            (None, false) => Measure::Bytes,
        };
        let quota = Quota {
            what,
            // Bytes are to be exceeded.
            count: value + u64::from(!is_count),
            of: match target {
                Some(_) => Share::Each,
                None => Share::Group,
            },
        };
        if !self.quotas.contains(&quota) {
            self.quotas.push(quota);
        }
        Ok(())
    }
}
