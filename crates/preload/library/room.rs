//! Memory for a whole area, because the stacks of User-mode Linux are too small for it.

use core::ptr::null_mut;
use core::slice::from_raw_parts_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::system;

/// Larger than any known area; the largest has 11008 bytes, with AMX.
const LENGTH: usize = 64 << 10;

/// A room that is not in use; null if none was mapped yet or it is in use.
static SPARE: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Memory for an area, used exclusively by its owner.
pub struct Room(*mut u8);

impl Room {
    /// Takes the spare room or maps a new one; `None` if there is no memory.
    pub fn take() -> Option<Self> {
        let spare = SPARE.swap(null_mut(), Ordering::Acquire);
        match spare.is_null() {
            true => system::map(LENGTH).map(Self),
            false => Some(Self(spare)),
        }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the memory is mapped, initialized and of that length, and its owner has it
        // exclusively.
        unsafe { from_raw_parts_mut(self.0, LENGTH) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let kept = SPARE.compare_exchange(null_mut(), self.0, Ordering::Release, Ordering::Relaxed);
        if kept.is_err() {
            // SAFETY: the memory comes from `map` and is not used after this.
            unsafe { system::unmap(self.0, LENGTH) };
        }
    }
}
