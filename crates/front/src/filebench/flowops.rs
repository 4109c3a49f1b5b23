//! Converts flowops to acts.

use plan::Distribution;
use plan::program::{
    Act, AmountScope, Call, CallObject, CallPosition, FileFilter, FileOperation, FileSharing, Law,
    Measure, MovedBytes, Pick, PickOrder,
};

use super::program::{DescriptorSlot, ProgramWriter, ScriptThread};
use super::script::{Entity, EntityKind, Read};
use crate::acts::{NS_PER_SECOND, byte, described, number_of, picked, quota, which};
use crate::tokens::index_among;

/// Duration of 100 stores of `hog`, in nanoseconds.
// A single store takes 0.22 ns, which a whole number cannot express.
const HUNDRED_STORES_NS: u64 = 22;
/// Largest `value` of a flowop.
const VALUE_MAX: u64 = 1 << 50;
/// Alignment of random positions if sizes are random.
const SECTOR_BYTES: u32 = 512;
/// Number of slots that `opennext` uses, at most.
// Each slot takes a register, of which a worker has 200. The original refuses more than 64 files.
const OPEN_SLOTS_MAX: u32 = 100;
/// Size of a request if the flowop gives none.
const REQUEST_BYTES: u32 = 1 << 20;
/// Largest size of a request.
const REQUEST_BYTES_MAX: u64 = 16 << 20;
/// Maximum nesting depth of composites.
const COMPOSITE_DEPTH_MAX: u32 = 6;

impl Entity {
    /// The attribute `value`, which is required.
    fn value(&self) -> Read<u64> {
        let value = self.given("value", VALUE_MAX)?;
        value.ok_or_else(|| self.lacks("value", "add `value=1`"))
    }

    /// A pick of a file: by a law if the flowop has `indexed`, else in turn.
    fn pick(&self, fileset: u8, operation: FileOperation) -> Read<Pick> {
        let order = match self.get("indexed") {
            Some(_) => PickOrder::ByLaw(self.amount("indexed", 0)?),
            None => PickOrder::Around,
        };
        Ok(Pick {
            // In the original, all threads share one position in each fileset.
            turn: FileSharing::Shared,
            ..picked(fileset, which(operation), order)
        })
    }

    /// Index of the name in an attribute among all known names; `None` without the attribute.
    fn among(
        &self,
        attribute: &str,
        missing: &str,
        known: &[&str],
        help: &str,
    ) -> Read<Option<u8>> {
        let Some(name) = self.text(attribute)? else {
            return Ok(None);
        };
        let help = || help.to_owned();
        let number = index_among(self.position, missing, &name, known.iter().copied(), help)?;
        Ok(Some(byte(number)))
    }
}

