//! Which places of a ring's table are whose, and what is open in them.

use crate::Request;
use crate::fileset::NameKey;

/// The places of each slot: one for each register, and perhaps one more for what a request opens
/// and closes by itself.
pub(super) struct Places {
    /// By place: the name of what is open.
    open: Box<[Option<NameKey>]>,
    register_count: u32,
    per_slot_count: u32,
}

impl Places {
    /// One place for each slot, which serves everything.
    pub(super) fn one_each(slot_count: u32) -> Self {
        Self::new(slot_count, 1, 1)
    }

    /// A place for each register, which what a request opens by itself does not take.
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

    /// Where the request's register is, whether something is open there or not; none beyond the
    /// last.
    #[inline]
    pub(super) fn register(&self, slot: u32, handle: u8) -> Option<u32> {
        let handle = u32::from(handle);
        (handle < self.register_count).then(|| slot * self.per_slot_count + handle)
    }

    /// Where the request finds its open file, with the name of that.
    #[inline]
    pub(super) fn opened(&self, request: &Request) -> Option<(u32, NameKey)> {
        let place = self.register(request.slot, request.handle)?;
        Some((place, self.open[place as usize]?))
    }

    /// Where the request may open the file that it names.
    ///
    /// # Errors
    /// The result of a request that may not.
    #[inline]
    pub(super) fn free_register(&self, request: &Request) -> Result<u32, i32> {
        let place = self.register(request.slot, request.handle);
        self.free(place.ok_or(-libc::EBADF)?)
    }

    /// Where a slot's request may open something that it closes by itself.
    ///
    /// # Errors
    /// As in [`Places::free_register`].
    #[inline]
    pub(super) fn passing(&self, slot: u32) -> Result<u32, i32> {
        self.free(self.last(slot))
    }

    /// The place of [`Places::passing`], whether it is free or not.
    #[inline]
    pub(super) fn last(&self, slot: u32) -> u32 {
        slot * self.per_slot_count + self.per_slot_count - 1
    }

    #[inline]
    fn free(&self, place: u32) -> Result<u32, i32> {
        match self.open[place as usize] {
            None => Ok(place),
            Some(_) => Err(-libc::EBUSY),
        }
    }

    /// Takes note of what is open in a slot's register from now on.
    #[inline]
    pub(super) fn note(&mut self, (slot, handle): (u32, u8), open: Option<NameKey>) {
        if let Some(place) = self.register(slot, handle) {
            self.open[place as usize] = open;
        }
    }
}
