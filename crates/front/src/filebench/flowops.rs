//! Flowops as acts.

use workload::program::{
    Act, Call, FileOperation, Law, Measure, On, Order, Pick, Quota, Share, Turn, Which,
};

use super::program::{Slot, Writer};
use super::script::{Entity, Kind, Read};
use crate::acts::{NS_PER_SECOND, described, number_of, quota};
use crate::tokens::unknown;

/// How long a store of `hog` takes, in nanoseconds for a hundred.
const HUNDRED_STORES_NS: u64 = 22;
/// The most of whatever a flowop is given as its value.
const VALUE_MAX: u64 = 1 << 50;
/// How deep composites may be in each other.
const COMPOSITES_DEEP_MAX: u32 = 6;

impl Entity {
    /// `value`, which must be there.
    fn value(&self) -> Read<u64> {
        let value = self.given("value", VALUE_MAX)?;
        value.ok_or_else(|| self.lacks("value", "add `value=1`"))
    }

    /// How often a flowop is done.
    pub(super) fn times(&self) -> Read<Law> {
        Ok(self.amount("iters")?.unwrap_or(Law::fixed(1)))
    }
}

impl Writer {
    /// The acts of flowops one after the other.
    pub(super) fn acts(&mut self, flowops: &[Entity], prefix: &str, depth: u32) -> Read<Vec<Act>> {
        let mut acts = Vec::new();
        for op in flowops {
            let name = format!("{prefix}{}", op.needed("name")?);
            let label = number_of(&mut self.program.labels, name.clone());
            self.thread.label = label;
            let times = op.times()?;
            let done = match op.kind {
                Kind::Composite if depth >= COMPOSITES_DEEP_MAX => {
                    let message = format!("composites are more than {COMPOSITES_DEEP_MAX} deep");
                    return Err(op.error(message, "nest them less"));
                }
                Kind::Composite => {
                    let inner = self.acts(&op.inner, &format!("{name}."), depth + 1)?;
                    Some(Act::Step(label, inner))
                }
                _ => {
                    let done = self.done(op, &mut acts)?;
                    self.differs(op, &format!("`{}`", op.word));
                    done
                }
            };
            acts.extend(done.map(|act| match times.always() {
                Some(1) => act,
                _ => Act::Times(times, vec![act]),
            }));
        }
        Ok(acts)
    }

    /// What a flowop does each time, if anything; what comes before the first is added to `acts`.
    fn done(&mut self, op: &Entity, acts: &mut Vec<Act>) -> Read<Option<Act>> {
        use FileOperation::{Close, Create, List, Mkdir, Open, Rmdir, Stat, Unlink};
        let call = match op.word.as_str() {
            "openfile" => self.opened_by_name(op, Open, Which::Present)?,
            "createfile" => self.opened_by_name(op, Create, Which::Absent)?,
            "closefile" => {
                let slot = self.slot(op)?;
                self.thread.open.remove(&slot);
                self.thread.closed.insert(slot);
                self.call(slot, Close, On::Handle)
            }
            "deletefile" => match self.slot(op)? {
                slot @ Slot::Numbered(1..) if self.thread.filesets.contains_key(&slot) => {
                    self.call(slot, Unlink, On::Same)
                }
                _ => self.named(op, Unlink, Which::Present)?,
            },
            "statfile" => match self.slot(op)? {
                slot if self.thread.open.contains(&slot) => self.call(slot, Stat, On::Handle),
                _ => self.named(op, Stat, Which::Present)?,
            },
            "makedir" => self.named(op, Mkdir, Which::Absent)?,
            "removedir" => self.named(op, Rmdir, Which::Present)?,
            "listdir" => self.named(op, List, Which::Any)?,
            "read" | "write" | "aiowrite" | "appendfile" | "appendfilerand" | "readwholefile"
            | "writewholefile" | "fsync" => return self.moved(op, acts),
            "fsyncset" => return self.synced(op),
            "hog" => {
                let ns = op.value()?.saturating_mul(HUNDRED_STORES_NS) / 100;
                return Ok(self.step(vec![Act::Burn(Law::fixed(ns))]));
            }
            "delay" => {
                let ns = op.value()?.saturating_mul(NS_PER_SECOND);
                return Ok(self.step(vec![Act::Think(Law::fixed(ns))]));
            }
            "finishoncount" | "finishonbytes" => {
                let quota = self.quota(op)?;
                number_of(&mut self.thread.group.quotas, quota);
                return Ok(None);
            }
            "aiowait" => return Ok(None),
            "print" | "testrandvar" => {
                let message = format!("`{}` is not done here", op.word);
                return Err(op.error(message, "leave the flowop out"));
            }
            _ => return self.waits(op),
        };
        Ok(Some(Act::Call(call)))
    }

