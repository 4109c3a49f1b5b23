use engine::Operation;
use plan::EngineKind;
use plan::job::{
    BlockCheckKind as Kind, BlockRule, ContentPattern, ReadBack, ReadWriteMix, SizeRule, StreamEnd,
    StreamPlan,
};

use super::super::ContentSource;
use super::*;
use plan::ContentPlan;

/// Block of 512 bytes that fio 3.33 wrote with a pattern of `abcde`: its kind and checksum.
const FIO_SUMS: [(Kind, &str); 14] = [
    (Kind::Md5, "f2e7886393590a95aa967e62d5acfaf9"),
    (Kind::Crc64, "66574b10b64934d7"),
    (Kind::Crc32, "8ccf5efa"),
    (Kind::Crc32c, "43923610"),
    (Kind::Crc16, "e351"),
    (Kind::Crc7, "7e"),
    (Kind::Sha1, "f7e80afa0e5d3d018872c077d2ca67e3fcb9224d"),
    (
        Kind::Sha256,
        "facc0fcf03be114c62636465616263646561626364656162\
         8000000000000000000000000000000000000000000000000000000000000000c00c000000000000",
    ),
    (
        Kind::Sha3_224,
        "49e9b3e40b5973f15a81ba764d8949172850f16f52426bec4599b9f9",
    ),
    (
        Kind::Sha3_256,
        "9b81f593bb9654957219d379f3330f12e1a098b199489cd6b5cc3886d4d55304",
    ),
    (
        Kind::Sha3_384,
        "43da3a7e3528a24a7f571509095c95d8bdf28b909db7a179b6774d1f352238ab\
         b1139941b73dcda17b84aee87c759492",
    ),
    (
        Kind::Sha3_512,
        "1c69814ca73e25887a70fd3313b9a67f47031e84dae0c1ac28366fa88ebcb287\
         5689071f2d17367114c0e44479bcbfabeca36755eb709c7514d95b620d2fe181",
    ),
    (Kind::Xxhash, "81ba89c3"),
    (Kind::Header, ""),
];

const ALL_KINDS: [Kind; 17] = [
    Kind::Header,
    Kind::Md5,
    Kind::Crc64,
    Kind::Crc32,
    Kind::Crc32c,
    Kind::Crc16,
    Kind::Crc7,
    Kind::Sha256,
    Kind::Sha512,
    Kind::Sha3_224,
    Kind::Sha3_256,
    Kind::Sha3_384,
    Kind::Sha3_512,
    Kind::Xxhash,
    Kind::Sha1,
    Kind::PatternHeader,
    Kind::Pattern,
];

fn request(operation: Operation, offset_bytes: u64, length_bytes: usize) -> Request {
    Request {
        operation,
        offset_bytes,
        length_bytes: length_bytes as u32,
        ..Request::EMPTY
    }
}

fn job(mix: ReadWriteMix, check: BlockCheck, pattern: Option<&str>) -> JobPlan {
    let blocks = BlockRule {
        sizes: SizeRule::Fixed { bytes: 4096 },
        align_bytes: 4096,
    };
    let end = StreamEnd {
        bytes: 1 << 20,
        requests: None,
        loops: Some(1),
        starts_over: false,
    };
    let stream = StreamPlan {
        read_back: mix.writes().then(ReadBack::default),
        ..StreamPlan::sequential(mix, blocks, end)
    };
    JobPlan {
        check: Some(check),
        pattern: pattern.map(|text| ContentPattern {
            text: text.to_owned(),
            interval_bytes: 0,
        }),
        ..JobPlan::new(EngineKind::Psync, stream)
    }
}

fn content(job: &JobPlan, seed: u64) -> CheckedContent {
    let source = ContentSource::new(&ContentPlan::Incompressible).unwrap();
    source.checked(job, seed).unwrap().unwrap()
}

const fn rule(kind: Kind, interval_bytes: u32, header_offset_bytes: u32) -> BlockCheck {
    BlockCheck {
        kind,
        interval_bytes,
        header_offset_bytes,
    }
}

fn pattern_for(kind: Kind) -> Option<&'static str> {
    kind.needs_pattern().then_some("0102%o03")
}

