//! Lines, versions, location of the files, and the work for a size.

use std::path::{Path, PathBuf};

use plan::FrontOrigin;
use plan::program::{FileOperation, NamesInPlace, OnFailure, Program, ProgramPart, RoundsEnd};
use results::{PhaseFigures, RunEvent, RunRecord};
use serde_json::json;

use super::text::{best_line, median_line};
use super::*;
use crate::tests::record;
use crate::{FilePlacement, FrontWork};

fn work(text: &str) -> Result<FrontWork, ArgumentError> {
    let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    FRONT.work(&CommandLine {
        temp_dir: Path::new("/var/tmp"),
        ..CommandLine::of(&arguments)
    })
}

fn program(work: &FrontWork, cell: usize) -> &Program {
    &work.cells[cell].built.as_ref().unwrap().program
}

#[test]
fn version_1_6_prints_the_best_of_both() {
    let (create, remove) = ((1000, 250_000_000), (1000, 3_000_000));
    assert_eq!(
        best_line(10_240, create, remove),
        "10k\t1000\t4000\t333333\n"
    );
    assert_eq!(best_line(1023, create, remove), "0k\t1000\t4000\t333333\n");
}

#[test]
fn a_pass_that_took_no_time_does_not_print_infinity() {
    assert_eq!(
        best_line(0, (1, 0), (1, 0)),
        "0k\t1\t1000000000\t1000000000\n"
    );
}

#[test]
fn version_3_prints_minus_one_for_phases_that_took_no_time() {
    let line = median_line(4096, Some((10, 2_000_999)), Some((20, 1_000_000)));
    assert_eq!(line, "4k\t10\t5000\t20000\n");
    assert_eq!(median_line(0, Some((10, 999)), None), "0k\t-1\t-1\t-1\n");
    assert_eq!(
        median_line(0, None, Some((1, 1_000_000))),
        "0k\t-1\t-1\t1000\n"
    );
}

#[test]
fn recorded_lines_are_reproduced_from_their_numbers() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/misc");
    let Ok(text) = std::fs::read_to_string(samples.join("lat_fs_v3_run.txt")) else {
        println!("skipped: the recorded run of lat_fs is not here");
        return;
    };
    let sizes = [0, 1024, 4096, 10_240];
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), sizes.len());
    for (line, size_bytes) in lines.into_iter().zip(sizes) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let file_count: u32 = fields[1].parse().unwrap();
        let sample = |rate: &str| {
            let rate: f64 = rate.parse().unwrap();
            let time_us = (f64::from(file_count) * 1e6 / rate).round();
            Some((u64::from(file_count), time_us as u64 * 1000))
        };
        let printed = median_line(size_bytes, sample(fields[2]), sample(fields[3]));
        for (ours, theirs) in printed.split('\t').zip(line.split('\t')) {
            // A microsecond is as much as a few files a second.
            match (ours.trim().parse::<f64>(), theirs.trim().parse::<f64>()) {
                (Ok(ours), Ok(theirs)) => assert!((ours - theirs).abs() <= 2.0, "{printed}"),
                _ => assert_eq!(ours, theirs),
            }
        }
        assert_eq!(printed.matches('\t').count(), 3);
    }
}

