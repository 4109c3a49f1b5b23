//! Counts of traces of other programs, which are not copied into this tree.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use end_to_end::{ScratchTarget, need, samples};
use trace::{
    CallKind, NameId, TraceBatch, TraceLayer, TraceOptions, TraceReader, TraceRequest, TracedCall,
    TracedKind,
};

/// The columns of the table of requests after file and layer.
const COLUMNS: usize = 14;

/// A trace that was read to its end.
struct WholeTrace {
    batch: TraceBatch,
    notices: Vec<String>,
    backward_count: u64,
    call_names: Vec<String>,
}

fn read(path: &Path, layer: Option<TraceLayer>) -> WholeTrace {
    let input: Box<dyn Read> = Box::new(File::open(path).unwrap());
    let options = TraceOptions {
        layer,
        ..TraceOptions::default()
    };
    let mut reader = TraceReader::open(vec![input], options).unwrap();
    let (mut all, mut batch) = (TraceBatch::default(), TraceBatch::default());
    while reader.read(&mut batch).unwrap() {
        all.requests.append(&mut batch.requests);
        all.calls.append(&mut batch.calls);
    }
    let names = all.calls.iter().map(|call| reader.names().text(call.name));
    WholeTrace {
        call_names: names.collect(),
        notices: reader.notices(),
        backward_count: reader.backward_count(),
        batch: all,
    }
}

/// The row of a trace in the table of requests.
fn row(trace: &WholeTrace) -> [u64; COLUMNS] {
    let requests = &trace.batch.requests;
    let of = |kind| requests.iter().filter(move |it| it.kind == kind);
    let count = |kind| of(kind).count() as u64;
    let bytes = |kind| of(kind).map(|it| it.length_bytes).sum::<u64>();
    let times = || requests.iter().map(|it| it.time_ns);
    let span_ns = times().max().unwrap() - times().min().unwrap();
    let devices: BTreeSet<_> = requests.iter().map(|it| it.device).collect();
    [
        requests.len() as u64,
        count(TracedKind::Read),
        count(TracedKind::Write),
        count(TracedKind::Discard),
        count(TracedKind::Flush),
        count(TracedKind::Other),
        bytes(TracedKind::Read),
        bytes(TracedKind::Write),
        bytes(TracedKind::Discard),
        u64::try_from(span_ns).unwrap(),
        devices.len() as u64,
        requests.iter().map(TraceRequest::end_bytes).max().unwrap(),
        trace.backward_count,
        0,
    ]
}

/// Rows `| file | layer | numbers... |` of the index.
fn table(index: &str) -> Vec<(String, Option<TraceLayer>, Vec<u64>)> {
    let mut rows = Vec::new();
    for line in index.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells.len() != COLUMNS + 1 {
            continue;
        }
        let numbers: Vec<u64> = cells[2..].iter().filter_map(|it| it.parse().ok()).collect();
        if numbers.len() != COLUMNS - 1 {
            continue;
        }
        let layer = match cells[1] {
            "Q" => Some(TraceLayer::Queue),
            "D" => Some(TraceLayer::Issue),
            "C" => Some(TraceLayer::Complete),
            _ => None,
        };
        rows.push((cells[0].to_owned(), layer, numbers));
    }
    rows
}

