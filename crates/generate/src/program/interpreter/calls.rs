//! Calls: names, amounts and effects.

use engine::{Operation, Request, SecondName};
use plan::program::FileFilter;

use super::Interpreter;
use crate::program::code::{CallLength, CallOffset, CallSubject, FileSpan, OffsetForm};
use crate::program::pick::Picked;
use crate::program::slot::SlotSection;
use crate::program::states::{ClaimResult, FileClaim};

/// Negated error number (`EIO`) of a write that wrote nothing and reported no error.
const NOTHING_WRITTEN: i32 = -5;
/// Time after which a call gives up because other workers use all files, in nanoseconds.
// Workers that wait for each other's files would never end without a limit.
const BUSY_MAX_NS: u64 = 10_000_000_000;

/// State of a call before its first request.
pub(super) enum CallStart {
    /// The first piece can be issued.
    Ready,
    /// The slot has moved.
    Moved,
    Wait,
}

impl Interpreter {
    #[inline]
    pub(super) fn begin(&mut self, index: usize, number: u16, now_ns: u64) -> CallStart {
        let is_body = self.slots[index].section == SlotSection::Body;
        if is_body && !self.phase_end.is_quiet() && self.handle_signal(index, now_ns) {
            return CallStart::Moved;
        }
        match self.names(index, number) {
            Picked::File(_) => self.slots[index].busy_since_ns = 0,
            Picked::Busy => {
                let since_ns = &mut self.slots[index].busy_since_ns;
                if *since_ns == 0 {
                    *since_ns = now_ns;
                }
                if now_ns - *since_ns < BUSY_MAX_NS {
                    return CallStart::Wait;
                }
                return self.handle_no_file_left(index, now_ns);
            }
            Picked::None => return self.handle_no_file_left(index, now_ns),
        }
        let (amount, is_rest) = self.amount(index, number);
        let offset_bytes = self.offset_bytes(index, number, amount);
        if self.is_past_last_block(index, number, offset_bytes) {
            return self.handle_no_file_left(index, now_ns);
        }
        let code = &self.code.calls[usize::from(number)];
        let slot = &mut self.slots[index];
        if amount == 0 && !matches!(code.amount, CallLength::Fixed(_)) {
            // An empty call issues no request, but it counts for its label.
            if let Some(label) = code.label {
                self.steps[usize::from(label)].record(0, 0, false);
            }
            slot.instruction += 1;
            return CallStart::Moved;
        }
        let register = &mut slot.registers[usize::from(code.handle)];
        let moves = code.operation.moves_bytes();
        if moves {
            register.last_offset_bytes = offset_bytes;
        }
        let call = &mut slot.call;
        call.is_begun = true;
        call.reads_to_end = is_rest;
        call.offset_bytes = offset_bytes;
        call.left_bytes = amount;
        call.moved_bytes = 0;
        call.start_ns = now_ns;
        slot.is_round_busy = true;
        // A transaction starts with its first call, not with a wait before it.
        if slot.frame.start_ns == 0 {
            slot.frame.start_ns = now_ns;
        }
        self.amounts.calls += 1;
        CallStart::Ready
    }

    /// Total number of bytes of a call; `true` if it continues until a read returns nothing.
    #[inline]
    fn amount(&mut self, index: usize, number: u16) -> (u64, bool) {
        let code = &self.code.calls[usize::from(number)];
        match code.amount {
            CallLength::Fixed(bytes) => (bytes, false),
            CallLength::Rest => (u64::MAX, true),
            CallLength::Drawn(sampler) => {
                let sampler = &self.code.samplers[usize::from(sampler)];
                (sampler.amount(self.rng.next_u64()), false)
            }
            CallLength::SizeOf(handle) => {
                let register = &self.slots[index].registers[usize::from(handle)];
                let sizes = &self.code.sizes[usize::from(register.fileset)];
                let bytes = sizes.of(self.size_seed, register.fileset, register.file);
                (bytes, false)
            }
        }
    }

