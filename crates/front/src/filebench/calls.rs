//! Calls on what is open.

use workload::plan::Distribution;
use workload::program::{Act, Bytes, Call, FileOperation, Law, On, Order, Where, Which};

use super::flowops::pick;
use super::program::{Slot, Writer};
use super::script::{Entity, Read};

/// Places at random that sizes by chance may have.
const SECTOR_BYTES: u32 = 512;
/// Slots that `opennext` goes through, at most.
const TURNS_MAX: u32 = 100;
/// Bytes of a request where nothing says how many.
const PIECE_BYTES: u32 = 1 << 20;
/// Bytes of the largest request.
const PIECE_BYTES_MAX: u64 = 16 << 20;

impl Writer {
    /// What works on what is open, which is opened first where it is not.
    pub(super) fn moved(&mut self, op: &Entity, acts: &mut Vec<Act>) -> Read<Option<Act>> {
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
        let is_random = op.flag("random")?;
        let (operation, bytes, place) = match op.word.as_str() {
            "fsync" => (Fsync, Bytes::default(), Where::Here),
            "readwholefile" => (Read, Bytes::Rest, Where::At(0)),
            "writewholefile" => (Write, self.whole(op, slot)?, Where::Here),
            "appendfile" => (Write, Bytes::Law(io_size(op)?), Where::End),
            "appendfilerand" => (Write, Bytes::Law(io_size(op)?.uniform_below(2)), Where::End),
            word => {
                let law = io_size(op)?;
                let place = match is_random || word == "aiowrite" {
                    true => self.random(op, &law)?,
                    false => Where::Here,
                };
                let operation = if word == "read" { Read } else { Write };
                (operation, Bytes::Law(law), place)
            }
        };
        let piece_bytes = match &bytes {
            Bytes::Law(law) if law.largest().is_some_and(|most| most <= PIECE_BYTES_MAX) => 0,
            Bytes::Law(_) => PIECE_BYTES,
            Bytes::Rest | Bytes::Size | Bytes::SizeOf { .. } => piece_bytes(op)?,
        };
        Ok(Act::Call(Call {
            bytes,
            piece_bytes,
            place,
            ..self.call(slot, operation, On::Handle)
        }))
    }

    fn random(&mut self, op: &Entity, law: &Law) -> Read<Where> {
        if op.number("workingset", u64::MAX >> 1, 0)? > 0 {
            self.differs(op, "`workingset`");
        }
        self.differs(op, "`random`");
        let align = law.always().and_then(|bytes| u32::try_from(bytes).ok());
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
}

/// Bytes in one go, which must be more than 0.
fn io_size(op: &Entity) -> Read<Law> {
    let law = op.amount("iosize")?;
    let law = law.filter(|law| law.always() != Some(0));
    law.ok_or_else(|| op.lacks("iosize", "add `iosize=8k`"))
}

/// Bytes of the pieces of a whole file.
fn piece_bytes(op: &Entity) -> Read<u32> {
    let most = op.amount("iosize")?.and_then(|law| law.largest());
    let most = most.filter(|bytes| (1..=PIECE_BYTES_MAX).contains(bytes));
    // Not above 16 MiB.
    Ok(most.map_or(PIECE_BYTES, |bytes| bytes as u32))
}
