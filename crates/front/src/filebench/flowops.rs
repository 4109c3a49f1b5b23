//! Flowops as acts.

use plan::Distribution;
use plan::program::{
    Act, Bytes, Call, FileOperation, Law, Measure, On, Order, Pick, Share, Turn, Where, Which,
};

use super::parser::refused;
use super::program::{Slot, Thread, Writer};
use super::script::{Entity, Kind, Read};
use crate::acts::{NS_PER_SECOND, byte, described, number_of, picked, quota, which};
use crate::tokens::number_among;

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

    /// A pick of a file, by its number where one is drawn.
    fn pick(&self, fileset: u8, operation: FileOperation) -> Read<Pick> {
        let order = match self.get("indexed") {
            Some(_) => Order::ByLaw(self.amount("indexed", 0)?),
            None => Order::Around,
        };
        Ok(Pick {
            turn: Turn::Shared,
            ..picked(fileset, which(operation), order)
        })
    }

    /// The number of what an attribute names, among all that are known.
    fn among(&self, attribute: &str, lacks: &str, known: &[&str], help: &str) -> Read<Option<u8>> {
        let Some(name) = self.text(attribute)? else {
            return Ok(None);
        };
        let help = || help.to_owned();
        let number = number_among(self.place, lacks, &name, known.iter().copied(), help)?;
        Ok(Some(byte(number)))
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
            let times = op.amount("iters", 1)?;
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
                    self.script.note(op.place, &format!("`{}`", op.word));
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
            word @ ("openfile" | "createfile") => {
                let by = if word == "openfile" { Open } else { Create };
                let (fileset, slot) = (self.needed_fileset(op)?, self.slot(op)?);
                self.opening(op, by, fileset, slot)?
            }
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
                _ => self.named(op, Unlink)?,
            },
            "statfile" => match self.slot(op)? {
                slot if self.thread.open.contains(&slot) => self.call(slot, Stat, On::Handle),
                _ => self.named(op, Stat)?,
            },
            "makedir" => self.named(op, Mkdir)?,
            "removedir" => self.named(op, Rmdir)?,
            "listdir" => self.named(op, List)?,
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
            "finishoncount" | "finishonbytes" => return self.finishes(op),
            "aiowait" => return Ok(None),
            word @ ("print" | "testrandvar") => return Err(refused(word, op.place)),
            _ => return self.waits(op),
        };
        Ok(Some(Act::Call(call)))
    }

    /// The fileset of a flowop.
    fn fileset(&self, op: &Entity) -> Read<Option<u8>> {
        let defined = self.program.filesets[..self.access.len()].iter();
        let known: Vec<&str> = defined.map(|it| it.name.as_str()).collect();
        let help = "define it first, as in `define fileset name=...`";
        op.among("filesetname", "there is no file or fileset", &known, help)
    }

    fn needed_fileset(&self, op: &Entity) -> Read<u8> {
        let fileset = self.fileset(op)?;
        fileset.ok_or_else(|| op.lacks("filesetname", "add `filesetname=...`"))
    }

    fn slot(&mut self, op: &Entity) -> Read<Slot> {
        Ok(match op.number("fd", 127, 0)? {
            0 => {
                let of = self.fileset(op)?.map(Slot::Of).or(self.thread.last);
                *self.thread.last.insert(of.unwrap_or(Slot::Numbered(0)))
            }
            number => Slot::Numbered(number),
        })
    }

    fn call(&mut self, slot: Slot, operation: FileOperation, on: On) -> Call {
        Call {
            handle: number_of(&mut self.thread.registers, slot),
            label: Some(self.thread.label),
            ..Call::new(operation, on)
        }
    }

    /// A call on a name, which leaves nothing open.
    fn named(&mut self, op: &Entity, operation: FileOperation) -> Read<Call> {
        let fileset = self.needed_fileset(op)?;
        let mut pick = op.pick(fileset, operation)?;
        if operation == FileOperation::List {
            (pick.fileset, pick.which) = (self.directories_of(fileset), Which::Any);
        }
        Ok(self.call(Slot::Named, operation, On::Name(pick)))
    }

    /// A call that opens a file in a slot.
    fn opening(&mut self, op: &Entity, by: FileOperation, fileset: u8, slot: Slot) -> Read<Call> {
        let mut pick = op.pick(fileset, by)?;
        if let Slot::Turn(_, turn) = slot {
            pick.order = Order::Index(turn);
        }
        self.thread.open.insert(slot);
        self.thread.filesets.insert(slot, fileset);
        if op.flag("noreadahead")? {
            self.script.note(op.place, "`noreadahead`");
        }
        let access = self.access[usize::from(fileset)];
        let way = described(access, op.flag("directio")?, op.flag("dsync")?);
        Ok(Call {
            way: number_of(&mut self.program.ways, way),
            ..self.call(slot, by, On::Name(pick))
        })
    }

    /// What works on what is open, which is opened first where it is not.
    fn moved(&mut self, op: &Entity, acts: &mut Vec<Act>) -> Read<Option<Act>> {
        let slots = match (op.flag("opennext")?, self.fileset(op)?) {
            (true, Some(fileset)) => {
                let count = self.program.filesets[usize::from(fileset)]
                    .count
                    .min(TURNS_MAX);
                (0..count).map(|turn| Slot::Turn(fileset, turn)).collect()
            }
            _ => vec![self.slot(op)?],
        };
        for slot in &slots {
            acts.extend(self.opened(op, *slot)?);
        }
        let turns = slots.len() as u64;
        let times = op.amount("iters", 1)?.always().filter(|it| it % turns == 0);
        if let (Slot::Turn(..), Some(times)) = (slots[0], times) {
            let each: Read<Vec<Act>> = slots.into_iter().map(|slot| self.io(op, slot)).collect();
            acts.push(Act::Times(Law::fixed(times / turns), each?));
            return Ok(None);
        }
        self.thread.turns = self.thread.turns.max(slots.len());
        self.io(op, slots[self.thread.turn % slots.len()]).map(Some)
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
        let mut call = self.opening(op, FileOperation::Open, fileset, slot)?;
        if self.thread.closed.contains(&slot) {
            return Ok(Some(Act::Call(call)));
        }
        self.script.note(op.place, "an open that no flowop says");
        call.label = None;
        self.thread.group.enter.push(Act::Call(call));
        Ok(None)
    }

    /// The call of a slot.
    fn io(&mut self, op: &Entity, slot: Slot) -> Read<Act> {
        use FileOperation::{Fsync, Read, Write};
        let law = op.amount("iosize", 0)?;
        let is_piece = |bytes: &u64| (1..=PIECE_BYTES_MAX).contains(bytes);
        let (most, always) = (law.largest().filter(is_piece), law.always());
        let sized = match always {
            Some(0) => Err(op.lacks("iosize", "add `iosize=8k`")),
            _ => Ok(law),
        };
        let (operation, bytes, place) = match op.word.as_str() {
            "fsync" => (Fsync, Bytes::default(), Where::Here),
            "readwholefile" => (Read, Bytes::Rest, Where::At(0)),
            "writewholefile" => (Write, self.whole(op, slot)?, Where::Here),
            "appendfile" => (Write, Bytes::Law(sized?), Where::End),
            "appendfilerand" => (Write, Bytes::Law(sized?.uniform_below(2)), Where::End),
            "read" => (Read, Bytes::Law(sized?), self.place(op, always)?),
            _ => (Write, Bytes::Law(sized?), self.place(op, always)?),
        };
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
            self.script.note(op.place, "`workingset`");
        }
        self.script.note(op.place, "`random`");
        let align = bytes.and_then(|bytes| u32::try_from(bytes).ok());
        Ok(Where::Random {
            distribution: Distribution::Uniform,
            align_bytes: align.unwrap_or(SECTOR_BYTES),
            // The original reads and writes within the size of the fileset's entry.
            is_nominal: true,
        })
    }

    /// As much as another slot's file has, or the own.
    fn whole(&mut self, op: &Entity, slot: Slot) -> Read<Bytes> {
        let source = op.given("srcfd", 127)?.map(Slot::Numbered);
        let source = source.filter(|it| *it != slot && self.thread.filesets.contains_key(it));
        Ok(source.map_or(Bytes::Size, |source| Bytes::SizeOf {
            handle: number_of(&mut self.thread.registers, source),
        }))
    }

    /// All that is open of a fileset.
    fn synced(&mut self, op: &Entity) -> Read<Option<Act>> {
        let fileset = self.needed_fileset(op)?;
        let Thread { open, filesets, .. } = &self.thread;
        let slots = open.iter().filter(|it| filesets.get(it) == Some(&fileset));
        let slots: Vec<Slot> = slots.copied().collect();
        let fsync = |slot| Call {
            label: None,
            ..self.call(slot, FileOperation::Fsync, On::Handle)
        };
        let calls = slots.into_iter().map(fsync).map(Act::Call).collect();
        Ok(self.step(calls))
    }

    /// Which bytes or calls a flowop is about, and whose: another flowop's, or all.
    pub(super) fn counted(&self, op: &Entity, is_of_bytes: bool) -> Read<(Measure, Share)> {
        let known: Vec<&str> = self.program.labels.iter().map(String::as_str).collect();
        let help = "name a flowop of this thread";
        let target = op.among("target", "there is no flowop", &known, help)?;
        Ok(match (target, is_of_bytes) {
            (Some(label), true) => (Measure::StepBytes(label), Share::Each),
            (Some(label), false) => (Measure::Steps(label), Share::Each),
            (None, true) => (Measure::Bytes, Share::Group),
            (None, false) => (Measure::Calls, Share::Group),
        })
    }

    /// Ends what is repeated after so much, and does nothing itself.
    fn finishes(&mut self, op: &Entity) -> Read<Option<Act>> {
        let (value, is_of_bytes) = (op.value()?, op.word == "finishonbytes");
        let (what, of) = self.counted(op, is_of_bytes)?;
        // Bytes are to be exceeded.
        let quota = quota(what, value + u64::from(is_of_bytes), of);
        number_of(&mut self.thread.group.quotas, quota);
        Ok(None)
    }
}
