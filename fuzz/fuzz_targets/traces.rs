//! Traces: no content makes a reader panic, and its events stay within their limits. The first
//! byte selects a start of a known format, so that every reader is reached.

#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use trace::{TraceBatch, TraceOptions, TraceReader, TraceSummary};

/// Starts of formats, after which anything may follow.
const STARTS: [&[u8]; 14] = [
    b"",
    b"  8,16   3        1     0.000000100  1234  Q  WS 2048 + 8 [db]\n",
    b" a-1 [001]  2.0: block_rq_issue: 8,0 R () 8 + 8 [a]\n",
    b"TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n",
    b"fio version 3 iolog\n",
    b"fio version 2 iolog\n",
    b"1 5.0 open(\"/log\", O_WRONLY|O_APPEND) = 3\n",
    b"128166372003061629,usr,0,Read,7014609920,24576,41286\n",
    b"0.5 0 8 16 1\n",
    b"89966480208 4892 my daemon 8 8 W 6 0 531e779e\n",
    b"# DXT, file_id: 1, file_name: /a\n X_POSIX 2 write 0 4096 100 0.5 0.6\n",
    b"\"Time of Day\",\"Operation\",\"Path\",\"Detail\"\n",
    b"BeginHeader\n DiskRead, TimeStamp, Process Name ( PID), ByteOffset, IOSize, ElapsedTime, \
      DiskNum\nEndHeader\n",
    b"\x07\x74\x61\x65",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let start = STARTS[usize::from(*which) % STARTS.len()];
    let whole = [start, rest].concat();
    let input: Box<dyn Read + '_> = Box::new(whole.as_slice());
    let Ok(mut reader) = TraceReader::open(vec![input], TraceOptions::default()) else {
        return;
    };
    let mut batch = TraceBatch::default();
    let mut summary = TraceSummary::default();
    while reader.read(&mut batch).unwrap_or(false) {
        for request in &batch.requests {
            assert!(request.offset_bytes <= i64::MAX as u64);
        }
        summary.add(&batch);
    }
    summary.touched_bytes(None);
});
