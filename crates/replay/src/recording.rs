//! Builds a trace from recorded calls of another program: names and handles become numbers and
//! registers.

use std::collections::HashMap;

use plan::program::{PIECE_BYTES_MAX, REGISTERS_MAX, Trace, TraceCall, TraceOperation};

/// Limit on the calls of a recording, with repeated calls counted each time.
// A call takes 40 bytes, so a recording takes at most 320 MB of memory.
const CALLS_MAX: usize = 8_000_000;
/// Length limits of a name's components and of a whole name, in bytes. They are below Linux's
/// limits because workers' numbers are added later.
const COMPONENT_BYTES_MAX: usize = 239;
const NAME_BYTES_MAX: usize = 3000;

/// Calls recorded so far.
#[derive(Default)]
pub struct Recording {
    calls: Vec<TraceCall>,
    /// Numbers of the names, by the name in the recording.
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    /// End of the furthest write to each name, in bytes.
    sizes: Vec<u64>,
    buffer_bytes: u32,
    opened: HashMap<u64, RecordedHandle>,
    is_taken: Vec<bool>,
}

/// The file that a handle refers to.
#[derive(Debug, Clone, Copy)]
pub struct RecordedHandle {
    /// The register that holds the open file.
    pub register: u8,
    /// Number of the file's name.
    pub name: u32,
}

impl Recording {
    /// An empty recording with room for `count` calls.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            calls: Vec::with_capacity(count.min(CALLS_MAX)),
            ..Self::default()
        }
    }

    /// Number of calls.
    pub fn count(&self) -> usize {
        self.calls.len()
    }

    /// Adds a call.
    ///
    /// # Errors
    /// The recording has too many calls.
    pub fn push(&mut self, call: TraceCall) -> Result<(), String> {
        if self.calls.len() >= CALLS_MAX {
            return Err(format!("there are more than {CALLS_MAX} calls"));
        }
        self.calls.push(call);
        Ok(())
    }

    /// Repeats all calls from index `begin` on, so that they are done `times` times in total.
    ///
    /// # Errors
    /// The recording gets too many calls.
    pub fn repeat(&mut self, begin: usize, times: u64) -> Result<(), String> {
        let once = self.calls[begin..].to_vec();
        let all = (once.len() as u64).saturating_mul(times);
        // The check comes before the copies, so that a large number of loops cannot exhaust the
        // memory.
        if all.saturating_add(begin as u64) > CALLS_MAX as u64 {
            return Err(format!("the loop makes more than {CALLS_MAX} calls"));
        }
        for _ in 1..times {
            self.calls.extend_from_slice(&once);
        }
        Ok(())
    }

    /// Number of a name, which is added if it is new.
    ///
    /// # Errors
    /// The name leads out of the directory or is too long.
    pub fn name(&mut self, text: &str) -> Result<u32, String> {
        if let Some(number) = self.numbers.get(text) {
            return Ok(*number);
        }
        let number = self.names.len() as u32;
        self.names.push(beneath(text)?);
        self.sizes.push(0);
        self.numbers.insert(text.to_owned(), number);
        Ok(number)
    }

    /// The file that a handle refers to; `None` if the handle is not open.
    pub fn find(&self, handle: u64) -> Option<RecordedHandle> {
        self.opened.get(&handle).copied()
    }

    /// Register for an open call. If the call succeeds, the handle refers to this file from here
    /// on.
    ///
    /// # Errors
    /// Too many files are open.
    pub fn open(&mut self, handle: u64, name: u32, goes_well: bool) -> Result<u8, String> {
        // A failed open must not replace the file of a handle that is still open.
        let known = self.find(handle).filter(|_| goes_well);
        let register = match known {
            // A handle that is opened again without a close keeps its register; the replay closes
            // the old file first.
            Some(opened) => opened.register,
            None => self.free_register()?,
        };
        if goes_well {
            self.is_taken[usize::from(register)] = true;
            self.opened
                .insert(handle, RecordedHandle { register, name });
        }
        Ok(register)
    }

    fn free_register(&mut self) -> Result<u8, String> {
        let free = self.is_taken.iter().position(|taken| !taken);
        let register = free.unwrap_or_else(|| {
            self.is_taken.push(false);
            self.is_taken.len() - 1
        });
        match register < REGISTERS_MAX {
            // `REGISTERS_MAX` is below 256, so the index fits.
            true => Ok(register as u8),
            false => Err(format!("more than {REGISTERS_MAX} files are open at once")),
        }
    }

    /// Ends the use of a handle and frees its register.
    pub fn close(&mut self, handle: u64) {
        if let Some(opened) = self.opened.remove(&handle) {
            self.is_taken[usize::from(opened.register)] = false;
        }
    }

    /// Sets the position and the number of bytes that a call moves.
    ///
    /// # Errors
    /// The position or the number of bytes is too large.
    pub fn transfer(
        &mut self,
        call: &mut TraceCall,
        offset_bytes: u64,
        bytes: u64,
    ) -> Result<(), String> {
        // The end of the transfer must fit into the kernel's signed 64-bit offset.
        if bytes > PIECE_BYTES_MAX || offset_bytes > i64::MAX as u64 - PIECE_BYTES_MAX {
            return Err(format!("{bytes} bytes at {offset_bytes} are too many"));
        }
        (call.offset_bytes, call.bytes) = (offset_bytes, bytes as u32);
        self.buffer_bytes = self.buffer_bytes.max(call.bytes);
        if call.operation == TraceOperation::Write {
            let size = &mut self.sizes[call.name as usize];
            *size = (*size).max(offset_bytes + bytes);
        }
        Ok(())
    }

    /// Finishes the trace; `bytes` is the content of the file it was read from.
    pub fn trace(self, bytes: &[u8]) -> Trace {
        Trace {
            file_bytes: bytes.len() as u64,
            // The hash only helps to recognize the file, so it need not resist forgery.
            file_hash: units::fnv_1a(bytes.iter().copied()),
            calls_count: self.calls.len() as u64,
            names: self.names,
            register_count: self.is_taken.len() as u8,
            buffer_bytes: self.buffer_bytes,
            // A sum that wrapped around would pass the check of the free space.
            space_bytes: self.sizes.iter().fold(0, |sum, it| sum.saturating_add(*it)),
            calls: self.calls.into(),
            ..Trace::default()
        }
    }
}

