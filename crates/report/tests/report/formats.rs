//! Records of earlier formats print what they printed then.

use report::{Format, Page, render};
use results::{CallTimes, FreeSpace, RoundFigures, RunRecord, WorkerTimes};

/// A run of PostMark, create-remove, lat_fs and fs_mark, as it was written in format 1.
const RECORD_1: &str = include_str!("../../../results/tests/formats/1.json");

#[test]
fn a_record_of_format_1_prints_as_before() {
    let record = RunRecord::from_json(RECORD_1).unwrap();
    for (format, printed) in [
        (Format::Text, include_str!("../formats/1.txt")),
        (Format::Markdown, include_str!("../formats/1.md")),
        (Format::Csv, include_str!("../formats/1.csv")),
        (Format::Classic, include_str!("../formats/1.classic.txt")),
    ] {
        let text = render(&record, format, Page::PLAIN).to_string();
        assert_eq!(text, printed, "{format:?}");
    }
}

/// What each of the times is, in microseconds.
fn worker(time_us: u64, calls: [(&str, u64); 5]) -> WorkerTimes {
    let times = |(kind, time_us): (&str, u64)| {
        let times = CallTimes {
            count: 10,
            sum_ns: 10 * time_us * 1000,
            min_ns: (time_us - 1) * 1000,
            max_ns: (time_us + 1) * 1000,
        };
        (kind.to_owned(), times)
    };
    WorkerTimes {
        time_ns: time_us * 1000,
        calls: calls.map(times).into(),
        window: None,
    }
}

#[test]
fn fs_mark_iterations_print_as_in_fs_mark() {
    let mut record = RunRecord::from_json(RECORD_1).unwrap();
    record.cells.retain(|cell| cell.workload == "fm");
    let is_its = |cell: &plan::Cell| cell.workload == "fm";
    record.plan.cells.retain(is_its);
    let calls = [
        ("create", 5),
        ("write", 4),
        ("fsync", 40),
        ("close", 2),
        ("unlink", 3),
    ];
    let round = |sync_us: u64, time_us: u64| RoundFigures {
        file_count: 10,
        time_ns: time_us * 1000,
        sync_ns: Some(sync_us * 1000),
        space: Some(FreeSpace {
            free_bytes: 750,
            total_bytes: 1000,
        }),
        workers: vec![worker(time_us, calls)],
    };
    let figures = record.cells[0].phase_figures.as_mut().unwrap();
    figures.rounds = vec![round(100, 1000), round(90, 620)];
    let text = render(&record, Format::Classic, Page::PLAIN).to_string();
    assert_eq!(text, include_str!("../formats/fs_mark.classic.txt"));
}
