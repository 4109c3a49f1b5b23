//! A thousand made-up processes.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use results::{IntervalRecord, RankCell, merged};
use rustix::time::{ClockId, clock_gettime};

use super::*;

const RANKS: u32 = 1000;
const SECONDS: u64 = 60;
/// So many different records are made; the rest are copies.
const RECORDS: usize = 8;
/// Bytes of intervals that come within a second of the run.
const BYTES_PER_SECOND_MAX: u64 = 1_000_000;

/// Processor time of this thread.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// The most memory that this process had, in KiB.
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.and_then(|word| word.parse().ok()).expect("a number")
}

#[test]
fn a_thousand_processes_are_led_by_less_than_a_core() {
    let plan = plan_of(RANKS, &[]);
    let (hub, ends) = hub(RANKS);
    let made = (0..RECORDS as u32).map(|rank| record_of(&plan.cells[0], &plan, rank, SECONDS));
    let made: Vec<CellRecord> = made.collect();
    let records: Vec<CellRecord> = made.iter().cycle().take(RANKS as usize).cloned().collect();
    let interval = |interval: &IntervalRecord| {
        let interval = interval.clone();
        encode(&Report::Event {
            event: Box::new(RunEvent::Interval { cell: 0, interval }),
        })
    };
    let told: Vec<Vec<Vec<u8>>> = made
        .iter()
        .map(|record| record.intervals.iter().map(interval).collect())
        .collect();
    let parts: Vec<RankCell> = (0..)
        .zip(records.iter().cloned())
        .map(|(rank, record)| RankCell {
            rank,
            host: format!("node{}", rank / 4),
            record,
            begin_ns: 0,
            clock: results::ClockOffset::default(),
            lost_ns: None,
        })
        .collect();
    let whole = merged(&parts).expect("a thousand records");
    drop(parts);

    let measured = made.into_iter().map(|record| {
        encode(&Report::Measured {
            records: vec![record],
            warnings: Vec::new(),
            failure: None,
        })
    });
    let measured: Vec<Vec<u8>> = measured.collect();
    let interval_bytes = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&interval_bytes);
    let clock = TscClock::new();
    let mut started = 0;
    let crowd = play(ends, move |rank, order, send| {
        if let Some(report) = routine(rank, order, &clock) {
            send(rank, encode(&report));
        }
        started += u32::from(matches!(order, Order::Start { .. }));
        if started < RANKS {
            return;
        }
        started = 0;
        for number in 0..SECONDS as usize {
            for (rank, told) in (0..RANKS).zip(told.iter().cycle()) {
                counted.fetch_add(told[number].len() as u64 + 4, Relaxed);
                send(rank, told[number].clone());
            }
        }
        for (rank, measured) in (0..RANKS).zip(measured.iter().cycle()) {
            send(rank, encode(&Report::Begun { at_ns: 0 }));
            send(rank, measured.clone());
        }
    });

    let stop = AtomicBool::new(false);
    let mut leader = Leader::greet(hub, LeaderOptions::default(), &stop).expect("all are there");
    let mut live = Vec::new();
    let before = memory_kib();
    let (mut begun, mut last) = (None, Duration::ZERO);
    let mut listener = |event: &RunEvent| {
        if let RunEvent::Interval { interval, .. } = event {
            last = cpu_time();
            begun.get_or_insert(last);
            live.push(interval.clone());
        }
    };
    let cpu_before = cpu_time();
    let mut watch = CrewWatch {
        listener: &mut listener,
        warnings: Vec::new(),
        stop: &stop,
        skip: &AtomicBool::new(false),
    };
    let measured = leader
        .measure(&plan.cells[0], &mut watch)
        .expect("a record");
    let cpu = cpu_time().saturating_sub(cpu_before);
    drop(leader);
    let bytes_received = crowd.join().expect("the crowd");
    let of_intervals = interval_bytes.load(Relaxed);
    eprintln!(
        "{RANKS} processes, {SECONDS} s: the leader took {cpu:?} of processor time, {:?} of it \
         between first and last interval; {} KiB more memory; {bytes_received} bytes, \
         {of_intervals} of intervals",
        last.saturating_sub(begun.unwrap_or_default()),
        memory_kib() - before,
    );

    assert_eq!(live.len() as u64, SECONDS);
    let counts = |it: &IntervalRecord| it.operations.values().map(|it| it.count).sum::<u64>();
    assert!(live.iter().all(|it| counts(it) == 2000 * u64::from(RANKS)));
    assert_eq!(live.iter().map(counts).sum::<u64>(), whole.total.count);
    let [record] = measured.as_slice() else {
        panic!("{} records", measured.len());
    };
    assert_eq!(record.operations, whole.operations);
    assert_eq!(record.total, whole.total);
    assert_eq!(record.intervals, whole.intervals);
    let crew = record.crew.as_ref().expect("who took part");
    assert_eq!(
        crew.ranks.iter().map(|it| it.count).sum::<u64>(),
        record.total.count
    );
    assert!(
        of_intervals / SECONDS < BYTES_PER_SECOND_MAX,
        "{of_intervals} bytes"
    );
    assert!(
        cpu < Duration::from_secs(SECONDS),
        "{cpu:?} for {SECONDS} s"
    );
}
