//! Compressed logs: lines of a log as samples of a fixed size, in one or more zlib streams.
//!
//! Source: fio 3.42, `iolog.h`. A sample has the time, two values, the direction with flags, the
//! priority, the block size and, if the flags say so, the offset and the time of submission, in
//! the byte order of the machine.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::settings::{Logs, WindowValue};

/// Flags of a sample, above its direction.
const HAS_OFFSET: u32 = 1 << 31;
const HAS_PRIORITY: u32 = 1 << 30;
const HAS_BOTH_VALUES: u32 = 1 << 29;
const HAS_ISSUE_TIME: u32 = 1 << 28;
const FLAGS: u32 = HAS_OFFSET | HAS_PRIORITY | HAS_BOTH_VALUES | HAS_ISSUE_TIME;

/// Size of a sample without an offset and a time of submission.
const SAMPLE_BYTES: usize = 40;

/// Maximum size of the samples of a file: about 10 million.
const INFLATED_BYTES_MAX: u64 = 512 << 20;

/// Flags of all samples of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SampleFlags(u32);

impl SampleFlags {
    pub(super) fn of(logs: &Logs) -> Self {
        let flags = [
            (logs.has_offset, HAS_OFFSET),
            (logs.has_priority, HAS_PRIORITY),
            (logs.window_value == WindowValue::Both, HAS_BOTH_VALUES),
            (logs.has_issue_time, HAS_ISSUE_TIME),
        ];
        let set = flags.into_iter().filter(|(is_set, _)| *is_set);
        Self(set.fold(0, |all, (_, flag)| all | flag))
    }

    const fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    /// Size of a sample with these flags.
    const fn sample_bytes(self) -> usize {
        let more = self.has(HAS_OFFSET) as usize + self.has(HAS_ISSUE_TIME) as usize;
        SAMPLE_BYTES + more * size_of::<u64>()
    }
}

/// A line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct BinarySample {
    time_ms: u64,
    values: [u64; 2],
    direction: u32,
    priority: u16,
    block_bytes: u64,
    offset_bytes: u64,
    issued_ns: u64,
}

