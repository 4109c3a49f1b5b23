//! The interchange form of a histogram, which the tools of HdrHistogram read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use crate::Histogram;

/// Three digits keep the value of each bucket to 0.1 %, well within the buckets' own 0.8 %.
const SIGNIFICANT_DIGITS: u8 = 3;

impl Histogram {
    /// The histogram as base64 of HdrHistogram's compressed encoding, version 2.
    ///
    /// Each sample stands as its bucket's value. A count above 2^63 - 1, which the encoding does
    /// not hold, is cut to that. Source: the encoding's description at hdrhistogram.org, `HISTF`.
    #[must_use]
    pub fn to_hdr_v2_base64(&self) -> String {
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
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&hdr, &mut bytes)
            .expect("memory takes every byte and each count is below 2^63");
        STANDARD.encode(bytes)
    }
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
            let ours = histogram.percentile(percent).unwrap() as f64;
            let theirs = hdr.value_at_percentile(percent) as f64;
            assert!(
                (ours - theirs).abs() <= ours * 0.002,
                "{percent}: {ours} {theirs}"
            );
        }
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
