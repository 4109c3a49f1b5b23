//! Checks of written blocks that need nothing from the run that wrote them, and patterns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How reads are verified by what a block itself contains, without knowledge of the run that wrote
/// it.
///
/// Every interval of a written block contains a header with its own offset, followed by a checksum
/// of the rest of the interval. The layout is the one of fio up to version 3.40.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockCheck {
    /// Checksum or pattern that is verified.
    pub kind: BlockCheckKind,
    /// Number of bytes that a header covers; requests consist of whole intervals.
    pub interval_bytes: u32,
    /// Offset of the header in its interval, in bytes.
    pub header_offset_bytes: u32,
}

/// Checksum or pattern of a [`BlockCheck`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockCheckKind {
    /// Only the header.
    Header,
    /// MD5.
    Md5,
    /// CRC-64, as Redis computes it.
    Crc64,
    /// CRC-32 without inversion, most significant bit first.
    Crc32,
    /// CRC-32C without final inversion.
    Crc32c,
    /// CRC-16/ARC.
    Crc16,
    /// CRC-7/MMC.
    Crc7,
    /// The state of SHA-256 in fio's own form.
    Sha256,
    /// SHA-512.
    Sha512,
    /// SHA3-224.
    #[serde(rename = "sha3-224")]
    Sha3_224,
    /// SHA3-256.
    #[serde(rename = "sha3-256")]
    Sha3_256,
    /// SHA3-384.
    #[serde(rename = "sha3-384")]
    Sha3_384,
    /// SHA3-512.
    #[serde(rename = "sha3-512")]
    Sha3_512,
    /// XXH32 with a seed of 1.
    Xxhash,
    /// SHA-1.
    Sha1,
    /// The header, and that the rest is the pattern of the job.
    PatternHeader,
    /// That all bytes are the pattern of the job; without headers.
    Pattern,
}

impl BlockCheckKind {
    /// `true` if blocks are compared with the job's pattern.
    #[must_use]
    pub const fn needs_pattern(self) -> bool {
        matches!(self, Self::Pattern | Self::PatternHeader)
    }

    /// Number of bytes that a checksum takes after the header.
    #[must_use]
    pub const fn sum_bytes(self) -> u32 {
        match self {
            Self::Header | Self::PatternHeader | Self::Pattern => 0,
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c | Self::Xxhash => 4,
            Self::Crc64 => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3_224 => 28,
            Self::Sha3_256 => 32,
            Self::Sha3_384 => 48,
            // fio reserves twice the length of these two.
            Self::Sha3_512 | Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }

    /// Number of bytes that header and checksum take at the start of each interval.
    #[must_use]
    pub const fn header_bytes(self) -> u32 {
        match self {
            Self::Pattern => 0,
            _ => HEADER_BYTES + self.sum_bytes(),
        }
    }
}

/// Size of a header without the checksum, in bytes.
const HEADER_BYTES: u32 = 40;

impl BlockCheck {
    /// Reason why blocks with these lengths cannot be checked; `None` if they can.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let header_bytes = self.kind.header_bytes();
        let (interval_bytes, offset_bytes) = (self.interval_bytes, self.header_offset_bytes);
        if interval_bytes <= header_bytes {
            return Some(format!(
                "an interval of {interval_bytes} bytes has no room for data after its header of \
                 {header_bytes} bytes"
            ));
        }
        if offset_bytes > interval_bytes - header_bytes {
            return Some(format!(
                "a header of {header_bytes} bytes at offset {offset_bytes} does not fit in an \
                 interval of {interval_bytes} bytes"
            ));
        }
        // The header changes places with the bytes at this offset, so the two must not overlap.
        (1..header_bytes).contains(&offset_bytes).then(|| {
            format!(
                "a header of {header_bytes} bytes at offset {offset_bytes} overlaps its own place"
            )
        })
    }
}

/// Bytes that are written instead of other content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContentPattern {
    /// Two hexadecimal digits per byte; `%o` stands for the offset in the file, as 8 bytes, little
    /// endian. Repeated until the end of the interval.
    pub text: String,
    /// Number of bytes after which the pattern starts over, and the offset is a new one; 0 for the
    /// whole request.
    pub interval_bytes: u32,
}

/// A pattern as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternTemplate {
    /// The bytes of one repetition, with zeros in place of the offsets.
    pub bytes: Vec<u8>,
    /// Positions of the offsets, each of 8 bytes.
    pub offset_positions: Vec<usize>,
}

/// Length of an offset in a pattern, in bytes.
const OFFSET_BYTES: usize = 8;

/// Maximum length of a pattern in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

impl ContentPattern {
    /// The pattern as bytes; `None` if the text is empty, too long or not a pattern.
    #[must_use]
    pub fn template(&self) -> Option<PatternTemplate> {
        let mut template = PatternTemplate {
            bytes: Vec::new(),
            offset_positions: Vec::new(),
        };
        let mut rest = self.text.as_str();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("%o") {
                template.offset_positions.push(template.bytes.len());
                template.bytes.extend([0; OFFSET_BYTES]);
                rest = after;
                continue;
            }
            // `from_str_radix` would accept a sign.
            let digits = rest.get(..2)?;
            let is_hex = digits.bytes().all(|it| it.is_ascii_hexdigit());
            template
                .bytes
                .push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
            rest = &rest[2..];
        }
        let is_good = (1..=PATTERN_BYTES_MAX).contains(&template.bytes.len());
        is_good.then_some(template)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> Option<PatternTemplate> {
        let pattern = ContentPattern {
            text: text.to_owned(),
            interval_bytes: 0,
        };
        pattern.template()
    }

    #[test]
    fn a_pattern_has_bytes_and_offsets() {
        let found = template("61F0%o01").unwrap();
        assert_eq!(found.bytes, [0x61, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(found.offset_positions, [2]);
        for wrong in ["", "6", "6g", "+1", "%p", "61 62", "é1"] {
            assert_eq!(template(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn headers_need_room_for_data_and_for_their_move() {
        let check = |interval_bytes, header_offset_bytes| BlockCheck {
            kind: BlockCheckKind::Md5,
            interval_bytes,
            header_offset_bytes,
        };
        for (interval_bytes, offset_bytes) in [(57, 0), (512, 56), (512, 456)] {
            assert_eq!(check(interval_bytes, offset_bytes).problem(), None);
        }
        for (interval_bytes, offset_bytes, part) in [
            (56, 0, "no room for data"),
            (512, 457, "does not fit"),
            (512, 55, "overlaps its own place"),
        ] {
            let problem = check(interval_bytes, offset_bytes).problem().unwrap();
            assert!(problem.contains(part), "{problem}");
        }
    }
}
