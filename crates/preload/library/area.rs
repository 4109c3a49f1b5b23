//! The extended processor state in the standard format of XSAVE: 512 bytes of x87 and SSE, a header
//! of 64 bytes, then each feature at its own offset.
//!
//! Source: Intel, "Software Developer's Manual", volume 1, 13.4, "XSAVE area".

use core::ops::Range;

/// End of the x87 and SSE registers, which bits 0 and 1 of the header stand for.
const LEGACY_END: usize = 512;
/// First 8 bytes of the header, `XSTATE_BV`: the features in use.
const FEATURES: Range<usize> = LEGACY_END..LEGACY_END + 8;
/// End of `XCOMP_BV` and the reserved bytes, all of which are 0 in the standard format.
const HEADER_END: usize = 576;
/// Features below this number are in the first 512 bytes.
const FIRST_EXTENDED: u32 = 2;

/// Copies a shorter area over a whole one, feature by feature. Features within the shorter area
/// take over its values and whether they are in use; the others stay unchanged. Returns `false` if
/// one of the areas has no complete header.
///
/// `byte_range` returns the byte range of a feature. The kernel must reject features without a
/// range, and headers that are not in the standard format.
pub fn overlay(
    complete: &mut [u8],
    given: &[u8],
    mut byte_range: impl FnMut(u32) -> Option<Range<usize>>,
) -> bool {
    let (Some(before), Some(wanted)) = (features(complete), features(given)) else {
        return false;
    };
    copy(complete, given, 0..FEATURES.start);
    copy(complete, given, FEATURES.end..HEADER_END);
    let mut merged = wanted;
    for feature in FIRST_EXTENDED..u64::BITS {
        let bit = 1 << feature;
        if (before | wanted) & bit == 0 {
            continue;
        }
        match byte_range(feature) {
            Some(range) if range.end > given.len() => merged = merged & !bit | before & bit,
            Some(range) if wanted & bit != 0 => copy(complete, given, range),
            _ => {}
        }
    }
    copy_into(complete, FEATURES, &merged.to_le_bytes());
    true
}

/// Bits of the features in use; `None` if the area is shorter than its header.
fn features(area: &[u8]) -> Option<u64> {
    let header = area.get(..HEADER_END)?;
    let bytes = header.get(FEATURES)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn copy(to: &mut [u8], from: &[u8], range: Range<usize>) {
    if let Some(from) = from.get(range.clone()) {
        copy_into(to, range, from);
    }
}

fn copy_into(to: &mut [u8], range: Range<usize>, from: &[u8]) {
    let to = to.get_mut(range).unwrap_or_default();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of an Intel processor with AVX-512, protection keys and AMX.
    const FULL_BYTES: usize = 11_008;
    /// What User-mode Linux 6.1 gives.
    const UML_BYTES: usize = 2696;

    fn intel(feature: u32) -> Option<Range<usize>> {
        let (offset, size) = match feature {
            2 => (576, 256),
            5 => (1088, 64),
            6 => (1152, 512),
            7 => (1664, 1024),
            9 => (2688, 8),
            17 => (2752, 64),
            18 => (2816, 8192),
            _ => return None,
        };
        Some(offset..offset + size)
    }

    fn area(size: usize, byte: u8, features: u64) -> Vec<u8> {
        let mut area = vec![byte; size];
        area[FEATURES].copy_from_slice(&features.to_le_bytes());
        area[FEATURES.end..HEADER_END].fill(0);
        area
    }

    #[test]
    fn given_features_are_set_and_those_beyond_stay() {
        let mut complete = area(FULL_BYTES, 1, 0x60_2e7);
        let given = area(UML_BYTES, 2, 0xe3);
        assert!(overlay(&mut complete, &given, intel));
        // AVX and protection keys are not in use any more, AMX still is.
        assert_eq!(features(&complete), Some(0x60_0e3));
        for feature in [5, 6, 7] {
            assert!(
                complete[intel(feature).unwrap()]
                    .iter()
                    .all(|byte| *byte == 2)
            );
        }
        assert!(complete[..LEGACY_END].iter().all(|byte| *byte == 2));
        assert!(complete[2752..].iter().all(|byte| *byte == 1));
    }

    #[test]
    fn a_truncated_feature_stays_unchanged() {
        let mut complete = area(FULL_BYTES, 1, 0xe7);
        let given = area(1200, 2, 0x7);
        assert!(overlay(&mut complete, &given, intel));
        assert_eq!(features(&complete), Some(0xc7));
        assert!(complete[intel(6).unwrap()].iter().all(|byte| *byte == 1));
    }

    #[test]
    fn features_given_without_their_registers_are_not_in_use() {
        let mut complete = area(FULL_BYTES, 1, 0x3);
        assert!(overlay(&mut complete, &area(UML_BYTES, 2, 0x60_003), intel));
        assert_eq!(features(&complete), Some(0x3));
    }

    #[test]
    fn an_invalid_header_is_passed_on_to_the_kernel() {
        let mut given = area(UML_BYTES, 2, 1 << 40);
        given[FEATURES.end + 7] = 0x80;
        let mut complete = area(FULL_BYTES, 1, 0x3);
        assert!(overlay(&mut complete, &given, intel));
        assert_eq!(features(&complete), Some(1 << 40));
        assert_eq!(complete[FEATURES.end + 7], 0x80);
    }

    #[test]
    fn without_a_header_nothing_is_written() {
        let mut complete = area(FULL_BYTES, 1, 0x7);
        assert!(!overlay(&mut complete, &[2; HEADER_END - 1], intel));
        assert_eq!(complete, area(FULL_BYTES, 1, 0x7));
    }

    proptest! {
        #[test]
        fn every_feature_comes_from_one_side_as_a_whole(
            length in HEADER_END..FULL_BYTES,
            before in any::<u64>(),
            wanted in any::<u64>(),
        ) {
            let mut complete = area(FULL_BYTES, 1, before);
            prop_assert!(overlay(&mut complete, &area(length, 2, wanted), intel));
            let merged = features(&complete).unwrap();
            for feature in 0..u64::BITS {
                let bit = 1 << feature;
                let range = intel(feature);
                let is_beyond = range.as_ref().is_some_and(|range| range.end > length);
                let side = if is_beyond { before } else { wanted };
                prop_assert_eq!(merged & bit, side & bit);
                if let Some(range) = range && merged & bit != 0 {
                    let wanted = if is_beyond { 1 } else { 2 };
                    prop_assert!(complete[range].iter().all(|byte| *byte == wanted));
                }
            }
        }
    }
}
