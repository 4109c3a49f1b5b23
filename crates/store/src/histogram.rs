//! Compact binary form of histograms, less than a third of the JSON size.
//!
//! One byte gives the kind of the interchange form ([`HDR_BYTES`] or [`HDR_TEXT`]), followed by its
//! length and content. Each bucket follows as the distance of its lowest value from the highest
//! value of the previous bucket, its width, and its count. Numbers are unsigned with seven bits per
//! byte, lowest bits first, and the top bit set in all bytes but the last. Distances wrap around,
//! so that buckets in any order are restored exactly.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use results::HistogramRecord;

/// The interchange form follows as decoded base 64.
const HDR_BYTES: u8 = 1;
/// The interchange form follows as text, because encoding its bytes again would give another text.
const HDR_TEXT: u8 = 2;

pub(crate) fn encode(histogram: &HistogramRecord) -> Vec<u8> {
    let text = &histogram.hdr_v2_base64;
    let decoded = STANDARD.decode(text).ok();
    // An import must give back the same text, whatever wrote it.
    let canonical = decoded.filter(|bytes| STANDARD.encode(bytes) == *text);
    let (kind, hdr) = match &canonical {
        Some(bytes) => (HDR_BYTES, bytes.as_slice()),
        None => (HDR_TEXT, text.as_bytes()),
    };
    let mut bytes = vec![kind];
    put(&mut bytes, hdr.len() as u64);
    bytes.extend_from_slice(hdr);
    let mut before = 0_u64;
    for &[low, high, count] in &histogram.buckets_ns {
        // Distances are small numbers, which need few bytes.
        put(&mut bytes, low.wrapping_sub(before));
        put(&mut bytes, high.wrapping_sub(low));
        put(&mut bytes, count);
        before = high;
    }
    bytes
}

/// Decodes a histogram; `None` if [`encode`] did not create the bytes.
pub(crate) fn decode(bytes: &[u8]) -> Option<HistogramRecord> {
    let (&kind, mut rest) = bytes.split_first()?;
    let length = usize::try_from(take(&mut rest)?).ok()?;
    let (hdr, mut rest) = rest.split_at_checked(length)?;
    let hdr_v2_base64 = match kind {
        HDR_BYTES => STANDARD.encode(hdr),
        HDR_TEXT => String::from_utf8(hdr.to_vec()).ok()?,
        _ => return None,
    };
    let mut buckets_ns = Vec::new();
    let mut before = 0_u64;
    while !rest.is_empty() {
        let low = before.wrapping_add(take(&mut rest)?);
        let high = low.wrapping_add(take(&mut rest)?);
        buckets_ns.push([low, high, take(&mut rest)?]);
        before = high;
    }
    Some(HistogramRecord {
        hdr_v2_base64,
        buckets_ns,
    })
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    // Ten bytes at most: the file may be damaged and never end a number.
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        // Only one bit of the tenth byte fits into 64 bits.
        if part.leading_zeros() < shift {
            return None;
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn again(histogram: &HistogramRecord) -> Option<HistogramRecord> {
        decode(&encode(histogram))
    }

    #[test]
    fn an_empty_histogram_takes_two_bytes() {
        let empty = HistogramRecord::default();
        assert_eq!(encode(&empty).len(), 2);
        assert_eq!(again(&empty), Some(empty));
    }

    #[test]
    fn a_histogram_takes_less_than_a_third_of_its_json() {
        let mut histogram = stats::Histogram::new();
        for number in 0..10_000_u64 {
            histogram.record(50_000 + number * number % 90_001);
        }
        let record = results::Latency::of(&histogram).histogram;
        let json = serde_json::to_string(&record).unwrap();
        let bytes = encode(&record);
        assert!(
            bytes.len() * 3 < json.len(),
            "{} of {}",
            bytes.len(),
            json.len()
        );
        assert_eq!(decode(&bytes), Some(record));
    }

    #[test]
    fn an_overlong_number_is_refused() {
        let mut bytes = vec![HDR_BYTES];
        bytes.extend([0xff; 9]);
        bytes.push(0x02);
        assert_eq!(decode(&bytes), None);
    }

    proptest! {
        #[test]
        fn any_histogram_survives_encoding(
            hdr_v2_base64 in prop_oneof!["[A-Za-z0-9+/=]{0,12}", any::<String>()],
            buckets_ns in proptest::collection::vec(any::<[u64; 3]>(), 0..20),
        ) {
            let histogram = HistogramRecord { hdr_v2_base64, buckets_ns };
            prop_assert_eq!(again(&histogram), Some(histogram));
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Some(histogram) = decode(&bytes) {
                prop_assert_eq!(again(&histogram), Some(histogram));
            }
        }
    }
}
