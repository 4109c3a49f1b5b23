use std::io::{Cursor, Read, Write};

use proptest::prelude::*;

use super::*;
use crate::LENGTH_MAX_BYTES;

/// What comes, and how many bytes went.
struct Scripted {
    input: Cursor<Vec<u8>>,
    sent: Vec<u8>,
    sent_count: u64,
}

impl Scripted {
    fn new(parts: &[&[u8]]) -> Self {
        Self {
            input: Cursor::new(parts.concat()),
            sent: Vec::new(),
            sent_count: 0,
        }
    }

    fn statuses(&self) -> Vec<FrameStatus> {
        let frames = self.sent.chunks_exact(FRAME_BYTES);
        let frames = frames.map_while(|bytes| Frame::of_bytes(bytes.try_into().ok()?).ok());
        frames.map(|frame| frame.status).collect()
    }
}

impl Read for Scripted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // As a slow network hands it over.
        let most = buffer.len().min(13);
        self.input.read(&mut buffer[..most])
    }
}

impl Connection for Scripted {}

impl Write for Scripted {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.sent_count += buffer.len() as u64;
        if self.sent.len() < 4 * FRAME_BYTES {
            self.sent.extend_from_slice(buffer);
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn serving() -> SinkState {
    SinkState::new(None, Duration::ZERO)
}

fn hello() -> [u8; FRAME_BYTES] {
    Frame::new(FrameStatus::Hello, [1; 32]).to_bytes()
}

fn header(direction: ByteDirection, length_bytes: u32, reply_bytes: u32) -> [u8; HEADER_BYTES] {
    let header = TransactionHeader {
        direction,
        length_bytes,
        reply_bytes,
    };
    header.to_bytes()
}

#[test]
fn requests_and_replies_move_exactly_their_bytes() {
    let mut stream = Scripted::new(&[
        &hello(),
        &header(ByteDirection::ToSink, 100, 7),
        &[0; 100],
        &header(ByteDirection::FromSink, 5000, 20),
        &[0; 20],
        &header(ByteDirection::ToSink, 0, 0),
        &header(ByteDirection::FromSink, 2 << 20, 0),
    ]);
    assert_eq!(
        serve(&mut stream, &serving(), NO_SECRET),
        ConnectionEnd::Closed
    );
    assert_eq!(stream.statuses()[0], FrameStatus::Welcome);
    assert_eq!(stream.sent_count, 64 + 7 + 5000 + (2 << 20));
}

#[test]
fn another_major_version_gets_the_version_of_this_one() {
    let other = Frame {
        major: MAJOR + 1,
        ..Frame::new(FrameStatus::Hello, [1; 32])
    };
    let mut stream = Scripted::new(&[&other.to_bytes()]);
    assert_eq!(
        serve(&mut stream, &serving(), NO_SECRET),
        ConnectionEnd::Refused
    );
    assert_eq!(stream.statuses(), [FrameStatus::Version]);
}

#[test]
fn an_invalid_header_is_refused_and_a_truncated_one_is_broken() {
    let mut stream = Scripted::new(&[&hello(), &[0xff; 16]]);
    assert_eq!(
        serve(&mut stream, &serving(), NO_SECRET),
        ConnectionEnd::Refused
    );
    assert_eq!(
        stream.statuses(),
        [FrameStatus::Welcome, FrameStatus::Refused]
    );
    for rest in [
        &header(ByteDirection::ToSink, LENGTH_MAX_BYTES, 0)[..],
        &[1, 0, 0],
    ] {
        let mut stream = Scripted::new(&[&hello(), rest]);
        assert_eq!(
            serve(&mut stream, &serving(), NO_SECRET),
            ConnectionEnd::Broken
        );
    }
}

proptest! {
    #[test]
    fn any_input_ends_the_connection_of_the_sink(
        greets in any::<bool>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let first = if greets { hello().to_vec() } else { Vec::new() };
        let mut stream = Scripted::new(&[&first, &bytes]);
        let end = serve(&mut stream, &serving(), NO_SECRET);
        prop_assert!(greets || end != ConnectionEnd::Closed);
    }
}