    /// The fileset of a flowop.
    pub(super) fn fileset(&self, op: &Entity) -> Read<Option<u8>> {
        let name = op.text("filesetname")?;
        name.map(|name| self.find(&name, op.place)).transpose()
    }

    fn needed_fileset(&self, op: &Entity) -> Read<u8> {
        let fileset = self.fileset(op)?;
        fileset.ok_or_else(|| op.lacks("filesetname", "add `filesetname=...`"))
    }

    pub(super) fn slot(&mut self, op: &Entity) -> Read<Slot> {
        // At most 127.
        let number = op.number("fd", 127, 0)? as u8;
        if number > 0 {
            return Ok(Slot::Numbered(number));
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

    pub(super) fn call(&mut self, slot: Slot, operation: FileOperation, on: On) -> Call {
        Call {
            handle: self.handle(slot),
            label: Some(self.thread.label),
            ..Call::new(operation, on)
        }
    }

    /// A call on a name, which leaves nothing open.
    fn named(&mut self, op: &Entity, operation: FileOperation, which: Which) -> Read<Call> {
        let mut fileset = self.needed_fileset(op)?;
        if operation == FileOperation::List {
            fileset = self.directories_of(fileset);
        }
        let on = On::Name(pick(op, fileset, which)?);
        Ok(self.call(Slot::Named, operation, on))
    }

    fn opened_by_name(&mut self, op: &Entity, by: FileOperation, which: Which) -> Read<Call> {
        let fileset = self.needed_fileset(op)?;
        let slot = self.slot(op)?;
        self.opening(op, slot, by, pick(op, fileset, which)?)
    }

    /// A call that opens a file in a slot.
    pub(super) fn opening(
        &mut self,
        op: &Entity,
        slot: Slot,
        operation: FileOperation,
        pick: Pick,
    ) -> Read<Call> {
        self.thread.open.insert(slot);
        self.thread.filesets.insert(slot, pick.fileset);
        if op.flag("noreadahead")? {
            self.differs(op, "`noreadahead`");
        }
        let access = self.access[usize::from(pick.fileset)];
        let way = described(access, op.flag("directio")?, op.flag("dsync")?);
        Ok(Call {
            way: number_of(&mut self.program.ways, way),
            ..self.call(slot, operation, On::Name(pick))
        })
    }

    /// All that is open of a fileset.
    fn synced(&mut self, op: &Entity) -> Read<Option<Act>> {
        let fileset = self.needed_fileset(op)?;
        let open = self.thread.filesets.clone().into_iter();
        let open = open.filter(|(slot, of)| *of == fileset && self.thread.open.contains(slot));
        let slots: Vec<Slot> = open.map(|(slot, _)| slot).collect();
        let calls = slots.into_iter().map(|slot| {
            Act::Call(Call {
                handle: self.handle(slot),
                ..Call::new(FileOperation::Fsync, On::Handle)
            })
        });
        let calls = calls.collect();
        Ok(self.step(calls))
    }

    /// The label of the flowop that another one is about.
    pub(super) fn target(&self, op: &Entity) -> Read<Option<u8>> {
        let Some(target) = op.text("target")? else {
            return Ok(None);
        };
        let mut known = self.program.labels.iter().map(String::as_str);
        // At most 254.
        let label = known.clone().position(|it| it == target).map(|it| it as u8);
        let help = || "name a flowop of this thread".to_owned();
        let lost = || unknown(op.place, "there is no flowop", &target, &mut known, help);
        label.ok_or_else(lost).map(Some)
    }

    fn quota(&self, op: &Entity) -> Read<Quota> {
        let value = op.value()?;
        // Bytes are to be exceeded.
        Ok(match (self.target(op)?, op.word.as_str()) {
            (Some(label), "finishoncount") => quota(Measure::Steps(label), value, Share::Each),
            (Some(label), _) => quota(Measure::StepBytes(label), value + 1, Share::Each),
            (None, "finishoncount") => quota(Measure::Calls, value, Share::Group),
            (None, _) => quota(Measure::Bytes, value + 1, Share::Group),
        })
    }
}

/// A pick of a file, by its number where one is drawn.
pub(super) fn pick(op: &Entity, fileset: u8, which: Which) -> Read<Pick> {
    let index = op.amount("indexed")?;
    Ok(Pick {
        fileset,
        which,
        order: index.map_or(Order::Around, Order::ByLaw),
        turn: Turn::Shared,
    })
}
