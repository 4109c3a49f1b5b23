//! Honest records pass, and each forgery breaks the expected rule.

use crate::{
    BoardConfig, CheckedSubmission, Checker, DeclaredFacts, RuleLevel, SUBMISSION_FORMAT,
    StrippedKind, Submission, SubmissionDescription, SubmittedResult, SystemKind, check_together,
    new_board, prepare, table_of,
};
use results::{RunRecord, Timestamp};
use serde_json::{Value, json};

const READS: &str = include_str!("../../../tests/records/reads-repeated.json");
const POOL: &str = include_str!("../../../tests/records/small-pool.json");

fn config() -> BoardConfig {
    let mut config = BoardConfig::read("board.toml", &new_board(None, false)[0].text).unwrap();
    let reads = RunRecord::from_json(READS).unwrap();
    config.tables.push(table_of("reads", &reads).unwrap());
    config
}

fn check(text: &str) -> CheckedSubmission {
    let config = config();
    let record = RunRecord::from_json(text).unwrap();
    Checker::new(&config, Timestamp::now()).check_alone("record", &record)
}

fn rules(checked: &CheckedSubmission) -> Vec<&'static str> {
    checked.findings.iter().map(|it| it.rule).collect()
}

/// Changes a record, and returns the rules that it breaks then and did not break before.
fn forged(text: &str, change: impl FnOnce(&mut Value)) -> Vec<&'static str> {
    let mut value: Value = serde_json::from_str(text).unwrap();
    change(&mut value);
    let before = rules(&check(text));
    let mut after = rules(&check(&value.to_string()));
    after.retain(|it| !before.contains(it));
    after
}

pub(super) fn description() -> SubmissionDescription {
    SubmissionDescription {
        format: SUBMISSION_FORMAT.to_owned(),
        title: "Test".to_owned(),
        submitter: "Ann".to_owned(),
        license: "CC0-1.0".to_owned(),
        submitted: None,
        year: None,
        kind: SystemKind::Local,
        system: None,
        source: None,
        note: None,
        declared: DeclaredFacts::default(),
        record: None,
        answers: Default::default(),
    }
}

fn submitted(slug: &str, text: &str) -> Submission {
    let record = RunRecord::from_json(text).unwrap();
    prepare(slug, &record, description(), &[])
        .unwrap()
        .submission
}

fn checked(submission: &Submission) -> CheckedSubmission {
    Checker::new(&config(), Timestamp::now()).check(submission)
}

fn scale(value: &mut Value, factor: f64) {
    let scaled = value.as_f64().unwrap() * factor;
    *value = match value.is_u64() {
        true => json!(scaled as u64),
        false => json!(scaled),
    };
}

fn cells(record: &mut Value) -> impl Iterator<Item = &mut Value> {
    record["cells"].as_array_mut().unwrap().iter_mut()
}

#[test]
fn honest_records_are_not_refused() {
    for text in [READS, POOL] {
        let found = check(text).findings;
        let refusing: Vec<_> = found
            .iter()
            .filter(|it| it.level == RuleLevel::Error)
            .collect();
        assert!(refusing.is_empty(), "{refusing:#?}");
    }
    let config = config();
    let command = &config.table("reads").unwrap().command;
    assert!(
        command.starts_with("pgmeter run --rw randread --bs 4k"),
        "{command}"
    );
    assert!(
        command.ends_with("--repetitions 5 --target DIR"),
        "{command}"
    );
    let found = checked(&submitted("reads", READS));
    assert!(!found.is_refused(), "{:#?}", found.findings);
    assert_eq!(found.values.len(), 1);
}

type Forgery = (&'static str, &'static str, fn(&mut Value));

