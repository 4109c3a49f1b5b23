//! An engine that does nothing, for measuring the overhead of the program itself.

use crate::{Buffers, Completion, Engine, EngineError, Operation, Request, Wait, pause};

/// Completes every request in full at the next `reap` without any I/O. Opening and closing also
/// succeed.
#[derive(Debug)]
pub struct Null {
    buffers: Buffers,
    pending: Vec<Completion>,
}

impl Null {
    /// An engine with `slot_count` buffers of `buffer_bytes` each.
    ///
    /// # Errors
    /// If there is not enough memory for the buffers.
    pub fn new(slot_count: u32, buffer_bytes: u32) -> Result<Self, EngineError> {
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let pending = Vec::with_capacity(buffers.slot_count() as usize);
        Ok(Self { buffers, pending })
    }
}

impl Engine for Null {
    fn slot_count(&self) -> u32 {
        self.buffers.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let operation = request.operation;
        // A trim returns 0 also in the kernel.
        let moved = match operation {
            Operation::Read | Operation::Write | Operation::ReadWhole | Operation::NextEntry => {
                request.length_bytes
            }
            _ => 0,
        };
        self.pending.push(Completion {
            slot: request.slot,
            result: moved as i32,
        });
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            pause(wait);
        }
        if done.is_empty() {
            // Both vectors have capacity for every slot.
            std::mem::swap(done, &mut self.pending);
        } else {
            done.append(&mut self.pending);
        }
        Ok(())
    }
}
