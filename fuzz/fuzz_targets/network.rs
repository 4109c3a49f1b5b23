//! Input of a sink, in pieces of any length: whatever the input, the sink ends, and sends no more
//! than was requested.

#![no_main]

use std::io::{Read, Result, Write};
use std::sync::OnceLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use network::{Connection, FRAME_BYTES, Frame, FrameStatus, LENGTH_MAX_BYTES, SinkState, serve};

/// Input, of which each call returns at most `piece_bytes`, and the number of bytes sent.
struct Scripted<'a> {
    input: &'a [u8],
    piece_bytes: usize,
    sent_bytes: u64,
}

impl Read for Scripted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let most = buffer.len().min(self.piece_bytes);
        self.input.read(&mut buffer[..most])
    }
}

impl Connection for Scripted<'_> {}

impl Write for Scripted<'_> {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        self.sent_bytes += buffer.len() as u64;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    static SERVING: OnceLock<SinkState> = OnceLock::new();
    let serving = SERVING.get_or_init(|| SinkState::new(None, Duration::ZERO));
    let Some((flags, rest)) = bytes.split_first() else {
        return;
    };
    // Few find their way through the greeting by themselves.
    let hello = Frame::new(FrameStatus::Hello, [7; 32]).to_bytes();
    let input = match flags & 1 {
        0 => rest.to_vec(),
        _ => [&hello, rest].concat(),
    };
    let mut stream = Scripted {
        input: &input,
        piece_bytes: usize::from(flags >> 1) + 1,
        sent_bytes: 0,
    };
    serve(&mut stream, serving, [9; 32]);
    let header_count = input.len() as u64 / 16;
    let most = 2 * FRAME_BYTES as u64 + header_count * u64::from(LENGTH_MAX_BYTES);
    assert!(stream.sent_bytes <= most);
});