const OF_READS: [Forgery; 24] = [
    ("E02", "an interrupted cell", |it| {
        it["cells"][0]["status"] = json!("interrupted")
    }),
    ("E02", "an interrupted run", |it| {
        it["status"] = json!("interrupted")
    }),
    ("E03", "rates multiplied", |it| {
        for cell in cells(it) {
            for part in [cell["total"].take(), cell["operations"]["read"].take()] {
                let mut part = part;
                scale(&mut part["per_second"], 2.0);
                scale(&mut part["bytes_per_second"], 2.0);
                match cell["total"].is_null() {
                    true => cell["total"] = part,
                    false => cell["operations"]["read"] = part,
                }
            }
        }
    }),
    ("E03", "a shorter time", |it| {
        scale(&mut it["cells"][1]["run_time_ns"], 0.9999)
    }),
    ("E03", "more operations than workers did", |it| {
        for cell in cells(it) {
            scale(&mut cell["operations"]["read"]["count"], 1.5);
        }
    }),
    ("E03", "a higher mean over repetitions", |it| {
        for estimate in it["estimates"].as_array_mut().unwrap() {
            scale(&mut estimate["mean"], 1.2);
        }
    }),
    ("E04", "a bucket with one latency more", |it| {
        let bucket =
            &mut it["cells"][0]["operations"]["read"]["latency"]["histogram"]["buckets_ns"][0];
        bucket[2] = json!(bucket[2].as_u64().unwrap() + 1);
    }),
    ("E04", "a latency moved to another bucket", |it| {
        let buckets =
            &mut it["cells"][0]["operations"]["read"]["latency"]["histogram"]["buckets_ns"];
        let last = buckets.as_array().unwrap().len() - 1;
        buckets[0][2] = json!(buckets[0][2].as_u64().unwrap() + 1);
        let at = (0..last)
            .rev()
            .find(|it| buckets[*it][2].as_u64().unwrap() > 1)
            .unwrap();
        buckets[at][2] = json!(buckets[at][2].as_u64().unwrap() - 1);
    }),
    ("E04", "a lower median", |it| {
        scale(
            &mut it["cells"][0]["operations"]["read"]["latency"]["percentiles_ns"]["50"],
            0.5,
        );
    }),
    ("E04", "a lower maximum", |it| {
        scale(
            &mut it["cells"][0]["operations"]["read"]["latency"]["max_ns"],
            0.3,
        );
    }),
    ("E04", "a lower mean latency", |it| {
        scale(
            &mut it["cells"][0]["operations"]["read"]["latency"]["mean_ns"],
            0.5,
        );
    }),
    ("E05", "more bytes than requests", |it| {
        scale(&mut it["cells"][0]["operations"]["read"]["bytes"], 2.0);
    }),
    ("E06", "equal intervals", |it| {
        for cell in cells(it) {
            let mut one = cell["intervals"][1].clone();
            let step = one["length_ns"].as_u64().unwrap();
            let all = (0..20).map(|index| {
                one["at_ns"] = json!(index * step);
                one.clone()
            });
            cell["intervals"] = all.collect();
        }
    }),
    ("E06", "half of the intervals", |it| {
        let intervals = it["cells"][0]["intervals"].as_array_mut().unwrap();
        intervals.truncate(intervals.len() / 2);
    }),
    ("E06", "intervals that overlap", |it| {
        it["cells"][0]["intervals"][2]["at_ns"] = json!(0);
    }),
    ("E07", "a time in the future", |it| {
        it["finished_at"] = json!("2999-01-01T00:00:00Z");
    }),
    ("E07", "an end before the start", |it| {
        it["finished_at"] = json!("2001-01-01T00:00:00Z");
    }),
    ("E07", "another date in the id", |it| {
        it["id"] = json!("20200101-000000-000-1");
    }),
    ("E07", "less time than planned", |it| {
        it["cells"][0]["planned_run_time_ns"] = json!(60_000_000_000_u64);
    }),
    ("E08", "failed operations", |it| {
        it["cells"][0]["operations"]["read"]["errors"] = json!(5);
    }),
    ("E09", "wrong data", |it| {
        it["cells"][0]["worker_figures"][0]["mismatch"] = json!({
            "count": 3, "file_index": 0, "offset_bytes": 0, "length_bytes": 512,
            "wanted": "a", "seen": "b",
        });
    }),
    ("E20", "faster than memory", |it| {
        scale(&mut it["cells"][0]["total"]["bytes_per_second"], 1e9);
    }),
    ("W24", "latencies that do not fit into the time", |it| {
        for cell in cells(it) {
            let latency = &mut cell["operations"]["read"]["latency"];
            for key in ["sum_ns", "mean_ns", "max_ns"] {
                scale(&mut latency[key], 3.0);
            }
            scale(&mut latency["max_ns"], 0.001);
        }
    }),
    ("W42", "the best repetition alone", |it| {
        let cells = it["cells"].as_array_mut().unwrap();
        *cells = vec![cells[3].clone()];
    }),
];

#[test]
fn forged_reads_break_the_expected_rule() {
    for (rule, what, change) in OF_READS {
        let found = forged(READS, change);
        assert!(
            found.contains(&rule),
            "{what}: expected {rule}, found {found:?}"
        );
    }
}

