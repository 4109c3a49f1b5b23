//! Checksums of blocks, in the form in which fio stores them.

use crc::{Algorithm, CRC_7_MMC, CRC_16_ARC, CRC_32_ISCSI, CRC_64_REDIS, Crc, Table};
use md5::Md5;
use plan::job::BlockCheckKind as Kind;
use sha1::Sha1;
use sha2::digest::generic_array::GenericArray;
use sha2::{Digest, Sha512, compress256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use xxhash_rust::xxh32::Xxh32;

/// Size of the largest checksum in bytes.
pub(super) const SUM_BYTES_MAX: usize = 128;

/// A checksum; only the first bytes are used, as many as [`Kind::sum_bytes`].
pub(super) type SumBytes = [u8; SUM_BYTES_MAX];

/// The data of a block in up to three parts, without its header.
pub(super) type BlockParts<'a> = [&'a [u8]; 3];

/// Computes a checksum.
pub(super) type SumFunction = fn(BlockParts<'_>) -> SumBytes;

/// POSIX `cksum` without the length and the inversion at the end.
const CRC_32_PLAIN: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};

static CRC_7: Crc<u8, Table<1>> = Crc::<u8, Table<1>>::new(&CRC_7_MMC);
static CRC_16: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_ARC);
// Sixteen bytes per step. `crc32c` is what most jobs name.
static CRC_32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_PLAIN);
static CRC_32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);
static CRC_64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// The function for a kind; `None` if it has no checksum.
pub(super) fn sum_function(kind: Kind) -> Option<SumFunction> {
    Some(match kind {
        Kind::Header | Kind::PatternHeader | Kind::Pattern => return None,
        Kind::Md5 => digest::<Md5>,
        Kind::Sha1 => sha1,
        Kind::Sha256 => sha256,
        Kind::Sha512 => sha512,
        Kind::Sha3_224 => digest::<Sha3_224>,
        Kind::Sha3_256 => digest::<Sha3_256>,
        Kind::Sha3_384 => digest::<Sha3_384>,
        Kind::Sha3_512 => digest::<Sha3_512>,
        Kind::Xxhash => xxh32,
        Kind::Crc7 => crc7,
        Kind::Crc16 => crc16,
        Kind::Crc32 => crc32,
        Kind::Crc32c => crc32c_sum,
        Kind::Crc64 => crc64,
    })
}

/// CRC-32C without the inversion at the end, as headers contain it too.
pub(super) fn crc32c(parts: BlockParts<'_>) -> u32 {
    let mut sum = CRC_32C.digest();
    parts.into_iter().for_each(|part| sum.update(part));
    !sum.finalize()
}

fn crc32c_sum(parts: BlockParts<'_>) -> SumBytes {
    stored(&crc32c(parts).to_le_bytes())
}

fn stored(bytes: &[u8]) -> SumBytes {
    let mut sum = [0; SUM_BYTES_MAX];
    sum[..bytes.len()].copy_from_slice(bytes);
    sum
}

fn digest<D: Digest>(parts: BlockParts<'_>) -> SumBytes {
    let mut sum = D::new();
    parts.into_iter().for_each(|part| sum.update(part));
    stored(&sum.finalize())
}

/// The words of SHA-1 in the byte order of the machine that wrote them: little endian.
fn sha1(parts: BlockParts<'_>) -> SumBytes {
    let mut sum = digest::<Sha1>(parts);
    sum[..20].chunks_exact_mut(4).for_each(<[u8]>::reverse);
    sum
}

/// fio's form of SHA-256: the low byte of each of the eight words, followed by the rest of the last
/// block that was hashed. The length in that block is little endian, so the words differ from
/// SHA-256.
fn sha256(parts: BlockParts<'_>) -> SumBytes {
    const BLOCK_BYTES: usize = 64;
    let mut state = SHA256_INITIAL;
    let mut block = [0; BLOCK_BYTES];
    let mut filled_bytes = 0;
    let mut add = |state: &mut [u32; 8], block: &mut [u8; BLOCK_BYTES], mut part: &[u8]| {
        while !part.is_empty() {
            let (taken, rest) = part.split_at(part.len().min(BLOCK_BYTES - filled_bytes));
            block[filled_bytes..filled_bytes + taken.len()].copy_from_slice(taken);
            filled_bytes = (filled_bytes + taken.len()) % BLOCK_BYTES;
            if filled_bytes == 0 {
                compress256(state, &[*GenericArray::from_slice(&block[..])]);
            }
            part = rest;
        }
        filled_bytes
    };
    let mut length_bytes = 0_u32;
    let mut tail_bytes = 0;
    for part in parts {
        length_bytes = length_bytes.wrapping_add(part.len() as u32);
        tail_bytes = add(&mut state, &mut block, part);
    }
    let mut padding = [0; BLOCK_BYTES];
    padding[0] = 0x80;
    let padding_bytes = match tail_bytes < 56 {
        true => 56 - tail_bytes,
        false => 120 - tail_bytes,
    };
    add(&mut state, &mut block, &padding[..padding_bytes]);
    let bits = u64::from(length_bytes) << 3;
    add(&mut state, &mut block, &bits.to_le_bytes());
    for (byte, word) in block.iter_mut().zip(state) {
        *byte = word as u8;
    }
    stored(&block)
}

/// Initial state of SHA-256.
///
/// Source: FIPS 180-4, 5.3.3.
const SHA256_INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// SHA-512, followed by the second half of the last block that was hashed.
fn sha512(parts: BlockParts<'_>) -> SumBytes {
    const BLOCK_BYTES: usize = 128;
    let mut sum = digest::<Sha512>(parts);
    let length_bytes: usize = parts.iter().map(|part| part.len()).sum();
    let tail_bytes = length_bytes % BLOCK_BYTES;
    let mut block = [0; BLOCK_BYTES];
    // With a longer tail, the last block contains only padding and the length.
    if tail_bytes < 112 {
        let tail = parts.iter().rev().flat_map(|part| part.iter().rev());
        for (place, byte) in block[..tail_bytes].iter_mut().rev().zip(tail) {
            *place = *byte;
        }
        block[tail_bytes] = 0x80;
    }
    let bits = (length_bytes as u128) << 3;
    block[112..].copy_from_slice(&bits.to_be_bytes());
    sum[64..].copy_from_slice(&block[64..]);
    sum
}

fn xxh32(parts: BlockParts<'_>) -> SumBytes {
    let mut sum = Xxh32::new(1);
    parts.into_iter().for_each(|part| sum.update(part));
    stored(&sum.digest().to_le_bytes())
}

fn crc7(parts: BlockParts<'_>) -> SumBytes {
    let mut sum = CRC_7.digest();
    parts.into_iter().for_each(|part| sum.update(part));
    stored(&[sum.finalize()])
}

fn crc16(parts: BlockParts<'_>) -> SumBytes {
    let mut sum = CRC_16.digest();
    parts.into_iter().for_each(|part| sum.update(part));
    stored(&sum.finalize().to_le_bytes())
}

fn crc32(parts: BlockParts<'_>) -> SumBytes {
    let mut sum = CRC_32.digest();
    parts.into_iter().for_each(|part| sum.update(part));
    stored(&sum.finalize().to_le_bytes())
}

fn crc64(parts: BlockParts<'_>) -> SumBytes {
    let mut sum = CRC_64.digest();
    parts.into_iter().for_each(|part| sum.update(part));
    stored(&sum.finalize().to_le_bytes())
}
