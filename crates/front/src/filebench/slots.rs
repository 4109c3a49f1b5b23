//! Which files a thread has open, as far as its flowops say.

use std::collections::{BTreeMap, BTreeSet};

/// A descriptor of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// By its number, `fd=`.
    Numbered(u8),
    /// That of a fileset, where no number is said.
    Of(u8),
    /// One of several of a fileset that take turns, `opennext`.
    Turn(u8, u8),
    /// Of calls on names, which leave nothing open.
    Named,
}

/// The slots of a thread and what is open in them.
#[derive(Debug, Default)]
pub(super) struct Slots {
    handles: BTreeMap<Slot, u8>,
    open: BTreeSet<Slot>,
    /// Slots that a flowop closes.
    closed: BTreeSet<Slot>,
    /// Whose files are in them.
    pub filesets: BTreeMap<Slot, u8>,
    /// The last one without a number.
    pub last: Option<Slot>,
}

impl Slots {
    /// The register that stands for a slot.
    pub(super) fn handle(&mut self, slot: Slot) -> u8 {
        // More than there may be are refused when the program is checked.
        let next = self.handles.len().min(usize::from(u8::MAX)) as u8;
        *self.handles.entry(slot).or_insert(next)
    }

    pub(super) fn is_open(&self, slot: Slot) -> bool {
        self.open.contains(&slot)
    }

    pub(super) fn open(&mut self, slot: Slot) {
        self.open.insert(slot);
    }

    pub(super) fn close(&mut self, slot: Slot) {
        self.open.remove(&slot);
        self.closed.insert(slot);
    }

    /// Whether a flowop closes it, so that it is opened anew each time.
    pub(super) fn is_closed_again(&self, slot: Slot) -> bool {
        self.closed.contains(&slot)
    }

    /// Goes through the flowops again, with what was learned of them.
    pub(super) fn begin_again(&mut self) {
        self.open.clear();
        self.filesets.clear();
        self.last = None;
    }
}
