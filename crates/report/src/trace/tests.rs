use std::io::Read;

use trace::{TraceBatch, TraceOptions, TraceReader, TraceSummary};

use super::*;

fn checked(text: &str) -> CheckedTrace {
    let input: Box<dyn Read + '_> = Box::new(text.as_bytes());
    let mut reader = TraceReader::open(vec![input], TraceOptions::default()).unwrap();
    let (mut summary, mut batch) = (TraceSummary::default(), TraceBatch::default());
    while reader.read(&mut batch).unwrap() {
        summary.add(&batch);
    }
    CheckedTrace::new(vec!["a.csv".to_owned()], &reader, &mut summary)
}

const BLKPARSE: &str = "\
  8,16   3        1     0.000000000  1234  D  WS 2048 + 8 [db\u{1b}[2J]
  8,16   3        2     0.500000000  1234  D   R 2048 + 8 [db\u{1b}[2J]
  8,32   3        3     1.000000000    77  D   D 0 + 2048 [fstrim]
  8,16   3        4     1.500000000     0  C  WS 2048 + 8 [0]
";

#[test]
fn requests_are_counted_by_kind_device_and_process() {
    let trace = checked(BLKPARSE);
    assert_eq!(
        (trace.request_count, trace.span_ns),
        (3, Some(1_000_000_000))
    );
    assert_eq!(trace.events_per_second, Some(3.0));
    assert_eq!(trace.bytes_per_second, Some(8192.0));
    assert_eq!(trace.touched_bytes, 4096);
    assert_eq!(trace.written_bytes, 4096 + (1 << 20));
    let devices: Vec<_> = trace
        .devices
        .iter()
        .map(|it| (it.name.as_str(), it.count))
        .collect();
    assert_eq!(devices, [("8,16", 2), ("8,32", 1)]);
    assert_eq!(trace.devices[0].end_bytes, 2056 * 512);
    assert_eq!(trace.processes[0].pid, 1234);
    assert_eq!(trace.layer, Some("issue"));
    assert_eq!(trace.latency.as_ref().map(|it| it.count), Some(1));
}

#[test]
fn text_shows_counts_and_hides_control_characters() {
    let text = trace_text(&checked(BLKPARSE), 100);
    for wanted in [
        "trace        blkparse (a.csv)",
        "issue counts; the trace has issue 3, completion 1",
        "3 in 1.00 s: 3.000/s",
        "would write  1 write of 4 KiB and 1 discard of 1 MiB, to 1 MiB of space",
        "row 1: +0.000000000 s `8,16` write of 4096 bytes at byte 1048576, process 1234",
        "fstrim",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(
        !text.contains('\u{1b}') && text.contains("\\u{1b}"),
        "{text}"
    );
}

#[test]
fn calls_are_counted_by_name_and_file() {
    let trace =
        checked("1 1795787125.0 open(\"/f\", O_RDONLY) = 3\n1 1795787126.0 read(3, \"\", 9) = 9\n");
    assert_eq!(
        (trace.call_count, trace.request_count, trace.thread_count),
        (2, 0, 1)
    );
    assert_eq!(trace.files_of_calls[0].count, 2);
    let text = trace_text(&trace, 100);
    assert!(text.contains("calls        2 in 1.00 s"), "{text}");
    assert!(
        text.contains("thread 1 `read` on `/f`, 9 bytes at byte 0"),
        "{text}"
    );
}

#[test]
fn a_trace_without_times_has_no_rates() {
    let text = "COMM PID TYPE DEV BLOCK BYTES LATms\ntar 9 R 8,0 8 4096 7.5\n";
    let trace = checked(text);
    assert_eq!((trace.span_ns, trace.events_per_second), (Some(0), None));
    assert!(trace_text(&trace, 80).contains("no times"));
}