#[test]
fn options_imply_version_3_unless_a_version_is_given() {
    let is_3 = |text: &str| match &work(text).unwrap().placement {
        FilePlacement::InPlace { names, .. } => matches!(names, NamesInPlace::Samples { .. }),
        FilePlacement::WorkDirectory => panic!("the files belong in the given directory"),
    };
    assert!(!is_3("") && !is_3("dir") && !is_3("--compat 1.6 dir") && !is_3("--compat=1.6"));
    assert!(is_3("-N 5") && is_3("--compat 3") && is_3("--compat=3 -s 4k -N 5 dir"));
    let refused = |text: &str| match work(text) {
        Err(ArgumentError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    };
    for text in ["--compat 2", "--compat"] {
        let refusal = refused(text);
        assert!(refusal.message.contains("`1.6` and `3`"), "{refusal:?}");
        assert_eq!(refusal.exit_code, 2);
    }
    assert_eq!(refused("--compat 1.6 -s 4k").exit_code, 1);
    assert_eq!(refused("-x").exit_code, 255);
    assert_eq!(refused("dir --compat 3").exit_code, 255);
}

#[test]
fn each_version_has_its_own_default_directory_and_names() {
    let placement = |text: &str| {
        let work = work(text).unwrap();
        (work.directories, work.placement)
    };
    let in_place = |names| FilePlacement::InPlace {
        names,
        makes_directories: false,
    };
    let words = in_place(NamesInPlace::Words { count: 1000 });
    let samples = in_place(NamesInPlace::Samples {
        before: "lat_fs_".to_owned(),
    });
    assert_eq!(placement(""), (vec![PathBuf::from(".")], words.clone()));
    assert_eq!(placement("dir"), (vec![PathBuf::from("dir")], words));
    let temporary = vec![PathBuf::from("/var/tmp")];
    assert_eq!(placement("--compat 3"), (temporary, samples));
}

#[test]
fn every_size_is_a_cell_that_ends_at_its_first_failure() {
    let work = work("-P 2 -n 10").unwrap();
    let names: Vec<&str> = work
        .cells
        .iter()
        .filter_map(|cell| cell.name.as_deref())
        .collect();
    assert_eq!(names, ["lat_fs 0k", "lat_fs 1k", "lat_fs 4k", "lat_fs 10k"]);
    assert_eq!(work.differences.len(), 1);
    for (index, cell) in work.cells.iter().enumerate() {
        assert_eq!(cell.workers, Some(2));
        assert!(cell.built.as_ref().unwrap().is_in_place);
        let program = program(&work, index);
        program.check().unwrap();
        assert!(program.groups().all(|it| it.failed == OnFailure::EndRun));
        assert_eq!(program.ways[0].permissions, 0o666);
    }
    assert!(super::tests::work("").unwrap().differences.is_empty());
}

#[test]
fn version_3_warms_up_before_each_test() {
    let cold = work("-s 1k").unwrap();
    let warm = work("-s 1k -W 100").unwrap();
    assert_eq!(program(&cold, 0).parts.len(), 2);
    let program = program(&warm, 0);
    program.check().unwrap();
    let [first, create, second, remove] = &program.parts[..] else {
        panic!("{:?}", program.parts);
    };
    assert_eq!(first, second);
    for part in [create, remove] {
        let ProgramPart::Rounds { until, .. } = part else {
            panic!("{part:?}");
        };
        assert!(matches!(until, RoundsEnd::Sampled { samples: 11, .. }));
    }
    let phase = program.phases()[0];
    assert!(phase.is_hidden && phase.time_ns == Some(100_000));
    let calls = phase.groups[0].calls().into_iter();
    let calls: Vec<FileOperation> = calls.map(|call| call.operation).collect();
    let wanted = [
        FileOperation::Create,
        FileOperation::Write,
        FileOperation::Close,
        FileOperation::Unlink,
    ];
    assert_eq!(calls, wanted);
}

/// A run of two sizes. Of the second size, only the creation was measured completely.
fn record_of_two_sizes() -> RunRecord {
    let figures = |time_ns: u64| -> PhaseFigures {
        let value = json!({
            "told_round": { "rule": "best", "time_ns": time_ns, "round_count": 2 },
            "filesets": [{ "file_count": 1000, "file_bytes": 1024 }],
        });
        serde_json::from_value(value).unwrap()
    };
    let phases = [("create", vec![]), ("remove", vec![])];
    let mut record = record(&FrontOrigin::default(), &[&phases[..], &phases].concat());
    for (place, cell) in record.cells.iter_mut().enumerate() {
        cell.index = place as u32 / 2;
        cell.phase_figures = Some(figures(250_000_000 * (place as u64 + 1)));
    }
    record.cells[3].status = results::Status::Interrupted;
    record
}

#[test]
fn a_line_is_printed_when_its_size_is_done_and_again_from_the_record() {
    let record = record_of_two_sizes();
    let line = "1k\t1000\t4000\t2000\n";
    let mut text = FRONT.text_of(&FrontOrigin::default());
    assert!(text.is_on_standard_error());
    let mut printed = record.cells.iter().map(|cell| {
        text.event(&RunEvent::CellDone {
            record: Box::new(cell.clone()),
        })
    });
    assert_eq!(printed.next().unwrap(), "");
    assert_eq!(printed.next().unwrap(), line);
    assert_eq!(printed.collect::<String>(), "");
    assert_eq!(text.end(&record), "");
    let mut later = FRONT.text_of(&FrontOrigin::default());
    assert_eq!(later.end(&record), line);
    let phases: Vec<_> = record.cells.iter().collect();
    let table_text = (text::TEXT.text)(&record, &Program::default(), &phases);
    assert_eq!(table_text.unwrap(), line);
}
