//! Text of the block layer and of tools that watch it.

use trace::TraceLayer;
use trace::TracedKind::{Discard, Flush, Other, Read, Write};

use crate::{read, read_layer, rows};

const BLKPARSE: &str = "\
#Maj,Mn CPU SeqNo
  8,16   3        1     0.000000100  1234  Q  WS 2048 + 8 [db [1] writer]
  8,16   3        2     0.000000200  1234  A  WS 2048 + 8 <- (253,0) 0
  8,16   3        0     0.000000250     0  m   N cfq1234 / insert
  8,16   3        3     0.000000300  1234  D  WS 2048 + 8 [db [1] writer]
  8,16   3        4     0.000000310  1234  P   N [db]
  8,16   3        5     0.000000320  1234  U   N [db] 1
  8,16   3        6     0.000000400     0  C  WS 2048 + 8 [0]
  8,16   3        7     0.000000500     9  D  FN [kworker/3:1H]
  8,16   3        8     0.000000600     9  D   N 0 (00 ..) [kworker/3:1H]
  8,16   3        9     0.000000700     9  D   D 4096 + 2048 [fstrim]
  8,16   3       10     0.000000800     0  C  FN 0 [0]
CPU3 (8,16):
 Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB

Total (8,16):
 Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB
Events (8,16): 9 entries
";

#[test]
fn blkparse_is_read_without_its_totals() {
    let trace = read(BLKPARSE);
    let wanted = [
        (300, 1 << 20, 4096, Write),
        (500, 0, 0, Flush),
        (600, 0, 0, Other),
        (700, 2 << 20, 1 << 20, Discard),
    ];
    assert_eq!(rows(&trace), wanted);
    assert_eq!(trace.notices, "");
    assert_eq!(trace.processes[0], "db [1] writer");
    assert_eq!(trace.requests[0].latency_ns, Some(100));
    assert_eq!(trace.requests[1].latency_ns, Some(300));
    assert_eq!(trace.requests[0].row, 5);
    assert_eq!(
        read_layer(BLKPARSE.as_bytes(), TraceLayer::Queue)
            .requests
            .len(),
        1
    );
}

#[test]
fn queued_requests_count_if_none_was_issued() {
    let lines = ["Q", "C"].map(|action| {
        format!("  8,0    0        1     1.000000000     7  {action}   R 8 + 8 [cat]\n")
    });
    assert_eq!(read(lines.concat()).requests[0].layer, TraceLayer::Queue);
    let completed = read(&lines[1]);
    assert_eq!(completed.requests[0].layer, TraceLayer::Complete);
    assert!(
        completed.notices.contains("only completions"),
        "{}",
        completed.notices
    );
}

#[test]
fn ftrace_is_read_with_all_kinds_of_names_and_columns() {
    let text = "\
# tracer: nop
#
CPU:1 [LOST 12 EVENTS]
  kworker/u8:1-x-44   [001] ..s1.  2.000001: block_rq_issue: 8,0 WS 4096 () 2048 + 8 be,0,4 [a b]
 opt 99 block_x: [2]-7 [000]  2.000002: block_rq_issue: 8,0 R () 8 + 8 [opt 99 block_x: [2]]
    <idle>-0     (-----) [001] d.h1.  2.000003: block_rq_complete: 8,0 WS () 2048 + 8 none,0,0 [0]
           sleep-9     [001] d.h1.  2.000004: sched_switch: prev_comm=sleep
             dd-12     [000]  2.000005: block_rq_issue: 8,0 N 36 (12 00 00 00) 0 + 0 [dd]
";
    let trace = read(text);
    let wanted = [
        (2_000_001_000, 1 << 20, 4096, Write),
        (2_000_002_000, 4096, 4096, Read),
        (2_000_005_000, 0, 0, Other),
    ];
    assert_eq!(rows(&trace), wanted);
    assert_eq!(trace.requests[0].latency_ns, Some(2000));
    let pids: Vec<u32> = trace.requests.iter().map(|it| it.pid).collect();
    assert_eq!(pids, [44, 7, 12]);
    assert_eq!(trace.processes[1], "opt 99 block_x: [2]");
    assert!(
        trace.notices.contains("lost 12 events"),
        "{}",
        trace.notices
    );
    assert!(
        trace.notices.contains("1 are events of other kinds"),
        "{}",
        trace.notices
    );
}

#[test]
fn trace_cmd_and_perf_are_read() {
    let text = "\
cpus=2
           fio-77    [001]   100.5:     block_bio_queue:  8,0 W 16 + 8 [fio]
";
    assert_eq!(rows(&read(text)), [(100_500_000_000, 8192, 4096, Write)]);
    let text = "\
     db writer 21/22 [001]  5.000000001: block:block_rq_issue: 8,0 RA 512 () 1 + 1 0x2,0,4 [db]
          swap     0 [001]  5.000000009: block:block_rq_complete: 8,0 RA () 1 + 1 0x2,0,4 [0]
";
    let trace = read(text);
    assert_eq!(rows(&trace), [(5_000_000_001, 512, 512, Read)]);
    assert_eq!(
        (trace.requests[0].pid, trace.requests[0].latency_ns),
        (21, Some(8))
    );
    assert_eq!(trace.format, "perf script");
}

#[test]
fn times_of_biosnoop_become_arrivals() {
    let text = "\
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)
0.001000    my db          12     sda     W 8          4096      0.01    0.50
0.001100    cat            13     sda     R 16         512       0.01    0.90
";
    let trace = read(text);
    // The second request arrived first.
    assert_eq!(
        rows(&trace),
        [(200_000, 8192, 512, Read), (500_000, 4096, 4096, Write)]
    );
    assert_eq!(trace.processes[1], "my db");
    assert_eq!(trace.backward_count, 1);
    assert!(trace.notices.contains("exact to 5 µs"), "{}", trace.notices);
}

#[test]
fn iosnoop_has_an_order_but_times_only_on_request() {
    let text = "\
Tracing block I/O. Ctrl-C to end.
COMM             PID    TYPE DEV      BLOCK        BYTES     LATms
tar              9      RM   202,1    8            4096      7.53
Ending tracing...
";
    let trace = read(text);
    assert_eq!(rows(&trace), [(0, 4096, 4096, Read)]);
    assert!(trace.notices.contains("no times"), "{}", trace.notices);
    let text = "\
STARTs          ENDs            COMM             PID    TYPE DEV      BLOCK  BYTES     LATms
5.000000        5.007530        tar              9      RM   202,1    8      4096       7.53
";
    let trace = read(text);
    assert_eq!(trace.requests[0].time_ns, 5_000_000_000);
    assert_eq!(trace.requests[0].latency_ns, Some(7_530_000));
}
