//! The calls against known lists, and against the loops of the C library written out.

use proptest::prelude::*;

use super::*;

/// The calls of a stream's writes as the C library has them.
fn stream_writes(size: u32, block: u32, buffer: u32) -> Vec<u32> {
    let (mut lengths, mut held, mut rest, mut room) = (Vec::new(), 0, size, 0);
    while rest > 0 {
        let mut length = rest.min(block);
        rest -= length;
        let filled = length.min(room);
        (held, room, length) = (held + filled, room - filled, length - filled);
        if length == 0 {
            continue;
        }
        if held > 0 {
            lengths.push(held);
        }
        let whole = length - length % buffer;
        if whole > 0 {
            lengths.push(whole);
        }
        held = length - whole;
        room = buffer - held;
    }
    lengths.extend((held > 0).then_some(held));
    lengths
}

/// The calls of a stream's reads as the C library has them; `read` says what came.
fn stream_reads(size: u32, block: u32, buffer: u32, mut read: impl FnMut(u32) -> i64) -> Vec<u32> {
    let (mut lengths, mut held, mut rest) = (Vec::new(), 0, size);
    while rest > 0 {
        let mut wanted = rest.min(block);
        rest -= wanted;
        while wanted > held {
            wanted -= held;
            held = 0;
            let is_direct = wanted >= buffer;
            let length = if is_direct {
                wanted - wanted % buffer
            } else {
                buffer
            };
            lengths.push(length);
            let came = read(length);
            if came < 1 {
                return lengths;
            }
            if is_direct {
                wanted -= (came as u32).min(wanted);
            } else {
                held = came as u32;
            }
        }
        held -= wanted;
    }
    lengths
}

fn pattern(block_bytes: u32, buffer_bytes: Option<u32>) -> CallPattern {
    CallPattern {
        block_bytes,
        buffer_bytes,
    }
}

/// The lengths of all writes of a file, each ending as `result` says.
fn write_all(mut calls: WriteCalls, mut result: impl FnMut(u32) -> i64) -> Vec<u32> {
    let mut lengths = Vec::new();
    while let Some(call) = calls.call() {
        lengths.push(call.length_bytes);
        calls.settle(result(call.length_bytes));
        assert!(lengths.len() < 100_000, "it does not end");
    }
    lengths
}

fn read_all(mut calls: ReadCalls, mut result: impl FnMut(u32) -> i64) -> Vec<u32> {
    let mut lengths = Vec::new();
    while let Some(call) = calls.call() {
        lengths.push(call.length_bytes);
        calls.settle(result(call.length_bytes));
        assert!(lengths.len() < 100_000, "it does not end");
    }
    lengths
}

fn writes(size: u32, block: u32) -> Vec<u32> {
    write_all(WriteCalls::new(size, pattern(block, Some(4096))), i64::from)
}

/// A file of that many bytes, read from its start.
fn file(size: u32) -> impl FnMut(u32) -> i64 {
    let mut left = size;
    move |length| {
        let came = length.min(left);
        left -= came;
        came.into()
    }
}

fn reads(size: u32, block: u32) -> Vec<u32> {
    let calls = ReadCalls::new(size, pattern(block, Some(4096)));
    read_all(calls, file(size))
}

#[test]
fn small_blocks_are_collected_in_the_buffer() {
    assert_eq!(writes(9640, 512), [4096, 4096, 1448]);
    assert_eq!(writes(8192, 512), [4096, 4096]);
    assert_eq!(writes(1, 512), [1]);
    assert_eq!(reads(9640, 512), [4096, 4096, 4096]);
    assert_eq!(reads(8192, 512), [4096, 4096]);
    assert_eq!(reads(9640, 1000), [4096, 4096, 4096]);
}

#[test]
fn blocks_larger_than_the_buffer_bypass_it() {
    assert_eq!(writes(9640, 65536), [8192, 1448]);
    assert_eq!(writes(24576, 8192), [8192, 4096, 4096, 4096, 4096]);
    assert_eq!(writes(10_000, 5000), [4096, 4096, 1808]);
    assert_eq!(reads(9640, 65536), [8192, 4096]);
    assert_eq!(reads(10_000, 5000), [4096, 4096, 4096]);
}

#[test]
fn unbuffered_calls_end_with_the_rest_even_if_it_is_empty() {
    let writes = |size| write_all(WriteCalls::new(size, pattern(512, None)), i64::from);
    assert_eq!(writes(1000), [512, 488]);
    assert_eq!(writes(1024), [512, 512, 0]);
    assert_eq!(writes(7), [7]);
    let reads = |size| read_all(ReadCalls::new(size, pattern(512, None)), file(size));
    assert_eq!(reads(1000), [512, 488]);
    assert_eq!(reads(1024), [512, 512, 0]);
}

