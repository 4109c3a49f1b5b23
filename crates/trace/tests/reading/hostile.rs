//! Damaged and hostile input.

use proptest::prelude::*;
use trace::{TraceError, TraceOptions};

use crate::binary::record;
use crate::{read, read_parts};

fn error_of(bytes: &[u8]) -> TraceError {
    read_parts(&[bytes], TraceOptions::default()).err().unwrap()
}

#[test]
fn impossible_offsets_and_lengths_are_left_out_by_row() {
    let text = "1,R,18446744073709551615,4096,1577808000000000\n\
                1,R,0,4294967296,1577808000000001\n\
                1,R,9223372036854775807,0,1577808000000002\n\
                1,R,0,4096,18446744073709551615\n\
                1,R,512,4096,1577808000000003\n\
                1,R,512,4096,1577808000000004\n";
    let trace = read(text);
    assert_eq!(trace.requests.len(), 3);
    for line in ["line 1", "line 2", "line 4"] {
        assert!(trace.notices.contains(line), "{}", trace.notices);
    }
    assert!(
        trace.notices.contains("not an offset below 8 EiB"),
        "{}",
        trace.notices
    );
    assert!(trace.notices.contains("below 2 GiB"), "{}", trace.notices);
    let binary = [
        record(1, 7, u64::MAX, 512),
        record(2, 7, 8, u32::MAX),
        record(3, 7, 8, 512),
    ];
    let trace = read(binary.map(|it| it.encode(7, false, &[])).concat());
    assert_eq!(trace.requests.len(), 1);
    assert!(
        trace.notices.contains("record 2: `4294967295`"),
        "{}",
        trace.notices
    );
}

#[test]
fn a_file_of_invalid_rows_is_refused_with_the_first() {
    let text = ["0,8,512,R,1.0\n".repeat(64), "0,8,512,R,x\n".repeat(500)].concat();
    let error = error_of(text.as_bytes());
    assert!(
        error.to_string().contains("line 65: `x` is not a time"),
        "{error}"
    );
    assert!(error.help().is_some());
}

#[test]
fn unknown_and_foreign_content_is_named() {
    let cases: [(&[u8], &str); 7] = [
        (b"", "begins with ``"),
        (b"hello\x1b[2J\n", "begins with `hello\\u{1b}[2J`"),
        (b"PERFILE2........", "perf's own binary form"),
        (b"\xff\xfeT\0i\0", "UTF-16"),
        (
            b"Histogram: IO lengths\nmin,512\n",
            "histograms of `vscsiStats`",
        ),
        (b"TIME(ms) COMM PID\n", "bpftrace"),
        (b"rw, 0, 4096\n", "version 1"),
    ];
    for (content, wanted) in cases {
        let error = error_of(content);
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(error.help().is_some());
    }
}

#[test]
fn a_cut_last_line_is_left_out_or_doubted() {
    let trace = read("0,8,512,R,1.0\n0,8,512,R,2.0\n0,8,51");
    assert_eq!(trace.requests.len(), 2);
    assert!(
        trace.notices.contains("line 3, the last, is cut"),
        "{}",
        trace.notices
    );
    let trace = read("0,8,512,R,1.0\n0,8,512,R,2");
    assert_eq!(trace.requests.len(), 2);
    assert!(
        trace.notices.contains("has no end of line"),
        "{}",
        trace.notices
    );
}

#[test]
fn endless_lines_are_refused() {
    let mut text = b"0,8,512,R,1.0\n".repeat(8000);
    text.resize(text.len() + (3 << 20), b'x');
    assert!(matches!(
        error_of(&text),
        TraceError::LongLine { line: 8001 }
    ));
}

#[test]
fn many_names_are_bounded() {
    let row = |index| {
        format!(
            "1 {index}.0 open(\"/{}{index}\", O_RDONLY) = 3\n",
            "x".repeat(2000)
        )
    };
    let text: String = (0..10_000).map(row).collect();
    let trace = read(text);
    assert_eq!(trace.calls.len(), 10_000);
    assert_eq!(trace.call_files[9999], "(other names)");
    assert!(
        trace.notices.contains("too many names"),
        "{}",
        trace.notices
    );
}

/// Starts of all text formats, after which anything may follow.
const HEADS: [&str; 12] = [
    "  8,16   3        1     0.000000100  1234  Q  WS 2048 + 8 [db]\n",
    " a-1 [001]  2.0: block_rq_issue: 8,0 R () 8 + 8 [a]\n",
    "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n",
    "fio version 3 iolog\n",
    "fio version 2 iolog\n",
    "1 5.0 open(\"/log\", O_WRONLY|O_APPEND) = 3\n",
    "128166372003061629,usr,0,Read,7014609920,24576,41286\n",
    "0.5 0 8 16 1\n",
    "89966480208 4892 my daemon 8 8 W 6 0 531e779e\n",
    "# DXT, file_id: 1, file_name: /a\n X_POSIX 2 write 0 4096 100 0.5 0.6\n",
    "\"Time of Day\",\"Operation\",\"Path\",\"Detail\"\n",
    "BeginHeader\n DiskRead, TimeStamp, Process Name ( PID), ByteOffset, IOSize, ElapsedTime, \
     DiskNum\nEndHeader\n",
];

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_parts(&[&bytes], TraceOptions::default());
    }

    #[test]
    fn any_text_after_a_valid_start_is_read_or_refused(
        head in 0..HEADS.len(),
        lines in prop::collection::vec("[ -~\t]{0,60}", 0..20),
    ) {
        let text = [HEADS[head], &lines.join("\n")].concat();
        let _ = read_parts(&[text.as_bytes()], TraceOptions::default());
    }

    #[test]
    fn changed_rows_are_read_or_refused(
        head in 0..HEADS.len(),
        changes in prop::collection::vec((0_usize..200, any::<u8>()), 0..8),
    ) {
        let mut bytes = HEADS[head].repeat(4).into_bytes();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let _ = read_parts(&[&bytes], TraceOptions::default());
    }

    #[test]
    fn changed_records_are_read_or_refused(
        changes in prop::collection::vec((0_usize..200, any::<u8>()), 0..8),
    ) {
        let mut bytes = record(5, 7, 8, 512).encode(7, false, &[3; 12]).repeat(4);
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        let _ = read_parts(&[&bytes], TraceOptions::default());
    }
}
