//! Flowops as acts.

use workload::plan::Distribution;
use workload::program::{
    Act, Bytes, Call, FileOperation, Law, Measure, On, Order, Pick, Quota, Share, Turn, Where,
    Which,
};

use super::program::{Slot, Writer};
use super::script::{Entity, Kind, Read};
use crate::acts::{NS_PER_SECOND, described, number_of, quota};
use crate::tokens::unknown;

/// How long a store of `hog` takes, in nanoseconds for a hundred.
const HUNDRED_STORES_NS: u64 = 22;
/// The most of whatever a flowop is given as its value.
const VALUE_MAX: u64 = 1 << 50;
/// Places at random that sizes by chance may have.
const SECTOR_BYTES: u32 = 512;
/// Slots that `opennext` goes through, at most.
const TURNS_MAX: u32 = 100;
/// Bytes of a request where nothing says how many.
const PIECE_BYTES: u32 = 1 << 20;
/// Bytes of the largest request.
const PIECE_BYTES_MAX: u64 = 16 << 20;
/// How deep composites may be in each other.
const COMPOSITES_DEEP_MAX: u32 = 6;

impl Entity {
    /// `value`, which must be there.
    fn value(&self) -> Read<u64> {
        let value = self.given("value", VALUE_MAX)?;
        value.ok_or_else(|| self.lacks("value", "add `value=1`"))
    }

    /// How often a flowop is done.
    fn times(&self) -> Read<Law> {
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
    fn fileset(&self, op: &Entity) -> Read<Option<u8>> {
        let name = op.text("filesetname")?;
        name.map(|name| self.find(&name, op.place)).transpose()
    }

    fn needed_fileset(&self, op: &Entity) -> Read<u8> {
        let fileset = self.fileset(op)?;
        fileset.ok_or_else(|| op.lacks("filesetname", "add `filesetname=...`"))
    }

    fn slot(&mut self, op: &Entity) -> Read<Slot> {
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
    fn handle(&mut self, slot: Slot) -> u8 {
        number_of(&mut self.thread.registers, slot)
    }

    fn call(&mut self, slot: Slot, operation: FileOperation, on: On) -> Call {
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
    fn opening(
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

    /// What works on what is open, which is opened first where it is not.
    fn moved(&mut self, op: &Entity, acts: &mut Vec<Act>) -> Read<Option<Act>> {
        let fileset = self.fileset(op)?;
        let (true, Some(fileset)) = (op.flag("opennext")?, fileset) else {
            let slot = self.slot(op)?;
            acts.extend(self.opened(op, slot)?);
            return self.io(op, slot).map(Some);
        };
        let turns = self.program.filesets[usize::from(fileset)].count;
        let turns = turns.min(TURNS_MAX);
        // At most 100.
        let slots = (0..turns).map(|turn| Slot::Turn(fileset, turn as u8));
        for slot in slots.clone() {
            acts.extend(self.opened(op, slot)?);
        }
        if let Some(times) = op.times()?.always()
            && times % u64::from(turns) == 0
        {
            let each: Read<Vec<Act>> = slots.map(|slot| self.io(op, slot)).collect();
            acts.push(Act::Times(Law::fixed(times / u64::from(turns)), each?));
            return Ok(None);
        }
        self.thread.turns = self.thread.turns.max(turns);
        let slot = Slot::Turn(fileset, (self.thread.turn % turns) as u8);
        self.io(op, slot).map(Some)
    }

    /// Opens a slot where nothing is open: each time where it is closed again, else once.
    fn opened(&mut self, op: &Entity, slot: Slot) -> Read<Option<Act>> {
        if self.thread.open.contains(&slot) {
            return Ok(None);
        }
        let known = self.thread.filesets.get(&slot).copied();
        let Some(fileset) = self.fileset(op)?.or(known) else {
            let message = format!("nothing is open for `{}`", op.word);
            return Err(op.error(message, "open a file before it, or add `filesetname=...`"));
        };
        let mut pick = pick(op, fileset, Which::Present)?;
        if let Slot::Turn(_, turn) = slot {
            pick.order = Order::Index(turn.into());
        }
        let mut call = self.opening(op, slot, FileOperation::Open, pick)?;
        if self.thread.closed.contains(&slot) {
            return Ok(Some(Act::Call(call)));
        }
        self.differs(op, "an open that no flowop says");
        call.label = None;
        self.thread.group.enter.push(Act::Call(call));
        Ok(None)
    }

    /// The call of a slot.
    fn io(&mut self, op: &Entity, slot: Slot) -> Read<Act> {
        use FileOperation::{Fsync, Read, Write};
        let law = op.amount("iosize")?;
        let most = law.as_ref().and_then(Law::largest);
        let law = law.filter(|law| law.always() != Some(0));
        let sized = law.ok_or_else(|| op.lacks("iosize", "add `iosize=8k`"));
        let (operation, bytes, place) = match op.word.as_str() {
            "fsync" => (Fsync, Bytes::default(), Where::Here),
            "readwholefile" => (Read, Bytes::Rest, Where::At(0)),
            "writewholefile" => (Write, self.whole(op, slot)?, Where::Here),
            "appendfile" => (Write, Bytes::Law(sized?), Where::End),
            "appendfilerand" => (Write, Bytes::Law(sized?.uniform_below(2)), Where::End),
            word => {
                let (law, operation) = (sized?, if word == "read" { Read } else { Write });
                let place = self.place(op, law.always())?;
                (operation, Bytes::Law(law), place)
            }
        };
        let most = most.filter(|it| (1..=PIECE_BYTES_MAX).contains(it));
        let piece_bytes = match &bytes {
            Bytes::Law(law) if law.largest().is_some_and(|most| most <= PIECE_BYTES_MAX) => 0,
            Bytes::Law(_) => PIECE_BYTES,
            // Not above 16 MiB.
            _ => most.map_or(PIECE_BYTES, |bytes| bytes as u32),
        };
        Ok(Act::Call(Call {
            bytes,
            piece_bytes,
            place,
            ..self.call(slot, operation, On::Handle)
        }))
    }

    /// Where so many bytes are read or written, which are not always the same where none.
    fn place(&mut self, op: &Entity, bytes: Option<u64>) -> Read<Where> {
        if !op.flag("random")? && op.word != "aiowrite" {
            return Ok(Where::Here);
        }
        if op.number("workingset", u64::MAX >> 1, 0)? > 0 {
            self.differs(op, "`workingset`");
        }
        self.differs(op, "`random`");
        let align = bytes.and_then(|bytes| u32::try_from(bytes).ok());
        Ok(Where::Random {
            distribution: Distribution::Uniform,
            align_bytes: align.unwrap_or(SECTOR_BYTES),
        })
    }

    /// As much as another slot's file has, or the own.
    fn whole(&mut self, op: &Entity, slot: Slot) -> Read<Bytes> {
        // At most 127.
        let source = op.given("srcfd", 127)?;
        let source = source.map(|number| Slot::Numbered(number as u8));
        let source = source.filter(|it| *it != slot && self.thread.filesets.contains_key(it));
        Ok(source.map_or(Bytes::Size, |source| Bytes::SizeOf {
            handle: self.handle(source),
        }))
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
fn pick(op: &Entity, fileset: u8, which: Which) -> Read<Pick> {
    let index = op.amount("indexed")?;
    Ok(Pick {
        fileset,
        which,
        order: index.map_or(Order::Around, Order::ByLaw),
        turn: Turn::Shared,
    })
}
