use std::io::Read;

use proptest::prelude::*;

use super::*;
use crate::event::{CallKind, TraceBatch, TraceLayer, TraceRequest, TracedCall, TracedKind};
use crate::{TraceOptions, TraceReader};

/// What a reader finds in a file.
#[derive(Debug, Default)]
struct ReadBack {
    batch: TraceBatch,
    notices: String,
    lost: u64,
    devices: Vec<String>,
}

fn read(file: &[u8]) -> ReadBack {
    let input: Box<dyn Read + '_> = Box::new(file);
    let mut reader = TraceReader::open(vec![input], TraceOptions::default()).unwrap();
    let mut found = ReadBack::default();
    let mut batch = TraceBatch::default();
    while reader.read(&mut batch).unwrap() {
        found.batch.requests.append(&mut batch.requests);
        found.batch.calls.append(&mut batch.calls);
    }
    let devices = found.batch.requests.iter();
    found.devices = devices.map(|it| reader.names().text(it.device)).collect();
    found.notices = reader.notices().join("\n");
    found.lost = reader.lost_events();
    found
}

fn request(writer: &mut TraceWriter<Vec<u8>>, index: u64) -> TraceRequest {
    let mut request = TraceRequest::new(TracedKind::Read, TraceLayer::Issue, 0);
    request.time_ns = i64::try_from(index * 1000).unwrap();
    request.offset_bytes = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 30;
    request.length_bytes = 4096;
    request.kind = TracedKind::ALL[usize::try_from(index % 3).unwrap()];
    request.is_forced = index.is_multiple_of(7);
    request.pid = u32::try_from(index % 5).unwrap();
    request.device = writer.name(format!("sd{}", index % 3).as_bytes());
    request.process = writer.name(b"db \xff writer");
    request
}

/// A file with requests, and the requests.
fn recording(count: u64) -> (TraceWriter<Vec<u8>>, Vec<TraceRequest>) {
    let mut writer =
        TraceWriter::new(Vec::new(), TraceContent::Requests, "from sda\u{1b}[2J").unwrap();
    let requests = (0..count).map(|index| {
        let request = request(&mut writer, index);
        writer.request(&request).unwrap();
        request
    });
    let requests = requests.collect();
    (writer, requests)
}

#[test]
fn requests_are_read_back_as_written() {
    let (mut writer, mut written) = recording(50_000);
    writer.lost(17).unwrap();
    let (file, size_bytes) = writer.finish().unwrap();
    assert_eq!(size_bytes, file.len() as u64);
    // About 15 bytes each, in several blocks.
    assert!(file.len() < 20 * written.len(), "{}", file.len());
    let found = read(&file);
    for (row, request) in written.iter_mut().enumerate() {
        request.row = row as u64 + 1;
    }
    assert_eq!(found.batch.requests, written);
    assert_eq!(found.devices[4], "sd1");
    assert_eq!(found.lost, 17);
    assert_eq!(
        found.notices,
        "the recording lost 17 events\nfrom sda\\u{1b}[2J"
    );
}

#[test]
fn calls_are_read_back_as_written() {
    let mut writer = TraceWriter::new(Vec::new(), TraceContent::Calls, "").unwrap();
    let (pread, rename) = (writer.name(b"pread64"), writer.name(b"rename"));
    let (old, new) = (writer.name(b"/old"), writer.name(b"/new"));
    let read_call = TracedCall {
        time_ns: 5,
        duration_ns: Some(700),
        offset_bytes: Some(4096),
        length_bytes: 512,
        result: Some(512),
        row: 1,
        thread: 77,
        name: pread,
        file: old,
        second_file: Default::default(),
        kind: CallKind::Read,
        open: Default::default(),
    };
    let rename_call = TracedCall {
        time_ns: 9,
        duration_ns: None,
        offset_bytes: None,
        length_bytes: 0,
        result: Some(-1),
        row: 2,
        name: rename,
        second_file: new,
        kind: CallKind::Rename,
        ..read_call
    };
    let unfinished = TracedCall {
        result: None,
        thread: 78,
        row: 3,
        time_ns: 10,
        ..rename_call
    };
    let written = [read_call, rename_call, unfinished];
    for call in &written {
        writer.call(call).unwrap();
    }
    let (file, _) = writer.finish().unwrap();
    assert_eq!(read(&file).batch.calls, written);
}

