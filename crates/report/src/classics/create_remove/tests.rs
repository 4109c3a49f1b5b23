//! The page and the table, against the published run.

use std::path::Path;

use super::*;

const MS: u64 = 1_000_000;

fn step(act: Act, size_bytes: u64, then: Between) -> Step {
    Step {
        act,
        size_bytes,
        then,
    }
}

fn figures(step: Step, milliseconds: [u64; 3]) -> StepFigures {
    let [real, user, system] = milliseconds;
    StepFigures {
        step,
        file_count: 500_000,
        failed_count: 0,
        times: Times {
            real_ns: real * MS,
            user_ns: user * MS,
            system_ns: system * MS,
        },
        baseline: None,
    }
}

/// The published run on LFS, in milliseconds: real, user, system.
const LFS: [[u64; 3]; 8] = [
    [287_760, 97_414, 187_716],
    [336_297, 100_410, 192_924],
    [407_779, 132_028, 219_158],
    [367_173, 104_787, 206_317],
    [691_638, 138_433, 243_207],
    [404_313, 105_163, 208_461],
    [1_355_518, 157_826, 317_376],
    [442_606, 104_667, 202_337],
];

fn lfs() -> Vec<StepFigures> {
    LFS.into_iter()
        .enumerate()
        .map(|(index, times)| {
            let then = if index == 7 {
                Between::Nothing
            } else {
                Between::Remount
            };
            let act = [Act::Create, Act::Remove][index % 2];
            let size_bytes = [0, 4096, 16_384, 65_536][index / 2];
            figures(step(act, size_bytes, then), times)
        })
        .collect()
}

/// Lines as words, `Done` left out: the page lacks one.
fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty() && line != "Done")
        .collect()
}

#[test]
fn the_page_is_that_of_the_script() {
    let all = lfs();
    let wanted = "Creating 500000 empty files\n\nreal\t4m47.760s\nuser\t1m37.414s\n\
                  sys\t3m7.716s\nDone\n\nRemounting\n\nDeleting 500000 files of size 0 bytes\n\n\
                  real\t5m36.297s\nuser\t1m40.410s\nsys\t3m12.924s\nDone\n\nRemounting\n\n";
    assert_eq!(page(&all[..2]), wanted);
    assert!(page(&all[7..]).ends_with("sys\t3m22.337s\nDone\n\n"));
}

#[test]
fn a_stat_step_is_told_as_the_others_are() {
    let statted = figures(step(Act::Stat, 4096, Between::Nothing), [2_500, 0, 1_000]);
    assert_eq!(
        page(&[statted]),
        "Statting 500000 files of size 4096 bytes\n\nreal\t0m2.500s\nuser\t0m0.000s\n\
         sys\t0m1.000s\nDone\n\n"
    );
    assert_eq!(statted.bytes_per_second(), None);
    let text = table(&[statted], Page::PLAIN);
    assert!(text.contains("stat 4096"), "{text}");
}

#[test]
fn the_published_run_comes_back_line_for_line() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/reference/documents/002_a7908ce7db4aaa36.txt");
    let Ok(text) = std::fs::read_to_string(document) else {
        println!("skipped: the published page is not here");
        return;
    };
    let (_, text) = text.split_once("Script output for LFS").unwrap();
    let (text, _) = text.split_once("Script output for ext3").unwrap();
    let (_, text) = text.split_once("excluded):").unwrap();
    assert_eq!(lines(&page(&lfs())), lines(text));
}

#[test]
fn what_happens_between_steps_is_said_only_if_it_happens() {
    let text = |then| page(&[figures(step(Act::Create, 0, then), [61_001, 0, 59_999])]);
    assert!(text(Between::Nothing).ends_with("sys\t0m59.999s\nDone\n\n"));
    assert!(text(Between::DropCaches).ends_with("Done\n\nDropping caches\n\n"));
    assert!(text(Between::Nothing).contains("real\t1m1.001s\nuser\t0m0.000s\n"));
}

#[test]
fn rates_are_those_computed_from_the_page() {
    let all = lfs();
    let rounded = |index: usize| all[index].files_per_second().unwrap().round() as u32;
    let wanted = [1738, 1487, 1226, 1362, 723, 1237, 369, 1130];
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(rounded), wanted);
    let megabytes = |index: usize| {
        let rate: Option<f64> = all[index].bytes_per_second();
        rate.map(|rate| format!("{:.2}", rate / 1e6))
    };
    assert_eq!(megabytes(0), None);
    assert_eq!(megabytes(2).as_deref(), Some("5.02"));
    assert_eq!(megabytes(3), None);
    assert_eq!(megabytes(6).as_deref(), Some("24.17"));
}

#[test]
fn a_step_without_time_has_no_rate() {
    let idle = figures(step(Act::Create, 4096, Between::Nothing), [0; 3]);
    assert_eq!(idle.files_per_second(), None);
    assert_eq!(idle.bytes_per_second(), None);
}

#[test]
fn the_table_has_a_row_for_each_step_and_columns_that_say_something() {
    let wide = Page {
        width: 200,
        color: false,
    };
    let text = table(&lfs(), wide);
    assert!(
        !text.contains("errors") && !text.contains("without"),
        "{text}"
    );
    let row = text.lines().find(|line| line.starts_with("create 4096"));
    let row: Vec<&str> = row.unwrap().split_whitespace().collect();
    let wanted = [
        "create", "4096", "407.779", "132.028", "219.158", "815.6", "264.1", "438.3", "1226",
        "5.022",
    ];
    assert_eq!(row, wanted);
    assert!(
        table(&lfs(), Page::PLAIN)
            .lines()
            .all(|line| line.chars().count() <= 80)
    );
    assert!(!table(&[], wide).contains("create"));
}

#[test]
fn a_baseline_is_taken_from_each_file_and_failures_are_shown() {
    let mut started = lfs();
    let baseline = Times {
        real_ns: 2_000 * MS,
        user_ns: 0,
        system_ns: 0,
    };
    for figures in &mut started {
        figures.baseline = Some(baseline.scaled(figures.file_count, 5_000));
        figures.failed_count = 3;
    }
    let wide = Page {
        width: 200,
        color: false,
    };
    let text = table(&started, wide);
    assert!(
        text.contains("without") && text.contains("errors"),
        "{text}"
    );
    let row: Vec<&str> = text
        .lines()
        .find(|line| line.starts_with("create 0"))
        .unwrap()
        .split_whitespace()
        .collect();
    assert_eq!(row[5], "575.5");
    assert_eq!(row[8], "175.5");
    assert_eq!(row.last(), Some(&"3"));
}

#[test]
fn times_subtract_to_nothing_at_least() {
    let times = |real_ns| Times {
        real_ns,
        user_ns: 5,
        system_ns: 5,
    };
    let left = times(10).without(times(20));
    assert_eq!(left, Times::default());
    assert_eq!(times(10).scaled(3, 0).real_ns, 30);
    assert_eq!(times(u64::MAX).scaled(u64::MAX, 1).real_ns, u64::MAX);
}