impl ProgramWriter {
    /// The acts of flowops, one after the other.
    pub(super) fn acts(&mut self, flowops: &[Entity], prefix: &str, depth: u32) -> Read<Vec<Act>> {
        let mut acts = Vec::new();
        for op in flowops {
            let name = format!("{prefix}{}", op.needed("name")?);
            let label = number_of(&mut self.program.labels, name.clone());
            self.thread.label = label;
            let times = op.amount("iters", 1)?;
            let done = match op.kind {
                EntityKind::Composite if depth >= COMPOSITE_DEPTH_MAX => {
                    let message = format!("composites are more than {COMPOSITE_DEPTH_MAX} deep");
                    return Err(op.error(message, "nest them less"));
                }
                EntityKind::Composite => {
                    let inner = self.acts(&op.children, &format!("{name}."), depth + 1)?;
                    Some(Act::Step(label, inner))
                }
                _ => {
                    let done = self.done(op, &mut acts)?;
                    self.script
                        .note(op.position, &format!("`{}`", op.operation));
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

    /// The act of a flowop, if it has any. Acts that have to come before it are added to `acts`.
    fn done(&mut self, op: &Entity, acts: &mut Vec<Act>) -> Read<Option<Act>> {
        use FileOperation::{Close, Create, List, Mkdir, Open, Rmdir, Stat, Unlink};
        let call = match op.operation.as_str() {
            word @ ("openfile" | "createfile") => {
                let by = if word == "openfile" { Open } else { Create };
                let (fileset, slot) = (self.needed_fileset(op)?, self.slot(op)?);
                self.opening(op, by, fileset, slot)?
            }
            "closefile" => {
                let slot = self.slot(op)?;
                self.thread.open.remove(&slot);
                self.thread.closed.insert(slot);
                self.call(slot, Close, CallObject::Handle)
            }
            "deletefile" => match self.slot(op)? {
                // A closed slot still points at its file, which the original then deletes.
                // For the original, `fd=0` is the same as no `fd`, so it names no slot.
                slot @ DescriptorSlot::Numbered(1..)
                    if self.thread.filesets.contains_key(&slot) =>
                {
                    self.call(slot, Unlink, CallObject::Same)
                }
                _ => self.named(op, Unlink)?,
            },
            "statfile" => match self.slot(op)? {
                slot if self.thread.open.contains(&slot) => {
                    self.call(slot, Stat, CallObject::Handle)
                }
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
            "finishoncount" | "finishonbytes" => return self.add_finish_quota(op),
            // On Linux, the original only polls here and does not wait.
            "aiowait" => return Ok(None),
            _ => return self.waits(op),
        };
        Ok(Some(Act::Call(call)))
    }

    /// The fileset of a flowop; `None` if it names none.
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

    fn slot(&mut self, op: &Entity) -> Read<DescriptorSlot> {
        Ok(match op.number("fd", 127, 0)? {
            0 => {
                // A flowop without a fileset, such as `closefile`, means the slot that was used
                // last.
                let of = self
                    .fileset(op)?
                    .map(DescriptorSlot::Fileset)
                    .or(self.thread.last);
                *self
                    .thread
                    .last
                    .insert(of.unwrap_or(DescriptorSlot::Numbered(0)))
            }
            number => DescriptorSlot::Numbered(number),
        })
    }

    fn call(&mut self, slot: DescriptorSlot, operation: FileOperation, on: CallObject) -> Call {
        Call {
            handle: number_of(&mut self.thread.registers, slot),
            label: Some(self.thread.label),
            ..Call::new(operation, on)
        }
    }

    /// A call on a name, which leaves no file open.
    fn named(&mut self, op: &Entity, operation: FileOperation) -> Read<Call> {
        let fileset = self.needed_fileset(op)?;
        let mut pick = op.pick(fileset, operation)?;
        if operation == FileOperation::List {
            // Listing works on directories, which have a separate fileset.
            (pick.fileset, pick.which) = (self.directories_of(fileset), FileFilter::Any);
        }
        Ok(self.call(DescriptorSlot::ByName, operation, CallObject::Name(pick)))
    }

    /// A call that opens a file in a slot.
    fn opening(
        &mut self,
        op: &Entity,
        by: FileOperation,
        fileset: u8,
        slot: DescriptorSlot,
    ) -> Read<Call> {
        let mut pick = op.pick(fileset, by)?;
        // Each of the slots that take turns keeps its own file.
        if let DescriptorSlot::Rotating(_, turn) = slot {
            pick.order = PickOrder::Index(turn);
        }
        self.thread.open.insert(slot);
        self.thread.filesets.insert(slot, fileset);
        if op.flag("noreadahead")? {
            self.script.note(op.position, "`noreadahead`");
        }
        let access = self.access[usize::from(fileset)];
        let mode = described(access, op.flag("directio")?, op.flag("dsync")?);
        Ok(Call {
            way: number_of(&mut self.program.ways, mode),
            ..self.call(slot, by, CallObject::Name(pick))
        })
    }

    /// Flowops on an open file, which is opened first if necessary.
    fn moved(&mut self, op: &Entity, acts: &mut Vec<Act>) -> Read<Option<Act>> {
        let slots = match (op.flag("opennext")?, self.fileset(op)?) {
            (true, Some(fileset)) => {
                let count = self.program.filesets[usize::from(fileset)]
                    .count
                    .min(OPEN_SLOTS_MAX);
                (0..count)
                    .map(|turn| DescriptorSlot::Rotating(fileset, turn))
                    .collect()
            }
            _ => vec![self.slot(op)?],
        };
        for slot in &slots {
            acts.extend(self.opened(op, *slot)?);
        }
        // If `iters` covers all slots evenly, a loop over them replaces a copy of all flowops for
        // each slot.
        let turns = slots.len() as u64;
        let times = op.amount("iters", 1)?.always().filter(|it| it % turns == 0);
        if let (DescriptorSlot::Rotating(..), Some(times)) = (slots[0], times) {
            let per_slot: Read<Vec<Act>> =
                slots.into_iter().map(|slot| self.io(op, slot)).collect();
            acts.push(Act::Times(Law::fixed(times / turns), per_slot?));
            return Ok(None);
        }
        self.thread.turn_count = self.thread.turn_count.max(slots.len());
        self.io(op, slots[self.thread.turn % slots.len()]).map(Some)
    }

    /// Opens a slot that is not open: each time if a flowop closes it later, else once before the
    /// run.
    fn opened(&mut self, op: &Entity, slot: DescriptorSlot) -> Read<Option<Act>> {
        if self.thread.open.contains(&slot) {
            return Ok(None);
        }
        let known = self.thread.filesets.get(&slot).copied();
        let Some(fileset) = self.fileset(op)?.or(known) else {
            let message = format!("nothing is open for `{}`", op.operation);
            return Err(op.error(message, "open a file before it, or add `filesetname=...`"));
        };
        let mut call = self.opening(op, FileOperation::Open, fileset, slot)?;
        if self.thread.closed.contains(&slot) {
            return Ok(Some(Act::Call(call)));
        }
        self.script.note(op.position, "an open that no flowop says");
        // This open happens before the measurement, so no flowop counts it.
        call.label = None;
        self.thread.group.enter.push(Act::Call(call));
        Ok(None)
    }

    /// The I/O call of a flowop on a slot.
    fn io(&mut self, op: &Entity, slot: DescriptorSlot) -> Read<Act> {
        use FileOperation::{Fsync, Read, Write};
        let law = op.amount("iosize", 0)?;
        let is_piece = |bytes: &u64| (1..=REQUEST_BYTES_MAX).contains(bytes);
        let (most, always) = (law.largest().filter(is_piece), law.always());
        let is_fixed = always.is_some();
        // Only some flowops need a size, so the error is raised only where a size is used.
        let sized = match always {
            Some(0) => Err(op.lacks("iosize", "add `iosize=8k`")),
            _ => Ok(law),
        };
        let (operation, bytes, place) = match op.operation.as_str() {
            "fsync" => (Fsync, MovedBytes::default(), CallPosition::Here),
            "readwholefile" => (Read, MovedBytes::Rest, CallPosition::At(0)),
            // The original continues at the current position and does not seek to the start.
            "writewholefile" => (
                Write,
                self.whole_file_size(op, slot, (most, is_fixed))?,
                CallPosition::Here,
            ),
            "appendfile" => (Write, MovedBytes::Law(sized?), CallPosition::End),
            // The original truncates a random share of the size minus 1, so the two largest sizes
            // never occur.
            "appendfilerand" => (
                Write,
                MovedBytes::Law(sized?.uniform_below(2)),
                CallPosition::End,
            ),
            "read" => (Read, MovedBytes::Law(sized?), self.place(op, always)?),
            _ => (Write, MovedBytes::Law(sized?), self.place(op, always)?),
        };
        let is_whole = op.operation == "writewholefile";
        let piece_bytes = match &bytes {
            // 0 makes one request of the whole amount, as the original makes one call.
            MovedBytes::Law(law)
                if !is_whole && law.largest().is_some_and(|most| most <= REQUEST_BYTES_MAX) =>
            {
                0
            }
            MovedBytes::Law(_) if !is_whole => REQUEST_BYTES,
            // At most 16 MiB, as filtered above.
            _ => most.map_or(REQUEST_BYTES, |bytes| bytes as u32),
        };
        Ok(Act::Call(Call {
            bytes,
            piece_bytes,
            place,
            ..self.call(slot, operation, CallObject::Handle)
        }))
    }

    /// Position of a transfer. `bytes` is its size, or `None` if sizes vary.
    fn place(&mut self, op: &Entity, bytes: Option<u64>) -> Read<CallPosition> {
        if !op.flag("random")? && op.operation != "aiowrite" {
            return Ok(CallPosition::Here);
        }
        if op.number("workingset", u64::MAX >> 1, 0)? > 0 {
            self.script.note(op.position, "`workingset`");
        }
        self.script.note(op.position, "`random`");
        // The original aligns random positions to the size of the request.
        let align = bytes.and_then(|bytes| u32::try_from(bytes).ok());
        Ok(CallPosition::Random {
            distribution: Distribution::Uniform,
            align_bytes: align.unwrap_or(SECTOR_BYTES),
            // The original reads and writes within the entry's size in the fileset.
            is_nominal: true,
        })
    }

    /// Size of the file in the slot `srcfd`, or else of the slot's own file. `most` is the largest
    /// size of a request; `None` for the usual one.
    fn whole_file_size(
        &mut self,
        op: &Entity,
        slot: DescriptorSlot,
        (most, is_fixed): (Option<u64>, bool),
    ) -> Read<MovedBytes> {
        let source = op.given("srcfd", 127)?.map(DescriptorSlot::Numbered);
        let source = source.filter(|it| *it != slot && self.thread.filesets.contains_key(it));
        let fileset = self.thread.filesets.get(&source.unwrap_or(slot));
        let sizes = fileset.map(|it| &self.program.filesets[usize::from(*it)].size);
        let is_larger = |most| sizes.is_some_and(|it| it.largest().is_none_or(|size| size > most));
        if most.is_some_and(is_larger) {
            let size = sizes.and_then(Law::always);
            if let (Some(size), Some(piece), true) = (size, most, is_fixed) {
                // The original writes the last request in full, so the file exceeds its size.
                let rounded = size.checked_next_multiple_of(piece).unwrap_or(size);
                return Ok(MovedBytes::Law(Law::fixed(rounded)));
            }
            let subject = "`writewholefile` of a larger file than `iosize`, if a size is drawn";
            self.script.note(op.position, subject);
        }
        Ok(
            source.map_or(MovedBytes::Size, |source| MovedBytes::SizeOf {
                handle: number_of(&mut self.thread.registers, source),
            }),
        )
    }

    /// Syncs all open files of a fileset.
    fn synced(&mut self, op: &Entity) -> Read<Option<Act>> {
        let fileset = self.needed_fileset(op)?;
        let ScriptThread { open, filesets, .. } = &self.thread;
        let slots = open.iter().filter(|it| filesets.get(it) == Some(&fileset));
        let slots: Vec<DescriptorSlot> = slots.copied().collect();
        let fsync = |slot| Call {
            // The step around the calls has the label, so that `fsyncset` counts as one operation.
            label: None,
            ..self.call(slot, FileOperation::Fsync, CallObject::Handle)
        };
        let calls = slots.into_iter().map(fsync).map(Act::Call).collect();
        Ok(self.step(calls))
    }

    /// Counter that a flowop refers to: a target flowop's own, or everything of all workers.
    pub(super) fn counted(&self, op: &Entity, is_of_bytes: bool) -> Read<(Measure, AmountScope)> {
        let known: Vec<&str> = self.program.labels.iter().map(String::as_str).collect();
        let help = "name a flowop of this thread";
        let target = op.among("target", "there is no flowop", &known, help)?;
        // With a target, the original looks at the thread's own flowop, else at the sums of the
        // process.
        Ok(match (target, is_of_bytes) {
            (Some(label), true) => (Measure::StepBytes(label), AmountScope::Each),
            (Some(label), false) => (Measure::Steps(label), AmountScope::Each),
            (None, true) => (Measure::Bytes, AmountScope::Group),
            (None, false) => (Measure::Calls, AmountScope::Group),
        })
    }

    /// Adds a quota that ends the repetition; the flowop itself does nothing.
    fn add_finish_quota(&mut self, op: &Entity) -> Read<Option<Act>> {
        let (value, is_of_bytes) = (op.value()?, op.operation == "finishonbytes");
        let (what, of) = self.counted(op, is_of_bytes)?;
        // The original ends when the bytes exceed the limit, not when they reach it.
        let quota = quota(what, value + u64::from(is_of_bytes), of);
        number_of(&mut self.thread.group.quotas, quota);
        Ok(None)
    }
}
