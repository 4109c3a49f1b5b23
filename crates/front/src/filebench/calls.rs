//! Calls on what is open.

use workload::Diagnostic;
use workload::plan::Distribution;
use workload::program::{
    Act, Band, Bytes, Call, FileOperation, Law, On, Order, Shape, Where, Which,
};

use super::flowops::ThreadWriter;
use super::op::{Op, PIECE_BYTES, PIECE_BYTES_MAX};
use super::slots::Slot;

/// Places at random that sizes by chance may have.
const SECTOR_BYTES: u32 = 512;
/// Slots that `opennext` goes through, at most.
const TURNS_MAX: u32 = 100;

impl ThreadWriter<'_, '_> {
    pub(super) fn opened_by_name(
        &mut self,
        op: &Op<'_>,
        operation: FileOperation,
        which: Which,
    ) -> Result<Vec<Act>, Diagnostic> {
        let fileset = self.needed_fileset(op)?;
        let slot = self.slot(op)?;
        let call = Call {
            handle: self.slots.handle(slot),
            way: self.way(op, fileset)?,
            label: Some(op.label),
            ..Call::new(operation, On::Name(self.pick(op, fileset, which)?))
        };
        self.slots.open(slot);
        self.slots.filesets.insert(slot, fileset);
        Ok(op.repeated(vec![Act::Call(call)]))
    }

    pub(super) fn closed(&mut self, op: &Op<'_>) -> Result<Vec<Act>, Diagnostic> {
        let slot = self.slot(op)?;
        let call = Call {
            handle: self.slots.handle(slot),
            label: Some(op.label),
            ..Call::new(FileOperation::Close, On::Handle)
        };
        self.slots.close(slot);
        Ok(op.repeated(vec![Act::Call(call)]))
    }

    /// What works on what is open, which is opened first where it is not.
    pub(super) fn moved(&mut self, op: &Op<'_>) -> Result<Vec<Act>, Diagnostic> {
        let fileset = self.fileset(op)?;
        let (true, Some(fileset)) = (op.flag("opennext")?, fileset) else {
            let slot = self.slot(op)?;
            let mut acts = self.opened(op, slot, Order::Around)?;
            let call = self.io(op, slot)?;
            acts.extend(op.repeated(vec![call]));
            return Ok(acts);
        };
        let turns = self.common.sets.plans[usize::from(fileset)]
            .count
            .min(TURNS_MAX);
        let mut acts = Vec::new();
        for turn in 0..turns {
            // At most 100.
            let slot = Slot::Turn(fileset, turn as u8);
            acts.extend(self.opened(op, slot, Order::Index(turn))?);
        }
        let times = op
            .times
            .always()
            .filter(|times| times % u64::from(turns) == 0);
        if let Some(times) = times {
            let each = (0..turns).map(|turn| self.io(op, Slot::Turn(fileset, turn as u8)));
            let each: Result<Vec<Act>, Diagnostic> = each.collect();
            acts.push(Act::Times(Law::fixed(times / u64::from(turns)), each?));
            return Ok(acts);
        }
        self.turns = self.turns.max(turns);
        let call = self.io(op, Slot::Turn(fileset, (self.turn % turns) as u8))?;
        acts.extend(op.repeated(vec![call]));
        Ok(acts)
    }

    /// Opens a slot where nothing is open: each time where it is closed again, else once.
    pub(super) fn opened(
        &mut self,
        op: &Op<'_>,
        slot: Slot,
        order: Order,
    ) -> Result<Vec<Act>, Diagnostic> {
        if self.slots.is_open(slot) {
            return Ok(Vec::new());
        }
        let Some(fileset) = self
            .fileset(op)?
            .or(self.slots.filesets.get(&slot).copied())
        else {
            let message = format!("nothing is open for `{}`", op.kind());
            let help = "open a file before it, or add `filesetname=...`";
            return Err(op.error(message).help(help));
        };
        let mut pick = self.pick(op, fileset, Which::Present)?;
        if order != Order::Around {
            pick.order = order;
        }
        let is_each_time = self.slots.is_closed_again(slot);
        let call = Call {
            handle: self.slots.handle(slot),
            way: self.way(op, fileset)?,
            label: is_each_time.then_some(op.label),
            ..Call::new(FileOperation::Open, On::Name(pick))
        };
        self.slots.open(slot);
        self.slots.filesets.insert(slot, fileset);
        if is_each_time {
            return Ok(vec![Act::Call(call)]);
        }
        let note = "the file is opened before the measurement, and not counted";
        self.differs(op, "an open that no flowop says", note);
        self.enter.push(Act::Call(call));
        Ok(Vec::new())
    }