    /// `true` if a read would begin after the last block of its file.
    #[inline]
    fn is_past_last_block(&self, index: usize, number: u16, offset_bytes: u64) -> bool {
        let code = &self.code.calls[usize::from(number)];
        match &code.offset {
            CallOffset::Cursor(trail, _)
                if code.operation == Operation::Read && trail.has_end() =>
            {
                let call = &self.slots[index].call;
                offset_bytes >= self.states[usize::from(call.fileset)].size(call.file)
            }
            _ => false,
        }
    }

    /// Offset at which a call begins; 0 if it moves no bytes.
    #[inline]
    fn offset_bytes(&mut self, index: usize, number: u16, amount: u64) -> u64 {
        let code = &mut self.code.calls[usize::from(number)];
        let slot = &self.slots[index];
        let register = &slot.registers[usize::from(code.handle)];
        if !code.operation.moves_bytes() {
            return 0;
        }
        let span_bytes = |span: FileSpan| {
            let (fileset, file) = (slot.call.fileset, slot.call.file);
            let present = self.states[usize::from(fileset)].size(file);
            span.bytes(present, amount, || {
                let sizes = &self.code.sizes[usize::from(fileset)];
                sizes.of(self.size_seed, fileset, file)
            })
        };
        match &mut code.offset {
            CallOffset::Here => register.next_offset_bytes,
            CallOffset::Same => register.last_offset_bytes,
            CallOffset::End => Request::AT_END,
            CallOffset::KnownEnd => {
                self.states[usize::from(slot.call.fileset)].size(slot.call.file)
            }
            // Larger numbers are codes to the engines.
            CallOffset::At(offset_bytes) => (*offset_bytes).min(Request::OFFSET_MAX),
            CallOffset::Dealt(step_bytes) => u64::from(slot.card) * u64::from(*step_bytes),
            CallOffset::Random {
                draw,
                starts,
                align_bytes,
                span,
            } => {
                let size = span_bytes(*span);
                let align_bytes = u64::from(*align_bytes);
                // A call that is longer than the file has a single place, offset 0.
                let room = size.saturating_sub(amount.min(size)) / align_bytes + 1;
                let drawn = u128::from(draw.index(&mut self.rng)) * u128::from(room);
                // Below the room, which has 64 bits.
                (drawn / u128::from(*starts)) as u64 * align_bytes
            }
            CallOffset::Ranked {
                draw,
                scatter_seed,
                align_bytes,
                span,
            } => {
                let size = span_bytes(*span);
                let align_bytes = u64::from(*align_bytes);
                let room = size.saturating_sub(amount.min(size)) / align_bytes + 1;
                // Drawing over more places and scaling the result would flatten the distribution.
                draw.fit(room, *scatter_seed);
                draw.index(&mut self.rng) * align_bytes
            }
            CallOffset::Cursor(trail, span) => {
                let size = span_bytes(*span);
                trail.next(size, amount).min(Request::OFFSET_MAX)
            }
        }
    }

    /// Selects and claims the names of a call.
    #[inline]
    pub(super) fn names(&mut self, index: usize, number: u16) -> Picked {
        let code = &self.code.calls[usize::from(number)];
        let slot = &mut self.slots[index];
        let call = &mut slot.call;
        let register = &slot.registers[usize::from(code.handle)];
        if !call.is_claimed {
            match code.subject {
                CallSubject::Handle => {
                    (call.fileset, call.file) = (register.fileset, register.file)
                }
                CallSubject::Pick(picker) => {
                    let picker = &mut self.code.pickers[usize::from(picker)];
                    let states = &self.states[usize::from(picker.fileset)];
                    match picker.next(states, &mut self.rng) {
                        Picked::File(file) => {
                            (call.fileset, call.file) = (picker.fileset, file);
                            call.is_claimed = true;
                        }
                        other => return other,
                    }
                }
                CallSubject::Walk(walk) => {
                    let walk = &self.code.walks[usize::from(walk)];
                    (call.fileset, call.file) = (walk.fileset, slot.walking.name(walk));
                }
                CallSubject::Same => {
                    (call.fileset, call.file) = (register.fileset, register.file);
                    let states = &self.states[usize::from(register.fileset)];
                    match states.claim(register.file, FileFilter::Any, code.claim) {
                        ClaimResult::Claimed => call.is_claimed = true,
                        // The slot's own open file does not block it.
                        _ if register.is_open => {}
                        _ => return Picked::Busy,
                    }
                }
            }
        }
        if let Some(second) = code.second_picker {
            let picker = &mut self.code.pickers[usize::from(second)];
            match picker.next(&self.states[usize::from(picker.fileset)], &mut self.rng) {
                Picked::File(file) => {
                    call.second = SecondName {
                        fileset: picker.fileset,
                        file_index: file,
                    }
                }
                // The first name stays claimed; the next attempt continues here.
                Picked::Busy => return Picked::Busy,
                Picked::None => {
                    self.release(index);
                    return Picked::None;
                }
            }
        }
        Picked::File(call.file)
    }

