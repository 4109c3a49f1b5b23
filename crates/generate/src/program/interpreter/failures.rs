//! Consequences of a failed call, and of a call for which no file is left.

use engine::{Operation, Request};
use plan::program::{OnFailure, OnNoFile};

use super::calls::CallStart;
use super::{CallFailure, Interpreter};
use crate::Flow;
use crate::program::code::Instruction;
use crate::program::phase_end::Signal;
use crate::program::slot::{SlotSection, WaitProgress};
use crate::program::states::FileClaim;

/// Error number of Linux for a name that does not exist.
const ENOENT: i32 = 2;

impl Interpreter {
    /// Handles a call for which no file is left.
    #[cold]
    pub(super) fn handle_no_file_left(&mut self, index: usize, now_ns: u64) -> CallStart {
        self.release(index);
        // Nobody shall make room for a call that has ended.
        self.withdraw_demand(index);
        let slot = &mut self.slots[index];
        slot.waiting = WaitProgress::default();
        slot.busy_since_ns = 0;
        // Outside the body, only the call is left out; the section continues to its end.
        if slot.section != SlotSection::Body {
            slot.instruction += 1;
            return CallStart::Moved;
        }
        match self.on_no_file {
            OnNoFile::EndWorker => {
                self.has_run_dry = true;
                self.leave_body(index, now_ns);
            }
            OnNoFile::EndPhase => {
                self.phase_end.tell(Signal::Stop);
                self.leave_body(index, now_ns);
            }
            OnNoFile::Skip => {
                // A transaction that is cut short does not count.
                slot.frame.start_ns = 0;
                self.abandon(index, 0);
            }
        }
        CallStart::Moved
    }

    /// Skips the rest of the transaction or round, after closing the files that it opened.
    #[cold]
    pub(super) fn abandon(&mut self, index: usize, now_ns: u64) {
        let slot = &mut self.slots[index];
        slot.call.is_begun = false;
        // Loops and steps that began in the skipped unit end with it.
        slot.loop_count = slot.frame.loop_count;
        while self.slots[index].step_count > self.slots[index].frame.step_count {
            self.end_step(index, now_ns);
        }
        let slot = &mut self.slots[index];
        slot.is_closing = slot.register_to_close().is_some();
        if !slot.is_closing {
            self.go_to_end(index);
        }
    }

    pub(super) fn go_to_end(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.is_closing = false;
        slot.instruction = match slot.frame.kind {
            Some(_) => slot.frame.end,
            None => self.code.end_of(slot.instruction),
        };
    }

    /// Handles a failed call.
    #[cold]
    pub(super) fn fail(&mut self, index: usize, now_ns: u64, errno: i32) {
        let slot = &mut self.slots[index];
        if slot.frame.errno == 0 {
            slot.frame.errno = errno;
        }
        for step in &mut slot.steps[..usize::from(slot.step_count)] {
            step.has_failed = true;
        }
        match self.on_failure {
            OnFailure::Count => {
                slot.call.is_begun = false;
                slot.instruction += 1;
            }
            OnFailure::EndTransaction => self.abandon(index, now_ns),
            OnFailure::EndWorker => self.give_up(index, now_ns),
            OnFailure::EndRun => {
                self.note_failure(index, errno);
                self.phase_end.tell(Signal::Stop);
                self.give_up(index, now_ns);
            }
        }
    }

    /// `true` if a name could not be removed because a worker of this run has removed it before. A
    /// program that removes a file by its register cannot know that, so it is not an error.
    #[cold]
    pub(super) fn was_removed_before(&self, (fileset, file): (u8, u32), result: i32) -> bool {
        let states = self.states.get(usize::from(fileset));
        result == -ENOENT && states.is_some_and(|it| !it.is_present(file))
    }

    /// Records a call that returned an error. Returns `true` if the error was expected.
    #[cold]
    pub(super) fn settle_failure(
        &mut self,
        index: usize,
        number: u16,
        result: i32,
    ) -> Result<bool, i32> {
        let code = &self.code.calls[usize::from(number)];
        let call = &self.slots[index].call;
        let name = (call.fileset, call.file);
        if code.operation == Operation::Unlink && self.was_removed_before(name, result) {
            self.apply_effect(index, number, 0);
            return Ok(true);
        }
        let call = &mut self.slots[index].call;
        let states = &self.states[usize::from(call.fileset)];
        if std::mem::take(&mut call.is_claimed) {
            states.release(call.file, code.claim);
        }
        if code.second_picker.is_some() {
            let states = &self.states[usize::from(call.second.fileset)];
            states.release(call.second.file_index, FileClaim::Exclusive);
        }
        Err(result)
    }

    fn give_up(&mut self, index: usize, now_ns: u64) {
        self.abandon(index, now_ns);
        self.has_failed = true;
        // In the past for all slots, so that each leaves its body before its next call.
        self.end_ns = 1;
    }

    fn note_failure(&mut self, index: usize, errno: i32) {
        let slot = &self.slots[index];
        let Instruction::Call(number) = self.code.instructions[usize::from(slot.instruction)]
        else {
            return;
        };
        self.first_failure.get_or_insert(CallFailure {
            operation: self.code.calls[usize::from(number)].operation,
            fileset: slot.call.fileset,
            file: slot.call.file,
            errno: -errno,
        });
    }

    pub(super) fn close(&mut self, index: usize) -> Option<Request> {
        let slot = &self.slots[index];
        let handle = slot.register_to_close()?;
        let register = &slot.registers[handle];
        Some(Request {
            operation: Operation::Close,
            fileset: register.fileset,
            // A program has at most 200 registers.
            handle: handle as u8,
            slot: index as u32,
            file_index: register.file,
            length_bytes: 0,
            offset_bytes: 0,
        })
    }

    /// Records that a file left open was closed, whatever the result.
    #[cold]
    pub(super) fn closed(&mut self, index: usize, now_ns: u64) -> Flow {
        let slot = &mut self.slots[index];
        if let Some(handle) = slot.register_to_close() {
            let register = &mut slot.registers[handle];
            register.is_open = false;
            self.states[usize::from(register.fileset)].release(register.file, FileClaim::Shared);
        }
        if self.slots[index].register_to_close().is_some() {
            return Flow::Uncounted;
        }
        self.go_to_end(index);
        self.settle(index, now_ns)
    }
}