#[test]
fn forged_counts_of_a_pool_break_the_rule_of_its_seed() {
    for key in [
        "created_count",
        "read_count",
        "deleted_after_count",
        "written_bytes",
    ] {
        let found = forged(POOL, |it| {
            let cells = cells(it).filter(|cell| cell["phase_figures"]["pool"].is_object());
            for cell in cells {
                let count = &mut cell["phase_figures"]["pool"][key];
                *count = json!(count.as_u64().unwrap() + 1);
            }
        });
        assert_eq!(found, ["P1"], "{key}");
    }
}

#[test]
fn forged_times_of_a_pool_do_not_fit_the_phase() {
    let of_pool = |it: &mut Value, change: fn(&mut Value)| {
        let cells = cells(it).filter(|cell| cell["phase_figures"]["pool"].is_object());
        cells.for_each(|cell| change(&mut cell["phase_figures"]["pool"]));
    };
    let halved = |pool: &mut Value| {
        scale(&mut pool["transactions_ns"], 0.5);
        scale(&mut pool["transactions_per_second"], 2.0);
    };
    let found = forged(POOL, |it| of_pool(it, halved));
    assert!(found.contains(&"E03"), "{found:?}");
    let raised = |pool: &mut Value| scale(&mut pool["transactions_per_second"], 2.0);
    assert!(forged(POOL, |it| of_pool(it, raised)).contains(&"E03"));

    // A phase that lasted half as long has more intervals and latencies than fit into it.
    let found = forged(POOL, |it| {
        for cell in cells(it) {
            scale(&mut cell["run_time_ns"], 0.5);
        }
        of_pool(it, halved);
    });
    assert!(
        found.contains(&"E06") && found.contains(&"W24"),
        "{found:?}"
    );
}

#[test]
fn a_copy_under_another_name_is_refused() {
    let mut value: Value = serde_json::from_str(READS).unwrap();
    let mut id = value["id"].as_str().unwrap().to_owned();
    id.replace_range(id.len() - 1.., "0");
    value["id"] = json!(id);
    value["environment"]["cpu"]["model"] = json!("Another processor");
    let both = [submitted("a", READS), submitted("b", &value.to_string())];
    let mut both: Vec<CheckedSubmission> = both.iter().map(checked).collect();
    check_together(&config(), &mut both);
    assert!(!both[0].is_refused());
    assert_eq!(rules(&both[1])[0], "E12");
}

#[test]
fn hashes_of_a_changed_record_and_of_other_work_do_not_recompute() {
    let mut submission = submitted("a", READS);
    let SubmittedResult::Record { sha256, .. } = &mut submission.result else {
        unreachable!()
    };
    *sha256 = "0".to_owned();
    assert!(rules(&checked(&submission)).contains(&"E10"));

    let mut submission = submitted("a", READS);
    let SubmittedResult::Record { record, .. } = &mut submission.result else {
        unreachable!()
    };
    record.plan.cells[0].iodepth = 32;
    let found = rules(&checked(&submission));
    assert!(found.contains(&"E10"), "{found:?}");
}

#[test]
fn a_board_accepts_only_its_versions_editions_links_and_texts() {
    let submission = submitted("a", READS);
    let mut config = config();
    config.program_versions = vec!["7.".to_owned()];
    config.rules_edition = 99;
    let found = Checker::new(&config, Timestamp::now()).check(&submission);
    assert_eq!(rules(&found).iter().filter(|it| **it == "E11").count(), 2);

    let mut submission = submitted("a", READS);
    submission.info.declared.link_bytes_per_second = Some(1000.0);
    submission.info.title = "x".repeat(10_000);
    let found = rules(&checked(&submission));
    assert!(
        found.contains(&"E20") && found.contains(&"E15"),
        "{found:?}"
    );
}

#[test]
fn names_and_paths_are_replaced_and_listed() {
    let record = RunRecord::from_json(READS).unwrap();
    let prepared = prepare("a", &record, description(), &[]).unwrap();
    let text = &prepared.files[1].text;
    for name in ["storage-7", "/srv/data", "/home/ann"] {
        assert!(!text.contains(name), "{name}");
        let is_listed = prepared.stripped.iter().any(|it| it.text.starts_with(name));
        assert!(is_listed, "{name} {:?}", prepared.stripped);
    }
    // Cells still name their targets, and settings of the kernel stay.
    let SubmittedResult::Record { record: public, .. } = &prepared.submission.result else {
        unreachable!()
    };
    assert_eq!(
        public.cells[0].target,
        public.plan.targets[0].path.to_string_lossy()
    );
    assert_eq!(public.environment.settings, record.environment.settings);
    assert!(text.contains("/dev/vda"));

    let kept = prepare("a", &record, description(), &StrippedKind::ALL).unwrap();
    assert!(kept.stripped.is_empty() && kept.files[1].text.contains("/srv/data"));
}