impl BinarySample {
    /// Reads a line; `None` if it has other fields than the flags say.
    fn of_line(line: &str, flags: SampleFlags) -> Option<Self> {
        let mut fields = line.split(", ");
        let mut next = || -> Option<u64> {
            let field = fields.next()?;
            match field.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => field.parse().ok(),
            }
        };
        let mut sample = Self {
            time_ms: next()?,
            values: [next()?, 0],
            ..Self::default()
        };
        if flags.has(HAS_BOTH_VALUES) {
            sample.values[1] = next()?;
        }
        sample.direction = u32::try_from(next()?).ok()?;
        sample.block_bytes = next()?;
        if flags.has(HAS_OFFSET) {
            sample.offset_bytes = next()?;
        }
        sample.priority = u16::try_from(next()?).ok()?;
        if flags.has(HAS_ISSUE_TIME) {
            sample.issued_ns = next()?;
        }
        Some(sample)
    }

    fn line(&self, flags: SampleFlags) -> String {
        let mut fields = vec![self.time_ms.to_string(), self.values[0].to_string()];
        if flags.has(HAS_BOTH_VALUES) {
            fields.push(self.values[1].to_string());
        }
        fields.extend([self.direction.to_string(), self.block_bytes.to_string()]);
        if flags.has(HAS_OFFSET) {
            fields.push(self.offset_bytes.to_string());
        }
        fields.push(match flags.has(HAS_PRIORITY) {
            true => format!("0x{:04x}", self.priority),
            // The class of the priority is above three bits for hints and the level.
            false => u16::from(self.priority >> 13 == 1).to_string(),
        });
        if flags.has(HAS_ISSUE_TIME) {
            fields.push(self.issued_ns.to_string());
        }
        fields.join(", ") + "\n"
    }

    fn put(&self, flags: SampleFlags, bytes: &mut Vec<u8>) {
        for number in [self.time_ms, self.values[0], self.values[1]] {
            bytes.extend(number.to_ne_bytes());
        }
        bytes.extend((self.direction | flags.0).to_ne_bytes());
        bytes.extend(self.priority.to_ne_bytes());
        // Alignment of the next number.
        bytes.extend([0; 2]);
        bytes.extend(self.block_bytes.to_ne_bytes());
        if flags.has(HAS_OFFSET) {
            bytes.extend(self.offset_bytes.to_ne_bytes());
        }
        if flags.has(HAS_ISSUE_TIME) {
            bytes.extend(self.issued_ns.to_ne_bytes());
        }
    }

    /// Reads a sample with these flags.
    fn of_bytes(bytes: &[u8], flags: SampleFlags) -> Self {
        let long = |at: usize| bytes.get(at..at + 8).map_or(0, number);
        let after_offset = SAMPLE_BYTES + usize::from(flags.has(HAS_OFFSET)) * 8;
        Self {
            time_ms: long(0),
            values: [long(8), long(16)],
            direction: number_of_four(bytes, 24) & !FLAGS,
            priority: bytes
                .get(28..30)
                .map_or(0, |it| u16::from_ne_bytes([it[0], it[1]])),
            block_bytes: long(32),
            offset_bytes: if flags.has(HAS_OFFSET) { long(40) } else { 0 },
            issued_ns: match flags.has(HAS_ISSUE_TIME) {
                true => long(after_offset),
                false => 0,
            },
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(bytes);
    u64::from_ne_bytes(number)
}

fn number_of_four(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    if let Some(bytes) = bytes.get(at..at + 4) {
        number.copy_from_slice(bytes);
    }
    u32::from_ne_bytes(number)
}

/// Compresses the lines of a log.
pub(super) fn deflated(lines: &str, flags: SampleFlags) -> Vec<u8> {
    let mut samples = Vec::with_capacity(lines.lines().count() * flags.sample_bytes());
    for sample in lines
        .lines()
        .filter_map(|it| BinarySample::of_line(it, flags))
    {
        sample.put(flags, &mut samples);
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // A `Vec` accepts all bytes.
    let written = encoder.write_all(&samples);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}

/// The lines of a compressed log.
///
/// # Errors
/// The reason if this is no compressed log, or a log of more than 512 MiB.
pub(super) fn inflated(bytes: &[u8]) -> Result<String, String> {
    let mut lines = String::new();
    let (mut rest, mut total_bytes) = (bytes, 0);
    while !rest.is_empty() {
        let mut samples = Vec::new();
        // One byte more reveals a log that is too long.
        let limit = INFLATED_BYTES_MAX + 1 - total_bytes;
        let before_bytes = rest.len();
        let mut decoder = ZlibDecoder::new(&mut rest);
        let read = decoder.by_ref().take(limit).read_to_end(&mut samples);
        read.map_err(|error| format!("it is not a compressed log: {error}"))?;
        total_bytes += samples.len() as u64;
        if total_bytes > INFLATED_BYTES_MAX || rest.len() == before_bytes {
            return Err("it is damaged, or its samples have more than 512 MiB".to_owned());
        }
        // All samples of a stream have the flags of the first.
        let flags = SampleFlags(number_of_four(&samples, 24) & FLAGS);
        let chunks = samples.chunks_exact(flags.sample_bytes());
        if !chunks.remainder().is_empty() {
            return Err("its last sample is not complete".to_owned());
        }
        lines.extend(chunks.map(|it| BinarySample::of_bytes(it, flags).line(flags)));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> impl Strategy<Value = BinarySample> {
        let numbers = (any::<u64>(), any::<[u64; 2]>(), 0..3_u32, any::<u64>());
        (numbers, any::<u64>(), any::<u64>()).prop_map(
            |((time_ms, values, direction, block_bytes), offset_bytes, issued_ns)| BinarySample {
                time_ms,
                values,
                direction,
                priority: 0,
                block_bytes,
                offset_bytes,
                issued_ns,
            },
        )
    }

    proptest! {
        #[test]
        fn a_log_is_the_same_after_compression(
            samples in prop::collection::vec(sample(), 0..50),
            flags in 0..16_u32,
        ) {
            let flags = SampleFlags(flags << 28);
            let lines: String = samples.iter().map(|it| it.line(flags)).collect();
            let bytes = deflated(&lines, flags);
            prop_assert_eq!(inflated(&bytes), Ok(lines.clone()));
            // A log may consist of several streams.
            let twice = [&bytes[..], &bytes].concat();
            prop_assert_eq!(inflated(&twice), Ok(lines.repeat(2)));
        }

        #[test]
        fn other_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let read = inflated(&bytes);
            prop_assert!(bytes.is_empty() || read.is_err() || read == Ok(String::new()));
        }
    }

    #[test]
    fn a_sample_has_the_layout_of_the_original() {
        let flags = SampleFlags(HAS_OFFSET);
        let mut bytes = Vec::new();
        let sample = BinarySample::of_line("5, 7, 2, 4096, 8192, 0", flags).unwrap();
        sample.put(flags, &mut bytes);
        assert_eq!(bytes.len(), 48);
        let numbers: Vec<u32> = (0..12).map(|at| number_of_four(&bytes, at * 4)).collect();
        // Low halves come first on little-endian machines.
        if cfg!(target_endian = "little") {
            let direction = 2 | HAS_OFFSET;
            let wanted = [5, 0, 7, 0, 0, 0, direction, 0, 4096, 0, 8192, 0];
            assert_eq!(numbers, wanted);
        }
    }
}