    /// The next request of a call.
    #[inline(always)]
    pub(super) fn piece(&mut self, index: usize, number: u16) -> Request {
        let code = &self.code.calls[usize::from(number)];
        let slot = &mut self.slots[index];
        let call = &mut slot.call;
        let mut offset_bytes = match code.form {
            OffsetForm::Code(code) => code,
            OffsetForm::Second => call.second.code(),
            OffsetForm::Length => call.left_bytes,
            OffsetForm::Entry(_) | OffsetForm::Attribute(_) => 0,
            OffsetForm::Offset => call.offset_bytes,
            OffsetForm::Seek => Request::seeking(call.offset_bytes),
            OffsetForm::Position { unit_bytes } => {
                let register = &slot.registers[usize::from(code.handle)];
                offset_at_position(call.offset_bytes, register.position_bytes, unit_bytes)
            }
        };
        let mut length_bytes = 0;
        if code.operation.moves_bytes() {
            // At most one piece, whose length has 32 bits.
            length_bytes = call.left_bytes.min(code.piece_bytes.into()) as u32;
            call.expected_bytes = match code.operation {
                Operation::Read => {
                    let size = self.states[usize::from(call.fileset)].size(call.file);
                    let rest = size.saturating_sub(call.offset_bytes);
                    rest.min(length_bytes.into()) as u32
                }
                _ => length_bytes,
            };
        }
        let (operation, fileset, handle) = (code.operation, call.fileset, code.handle);
        let file_index = call.file;
        match code.form {
            OffsetForm::Entry(walk) => (offset_bytes, length_bytes) = self.entry(index, walk),
            OffsetForm::Attribute(number) => {
                // The check of the program limits the value to 64 KiB.
                (offset_bytes, length_bytes) = (number.into(), call.left_bytes as u32);
            }
            _ => {}
        }
        // Built in one step from registers: a request that is stored field by field and then copied
        // waits for its stores.
        Request {
            operation,
            fileset,
            handle,
            slot: index as u32,
            file_index,
            length_bytes,
            offset_bytes,
        }
    }

    /// Records a completion of a call. Returns `true` if the call is done; the error is the negated
    /// error number.
    #[inline]
    pub(super) fn settle_call(
        &mut self,
        index: usize,
        number: u16,
        result: i32,
    ) -> Result<bool, i32> {
        let code = &self.code.calls[usize::from(number)];
        let slot = &mut self.slots[index];
        let call = &mut slot.call;
        let states = &self.states[usize::from(call.fileset)];
        if let OffsetForm::Entry(walk) = code.form {
            return self.take_entry(index, walk, result);
        }
        if result < 0 {
            return self.settle_failure(index, number, result);
        }
        if !code.operation.moves_bytes() {
            self.apply_effect(index, number, result);
            return Ok(true);
        }
        let is_read = code.operation == Operation::Read;
        // An engine that does not know file sizes returns the requested length.
        let moved = match is_read {
            true => result.unsigned_abs().min(call.expected_bytes),
            false => result.unsigned_abs(),
        };
        let moved_bytes = u64::from(moved);
        call.moved_bytes += moved_bytes;
        match is_read {
            true => self.amounts.read_bytes += moved_bytes,
            false => self.amounts.written_bytes += moved_bytes,
        }
        slot.frame.bytes += moved_bytes;
        for step in &mut slot.steps[..usize::from(slot.step_count)] {
            step.bytes += moved_bytes;
        }
        let register = &mut slot.registers[usize::from(code.handle)];
        if call.offset_bytes == Request::AT_END {
            states.append(call.file, moved_bytes);
            register.position_bytes = states.size(call.file);
        } else {
            call.offset_bytes = (call.offset_bytes + moved_bytes).min(Request::OFFSET_MAX);
            register.position_bytes = call.offset_bytes;
            if !is_read {
                states.reach(call.file, call.offset_bytes);
            }
        }
        if !call.reads_to_end {
            call.left_bytes -= moved_bytes.min(call.left_bytes);
        }
        let is_done = match (is_read, moved) {
            // At the end of the file, or all of it was read.
            (true, 0) => true,
            (true, _) if !call.reads_to_end && call.offset_bytes >= states.size(call.file) => true,
            (false, 0) if call.left_bytes > 0 => return Err(NOTHING_WRITTEN),
            _ => call.left_bytes == 0,
        };
        if is_done && matches!(code.offset, CallOffset::Here) {
            let is_wrapping = is_read && moved == 0 && !call.reads_to_end && call.moved_bytes == 0;
            register.next_offset_bytes = if is_wrapping { 0 } else { call.offset_bytes };
        }
        Ok(is_done)
    }

