use std::collections::HashSet;

use engine::{Operation, Request};
use proptest::prelude::*;

use super::*;
use crate::sample::{GIB, line, plan, span};
use crate::{Content, Mismatch};

const KINDS: [ContentPlan; 7] = [
    ContentPlan::Incompressible,
    ContentPlan::Repeating,
    ContentPlan::PseudoRandom,
    ContentPlan::FullRandom,
    ContentPlan::Zero,
    ContentPlan::Constant,
    ContentPlan::Reducible {
        compress_percent: 30.0,
        dedupe_percent: 20.0,
    },
];

fn request(offset_bytes: u64, length_bytes: u32) -> Request {
    Request {
        operation: Operation::Write,
        fileset: 0,
        handle: 0,
        slot: 0,
        file_index: 0,
        length_bytes,
        offset_bytes,
    }
}

/// The blocks of some writes through one slot's buffer.
fn written(kind: ContentPlan, length_bytes: usize, write_count: u64) -> Vec<Vec<u8>> {
    let mut content = ContentSource::new(&kind).unwrap().plain(3);
    let mut buffer = vec![0; length_bytes];
    content.prepare_buffer(&mut buffer);
    (0..write_count)
        .flat_map(|number| {
            content.fill(&mut buffer, &request(number, length_bytes as u32));
            buffer
                .chunks(BLOCK_BYTES)
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn prefilled(kind: ContentPlan, block_count: usize) -> Vec<Vec<u8>> {
    let mut buffer = vec![0; block_count * BLOCK_BYTES];
    ContentSource::new(&kind)
        .unwrap()
        .prefill(5, None, 0, &mut buffer);
    buffer.chunks(BLOCK_BYTES).map(<[u8]>::to_vec).collect()
}

fn distinct(blocks: &[Vec<u8>]) -> usize {
    blocks.iter().collect::<HashSet<_>>().len()
}

/// Entropy of single bytes, in bits.
fn entropy<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> f64 {
    let mut counts = [0_u32; 256];
    bytes
        .into_iter()
        .for_each(|byte| counts[usize::from(*byte)] += 1);
    let total: u32 = counts.iter().sum();
    let shares = counts.iter().filter(|count| **count > 0);
    shares
        .map(|count| f64::from(*count) / f64::from(total))
        .map(|share| -share * share.log2())
        .sum()
}

#[test]
fn incompressible_blocks_all_differ_and_have_full_entropy() {
    for blocks in [
        written(ContentPlan::Incompressible, 4096, 2000),
        written(ContentPlan::Incompressible, 65_536, 100),
        prefilled(ContentPlan::Incompressible, 2000),
    ] {
        assert_eq!(distinct(&blocks), blocks.len());
        assert!(entropy(blocks.iter().flatten()) > 7.9);
    }
}

#[test]
fn a_zeroed_buffer_is_filled_again() {
    let mut content = ContentSource::new(&ContentPlan::Incompressible)
        .unwrap()
        .plain(1);
    let mut buffer = vec![0; 65_536];
    content.fill(&mut buffer, &request(0, 65_536));
    assert!(entropy(&buffer) > 7.9);
}

#[test]
fn buffers_of_any_length_are_filled() {
    for kind in KINDS {
        for length_bytes in [0, 1, 7, 8, 15, 16, 17, 24, 25, 511, 4095, 4097, 70_001] {
            let write_count = 2;
            let blocks = written(kind, length_bytes, write_count);
            assert_eq!(blocks.concat().len(), length_bytes * 2, "{kind:?}");
        }
    }
}

#[test]
fn iometer_patterns_match_their_names() {
    let repeating = written(ContentPlan::Repeating, 4096, 300);
    assert!(
        repeating
            .iter()
            .all(|block| block.iter().all(|byte| *byte == block[0]))
    );
    assert!(distinct(&repeating) > 100);
    let pseudo = written(ContentPlan::PseudoRandom, 4096, 300);
    assert_eq!(distinct(&pseudo), 1);
    assert!(pseudo[0].iter().all(|byte| *byte < 255));
    let full = written(ContentPlan::FullRandom, 4096, 300);
    assert_eq!(distinct(&full), 300);
    assert!(entropy(full.iter().flatten()) > 7.99);
    assert!(
        written(ContentPlan::Zero, 4096, 3)
            .concat()
            .iter()
            .all(|byte| *byte == 0)
    );
}

#[test]
fn constant_content_is_rewritten_as_it_was_prepared() {
    let constant = written(ContentPlan::Constant, 4096, 3);
    assert!(constant.iter().all(|block| *block == constant[0]));
    assert!(constant[0].iter().any(|byte| *byte != constant[0][0]));
    let marked = |kind: ContentPlan, reads, reads_zeros| {
        let mut source = ContentSource::new(&kind).unwrap();
        if reads_zeros {
            source.set_reads_zeros();
        }
        let mut content = source.plain_with_reads(3, reads);
        let mut buffer = [0; 4096];
        content.prepare_buffer(&mut buffer);
        buffer[7] = 77;
        content.fill(&mut buffer, &request(0, 4096));
        // A fill overwrites the mark; without a fill, it stays.
        buffer[7] == 77
    };
    assert!(marked(ContentPlan::Constant, true, false));
    assert!(marked(ContentPlan::Zero, false, false));
    assert!(!marked(ContentPlan::Zero, true, false));
    assert!(marked(ContentPlan::Zero, true, true));
    assert!(marked(ContentPlan::PseudoRandom, false, false));
    assert!(!marked(ContentPlan::PseudoRandom, true, true));
    assert!(!marked(ContentPlan::Incompressible, false, false));
}

#[test]
fn reducible_content_shrinks_by_the_requested_shares() {
    for (compress_percent, dedupe_percent) in [
        (0.0, 0.0),
        (50.0, 0.0),
        (0.0, 30.0),
        (33.0, 60.0),
        (100.0, 0.0),
        (25.0, 100.0),
    ] {
        let kind = ContentPlan::Reducible {
            compress_percent,
            dedupe_percent,
        };
        let requests = [
            written(kind, 65_536, 20_000 / 16),
            written(kind, 4096, 5000),
        ];
        for blocks in requests.into_iter().chain([prefilled(kind, 20_000)]) {
            let zeros = blocks.iter().flatten().filter(|byte| **byte == 0).count();
            let share = 100.0 * zeros as f64 / (blocks.len() * BLOCK_BYTES) as f64;
            // One random byte in 256 is zero as well.
            assert!(
                (-0.1..0.6).contains(&(share - compress_percent)),
                "{kind:?}: {share}"
            );
            if compress_percent == 100.0 {
                assert_eq!(distinct(&blocks), 1);
            } else if dedupe_percent == 100.0 {
                // The first request has nothing to copy.
                assert!(distinct(&blocks) <= 65_536 / BLOCK_BYTES, "{kind:?}");
            } else {
                let context = format!("{kind:?}");
                assert_copies(distinct(&blocks), blocks.len(), dedupe_percent, &context);
            }
        }
    }
}

/// The number of blocks that are no copies, which must lie within five standard deviations.
#[track_caller]
fn assert_copies(distinct: usize, count: usize, dedupe_percent: f64, context: &str) {
    let new = 1.0 - dedupe_percent / 100.0;
    // The first one is always new.
    let wanted = 1.0 + (count - 1) as f64 * new;
    let deviation = (count as f64 * new * (1.0 - new)).sqrt();
    let difference = (distinct as f64 - wanted).abs();
    assert!(
        difference <= 5.0 * deviation + 1e-6,
        "{context}: {distinct} of {count} for {dedupe_percent} %"
    );
}

#[test]
fn duplicates_repeat_written_data_at_every_file_size() {
    for compress_percent in [0.0, 40.0] {
        for dedupe_percent in [0.0, 50.0, 80.0, 99.0, 100.0] {
            let kind = ContentPlan::Reducible {
                compress_percent,
                dedupe_percent,
            };
            for count in [1, 16, 64, 256, 1024] {
                let blocks = distinct(&prefilled(kind, count));
                assert_copies(blocks, count, dedupe_percent, "prepared");
                let blocks = distinct(&written(kind, 4096, count as u64));
                assert_copies(blocks, count, dedupe_percent, "written");
                if count > 256 {
                    continue;
                }
                let blocks = written(kind, 65_536, count as u64);
                let requests: Vec<Vec<u8>> = blocks.chunks(16).map(<[_]>::concat).collect();
                assert_copies(distinct(&requests), count, dedupe_percent, "requests");
                // Its blocks are copies where a request is one, and no others.
                assert_eq!(distinct(&blocks), 16 * distinct(&requests));
            }
        }
    }
}

#[test]
fn duplicates_of_different_lengths_also_repeat_written_blocks() {
    let kind = ContentPlan::Reducible {
        compress_percent: 0.0,
        dedupe_percent: 75.0,
    };
    let mut content = ContentSource::new(&kind).unwrap().plain(3);
    let mut blocks = Vec::new();
    for number in 0..4000 {
        let mut buffer = vec![0; BLOCK_BYTES << (number % 4)];
        content.fill(&mut buffer, &request(number, 0));
        blocks.extend(buffer.chunks(BLOCK_BYTES).map(<[u8]>::to_vec));
    }
    let share = distinct(&blocks) as f64 / blocks.len() as f64;
    assert!((share - 0.25).abs() < 0.05, "{share}");
}

#[test]
fn shares_that_are_not_percentages_are_refused() {
    let kind = ContentPlan::Reducible {
        compress_percent: 10.0,
        dedupe_percent: 100.5,
    };
    let error = ContentSource::new(&kind).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the share that repeats is `100.5` %, not between 0 and 100"
    );
}

fn verified(worker_index: u32, file_seed: u64, block_bytes: u32) -> VerifiedContent {
    let source = ContentSource::new(&ContentPlan::Incompressible).unwrap();
    source
        .verified(1, worker_index, vec![file_seed], block_bytes)
        .unwrap()
}

/// 64 KiB of a file at offset 1 MiB, as some worker wrote it, and the request.
fn stamped(block_bytes: u32) -> (VerifiedContent, Vec<u8>, Request) {
    let mut content = verified(0, 77, block_bytes);
    let request = request(1 << 20, 65_536);
    let mut buffer = vec![0; 65_536];
    content.prepare_buffer(&mut buffer);
    content.fill(&mut buffer, &request);
    (content, buffer, request)
}

#[test]
fn written_data_verifies_for_every_worker_and_in_any_part() {
    for block_bytes in [64, 512, 4096] {
        let (mut content, buffer, whole) = stamped(block_bytes);
        assert_eq!(content.check(&buffer, &whole), Ok(()));
        let part = request(whole.offset_bytes + 8192, 4096);
        assert_eq!(
            verified(9, 77, block_bytes).check(&buffer[8192..12_288], &part),
            Ok(())
        );
    }
}

#[test]
fn prepared_data_verifies_for_every_kind_of_content() {
    for kind in KINDS {
        let source = ContentSource::new(&kind).unwrap();
        let mut content = source.verified(1, 0, vec![8], 512).unwrap();
        let mut buffer = vec![0; 65_536];
        source.prefill(8, Some(512), 1 << 30, &mut buffer);
        assert_eq!(content.check(&buffer, &request(1 << 30, 65_536)), Ok(()));
        content.fill(&mut buffer, &request(4096, 65_536));
        assert_eq!(content.check(&buffer, &request(4096, 65_536)), Ok(()));
    }
}

#[test]
fn overlapping_writes_of_two_workers_verify_in_any_mixture() {
    let (_, one, whole) = stamped(512);
    let mut other = vec![0; 65_536];
    verified(1, 77, 512).fill(&mut other, &whole);
    let mixture: Vec<u8> = one
        .chunks(512)
        .zip(other.chunks(512))
        .enumerate()
        .flat_map(|(number, (one, other))| if number % 3 == 0 { one } else { other })
        .copied()
        .collect();
    assert_eq!(verified(2, 77, 512).check(&mixture, &whole), Ok(()));
}

#[test]
fn a_misplaced_block_is_found_and_named() {
    let (mut content, mut buffer, whole) = stamped(4096);
    buffer.copy_within(4096..8192, 12_288);
    let wanted = Mismatch {
        file_index: 0,
        offset_bytes: (1 << 20) + 12_288,
        expected: "a block written at offset `1060864` with seed `000000000000004d`".into(),
        actual: "a block written at offset `1052672` with seed `000000000000004d` as number \
               `1099511627778`"
            .into(),
    };
    assert_eq!(content.check(&buffer, &whole), Err(wanted));
}

#[test]
fn a_stale_block_of_an_earlier_file_is_found() {
    let (_, buffer, whole) = stamped(4096);
    let mismatch = verified(0, 78, 4096).check(&buffer, &whole).unwrap_err();
    assert_eq!(mismatch.offset_bytes, 1 << 20);
    assert!(
        mismatch.actual.contains("with seed `000000000000004d`"),
        "{}",
        mismatch.actual
    );
}

#[test]
fn a_torn_block_is_found() {
    let (mut content, mut buffer, whole) = stamped(4096);
    let mut newer = buffer.clone();
    content.fill(&mut newer, &whole);
    buffer[..2048].copy_from_slice(&newer[..2048]);
    let mismatch = content.check(&buffer, &whole).unwrap_err();
    assert!(
        mismatch.expected.starts_with("content with checksum"),
        "{}",
        mismatch.expected
    );
}

#[test]
fn zeros_are_not_a_valid_block() {
    let (mut content, _, whole) = stamped(4096);
    let mismatch = content.check(&[0; 65_536], &whole).unwrap_err();
    assert_eq!(mismatch.actual, "no stamp, but `0000000000000000`");
}

#[test]
fn verified_blocks_are_the_largest_that_suit_all_plans() {
    let of = |size_bytes, reply_bytes, align_bytes| {
        let mut line = line(size_bytes, 100.0);
        (line.reply_bytes, line.align_bytes) = (reply_bytes, align_bytes);
        plan(vec![line], vec![span(512, GIB, 1)])
    };
    let aligned = of(65_536, 0, 8192);
    assert_eq!(verify_block_bytes([&aligned]), Ok(4096));
    assert_eq!(verify_block_bytes([&of(65_536, 0, 0)]), Ok(512));
    assert_eq!(verify_block_bytes([&of(65_536, 1024, 4096)]), Ok(1024));
    assert_eq!(verify_block_bytes([&aligned, &of(2048, 0, 4096)]), Ok(2048));
    let mut wrapping = aligned.clone();
    wrapping.position = plan::PositionRule::Iometer;
    assert_eq!(verify_block_bytes([&wrapping]), Ok(512));
    let error = verify_block_bytes([&of(1000, 0, 0)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "blocks of `8` bytes cannot be verified: a stamp needs at least 64"
    );
}

proptest! {
    #[test]
    fn any_flipped_bit_is_found(bit in 0_usize..65_536 * 8, block_shift in 6_u32..13) {
        let (mut content, mut buffer, whole) = stamped(1 << block_shift);
        buffer[bit / 8] ^= 1 << (bit % 8);
        let mismatch = content.check(&buffer, &whole).unwrap_err();
        let block = (bit / 8) >> block_shift << block_shift;
        prop_assert_eq!(mismatch.offset_bytes, (1 << 20) + block as u64);
    }

    #[test]
    fn preparing_a_part_of_a_file_equals_that_part_of_the_whole(
        kind in 0_usize..6,
        stamps: bool,
        start in 0_usize..20_000,
        length in 0_usize..20_000,
    ) {
        let source = ContentSource::new(&KINDS[kind]).unwrap();
        let stamps = stamps.then_some(512);
        let mut whole = vec![0; 40_000];
        source.prefill(1, stamps, 0, &mut whole);
        let mut part = vec![0; length];
        source.prefill(1, stamps, start as u64, &mut part);
        prop_assert_eq!(&whole[start..start + length], &part);
    }
}
