//! Tables of published traces, logs and Windows.

use trace::TracedKind::{Discard, Flush, Other, Read, Write};
use trace::{TraceOptions, TraceTimeUnit};

use crate::{read, read_parts, rows};

#[test]
fn published_tables_are_recognized_without_a_head() {
    let cases = [
        (
            "MSR Cambridge CSV",
            "128166372003061629,usr,0,Read,7014609920,24576,41286\n",
            (1_172_163_600_306_162_900, 7_014_609_920, 24576, Read),
        ),
        (
            "Alibaba CSV",
            "419,W,8792731648,16384,1577808144360767\n",
            (1_577_808_144_360_767_000, 8_792_731_648, 16384, Write),
        ),
        (
            "Fujitsu K5 CSV",
            "2264,86400.5,R,2048,4096\n",
            (86_400_500_000_000, 2048, 4096, Read),
        ),
        (
            "SPC",
            "0,20,8192,W,0.5,extra\n",
            (500_000_000, 10240, 8192, Write),
        ),
        (
            "Tencent CSV",
            "1538323200,16,8,1,1360\n",
            (1_538_323_200_000_000_000, 8192, 4096, Write),
        ),
        (
            "SYSTOR '17 CSV",
            "1456135200.013118000,0.0008,,0,512,131072\n",
            (1_456_135_200_013_118_000, 512, 131_072, Other),
        ),
        ("DiskSim", "0.5 0 8 16 1\n", (500_000, 4096, 8192, Read)),
        (
            "FIU",
            "89966480208 4892 my daemon 8 8 W 6 0 531e779e3b4c5f6a\n",
            (89_966_480_208, 4096, 4096, Write),
        ),
        (
            "offsets, lengths and delays",
            "4096 8192 5\n",
            (5_000_000, 4096, 8192, Read),
        ),
    ];
    for (format, text, wanted) in cases {
        let trace = read(text);
        assert_eq!(trace.format, format);
        assert_eq!(rows(&trace), [wanted], "{format}");
    }
}

#[test]
fn columns_with_names_are_found_in_any_order() {
    let text =
        "#LBA.I,OP.I,ELAPSED_USECS.D,NBLKS.I,LUN_SSID.I,LATENCY_USECS.D\n8,1,2.5,16,3,7.25\n";
    let trace = read(text);
    assert_eq!(rows(&trace), [(2500, 4096, 8192, Write)]);
    assert_eq!(
        (trace.requests[0].latency_ns, trace.devices[0].as_str()),
        (Some(7250), "3")
    );
    let text = "size, offset, rw, time\n512, 1024, R, 1.5\n512,2048,w,1.6\n";
    let trace = read(text);
    assert_eq!(rows(&trace)[1], (1_600_000_000, 2048, 512, Write));
    assert!(
        trace.notices.contains("taken as seconds"),
        "{}",
        trace.notices
    );
}

#[test]
fn a_unit_of_the_user_replaces_the_guess() {
    let text = "0 0 8 8 0\n1000 0 8 8 0\n2000 0 8 8 0\n";
    let options = TraceOptions {
        time_unit: Some(TraceTimeUnit::Microseconds),
        ..TraceOptions::default()
    };
    let trace = read_parts(&[text.as_bytes()], options).unwrap();
    assert_eq!(trace.requests[2].time_ns, 2_000_000);
    assert_eq!(trace.notices, "");
    assert!(
        read(text)
            .notices
            .contains("taken as nanoseconds (`--time-unit`)")
    );
}

#[test]
fn bytes_in_place_of_sectors_are_noticed() {
    let trace = read("1538323200,8192,4096,1,1360\n1538323201,16384,512,0,1360\n");
    assert_eq!(trace.requests[0].offset_bytes, 8192);
    assert!(
        trace.notices.contains("taken as bytes"),
        "{}",
        trace.notices
    );
}

#[test]
fn waits_of_a_version_2_log_are_milliseconds_since_its_start() {
    let text = "fio version 2 iolog\n/f add\n/f open\n/f wait 600 0\n/f read 0 4096\n\
                /f wait 800 0\n/f write 4096 512\n/f datasync 0 0\n/f close\n";
    let wanted = [
        (600_000_000, 0, 4096, Read),
        (800_000_000, 4096, 512, Write),
        (800_000_000, 0, 0, Flush),
    ];
    assert_eq!(rows(&read(text)), wanted);
}

