//! Lines for pipes.

use display::PlainLines;
use results::{Phase, RunEvent, Status};

use crate::events::{cell_done, cell_started, prepare, progress, started};

const S: u64 = 1_000_000_000;

#[test]
fn a_run_is_told_in_a_few_lines() {
    let mut events = vec![(started(), 0), (prepare(0, 100 << 20), S)];
    events.extend((1..=100).map(|step| (prepare(step << 20, 100 << 20), S + step * S / 10)));
    events.push((cell_started(0), 12 * S));
    for step in 0..300 {
        let (phase, start) = if step < 60 {
            (Phase::Ramp, 0)
        } else {
            (Phase::Measure, 60)
        };
        let at = (step - start) * S / 10;
        events.push((progress(0, phase, at), 12 * S + step * S / 10));
    }
    events.push((cell_done(0), 43 * S));
    events.push((
        RunEvent::Finished {
            status: Status::Complete,
        },
        43 * S,
    ));
    let mut plain = PlainLines::default();
    let lines: Vec<String> = events
        .iter()
        .filter_map(|(event, now_ns)| plain.line(event, *now_ns))
        .collect();
    let wanted = [
        "run run-1: 2 cells",
        "prepare /mnt/array  0 %  0 B of 100 MiB",
        "prepare /mnt/array  50 %  50 MiB of 100 MiB  10.00 MiB/s  0:05 left",
        "prepare /mnt/array  100 %  100 MiB of 100 MiB  10.00 MiB/s  0:00 left",
        "[1/2] File Server, iodepth 8",
        "[1/2] File Server, iodepth 8  ramp 0:05/0:30  12.35k IOPS  96.45 MiB/s  p99 1.23 ms  \
         0 errors",
        "[1/2] File Server, iodepth 8  measure 0:05/0:30  12.35k IOPS  96.45 MiB/s  p99 1.23 ms  \
         0 errors",
        "[1/2] File Server, iodepth 8  measure 0:10/0:30  12.35k IOPS  96.45 MiB/s  p99 1.23 ms  \
         0 errors",
        "[1/2] File Server, iodepth 8  measure 0:15/0:30  12.35k IOPS  96.45 MiB/s  p99 1.23 ms  \
         0 errors",
        "[1/2] File Server, iodepth 8  measure 0:20/0:30  12.35k IOPS  96.45 MiB/s  p99 1.23 ms  \
         0 errors",
        "[1/2] File Server, iodepth 8, 2 workers  done  1.000k IOPS  3.906 MiB/s  p99 200 µs  \
         0 errors",
        "run complete",
    ];
    assert_eq!(lines, wanted);
}
