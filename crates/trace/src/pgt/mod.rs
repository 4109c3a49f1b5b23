//! pgmeter's own form of traces: blocks with checksums, so that a recording is readable up to its
//! last block even if the program that wrote it was killed.
//!
//! A file begins with [`FILE_HEAD_BYTES`]: the magic number, the version, the content (`r` for
//! requests, `c` for calls) and zeros. Blocks follow, each with a head of [`BLOCK_HEAD_BYTES`]:
//! `PGB`, the kind, the length of the payload (u32), and the XXH3 checksum of all this and the
//! payload (u64), little-endian. Numbers in payloads have 7 bits per byte, lowest first; signed
//! numbers alternate between positive and negative. Each block is decoded on its own, except that
//! events use the names of earlier blocks.

mod decoder;
mod number;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use decoder::PgtDecoder;
pub use writer::TraceWriter;

const MAGIC: &[u8; 7] = b"PGTRACE";
const VERSION: u8 = 1;
const FILE_HEAD_BYTES: usize = 16;
const BLOCK_MAGIC: &[u8; 3] = b"PGB";
const BLOCK_HEAD_BYTES: usize = 16;
/// Maximum size of a payload. A head and a payload must fit into the buffer of the decoder.
const PAYLOAD_BYTES_MAX: usize = 96 << 10;

/// Content of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceContent {
    /// Requests to block devices.
    Requests,
    /// System calls.
    Calls,
}

/// Kinds of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum BlockKind {
    /// Lines of text about the recording.
    About = b'a',
    /// The number of the first name, and names, each with its length.
    Names = b'n',
    Requests = b'r',
    Calls = b'c',
    /// Number of events that the kernel dropped since the last such block.
    Loss = b'l',
    /// Number of events of the file.
    End = b'e',
}

impl BlockKind {
    fn of(byte: u8) -> Option<Self> {
        let all = [
            Self::About,
            Self::Names,
            Self::Requests,
            Self::Calls,
            Self::Loss,
            Self::End,
        ];
        all.into_iter().find(|kind| *kind as u8 == byte)
    }
}

impl TraceContent {
    fn byte(self) -> u8 {
        match self {
            Self::Requests => b'r',
            Self::Calls => b'c',
        }
    }
}

/// `true` if bytes begin with a trace of pgmeter, of any version.
pub(crate) fn is_pgt(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Content of a trace, or `None` if this version of pgmeter does not know it.
pub(crate) fn content(head: &[u8]) -> Option<TraceContent> {
    let rest = head.strip_prefix(MAGIC)?;
    match rest {
        [VERSION, b'r', ..] => Some(TraceContent::Requests),
        [VERSION, b'c', ..] => Some(TraceContent::Calls),
        _ => None,
    }
}

/// Checksum of the head of a block, up to the checksum itself, and of the payload.
fn checksum(start: &[u8], payload: &[u8]) -> u64 {
    let mut hash = xxhash_rust::xxh3::Xxh3Default::new();
    hash.update(start);
    hash.update(payload);
    hash.digest()
}

// Flags of a request: three bits of kind, three bits of layer, and these.
const FORCED: u8 = 1 << 6;
/// The previous request of the block has the same device, process and process number.
const SAME_SOURCE: u8 = 1 << 7;

// Flags of a call.
const SAME_THREAD: u8 = 1;
const HAS_DURATION: u8 = 1 << 1;
const HAS_OFFSET: u8 = 1 << 2;
const HAS_RESULT: u8 = 1 << 3;
const HAS_SECOND_FILE: u8 = 1 << 4;