    /// The call of a slot.
    pub(super) fn io(&mut self, op: &Op<'_>, slot: Slot) -> Result<Act, Diagnostic> {
        use FileOperation::{Fsync, Read, Write};
        let is_random = op.flag("random")?;
        let (operation, bytes, place) = match op.kind() {
            "fsync" => (Fsync, Bytes::default(), Where::Here),
            "readwholefile" => (Read, Bytes::Rest, Where::At(0)),
            "writewholefile" => (Write, self.whole(op, slot)?, Where::Here),
            "appendfile" => (Write, Bytes::Law(op.io_size()?), Where::End),
            "appendfilerand" => (Write, Bytes::Law(below(&op.io_size()?)), Where::End),
            kind => {
                let law = op.io_size()?;
                let place = match is_random || kind == "aiowrite" {
                    true => self.random(op, &law)?,
                    false => Where::Here,
                };
                let operation = if kind == "read" { Read } else { Write };
                (operation, Bytes::Law(law), place)
            }
        };
        if op.kind() == "aiowrite" {
            let note = "each write is waited for";
            self.differs(op, "`aiowrite`", note);
        }
        let is_whole = matches!(bytes, Bytes::Rest | Bytes::Size | Bytes::SizeOf { .. });
        let piece_bytes = match &bytes {
            _ if operation == Fsync => 0,
            _ if is_whole => op.piece_bytes()?,
            Bytes::Law(law) => match law.largest().filter(|most| *most <= PIECE_BYTES_MAX) {
                Some(_) => 0,
                None => PIECE_BYTES,
            },
            _ => 0,
        };
        Ok(Act::Call(Call {
            handle: self.slots.handle(slot),
            bytes,
            piece_bytes,
            place,
            label: Some(op.label),
            ..Call::new(operation, On::Handle)
        }))
    }

    pub(super) fn random(&mut self, op: &Op<'_>, law: &Law) -> Result<Where, Diagnostic> {
        if op.number("workingset", u64::MAX >> 1)?.unwrap_or(0) > 0 {
            let note = "places are drawn from the whole file";
            self.differs(op, "`workingset`", note);
        }
        let note = "every block may be drawn, the last one too, by each thread for itself";
        self.differs(op, "`random`", note);
        let align = law.always().and_then(|bytes| u32::try_from(bytes).ok());
        Ok(Where::Random {
            distribution: Distribution::Uniform,
            align_bytes: align.unwrap_or(SECTOR_BYTES),
        })
    }

    /// As much as another slot's file has, or the own.
    pub(super) fn whole(&mut self, op: &Op<'_>, slot: Slot) -> Result<Bytes, Diagnostic> {
        // At most 127.
        let source = op
            .number("srcfd", 127)?
            .map(|number| Slot::Numbered(number as u8));
        let source = source.filter(|it| *it != slot && self.slots.filesets.contains_key(it));
        let bytes = match source {
            Some(source) => Bytes::SizeOf {
                handle: self.slots.handle(source),
            },
            None => Bytes::Size,
        };
        Ok(bytes)
    }
}

/// Uniform below what is drawn, less one.
fn below(law: &Law) -> Law {
    let uniform = |most: u64| Law::of(Shape::Uniform { low: 0, high: most });
    if let Some(bytes) = law.always() {
        return uniform(bytes.saturating_sub(2));
    }
    match &law.shape {
        // A band is cut into parts, each of which is nearly of one size.
        Shape::Table(bands) => {
            let parts = bands.iter().flat_map(|band| {
                (0..8_u64).map(|part| {
                    let middle = band.low + (band.high - band.low) * (2 * part + 1) / 16;
                    Band {
                        weight: band.weight,
                        low: 0,
                        high: middle.saturating_sub(2),
                    }
                })
            });
            Law::of(Shape::Table(parts.collect()))
        }
        // The cast saturates.
        _ => uniform(law.mean() as u64),
    }
}
