//! Walks through directories: requests and results.

use super::Interpreter;
use crate::program::walks::WalkProgress;

impl Interpreter {
    /// Enters a directory.
    pub(super) fn enter_directory(&mut self, index: usize, walk: u16, walking: WalkProgress) {
        let code = &self.code.walks[usize::from(walk)];
        let slot = &mut self.slots[index];
        slot.walking = walking;
        let register = &mut slot.registers[usize::from(code.handle)];
        (register.fileset, register.file) = (code.fileset, walking.name(code));
    }

    /// Offset and length of the request for the next name: whether to open the directory, and the
    /// result of an engine without files.
    pub(super) fn entry(&mut self, index: usize, walk: u16) -> (u64, u32) {
        let code = &self.code.walks[usize::from(walk)];
        let walking = &mut self.slots[index].walking;
        let opens = !std::mem::replace(&mut walking.is_open, true);
        let states = &self.states[usize::from(code.fileset)];
        (opens.into(), code.expected(walking, states))
    }

    /// Handles a result of reading the directory. Once the caller has advanced the slot, it is at
    /// the acts for the file or at those after the directory.
    pub(super) fn take_entry(&mut self, index: usize, walk: u16, result: i32) -> Result<bool, i32> {
        let code = &self.code.walks[usize::from(walk)];
        let slot = &mut self.slots[index];
        if let 1.. = result {
            let register = &mut slot.registers[usize::from(code.handle)];
            // The result is one more than the number.
            let file = result.unsigned_abs() - 1;
            (register.fileset, register.file) = (code.fileset, file.min(code.count - 1));
            return Ok(true);
        }
        slot.instruction = code.after - 1;
        if result < 0 { Err(result) } else { Ok(true) }
    }
}