#[test]
fn a_killed_recording_is_read_up_to_its_last_block() {
    let (mut writer, written) = recording(20_000);
    writer.flush().unwrap();
    let (file, _) = writer.finish().unwrap();
    let end_bytes = BLOCK_HEAD_BYTES + 3;
    let whole = read(&file[..file.len() - end_bytes]);
    assert_eq!(whole.batch.requests.len(), written.len());
    assert!(whole.notices.contains("was killed or is still running"));
    let cut = read(&file[..file.len() - end_bytes - 100]);
    let kept = cut.batch.requests.len();
    assert!((1..written.len()).contains(&kept), "{kept}");
    assert!(cut.notices.contains("is cut after"), "{}", cut.notices);
    // The kill may come right after the head.
    assert_eq!(read(&file[..FILE_HEAD_BYTES]).batch.requests.len(), 0);
}

#[test]
fn a_damaged_block_is_left_out_and_the_rest_is_read() {
    let (writer, written) = recording(20_000);
    let (mut file, _) = writer.finish().unwrap();
    let middle = file.len() / 2;
    file[middle] ^= 0x10;
    let found = read(&file);
    let kept = found.batch.requests.len();
    assert!(kept > 0 && kept < written.len(), "{kept}");
    assert!(
        found.notices.contains("wrong checksum"),
        "{}",
        found.notices
    );
    assert_eq!(
        found.batch.requests.last().unwrap().time_ns,
        written.last().unwrap().time_ns
    );
}

#[test]
fn another_version_is_refused() {
    let (writer, _) = recording(1);
    let (mut file, _) = writer.finish().unwrap();
    file[MAGIC.len()] = 9;
    let input: Box<dyn Read + '_> = Box::new(file.as_slice());
    let error = TraceReader::open(vec![input], TraceOptions::default()).unwrap_err();
    assert!(error.to_string().contains("another version"), "{error}");
    assert!(error.help().is_some());
}

/// A file with a block of any bytes under a correct checksum.
fn forged(content: TraceContent, kind: u8, payload: &[u8]) -> Vec<u8> {
    let writer = TraceWriter::new(Vec::new(), content, "").unwrap();
    let (mut file, _) = writer.finish().unwrap();
    let mut head = [&BLOCK_MAGIC[..], &[kind]].concat();
    head.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
    head.extend(checksum(&head, payload).to_le_bytes());
    file.extend(head);
    file.extend(payload);
    file
}

#[test]
fn impossible_requests_are_left_out_with_their_row() {
    // Flags of a write, names, time, offset 2^63, length 512.
    let mut payload = vec![TracedKind::Write as u8, 0, 0, 0, 0];
    number::put_signed(&mut payload, i64::MIN);
    number::put(&mut payload, 512);
    let found = read(&forged(TraceContent::Requests, b'r', &payload));
    assert!(found.batch.requests.is_empty());
    assert!(
        found.notices.contains("row 1: `9223372036854775808`"),
        "{}",
        found.notices
    );
}

proptest! {
    #[test]
    fn any_block_with_a_correct_checksum_is_read_or_left_out(
        content in prop::bool::ANY,
        kind in prop::sample::select(b"anrcle?".to_vec()),
        payload in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let content = if content { TraceContent::Requests } else { TraceContent::Calls };
        let found = read(&forged(content, kind, &payload));
        for request in found.batch.requests {
            prop_assert!(request.offset_bytes <= i64::MAX.cast_unsigned());
        }
    }

    #[test]
    fn numbers_are_read_back(numbers in prop::collection::vec(any::<i64>(), 0..50)) {
        let mut bytes = Vec::new();
        for number in &numbers {
            number::put(&mut bytes, number.cast_unsigned());
            number::put_signed(&mut bytes, *number);
        }
        let mut reader = number::PayloadReader { rest: &bytes };
        for number in &numbers {
            prop_assert_eq!(reader.number(), Some(number.cast_unsigned()));
            prop_assert_eq!(reader.signed(), Some(*number));
        }
        prop_assert!(reader.rest.is_empty());
    }
}