    /// Records the effect of a call on names or on an open file.
    #[inline]
    pub(super) fn apply_effect(&mut self, index: usize, number: u16, result: i32) {
        let code = &self.code.calls[usize::from(number)];
        let slot = &mut self.slots[index];
        let opening = slot.opening();
        let call = &mut slot.call;
        let states = &self.states[usize::from(call.fileset)];
        let register = &mut slot.registers[usize::from(code.handle)];
        let was_claimed = std::mem::take(&mut call.is_claimed);
        match code.operation {
            Operation::Create | Operation::Open => {
                match code.operation {
                    Operation::Create if code.claim == FileClaim::Exclusive => {
                        states.mark_present(call.file, true);
                    }
                    Operation::Create => states.mark_present_in_use(call.file),
                    // The claim lasts until the file is closed.
                    _ if was_claimed => {}
                    _ => return,
                }
                if code.is_truncating {
                    states.set_size(call.file, 0);
                }
                register.is_open = true;
                register.scope = opening;
                (register.next_offset_bytes, register.last_offset_bytes) = (0, 0);
                register.position_bytes = 0;
            }
            Operation::Close => {
                if std::mem::take(&mut register.is_open) {
                    states.release(call.file, FileClaim::Shared);
                }
                return;
            }
            Operation::Mkdir | Operation::Rmdir if code.is_of_directory() => {
                if was_claimed {
                    states.release(call.file, code.claim);
                }
            }
            Operation::Mkdir => states.mark_present(call.file, false),
            Operation::Unlink | Operation::Rmdir => states.mark_absent(call.file),
            Operation::Rename | Operation::Link | Operation::Symlink => {
                let second = call.second;
                let other = &self.states[usize::from(second.fileset)];
                other.mark_present(second.file_index, false);
                other.set_size(second.file_index, states.size(call.file));
                if code.operation == Operation::Rename {
                    states.mark_absent(call.file);
                    (call.fileset, call.file) = (second.fileset, second.file_index);
                } else if was_claimed {
                    states.release(call.file, FileClaim::Shared);
                }
            }
            Operation::Truncate => {
                states.set_size(call.file, call.left_bytes);
                return;
            }
            operation => {
                if operation == Operation::Readdir {
                    // Bytes of directory entries are not content; only the label counts them.
                    call.moved_bytes = result.unsigned_abs().into();
                }
                if was_claimed {
                    states.release(call.file, code.claim);
                }
            }
        }
        if !matches!(code.subject, CallSubject::Handle) {
            (register.fileset, register.file) = (call.fileset, call.file);
        }
    }
}

/// Request offset for a file that is accessed at its position: a seek if the offset differs from
/// the current position.
pub(super) fn offset_at_position(offset_bytes: u64, stands_bytes: u64, unit_bytes: u32) -> u64 {
    match (offset_bytes, unit_bytes) {
        (Request::AT_END, _) => Request::SEEK_END,
        _ if offset_bytes != stands_bytes => Request::seeking(offset_bytes),
        (_, 0) => Request::AT_POSITION,
        (_, unit_bytes) => Request::in_units(unit_bytes),
    }
}
