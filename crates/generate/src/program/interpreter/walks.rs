//! Going through directories: what is asked for, and what comes of it.

use super::Interpreter;
use crate::program::walks::Walking;

impl Interpreter {
    /// Goes to a directory.
    pub(super) fn go_into(&mut self, index: usize, walk: u16, walking: Walking) {
        let code = &self.code.walks[usize::from(walk)];
        let slot = &mut self.slots[index];
        slot.walking = walking;
        let register = &mut slot.registers[usize::from(code.handle)];
        (register.fileset, register.file) = (code.fileset, walking.name(code));
    }

    /// What the request for the next name says: whether the directory is to be opened, and what is
    /// expected of it.
    pub(super) fn entry(&mut self, index: usize, walk: u16) -> (u64, u32) {
        let code = &self.code.walks[usize::from(walk)];
        let walking = &mut self.slots[index].walking;
        let opens = !std::mem::replace(&mut walking.is_open, true);
        let states = &self.states[usize::from(code.fileset)];
        (opens.into(), code.expected(walking, states))
    }

    /// A directory was read on: the slot is at the acts for the file, or at those behind the
    /// directory, as soon as it has gone on from here.
    pub(super) fn take_entry(&mut self, index: usize, walk: u16, result: i32) -> Result<bool, i32> {
        let code = &self.code.walks[usize::from(walk)];
        let slot = &mut self.slots[index];
        if let 1.. = result {
            let register = &mut slot.registers[usize::from(code.handle)];
            // One more than the number.
            let file = result.unsigned_abs() - 1;
            (register.fileset, register.file) = (code.fileset, file.min(code.count - 1));
            return Ok(true);
        }
        slot.at = code.after - 1;
        if result < 0 { Err(result) } else { Ok(true) }
    }
}
