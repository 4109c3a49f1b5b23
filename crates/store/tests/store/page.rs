//! Parts of the list: searched, sorted and cut by the database.

use results::Status;
use store::{Filter, RunOrder, RunPage, RunQuery, RunStatus, Store};

use crate::bed::{TestStore, beginning, record, store_run};

fn query() -> RunQuery {
    RunQuery {
        limit: 100,
        ..RunQuery::default()
    }
}

/// Runs 1 to 5; the third is another workload that failed, and the fifth goes on.
fn five() -> (TestStore, Store, store::RunWriter) {
    let bed = TestStore::new();
    let mut store = bed.store();
    for number in 1..=4 {
        let mut record = record(number);
        if number == 3 {
            record.plan.workloads[0].name = "OLTP \"x\"".into();
            record.plan.targets[0].path = "/srv/other".into();
            record.status = Status::Failed;
        }
        store_run(&store, &record);
    }
    store.add_tag(&record(2).id, "before").unwrap();
    store.add_tag(&record(2).id, "lab").unwrap();
    store.set_note(&record(4).id, "The Firmware").unwrap();
    let writer = store.begin(&beginning(&record(5))).unwrap();
    (bed, store, writer)
}

fn numbers(page: &RunPage) -> Vec<u32> {
    let number = |id: &str| (1..=5).find(|number| record(*number).id == id);
    page.runs.iter().filter_map(|run| number(&run.id)).collect()
}

#[test]
fn a_page_is_a_slice_of_the_whole_list() {
    let (_bed, store, _writer) = five();
    let all = store.page(&query()).unwrap();
    assert_eq!((all.total_count, all.matching_count), (5, 5));
    assert_eq!(all.runs, store.list(&Filter::default()).unwrap());
    let part = RunQuery {
        offset: 1,
        limit: 2,
        ..query()
    };
    let part = store.page(&part).unwrap();
    assert_eq!(
        (numbers(&part), part.matching_count, part.offset),
        (vec![4, 3], 5, 1)
    );
    let beyond = RunQuery {
        offset: 99,
        ..query()
    };
    assert!(store.page(&beyond).unwrap().runs.is_empty());
    for run in &all.runs {
        assert_eq!(store.row(&run.id).unwrap(), *run);
    }
}

#[test]
fn a_run_matches_only_if_it_contains_every_word() {
    let (_bed, mut store, _writer) = five();
    let found_in = |store: &Store, words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        numbers(&store.page(&RunQuery { words, ..query() }).unwrap())
    };
    let found = |words: &[&str]| found_in(&store, words);
    assert_eq!(found(&["oltp"]), [3]);
    assert_eq!(found(&["\"X\""]), [3]);
    assert_eq!(found(&["FIRMware"]), [4]);
    assert_eq!(found(&["befor"]), [2]);
    assert_eq!(found(&["befor", "srv"]), [0; 0]);
    assert_eq!(found(&["file-SERVER", "before"]), [2]);
    assert_eq!(found(&[&record(1).id]), [1]);
    assert_eq!(found(&["%"]), [0; 0]);
    assert_eq!(found(&["' OR 1 --"]), [0; 0]);
    store.set_note(&record(1).id, "Über SATA").unwrap();
    store.add_tag(&record(1).id, "ÄRA").unwrap();
    for word in ["Über", "über", "Ära", "ära"] {
        assert_eq!(found_in(&store, &[word]), [1], "{word}");
    }
}

#[test]
fn a_query_selects_the_matching_runs() {
    let (bed, store, writer) = five();
    let found = |query: RunQuery| numbers(&store.page(&query).unwrap());
    let status = |status| {
        found(RunQuery {
            status: Some(status),
            ..query()
        })
    };
    assert_eq!(status(RunStatus::Running), [5]);
    assert_eq!(status(RunStatus::Interrupted), [0; 0]);
    assert_eq!(status(RunStatus::Failed), [3]);
    assert_eq!(status(RunStatus::Complete), [4, 2, 1]);
    let tags = |tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        found(RunQuery { tags, ..query() })
    };
    assert_eq!(
        (tags(&["lab", "before"]), tags(&["lab", "after"])),
        (vec![2], vec![])
    );
    let target = Some("/SRV".to_owned());
    assert_eq!(found(RunQuery { target, ..query() }), [3]);
    let workload = Some("oltp \"".to_owned());
    assert_eq!(
        found(RunQuery {
            workload,
            ..query()
        }),
        [3]
    );
    let named = |name: &str| {
        found(RunQuery {
            workload_name: Some(name.to_owned()),
            ..query()
        })
    };
    // Neither a part of the name nor another case.
    assert_eq!(named("OLTP \"x\""), [3]);
    assert_eq!(
        (named("OLTP"), named("oltp \"x\""), named("x\"")),
        (vec![], vec![], vec![])
    );
    let (since, until) = (Some(record(2).started_at), Some(record(4).started_at));
    assert_eq!(
        found(RunQuery {
            since,
            until,
            ..query()
        }),
        [3, 2]
    );
    // A run whose process is gone was interrupted, whatever is stored.
    bed.kill(writer, &record(5));
    assert_eq!(status(RunStatus::Running), [0; 0]);
    assert_eq!(status(RunStatus::Interrupted), [5]);
}

