//! Pages of ring buffers, formats of events, and blocks of pgmeter's own traces with correct
//! checksums: nothing makes a parser panic, and events stay within their limits.

#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use record::{BlockEvents, EventFormat, PageLayout, RingPage};
use trace::{TraceBatch, TraceLayer, TraceOptions, TraceReader, TraceSummary};

const PAGE: &str = "field: u64 timestamp; offset:0; size:8;\nfield: local_t commit; offset:8; \
                    size:8;\nfield: char data; offset:16; size:4080;\n";
const EVENT: &str = "ID: 7\nfield:int common_pid; offset:4; size:4;\nfield:dev_t dev; offset:8; \
                     size:4;\nfield:sector_t sector; offset:16; size:8;\nfield:unsigned int \
                     nr_sector; offset:24; size:4;\nfield:char rwbs[10]; offset:34; size:10;\n";

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    match which % 4 {
        0 => page(EVENT, rest),
        1 => page(&String::from_utf8_lossy(rest), &[0x5a; 64]),
        2 => block(b'r', rest),
        _ => block(b'c', rest),
    }
});

fn page(format: &str, bytes: &[u8]) {
    let mut events = BlockEvents::default();
    if let Some(format) = EventFormat::parse(format) {
        let _ = events.add(TraceLayer::Issue, &format);
    }
    let layout = PageLayout::parse(PAGE).expect("all fields are there");
    let Some(page) = RingPage::parse(bytes, &layout) else {
        return;
    };
    for event in page.events() {
        let _ = events.decode(event.bytes);
    }
}

/// The first byte of `bytes` is the kind of the block.
fn block(content: u8, bytes: &[u8]) {
    let Some((kind, payload)) = bytes.split_first() else {
        return;
    };
    let mut file = [&b"PGTRACE\x01"[..], &[content], &[0; 7]].concat();
    let mut head = [&b"PGB"[..], &[*kind]].concat();
    head.extend((payload.len() as u32).to_le_bytes());
    let sum = xxhash_rust::xxh3::xxh3_64(&[&head, payload].concat());
    file.extend(head);
    file.extend(sum.to_le_bytes());
    file.extend(payload);
    let input: Box<dyn Read + '_> = Box::new(file.as_slice());
    let mut reader = TraceReader::open(vec![input], TraceOptions::default())
        .expect("the head of the file is valid");
    let mut batch = TraceBatch::default();
    let mut summary = TraceSummary::default();
    while reader.read(&mut batch).unwrap_or(false) {
        for request in &batch.requests {
            assert!(request.offset_bytes <= i64::MAX as u64);
        }
        summary.add(&batch);
    }
    summary.touched_bytes(None);
}