#[test]
fn checksums_are_those_of_fio() {
    for (kind, wanted) in FIO_SUMS {
        let size = kind.header_bytes() as usize;
        let block: Vec<u8> = (0..512).map(|index| b"abcde"[index % 5]).collect();
        let Some(sum) = sum_function(kind) else {
            assert_eq!(wanted, "");
            continue;
        };
        let bytes = sum([&block[size..], &[], &[]]);
        let found = hex(&bytes[..kind.sum_bytes() as usize]);
        assert_eq!(found, wanted, "{kind:?}");
        // The same bytes in parts.
        let (first, rest) = block[size..].split_at(77);
        let (second, third) = rest.split_at(3);
        assert_eq!(sum([first, second, third]), bytes, "{kind:?}");
    }
}

#[test]
fn sums_of_any_length_fill_what_they_reserve() {
    let data = [7_u8; 300];
    for length in [0, 1, 55, 56, 63, 64, 111, 112, 127, 128, 200, 300] {
        for kind in ALL_KINDS {
            if let Some(sum) = sum_function(kind) {
                let bytes = sum([&data[..length], &[], &[]]);
                let unused = &bytes[kind.sum_bytes() as usize..];
                assert!(unused.iter().all(|byte| *byte == 0), "{kind:?} {length}");
            }
        }
    }
}

#[test]
fn what_one_job_writes_another_one_verifies() {
    for kind in ALL_KINDS {
        for (interval_bytes, offset_bytes) in [(4096, 0), (1024, 0), (1024, 512), (512, 200)] {
            let check = rule(kind, interval_bytes, offset_bytes);
            if check.problem().is_some() {
                continue;
            }
            let pattern = pattern_for(kind);
            let mut writer = content(&job(ReadWriteMix::Write, check, pattern), 1);
            let mut reader = content(&job(ReadWriteMix::Read, check, pattern), 5);
            for offset_bytes in [0, 1 << 20] {
                let mut buffer = vec![0; 4096];
                writer.fill(&mut buffer, &request(Operation::Write, offset_bytes, 4096));
                let read = request(Operation::Read, offset_bytes, 4096);
                let name = format!("{check:?}");
                assert_eq!(reader.check(&buffer, &read), Ok(()), "{name}");
                let elsewhere = request(Operation::Read, offset_bytes + 4096, 4096);
                assert!(reader.check(&buffer, &elsewhere).is_err(), "{name}");
                if kind == Kind::Header {
                    continue;
                }
                for position in [100, 700, 1023, 4095] {
                    buffer[position] ^= 0x10;
                    let error = reader.check(&buffer, &read).unwrap_err();
                    let interval = position as u64 / u64::from(interval_bytes);
                    let found = (error.offset_bytes - offset_bytes) / u64::from(interval_bytes);
                    assert_eq!(found, interval, "{name}: {error:?}");
                    buffer[position] ^= 0x10;
                }
            }
        }
    }
}

#[test]
fn reads_of_a_mix_are_not_verified_unless_they_read_back() {
    let mix = ReadWriteMix::Both { read_percent: 50.0 };
    let mut content = content(&job(mix, rule(Kind::Md5, 4096, 0), None), 1);
    let mut read = request(Operation::Read, 0, 4096);
    assert_eq!(content.check(&[0; 4096], &read), Ok(()));
    read.handle = Request::READ_BACK;
    let error = content.check(&[0; 4096], &read).unwrap_err();
    assert_eq!(error.actual, "no header, but `0000`");
}

#[test]
fn a_pattern_starts_over_with_the_offset_of_each_interval() {
    let mut job = job(
        ReadWriteMix::Write,
        rule(Kind::Pattern, 4096, 0),
        Some("%o"),
    );
    if let Some(pattern) = &mut job.pattern {
        pattern.interval_bytes = 100;
    }
    let mut content = content(&job, 1);
    let mut buffer = vec![0; 4096];
    content.fill(&mut buffer, &request(Operation::Write, 8192, 4096));
    assert_eq!(buffer[..8], 8192_u64.to_le_bytes());
    assert_eq!(buffer[96..100], 8192_u64.to_le_bytes()[..4]);
    assert_eq!(buffer[100..108], 8292_u64.to_le_bytes());
    let read = Request {
        handle: Request::READ_BACK,
        ..request(Operation::Read, 8192, 4096)
    };
    assert_eq!(content.check(&buffer, &read), Ok(()));
    buffer[101] ^= 1;
    let error = content.check(&buffer, &read).unwrap_err();
    assert_eq!(
        (error.offset_bytes, &*error.expected),
        (8293, "the pattern's byte `20`")
    );
}

