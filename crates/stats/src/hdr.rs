//! The interchange format of histograms, which the tools of HdrHistogram read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};

use crate::Histogram;

/// Three digits keep the value of each bucket within 0.1 %, well below the bucket error of 0.8 %.
const SIGNIFICANT_DIGITS: u8 = 3;

/// First word of the compressed encoding, version 2.
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
/// Longest plain encoding that is stored uncompressed.
const STORED_BYTES_MAX: u16 = 256;

impl Histogram {
    /// The histogram as base64 of HdrHistogram's compressed encoding, version 2.
    ///
    /// Each sample has the value of its bucket. The encoding holds at most 2^63 - 1 samples; the
    /// rest are dropped. Source: the description of the encoding at hdrhistogram.org, `HISTF`.
    #[must_use]
    pub fn to_hdr_v2_base64(&self) -> String {
        // The library requires an upper bound of at least twice the lower one.
        let highest = self.max_ns.max(2);
        let mut hdr =
            hdrhistogram::Histogram::<u64>::new_with_bounds(1, highest, SIGNIFICANT_DIGITS)
                .expect("bounds from 1 to at least 2 and three digits are valid");
        let mut left = i64::MAX as u64;
        for index in self.used() {
            let count = self.counts[index].min(left);
            left -= count;
            hdr.saturating_record_n(self.value_of(index), count);
        }
        let taken = "memory takes every byte and each count is below 2^63";
        let mut plain = Vec::new();
        V2Serializer::new()
            .serialize(&hdr, &mut plain)
            .expect(taken);
        if let Some(bytes) = stored(&plain) {
            return STANDARD.encode(bytes);
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&hdr, &mut bytes)
            .expect(taken);
        STANDARD.encode(bytes)
    }
}

/// The compressed format of a short encoding, without compression. A compressor allocates and
/// clears 300 KB, which dominates the cost if phases are short and numerous. `None` for longer
/// encodings. Source: RFC 1950 and RFC 1951, 3.2.4.
fn stored(plain: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(plain.len()).ok();
    let length = length.filter(|it| *it <= STORED_BYTES_MAX)?;
    let mut bytes = COMPRESSED_COOKIE.to_be_bytes().to_vec();
    // Header of the stream, header of the block, content and checksum.
    let frame_bytes = 2 + 5 + u32::from(length) + 4;
    bytes.extend(frame_bytes.to_be_bytes());
    // Deflate with a window of 32 KiB, fastest level; then one final, stored block.
    bytes.extend([0x78, 0x01, 0x01]);
    // A stored block is little-endian (RFC 1951, 3.2.4), unlike the frame around it.
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(plain);
    bytes.extend(adler_32(plain).to_be_bytes());
    Some(bytes)
}

fn adler_32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    fn read_back(histogram: &Histogram) -> hdrhistogram::Histogram<u64> {
        let text = histogram.to_hdr_v2_base64();
        assert!(text.starts_with("HISTF"), "{text}");
        let bytes = STANDARD.decode(text).unwrap();
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap()
    }

    #[test]
    fn the_reference_implementation_reads_the_same_percentiles() {
        let mut histogram = Histogram::new();
        for step in 1..=20_000_u64 {
            histogram.record(step * step);
        }
        let hdr = read_back(&histogram);
        assert_eq!(hdr.len(), 20_000);
        for percent in [50.0, 90.0, 99.0, 99.9] {
            let own = histogram.percentile(percent).unwrap() as f64;
            let theirs = hdr.value_at_percentile(percent) as f64;
            assert!(
                (own - theirs).abs() <= own * 0.002,
                "{percent}: {own} {theirs}"
            );
        }
    }

    #[test]
    fn short_encodings_are_also_stored_and_read() {
        let mut histogram = Histogram::new();
        for count in 1..=20 {
            histogram.record_n(count * 1_000_000, count);
            let hdr = read_back(&histogram);
            assert_eq!(hdr.len(), histogram.count());
            // A bucket is 0.8 % wide.
            assert!(hdr.max().abs_diff(count * 1_000_000) <= count * 10_000);
        }
        assert_eq!(adler_32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn extremes_are_encoded() {
        assert_eq!(read_back(&Histogram::new()).len(), 0);
        let mut histogram = Histogram::new();
        histogram.record(0);
        histogram.record(u64::MAX);
        assert_eq!(read_back(&histogram).len(), 2);
        histogram.record_n(5, u64::MAX);
        assert_eq!(read_back(&histogram).len(), i64::MAX as u64);
    }
}
