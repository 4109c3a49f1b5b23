//! Headers of blocks that any run can verify, in the layout of fio.

use plan::job::BlockCheckKind;

use super::block_sum::crc32c;

const MAGIC: u16 = 0xacca;

/// Size of a header in bytes.
pub(super) const HEADER_BYTES: usize = 40;

/// Size of the header of fio since version 3.41, in bytes.
pub(super) const VERSIONED_BYTES: usize = 48;

/// Third byte of a header of this size.
const VERSION: u8 = 0x81;

/// Content of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockHeader {
    /// fio's number of the kind of checksum.
    pub(super) kind_number: u16,
    /// Length of the interval that it covers.
    pub(super) length_bytes: u32,
    /// Random number of the write.
    pub(super) seed: u64,
    /// Offset of the interval in the file.
    pub(super) offset_bytes: u64,
    /// Start of the job, in seconds since 1970.
    pub(super) time_s: u32,
    /// Number of the job.
    pub(super) thread: u16,
    /// Number of the write in its job.
    pub(super) number: u16,
}

/// Reason why there is no valid header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderDamage {
    /// There is no header; has the bytes at the place of the magic number.
    NoHeader(u16),
    /// The header's own checksum is wrong.
    Checksum { wanted: u32, actual: u32 },
}

impl BlockHeader {
    /// Writes the header to the start of `bytes`.
    pub(super) fn put(&self, bytes: &mut [u8]) {
        bytes[0..2].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.kind_number.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seed.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset_bytes.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.time_s.to_le_bytes());
        // Nanoseconds are not known without a system call per write.
        bytes[28..32].fill(0);
        bytes[32..34].copy_from_slice(&self.thread.to_le_bytes());
        bytes[34..36].copy_from_slice(&self.number.to_le_bytes());
        let sum = crc32c([&bytes[..36], &[], &[]]);
        bytes[36..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
    }

    /// Reads a header at the start of `bytes`, which are at least [`HEADER_BYTES`] long.
    pub(super) fn get(bytes: &[u8]) -> Result<Self, HeaderDamage> {
        let magic = u16_at(bytes, 0);
        if magic != MAGIC {
            return Err(HeaderDamage::NoHeader(magic));
        }
        let size_bytes = size_of_header(bytes);
        let is_versioned = size_bytes == VERSIONED_BYTES;
        let at = size_bytes - 4;
        let (wanted, actual) = (u32_at(bytes, at), crc32c([&bytes[..at], &[], &[]]));
        if wanted != actual {
            return Err(HeaderDamage::Checksum { wanted, actual });
        }
        Ok(Self {
            kind_number: match is_versioned {
                true => bytes[3].into(),
                false => u16_at(bytes, 2),
            },
            length_bytes: u32_at(bytes, 4),
            seed: u64_at(bytes, 8),
            offset_bytes: u64_at(bytes, 16),
            time_s: u32_at(bytes, 24),
            thread: u16_at(bytes, if is_versioned { 40 } else { 32 }),
            number: u16_at(bytes, if is_versioned { 32 } else { 34 }),
        })
    }
}

/// Size of the header that starts with these bytes.
pub(super) fn size_of_header(bytes: &[u8]) -> usize {
    match bytes[2] == VERSION && bytes.len() >= VERSIONED_BYTES {
        true => VERSIONED_BYTES,
        false => HEADER_BYTES,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// fio's number of a kind of checksum.
pub(super) const fn kind_number(kind: BlockCheckKind) -> u16 {
    match kind {
        BlockCheckKind::Header => 1,
        BlockCheckKind::Md5 => 2,
        BlockCheckKind::Crc64 => 3,
        BlockCheckKind::Crc32 => 4,
        BlockCheckKind::Crc32c => 5,
        // 6 is the CRC-32C that fio computes with an instruction.
        BlockCheckKind::Crc16 => 7,
        BlockCheckKind::Crc7 => 8,
        BlockCheckKind::Sha256 => 9,
        BlockCheckKind::Sha512 => 10,
        BlockCheckKind::Sha3_224 => 11,
        BlockCheckKind::Sha3_256 => 12,
        BlockCheckKind::Sha3_384 => 13,
        BlockCheckKind::Sha3_512 => 14,
        BlockCheckKind::Xxhash => 15,
        BlockCheckKind::Sha1 => 16,
        BlockCheckKind::PatternHeader => 17,
        BlockCheckKind::Pattern => 18,
    }
}
