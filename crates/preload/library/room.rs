//! Memory for a whole area. Stacks of User-mode Linux are too small for it.

use core::ptr::null_mut;
use core::slice::from_raw_parts_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::system;

/// More than any area so far, of which the largest is that of AMX with 11008 bytes.
const LENGTH: usize = 64 << 10;

/// Room that is not in use; nothing where there was none yet, or where it is in use.
static SPARE: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Room for an area, nobody else's while it lives.
pub struct Room(*mut u8);

impl Room {
    /// Takes what is spare, or new memory; nothing where there is none.
    pub fn take() -> Option<Self> {
        let spare = SPARE.swap(null_mut(), Ordering::Acquire);
        match spare.is_null() {
            true => system::map(LENGTH).map(Self),
            false => Some(Self(spare)),
        }
    }

    /// The memory.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: it is mapped, initialized and of that length, and who has taken it has it alone.
        unsafe { from_raw_parts_mut(self.0, LENGTH) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let kept = SPARE.compare_exchange(null_mut(), self.0, Ordering::Release, Ordering::Relaxed);
        if kept.is_err() {
            // SAFETY: it is of `map`, and ends here.
            unsafe { system::unmap(self.0, LENGTH) };
        }
    }
}
