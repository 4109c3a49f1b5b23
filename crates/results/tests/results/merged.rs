//! One record of the records of several processes.

use results::*;

use super::sample;

#[test]
fn interval_counts_of_workers_keep_their_positions_across_processes() {
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

/// A process with one worker and an interval, which has read 4 MiB of the 12 that the device read.
fn reader(rank: u32, host: &str) -> RankCell {
    let (cell, plan) = (sample::cell(0, "a", 1, 1, 100.0), sample::plan());
    let interval = IntervalRecord {
        length_ns: 1_000_000_000,
        device: Some(IntervalDevice {
            read_bytes: 12 << 20,
            ..IntervalDevice::default()
        }),
        ..IntervalRecord::default()
    };
    let device = DeviceFigures {
        read_bytes: 12 << 20,
        own_read_bytes: Some(4 << 20),
        own_write_bytes: Some(1 << 20),
        source: "vda".to_owned(),
        ..DeviceFigures::default()
    };
    RankCell {
        rank,
        host: host.to_owned(),
        record: CellRecord {
            workers: 1,
            device: Some(device),
            worker_figures: vec![WorkerFigures {
                worker_index: rank,
                ..WorkerFigures::default()
            }],
            ..CellRecord::of_intervals(&cell, &plan, vec![interval])
        },
        begin_ns: 0,
        clock: ClockOffset::default(),
    }
}

#[test]
fn processes_of_a_host_share_device_counters_and_add_their_own_bytes() {
    let mut parts = [reader(0, "a"), reader(1, "a"), reader(2, "a")];
    let record = merged(&parts).expect("a record");
    let device = record.device.expect("the device is one");
    assert_eq!(device.read_bytes, 12 << 20);
    assert_eq!(
        (device.own_read_bytes, device.own_write_bytes),
        (Some(12 << 20), Some(3 << 20))
    );
    assert!(record.intervals[0].device.is_some());
    // What one of them did not count is not known of all.
    parts[1].record.device.as_mut().unwrap().own_read_bytes = None;
    let device = merged(&parts).unwrap().device.unwrap();
    assert_eq!(
        (device.own_read_bytes, device.own_write_bytes),
        (None, Some(3 << 20))
    );
    parts[1].record.device = None;
    let device = merged(&parts).unwrap().device.unwrap();
    assert_eq!(
        (device.read_bytes, device.own_write_bytes),
        (12 << 20, None)
    );
}

#[test]
fn differing_devices_are_left_out_of_intervals_too() {
    let mut other = reader(1, "a");
    other.record.device.as_mut().unwrap().source = "vdb".to_owned();
    for other in [reader(1, "b"), other] {
        let record = merged(&[reader(0, "a"), other]).expect("a record");
        assert_eq!((record.device, record.intervals[0].device), (None, None));
    }
}

#[test]
fn a_process_with_more_results_than_workers_does_no_harm() {
    let mut other = reader(1, "a");
    let more = (0..9).map(|worker_index| WorkerFigures {
        worker_index,
        ..WorkerFigures::default()
    });
    other.record.worker_figures.extend(more);
    let record = merged(&[reader(2, "a"), other]).expect("a record");
    assert_eq!(record.intervals[0].workers.len(), 2);
}
