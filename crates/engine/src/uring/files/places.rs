//! Places of the slots in a ring's table, and the files open in them.

use crate::Request;
use crate::fileset::NameKey;

/// Places of each slot: one per register, and possibly one more for files that a request opens and
/// closes itself.
pub(super) struct FileTableSlots {
    /// Name of the file open in each place.
    open: Box<[Option<NameKey>]>,
    register_count: u32,
    per_slot_count: u32,
}

impl FileTableSlots {
    /// One place per slot, used for everything.
    pub(super) fn one_per_slot(slot_count: u32) -> Self {
        Self::new(slot_count, 1, 1)
    }

    /// One place per register, and one more per slot for files that a request opens and closes
    /// itself.
    pub(super) fn registers(slot_count: u32, register_count: u8) -> Self {
        let register_count = u32::from(register_count);
        Self::new(slot_count, register_count, register_count + 1)
    }

    fn new(slot_count: u32, register_count: u32, per_slot_count: u32) -> Self {
        Self {
            open: vec![None; slot_count as usize * per_slot_count as usize].into(),
            register_count,
            per_slot_count,
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.open.len() as u32
    }

    /// Place of a register, whether it is in use or not; `None` beyond the last.
    #[inline]
    pub(super) fn register(&self, slot: u32, handle: u8) -> Option<u32> {
        let handle = u32::from(handle);
        (handle < self.register_count).then(|| slot * self.per_slot_count + handle)
    }

    /// Place and name of the request's open file.
    #[inline]
    pub(super) fn opened(&self, request: &Request) -> Option<(u32, NameKey)> {
        let table_slot = self.register(request.slot, request.handle)?;
        Some((table_slot, self.open[table_slot as usize]?))
    }

    /// Free place for the file that the request opens.
    ///
    /// # Errors
    /// A completion's result if there is no such register or it is in use.
    #[inline]
    pub(super) fn free_register(&self, request: &Request) -> Result<u32, i32> {
        let table_slot = self.register(request.slot, request.handle);
        self.free(table_slot.ok_or(-libc::EBADF)?)
    }

    /// Free place for a file that a slot's request opens and closes itself.
    ///
    /// # Errors
    /// As for [`FileTableSlots::free_register`].
    #[inline]
    pub(super) fn free_temporary_place(&self, slot: u32) -> Result<u32, i32> {
        self.free(self.last(slot))
    }

    /// The place of [`FileTableSlots::free_temporary_place`], whether it is free or not.
    #[inline]
    pub(super) fn last(&self, slot: u32) -> u32 {
        slot * self.per_slot_count + self.per_slot_count - 1
    }

    #[inline]
    fn free(&self, table_slot: u32) -> Result<u32, i32> {
        match self.open[table_slot as usize] {
            None => Ok(table_slot),
            Some(_) => Err(-libc::EBUSY),
        }
    }

    /// Records the file that is now open in a slot's register; `None` if none is.
    #[inline]
    pub(super) fn note(&mut self, (slot, handle): (u32, u8), open: Option<NameKey>) {
        if let Some(table_slot) = self.register(slot, handle) {
            self.open[table_slot as usize] = open;
        }
    }
}