/// Turns an absolute or relative name into one below the directory; backslashes become slashes.
fn beneath(text: &str) -> Result<String, String> {
    // Calls recorded from Windows clients separate directories by backslashes.
    let text = text.replace('\\', "/");
    if text.contains('\0') {
        return Err("a name has a zero byte in it".to_owned());
    }
    let parts = text.split('/').filter(|it| !matches!(*it, "" | "."));
    let parts: Vec<&str> = parts.collect();
    if parts.contains(&"..") {
        return Err(format!("`{text}` leads out of the directory"));
    }
    let is_long = |part: &&str| part.len() > COMPONENT_BYTES_MAX;
    if text.len() > NAME_BYTES_MAX || parts.iter().any(is_long) {
        return Err("a name is too long".to_owned());
    }
    Ok(match parts.is_empty() {
        true => ".".to_owned(),
        false => parts.join("/"),
    })
}

#[cfg(test)]
mod tests {
    use plan::program::TraceCall;

    use super::*;

    #[test]
    fn handles_get_free_registers() {
        let mut recording = Recording::default();
        let name = recording.name("a\\b").unwrap();
        assert_eq!(recording.name("a\\b"), Ok(name));
        assert_eq!(recording.open(7, name, true), Ok(0));
        assert_eq!(recording.open(8, name, false), Ok(1));
        assert_eq!(recording.open(9, name, true), Ok(1));
        recording.close(7);
        assert_eq!(recording.open(10, name, true), Ok(0));
        assert!(recording.find(8).is_none() && recording.find(9).is_some());
        assert_eq!(recording.trace(b"").register_count, 2);
    }

    #[test]
    fn writes_take_space_and_repeated_calls_count() {
        let mut recording = Recording::default();
        let mut call = TraceCall::new(TraceOperation::Write);
        call.name = recording.name("/x").unwrap();
        recording.transfer(&mut call, 100, 28).unwrap();
        recording.push(call).unwrap();
        recording.repeat(0, 3).unwrap();
        assert!(recording.repeat(0, 1 << 40).is_err());
        // One call comes before the repeated ones.
        assert!(recording.repeat(1, u64::MAX).is_err());
        let trace = recording.trace(b"a");
        assert_eq!((trace.space_bytes, trace.buffer_bytes), (128, 28));
        assert_eq!((trace.calls_count, trace.names), (3, vec!["x".to_owned()]));
        // Source: the published vectors of FNV-1a.
        assert_eq!(trace.file_hash, 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn the_space_of_writes_at_huge_offsets_does_not_wrap_around() {
        let mut recording = Recording::default();
        for name in ["a", "b", "c"] {
            let mut call = TraceCall::new(TraceOperation::Write);
            call.name = recording.name(name).unwrap();
            recording
                .transfer(&mut call, 0x7fff_ffff_0000_0000, 1)
                .unwrap();
        }
        assert_eq!(recording.trace(b"").space_bytes, u64::MAX);
    }
}
