//! What is printed of reads that did not verify.

use results::{MismatchFigures, RunEvent};
use serde_json::Value;

use super::*;

const FILE: &str = "[good]\nfilename=f\nsize=4m\n[j]\nfilename=e:f\nsize=4m\n";

fn wrong(count: u64) -> WorkerFigures {
    WorkerFigures {
        worker_index: 1,
        mismatch: Some(MismatchFigures {
            count,
            file_index: 1,
            offset_bytes: 69_632,
            length_bytes: 8192,
            wanted: "one content".to_owned(),
            seen: "another".to_owned(),
        }),
        ..reader(&[1500; 10], &[])
    }
}

fn document(set: &JobSet, record: &RunRecord) -> Value {
    serde_json::from_str(&super::super::json(set, record, false)).unwrap()
}

#[test]
fn a_failed_verification_is_error_84_of_that_job_only() {
    let set = jobs(FILE);
    let record = record(vec![vec![reader(&[1500; 10], &[]), wrong(1)]]);
    let jobs = document(&set, &record)["jobs"].clone();
    assert_eq!(jobs[0]["error"], 0);
    assert_eq!(jobs[1]["error"], 84);
    let text = normal(&set, &record);
    assert!(
        text.contains("good: (groupid=0, jobs=1): err= 0: "),
        "{text}"
    );
    let head = "j: (groupid=0, jobs=1): err=84 (Invalid or incomplete multibyte or wide character)";
    assert!(text.contains(head), "{text}");
    let lines = super::super::terse(&set, &record, 3);
    let errors: Vec<&str> = lines
        .lines()
        .filter_map(|it| it.split(';').nth(4))
        .collect();
    assert_eq!(errors, ["0", "84"]);
}

#[test]
fn a_group_has_the_error_of_any_of_its_jobs() {
    let set = jobs(&format!("[global]\ngroup_reporting\n{FILE}"));
    let record = record(vec![vec![reader(&[1500; 10], &[]), wrong(1)]]);
    let jobs = document(&set, &record)["jobs"].clone();
    assert_eq!(jobs.as_array().unwrap().len(), 1);
    assert_eq!(jobs[0]["error"], 84);
}

#[test]
fn errors_that_do_not_end_a_job_are_counted() {
    let set = jobs(&format!("[global]\ncontinue_on_error=verify\n{FILE}"));
    let record = record(vec![vec![reader(&[1500; 10], &[]), wrong(16)]]);
    let jobs = document(&set, &record)["jobs"].clone();
    let error_counts = |job: usize| {
        let counts = ["error", "total_err", "first_error"].map(|key| jobs[job][key].as_u64());
        counts.map(Option::unwrap)
    };
    assert_eq!(error_counts(0), [0, 0, 0]);
    assert_eq!(error_counts(1), [84, 16, 84]);
}

#[test]
fn standard_error_says_which_file_is_wrong_and_where() {
    let error_text = |count| {
        let record = record(vec![vec![reader(&[1500; 10], &[]), wrong(count)]]);
        let mut text = crate::fio::text::text(jobs(FILE), jobs_and_options("--name=j --size=4m").1);
        text.error_text(&RunEvent::CellDone {
            record: Box::new(record.cells[0].clone()),
        })
    };
    let line = "verify: j: wrong content in file f at offset 69632 (read of 8192 bytes): wanted \
                one content, seen another";
    assert_eq!(error_text(1), format!("{line}\n"));
    assert_eq!(
        error_text(7),
        format!("{line}; 7 reads of the job are wrong\n")
    );
}