#[test]
fn runs_without_the_sort_figure_come_last_in_both_orders() {
    let (_bed, store, _writer) = five();
    let sorted = |order, is_rising| {
        let query = RunQuery {
            order,
            is_ascending: is_rising,
            ..query()
        };
        numbers(&store.page(&query).unwrap())
    };
    assert_eq!(sorted(RunOrder::Started, true), [1, 2, 3, 4, 5]);
    assert_eq!(*sorted(RunOrder::Rate, true).last().unwrap(), 5);
    assert_eq!(*sorted(RunOrder::Rate, false).last().unwrap(), 5);
    assert_eq!(sorted(RunOrder::Note, false)[0], 4);
    assert_eq!(sorted(RunOrder::Target, false)[0], 3);
}

#[test]
fn the_runs_of_a_lab_are_one_row_if_labs_are_folded() {
    let (_bed, mut store, _writer) = five();
    for number in [1, 2, 4] {
        store.add_tag(&record(number).id, "lab-20261121").unwrap();
    }
    let folded = |query: RunQuery| {
        let query = RunQuery {
            folds_labs: true,
            ..query
        };
        let page = store.page(&query).unwrap();
        (numbers(&page), page.matching_count, page.total_count)
    };
    // The newest run stands for the lab.
    assert_eq!(folded(query()), (vec![5, 4, 3], 3, 3));
    let tags = vec!["before".to_owned()];
    // Of the matching runs.
    assert_eq!(folded(RunQuery { tags, ..query() }), (vec![2], 1, 3));
    let second = RunQuery {
        offset: 1,
        limit: 1,
        ..query()
    };
    assert_eq!(folded(second), (vec![4], 3, 3));
    let lab = store.folded_lab("lab-20261121").unwrap().unwrap();
    assert_eq!((lab.run_count, lab.ended_count, lab.id), (3, 3, None));
    assert_eq!(lab.started_at, record(1).started_at);
    assert_eq!(lab.workloads, [record(1).plan.workloads[0].name.as_str()]);
    assert_eq!(store.folded_lab("lab-1").unwrap(), None);
}

#[test]
fn tags_are_counted_without_those_of_labs() {
    let (_bed, mut store, _writer) = five();
    store.add_tag(&record(1).id, "lab-20261121").unwrap();
    store.add_tag(&record(4).id, "before").unwrap();
    let tags = store.tags().unwrap();
    let tags: Vec<_> = tags
        .iter()
        .map(|it| (it.tag.as_str(), it.run_count))
        .collect();
    assert_eq!(tags, [("before", 2)]);
    assert_eq!(store.tags().unwrap()[0].newest_at, record(4).started_at);
}

#[test]
fn a_series_has_the_runs_of_one_cell_on_the_same_targets_and_host() {
    let (_bed, store, _writer) = five();
    let series = store.trend_series(10).unwrap();
    let cells = record(1).cells;
    let measured = cells
        .iter()
        .filter(|cell| cell.total.per_second > 0.0)
        .count();
    assert!(measured > 0);
    // The third run failed, and the fifth has no results yet.
    assert!(series.iter().all(|it| it.run_count == 3), "{series:#?}");
    assert!(series.iter().all(|it| it.newest_at == record(4).started_at));
    assert_eq!(store.trend_series(1).unwrap().len(), 1);
    let first = &series[0];
    let found = |host: &str, targets: &[String]| {
        let query = RunQuery {
            host: Some(host.to_owned()),
            target_paths: Some(targets.to_vec()),
            ..query()
        };
        numbers(&store.page(&query).unwrap())
    };
    assert_eq!(found(&first.host, &first.targets), [5, 4, 2, 1]);
    assert_eq!(found("other", &first.targets), [0; 0]);
    assert_eq!(found(&first.host, &[]), [0; 0]);
}
