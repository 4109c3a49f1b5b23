//! blktrace and vscsi.

use trace::TracedKind::{Discard, Flush, Other, Read, Write};
use trace::{TraceLayer, TraceOptions};

use crate::{read, read_layer, read_parts, rows};

const READ: u32 = 1;
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const COMMAND: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;
const QUEUE: u32 = 1;
const REQUEUE: u32 = 6;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;

#[derive(Clone, Copy)]
pub struct Record {
    pub time_ns: u64,
    pub sector: u64,
    pub bytes: u32,
    pub code: u32,
    pub categories: u32,
}

pub fn record(time_ns: u64, code: u32, sector: u64, bytes: u32) -> Record {
    Record {
        time_ns,
        sector,
        bytes,
        code,
        categories: WRITE,
    }
}

impl Record {
    fn with(self, categories: u32) -> Self {
        Self { categories, ..self }
    }

    pub fn encode(self, version: u8, is_big: bool, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let u16_ = |value: u16| {
            if is_big {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let u32_ = |value: u32| {
            if is_big {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let u64_ = |value: u64| {
            if is_big {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        bytes.extend(u32_(0x6561_7400 | u32::from(version)));
        bytes.extend(u32_(1));
        bytes.extend(u64_(self.time_ns));
        bytes.extend(u64_(self.sector));
        bytes.extend(u32_(self.bytes));
        if version == 8 {
            bytes.extend(u32_(77));
            bytes.extend(u64_(
                u64::from(self.code) | u64::from(self.categories) << 32,
            ));
        } else {
            bytes.extend(u32_(self.code | self.categories << 16));
            bytes.extend(u32_(77));
        }
        bytes.extend(u32_(8 << 20 | 16));
        bytes.extend(u32_(0));
        bytes.extend(u16_(0));
        bytes.extend(u16_(u16::try_from(payload.len()).unwrap()));
        bytes.resize(if version == 8 { 64 } else { 48 }, 0);
        bytes.extend(payload);
        bytes
    }
}

fn recording(version: u8, is_big: bool) -> Vec<u8> {
    let note = record(0, 0, 0, 0)
        .with(NOTIFY)
        .encode(version, is_big, b"db writer\0\0\0");
    let records = [
        record(100, QUEUE, 8, 4096),
        record(200, ISSUE, 8, 4096),
        record(250, ISSUE, 64, 512).with(READ),
        record(260, ISSUE, 0, 0).with(READ | FLUSH),
        record(270, ISSUE, 128, 1 << 20).with(WRITE | DISCARD),
        record(280, ISSUE, 0, 96).with(COMMAND),
        record(300, COMPLETE, 8, 4096),
        record(310, COMPLETE, u64::MAX, 0).with(READ | FLUSH),
        // A write that flushed completes a second time.
        record(320, COMPLETE, 16, 0),
    ];
    let records = records.map(|it| it.encode(version, is_big, &[]));
    [note, records.concat()].concat()
}

#[test]
fn blktrace_is_read_in_both_versions_and_byte_orders() {
    for (version, is_big) in [(7, false), (7, true), (8, false), (8, true)] {
        let trace = read(recording(version, is_big));
        let wanted = [
            (200, 4096, 4096, Write),
            (250, 64 * 512, 512, Read),
            (260, 0, 0, Flush),
            (270, 128 * 512, 1 << 20, Discard),
            (280, 0, 0, Other),
        ];
        assert_eq!(rows(&trace), wanted, "version {version}, {is_big}");
        let latencies: Vec<_> = trace.requests.iter().map(|it| it.latency_ns).collect();
        assert_eq!(latencies, [Some(100), None, Some(50), None, None]);
        assert_eq!(trace.unmatched_count, 1);
        assert_eq!(trace.devices[0], "8,16");
        assert_eq!(trace.processes[0], "db writer");
        assert_eq!(trace.requests[0].pid, 77);
        let queued = read_layer(&recording(version, is_big), TraceLayer::Queue);
        assert_eq!(rows(&queued), [(100, 4096, 4096, Write)]);
    }
}

#[test]
fn versions_and_payloads_may_be_mixed_in_one_file() {
    // Bit 8 of the action announces the number of a control group, 8 bytes in the payload.
    let grouped = record(10, ISSUE | 0x100, 8, 512).encode(7, false, &[1; 8]);
    let newer = record(20, ISSUE, 16, 512).encode(8, false, &[0; 24]);
    let trace = read([grouped, newer].concat());
    assert_eq!(
        rows(&trace),
        [(10, 4096, 512, Write), (20, 8192, 512, Write)]
    );
}

#[test]
fn files_of_several_cpus_are_merged_and_joined() {
    let issues = [record(10, ISSUE, 8, 512), record(30, ISSUE, 16, 512)];
    let completions = [record(20, COMPLETE, 8, 512), record(50, COMPLETE, 16, 512)];
    let encode = |records: [Record; 2]| records.map(|it| it.encode(7, false, &[])).concat();
    let parts = [encode(completions), encode(issues)];
    let parts = [parts[0].as_slice(), parts[1].as_slice()];
    let trace = read_parts(&parts, TraceOptions::default()).unwrap();
    let latencies: Vec<_> = trace.requests.iter().map(|it| it.latency_ns).collect();
    assert_eq!(latencies, [Some(10), Some(20)]);
}

#[test]
fn a_returned_request_counts_once() {
    let records = [
        record(10, ISSUE, 8, 512),
        record(20, REQUEUE, 8, 512),
        record(30, ISSUE, 8, 512),
        record(40, COMPLETE, 8, 512),
        record(50, ISSUE, 8, 512),
    ];
    let trace = read(records.map(|it| it.encode(7, false, &[])).concat());
    let found: Vec<_> = trace
        .requests
        .iter()
        .map(|it| (it.time_ns, it.latency_ns))
        .collect();
    assert_eq!(found, [(10, Some(30)), (50, None)]);
}

#[test]
fn a_cut_or_damaged_binary_file_is_read_up_to_the_damage() {
    let whole = recording(7, false);
    let trace = read(&whole[..whole.len() - 5]);
    assert_eq!(trace.requests.len(), 5);
    assert!(
        trace.notices.contains("the last, is cut after 43 bytes"),
        "{}",
        trace.notices
    );
    let mut damaged = record(1, ISSUE, 8, 512).encode(7, false, &[]);
    damaged.extend([0xff; 100]);
    let trace = read(&damaged);
    assert_eq!(trace.requests.len(), 1);
    assert!(
        trace.notices.contains("record 2 has no magic number"),
        "{}",
        trace.notices
    );
}

fn vscsi(version: u8, opcode: u8, sector: u64, time_us: u64) -> Vec<u8> {
    let (length, number, nothing) = (4096_u32, 1_u32, 1_u32);
    let mut bytes = Vec::new();
    let command = [opcode, 0, 0, version];
    let lengths = [
        number.to_le_bytes(),
        length.to_le_bytes(),
        nothing.to_le_bytes(),
    ]
    .concat();
    if version == 1 {
        bytes.extend(lengths);
        bytes.extend(command);
    } else {
        bytes.extend(command);
        bytes.extend(lengths);
    }
    bytes.extend(sector.to_le_bytes());
    bytes.extend(time_us.to_le_bytes());
    bytes.resize(if version == 1 { 32 } else { 40 }, 0);
    bytes
}

#[test]
fn vscsi_is_read_in_both_versions() {
    for version in [1, 2] {
        let bytes = [
            vscsi(version, 0x28, 8, 5),
            vscsi(version, 0x2a, 16, 6),
            vscsi(version, 0x35, 0, 7),
            vscsi(version, 0x42, 32, 8),
            vscsi(version, 0x00, 0, 9),
        ];
        let trace = read(bytes.concat());
        let wanted = [
            (5000, 4096, 4096, Read),
            (6000, 8192, 4096, Write),
            (7000, 0, 0, Flush),
            (8000, 16384, 4096, Discard),
            (9000, 0, 0, Other),
        ];
        assert_eq!(rows(&trace), wanted);
        assert!(trace.format.ends_with(char::from(b'0' + version)));
    }
}