#[test]
fn a_version_3_log_with_nanoseconds_is_noticed() {
    let text = "fio version 3 iolog\n5 /f trim 0 2147483648\nfio version 3 iolog\n\
                3000000000000 /g read 0 512\n";
    let trace = read(text);
    assert_eq!(rows(&trace)[0], (5000, 0, 1 << 31, Discard));
    assert_eq!(trace.devices, ["/f", "/g"]);
    assert!(
        trace.notices.contains("probably nanoseconds"),
        "{}",
        trace.notices
    );
}

#[test]
fn darshan_counts_the_bytes_of_one_level() {
    let text = "\
# darshan log version: 3.41
# DXT, file_id: 1, file_name: /scratch/a file
 X_POSIX       2  write        0        4096     100      0.5000      0.6000
 X_POSIX       2   read        0        0        50      0.1000      0.1001  [OST: 3]
# DXT, file_id: 1, file_name: /scratch/a file
 X_MPIIO       2  write        0        4096     100      0.5000      0.6000
";
    let trace = read(text);
    assert_eq!(
        rows(&trace),
        [(100_000_000, 0, 50, Read), (500_000_000, 4096, 100, Write)]
    );
    assert_eq!(
        (trace.devices[0].as_str(), trace.processes[0].as_str()),
        ("/scratch/a file", "rank 2")
    );
    assert!(
        trace.notices.contains("level of another module"),
        "{}",
        trace.notices
    );
}

#[test]
fn procmon_is_read_in_any_locale_across_midnight() {
    let head = procmon("\u{feff}Time of Day|Process Name|PID|Operation|Path|Result|Detail");
    let row = |start: &str, detail: &str| procmon(&[start, detail].concat());
    let text = [
        head.clone(),
        row(
            "11:59:59.5000000 PM|a.exe|5|ReadFile|C:\\a, b|SUCCESS|",
            "Offset: 40,960, Length: 3,306, Priority: Normal",
        ),
        row(
            "12:00:00.5000000 AM|a.exe|5|WriteFile|C:\\a, b|SUCCESS|",
            "Offset: 0, Length: 512, I/O Flags: Non-cached, Paging I/O",
        ),
        row(
            "12:00:01.0000000 AM|a.exe|5|FlushBuffersFile|C:\\a, b|SUCCESS|",
            "",
        ),
    ];
    let trace = read(text.concat());
    let day_ns = 86_400_000_000_000;
    let wanted = [
        (day_ns - 500_000_000, 40960, 3306, Read),
        (day_ns + 1_000_000_000, 0, 0, Flush),
    ];
    assert_eq!(rows(&trace), wanted);
    assert_eq!(trace.devices[0], "C:\\a, b");
    let local = row(
        "16:00:00,0000001|a.exe|5|ReadFile|D:\\x|END OF FILE|",
        "Offset: 44\u{a0}266, Length: 4\u{a0}096",
    );
    let trace = read([head, local].concat());
    assert_eq!(rows(&trace), [(57_600_000_000_100, 44266, 4096, Other)]);
}

/// A line with quoted fields, from fields between bars. A byte order mark stays in front.
fn procmon(fields: &str) -> String {
    let (mark, fields) = match fields.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", fields),
    };
    format!("{mark}\"{}\"\r\n", fields.replace('|', "\",\""))
}

#[test]
fn xperf_is_read_by_its_head() {
    let text = "\
BeginHeader
   DiskWrite, TimeStamp, Process Name ( PID), ByteOffset, IOSize, ElapsedTime, DiskNum, FileName
   DiskFlush, TimeStamp, Process Name ( PID), ElapsedTime, DiskNum
EndHeader
   DiskWrite, 1500, System (   4), 0x00000001000, 0x00000200, 90, 1, \"C:\\a,b\"
   DiskFlush, 1600, System (   4), 500, 1
   DpcEvent, 1, 2
";
    let trace = read(text);
    assert_eq!(
        rows(&trace),
        [(1_100_000, 0, 0, Flush), (1_410_000, 4096, 512, Write)]
    );
    assert_eq!(
        (trace.requests[1].pid, trace.devices[1].as_str()),
        (4, "disk 1")
    );
}
