//! One record of the records of several processes.

use results::*;

use super::sample;

#[test]
fn what_workers_did_in_an_interval_stands_at_their_places_whoever_had_them() {
    let (cell, plan) = (sample::cell(0, "a", 1, 4, 100.0), sample::plan());
    // The first process has the workers 0 and 3, the second one 1 and 2, with a place for each.
    let part = |rank, own: [u32; 2]| {
        let part = |index: u32| PartFigures {
            count: match own.contains(&index) {
                true => 10 + u64::from(index),
                false => 0,
            },
            ..PartFigures::default()
        };
        let interval = IntervalRecord {
            length_ns: 1_000_000_000,
            workers: (0..4).map(part).collect(),
            ..IntervalRecord::default()
        };
        let worker = |worker_index| WorkerFigures {
            worker_index,
            ..WorkerFigures::default()
        };
        RankCell {
            rank,
            host: String::new(),
            record: CellRecord {
                workers: 2,
                worker_figures: own.map(worker).to_vec(),
                ..CellRecord::of_intervals(&cell, &plan, vec![interval])
            },
            begin_ns: 0,
            clock: ClockOffset::default(),
        }
    };
    let record = merged(&[part(0, [0, 3]), part(1, [1, 2])]).expect("a record");
    let counts = record.intervals[0].workers.iter().map(|it| it.count);
    assert_eq!(counts.collect::<Vec<_>>(), [10, 11, 12, 13]);
}