#[test]
fn unbuffered_calls_do_not_depend_on_earlier_results() {
    for result in [-5, 0, 100] {
        let calls = WriteCalls::new(1500, pattern(512, None));
        assert_eq!(write_all(calls, |_| result), [512, 512, 476]);
        let calls = ReadCalls::new(1500, pattern(512, None));
        assert_eq!(read_all(calls, |_| result), [512, 512, 476]);
    }
}

#[test]
fn a_stream_resumes_after_a_short_write_and_skips_data_that_failed() {
    let mut calls = WriteCalls::new(10_000, pattern(512, Some(4096)));
    let mut log = Vec::new();
    for result in [1000, 3096, -28, 0] {
        let call = calls.call().unwrap();
        log.push((call.offset_bytes, call.length_bytes, calls.settle(result)));
    }
    assert_eq!(
        log,
        [
            (0, 4096, true),
            (1000, 3096, true),
            (4096, 4096, false),
            (8192, 1808, false)
        ]
    );
    assert_eq!(calls.call(), None);
    assert_eq!(calls.written_bytes(), 4096);
}

#[test]
fn reading_ends_when_no_data_arrives() {
    let mut count = 0;
    let calls = ReadCalls::new(100_000, pattern(512, Some(4096)));
    read_all(calls, |_| {
        count += 1;
        if count < 3 { 100 } else { -5 }
    });
    assert_eq!(count, 3);
}

#[test]
fn reads_know_how_much_data_to_expect() {
    let mut calls = ReadCalls::new(5000, pattern(512, Some(4096)));
    assert_eq!(calls.expected_bytes(), 4096);
    calls.settle(4096);
    assert_eq!((calls.expected_bytes(), calls.is_short_read()), (904, true));
    calls.settle(904);
    assert_eq!((calls.call(), calls.is_short_read()), (None, false));
}

#[test]
fn the_buffer_size_follows_the_file_system_up_to_a_limit() {
    assert_eq!(stdio_buffer_bytes(4096), 4096);
    assert_eq!(stdio_buffer_bytes(0), 8192);
    assert_eq!(stdio_buffer_bytes(-1), 8192);
    assert_eq!(stdio_buffer_bytes(1 << 20), 8192);
    assert_eq!(stdio_buffer_bytes(i64::MAX), 8192);
}

#[test]
fn the_longest_call_is_a_block_or_a_buffer() {
    assert_eq!(pattern(512, Some(4096)).longest_call_bytes(10_000), 4096);
    assert_eq!(pattern(65536, Some(4096)).longest_call_bytes(9999), 9999);
    assert_eq!(pattern(65536, None).longest_call_bytes(9999), 9999);
    assert_eq!(pattern(512, None).longest_call_bytes(9999), 512);
}

proptest! {
    #[test]
    fn streams_make_the_calls_of_the_c_library(
        size in 0_u32..60_000,
        block in 1_u32..50_000,
        buffer in prop_oneof![Just(4096_u32), Just(512), Just(8191), Just(1)],
        lost in 0_u32..2000,
    ) {
        let pattern = pattern(block, Some(buffer));
        let calls = write_all(WriteCalls::new(size, pattern), i64::from);
        prop_assert_eq!(&calls, &stream_writes(size, block, buffer));
        prop_assert!(calls.iter().all(|&call| call <= pattern.longest_call_bytes(size)));
        let stored = size.saturating_sub(lost);
        let calls = read_all(ReadCalls::new(size, pattern), file(stored));
        prop_assert_eq!(&calls, &stream_reads(size, block, buffer, file(stored)));
        prop_assert!(calls.iter().all(|&call| call <= pattern.longest_call_bytes(size)));
    }

    #[test]
    fn short_results_change_stream_calls_as_in_the_c_library(
        size in 0_u32..30_000,
        block in 1_u32..20_000,
        parts in proptest::collection::vec(-1_i64..5000, 1..50),
    ) {
        let part = |parts: &Vec<i64>| {
            let mut parts = parts.clone().into_iter().cycle();
            // Nothing forever would not end.
            move |length: u32| parts.next().unwrap().min(length.into())
        };
        let reads = read_all(ReadCalls::new(size, pattern(block, Some(4096))), part(&parts));
        prop_assert_eq!(reads, stream_reads(size, block, 4096, part(&parts)));
        let mut results = part(&parts);
        let mut handed = 0;
        let mut calls = WriteCalls::new(size, pattern(block, Some(4096)));
        while let Some(call) = calls.call() {
            prop_assert_eq!(call.offset_bytes, handed);
            let result = results(call.length_bytes);
            handed += if result > 0 { result as u32 } else { call.length_bytes };
            calls.settle(result);
        }
        prop_assert_eq!(handed, size);
    }
}