#[test]
fn headers_of_newer_versions_are_read() {
    let check = rule(Kind::Crc16, 512, 0);
    let mut block: Vec<u8> = (0..512).map(|index| index as u8).collect();
    block[..48].fill(0);
    block[..4].copy_from_slice(&[0xca, 0xac, 0x81, 7]);
    block[4..8].copy_from_slice(&512_u32.to_le_bytes());
    block[16..24].copy_from_slice(&4096_u64.to_le_bytes());
    let sum = super::super::block_sum::crc32c([&block[..44], &[], &[]]);
    block[44..48].copy_from_slice(&sum.to_le_bytes());
    let sum = sum_function(Kind::Crc16).unwrap()([&block[50..], &[], &[]]);
    block[48..50].copy_from_slice(&sum[..2]);
    let mut reader = content(&job(ReadWriteMix::Read, check, None), 1);
    let read = request(Operation::Read, 4096, 512);
    assert_eq!(reader.check(&block, &read), Ok(()));
    block[500] ^= 1;
    assert!(reader.check(&block, &read).is_err());
}

#[test]
fn old_blocks_without_a_hash_are_accepted_as_sha512() {
    let check = rule(Kind::Sha512, 512, 0);
    let mut writer = content(&job(ReadWriteMix::Write, check, Some("6162636465")), 1);
    let mut block = vec![0; 512];
    writer.fill(&mut block, &request(Operation::Write, 0, 512));
    // fio 3.33 stores the first 128 bytes of the data, the first 88 of them replaced by its last.
    let first = block[168..296].to_vec();
    let last = block[424..].to_vec();
    block[40..168].copy_from_slice(&first);
    block[40..128].copy_from_slice(&last);
    let mut reader = content(&job(ReadWriteMix::Read, check, None), 1);
    assert_eq!(
        reader.check(&block, &request(Operation::Read, 0, 512)),
        Ok(())
    );
    block[45] ^= 1;
    assert!(
        reader
            .check(&block, &request(Operation::Read, 0, 512))
            .is_err()
    );
}

#[test]
fn headers_contain_the_numbers_of_fio() {
    let check = rule(Kind::Md5, 1024, 0);
    let mut writer = content(&job(ReadWriteMix::Write, check, None), 1);
    let mut buffer = vec![0; 4096];
    writer.fill(&mut buffer, &request(Operation::Write, 0, 4096));
    let header = BlockHeader::get(&buffer[1024..]).unwrap();
    assert_eq!(header.seed, 0x00a4_cc01_c509_543c);
    assert_eq!((header.offset_bytes, header.length_bytes), (1024, 1024));
    assert_eq!(
        (header.thread, header.number, header.kind_number),
        (1, 0, 2)
    );
}

#[test]
fn buffers_with_a_constant_pattern_are_filled_once() {
    let check = rule(Kind::Pattern, 4096, 0);
    let mut job = job(ReadWriteMix::Write, check, Some("abcd"));
    job.check = None;
    let mut writer = content(&job, 1);
    let mut buffer = vec![0; 4096];
    writer.prepare_buffer(&mut buffer);
    assert_eq!(buffer[4094..], [0xab, 0xcd]);
    buffer[0] = 0;
    writer.fill(&mut buffer, &request(Operation::Write, 0, 4096));
    assert_eq!(buffer[0], 0);
    assert!(!writer.checks());
}

#[test]
fn checks_that_cannot_work_are_refused() {
    let source = ContentSource::new(&ContentPlan::Incompressible).unwrap();
    let refused = |job: &JobPlan| source.checked(job, 1).unwrap_err().to_string();
    let small = refused(&job(ReadWriteMix::Write, rule(Kind::Md5, 56, 0), None));
    assert!(small.contains("no room for data"), "{small}");
    let text = refused(&job(
        ReadWriteMix::Write,
        rule(Kind::Pattern, 512, 0),
        Some("x"),
    ));
    assert!(text.contains("hexadecimal"), "{text}");
}