#[test]
fn every_sample_has_the_requests_of_the_index() {
    let folder = need!(samples("traces"));
    let index = std::fs::read_to_string(folder.join("INDEX.md")).unwrap();
    let rows = table(&index);
    assert!(rows.len() > 40, "only {} rows", rows.len());
    let mut failures = Vec::new();
    for (file, layer, wanted) in rows {
        let found = row(&read(&folder.join(&file), layer));
        if found[..COLUMNS - 1] != wanted[..] {
            failures.push(format!(
                "{file} {layer:?}\n  wanted {wanted:?}\n  found  {found:?}"
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn five_formats_of_one_second_yield_one_list_of_requests() {
    let folder = need!(samples("traces"));
    let endings = [
        "blktrace.bin",
        "blkparse.txt",
        "ftrace.txt",
        "perf-script.txt",
        "perf-script-ns.txt",
    ];
    let list = |ending: &&str| -> Vec<(u64, u64, TracedKind)> {
        // Without a choice, issues count.
        let trace = read(&folder.join(format!("linux618-ext4.{ending}")), None);
        let requests = trace.batch.requests.iter();
        requests
            .map(|it| (it.offset_bytes, it.length_bytes, it.kind))
            .collect()
    };
    let lists: Vec<_> = endings.iter().map(list).collect();
    assert_eq!(lists[0].len(), 70);
    for other in &lists[1..] {
        assert_eq!(*other, lists[0]);
    }
}

#[test]
fn completions_give_all_issued_requests_a_latency() {
    let folder = need!(samples("traces"));
    for file in ["linux618-ext4.blktrace.bin", "linux618-ext4.ftrace.txt"] {
        let trace = read(&folder.join(file), None);
        let mut requests = trace.batch.requests.iter();
        assert!(requests.all(|it| it.latency_ns.is_some()), "{file}");
    }
}

/// Number of calls of a kind, and the bytes that they moved.
fn calls(trace: &WholeTrace, kind: CallKind) -> (usize, u64) {
    let calls = trace.batch.calls.iter().filter(|call| call.kind == kind);
    calls.fold((0, 0), |(count, bytes), call| {
        (count + 1, bytes + call.length_bytes)
    })
}

/// `true` if a call on a file failed; the index leaves waits for other threads out.
fn has_failed(call: &&TracedCall) -> bool {
    let is_on_file = call.kind != CallKind::Other || call.file != NameId::UNKNOWN;
    call.result == Some(-1) && is_on_file
}

#[test]
fn every_sample_of_strace_has_the_calls_of_the_index() {
    let folder = need!(samples("traces"));
    let wanted = [
        (
            "linux618-ext4.strace-f-ttt-T-y.txt",
            [52, 2, 2, 12, 49152, 17, 559_162, 3, 4, 1, 1, 0, 0, 88_594],
        ),
        (
            "threads.strace-f-tt.txt",
            [105, 5, 5, 3, 2496, 6, 122, 0, 0, 0, 0, 6, 1, 3_018_756],
        ),
        (
            "desktop.strace-f-tt-T.txt",
            [120, 16, 15, 15, 12480, 0, 0, 0, 0, 0, 0, 16, 1, 6064],
        ),
    ];
    for (file, wanted) in wanted {
        let trace = read(&folder.join(file), None);
        let all = &trace.batch.calls;
        let opened = |call: &&TracedCall| call.kind == CallKind::Open && !has_failed(call);
        let (reads, writes) = (
            calls(&trace, CallKind::Read),
            calls(&trace, CallKind::Write),
        );
        let renames = trace
            .call_names
            .iter()
            .filter(|name| name.starts_with("rename"))
            .count();
        let span_ns = all.last().unwrap().time_ns - all[0].time_ns;
        let found = [
            all.len() as u64,
            all.iter().filter(opened).count() as u64,
            calls(&trace, CallKind::Close).0 as u64,
            reads.0 as u64,
            reads.1,
            writes.0 as u64,
            writes.1,
            calls(&trace, CallKind::Fsync).0 as u64,
            calls(&trace, CallKind::Fdatasync).0 as u64,
            renames as u64,
            calls(&trace, CallKind::Remove).0 as u64,
            calls(&trace, CallKind::Stat).0 as u64,
            all.iter().filter(has_failed).count() as u64,
            u64::try_from(span_ns).unwrap() / 1000,
        ];
        assert_eq!(found, wanted, "{file}: {:?}", trace.notices);
    }
}

#[test]
fn guesses_and_invalid_rows_are_named() {
    let folder = need!(samples("traces"));
    let expected = [
        ("cloudphysics.vscsi-s.csv", "taken as seconds"),
        ("cloudphysics.vscsi-us.csv", "taken as microseconds"),
        ("mqsim-tpcc-ns.trace", "taken as nanoseconds"),
        ("disksim-ms.trace", "taken as milliseconds"),
        ("made-tencent-cbs.csv", "whole seconds"),
        ("spc-documented.spc", "line 9: `2 448003` is not a time"),
        ("perf-tools.iosnoop.txt", "no times"),
        ("made-iozone-telemetry.txt", "directions"),
    ];
    for (file, notice) in expected {
        let trace = read(&folder.join(file), None);
        let text = trace.notices.join("\n");
        assert!(text.contains(notice), "{file}: {text}");
    }
}

#[test]
fn histograms_are_refused_with_what_they_are() {
    let folder = need!(samples("traces"));
    let file = File::open(folder.join("vscsistats-histograms.csv")).unwrap();
    let error = TraceReader::open(vec![Box::new(file)], TraceOptions::default()).unwrap_err();
    assert!(
        error.to_string().contains("histograms of `vscsiStats`"),
        "{error}"
    );
}

const BLKPARSE: &str = "\
  8,16   3        1     0.000000000  1234  Q  WS 2048 + 8 [db\u{1b}[2J]
  8,16   3        2     0.000100000  1234  D  WS 2048 + 8 [db\u{1b}[2J]
  8,16   3        3     0.000200000     0  C  WS 2048 + 8 [0]
  8,16   3        4     2.000000000  1234  D   R 4096 + 8 [db]
";

#[test]
fn check_prints_the_counts_of_a_trace() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("disk.txt", BLKPARSE);
    let output = bed.run(&["check", "disk.txt"]);
    assert_eq!(output.code, 0, "{}", output.text());
    for wanted in [
        "blkparse",
        "2 in 2.00 s",
        "1 write of 4 KiB",
        "latency 100 µs",
        "8,16",
    ] {
        assert!(
            output.stdout.contains(wanted),
            "{wanted}: {}",
            output.text()
        );
    }
    assert!(!output.stdout.contains('\u{1b}'), "{}", output.text());
    let queued = bed.run(&["check", "disk.txt", "--layer", "queue"]);
    assert!(queued.stdout.contains("queue counts"), "{}", queued.text());
}

#[test]
fn check_reads_the_files_of_all_cpus() {
    let bed = ScratchTarget::new().unwrap();
    let record = |time_ns: u64, action: u32| {
        let mut bytes = 0x6561_7407_u32.to_le_bytes().to_vec();
        bytes.extend([0; 4]);
        bytes.extend(time_ns.to_le_bytes());
        bytes.extend(8_u64.to_le_bytes());
        bytes.extend(4096_u32.to_le_bytes());
        bytes.extend((action | 2 << 16).to_le_bytes());
        bytes.resize(48, 0);
        bytes
    };
    bed.file("sda.blktrace.0", record(200, 8));
    bed.file("sda.blktrace.1", record(100, 7));
    bed.file("sda.blktrace.old", "other");
    let output = bed.run(&["check", "sda.blktrace.0", "--json"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["files"].as_array().unwrap().len(), 2);
    assert_eq!(document["latency"]["max_ns"], 100);
}

#[test]
fn options_of_workloads_and_traces_are_not_mixed() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("disk.txt", BLKPARSE);
    let output = bed.run(&["check", "disk.txt", "--run-time", "1s"]);
    assert_eq!(output.code, 2, "{}", output.text());
    assert!(
        output
            .stderr
            .contains("do not apply to the trace `disk.txt`"),
        "{}",
        output.text()
    );
    let output = bed.run(&["check", "randread-4k", "--time-unit", "ms"]);
    assert_eq!(output.code, 2, "{}", output.text());
    assert!(
        output.stderr.contains("apply to traces only"),
        "{}",
        output.text()
    );
    let histogram = "Histogram: IO lengths of commands\nmin,512\n";
    bed.file("vm.csv", histogram);
    let output = bed.run(&["check", "vm.csv"]);
    assert_eq!(output.code, 2, "{}", output.text());
    assert!(
        output.stderr.contains("histograms of `vscsiStats`"),
        "{}",
        output.text()
    );
}
