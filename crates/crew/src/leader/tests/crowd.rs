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

/// What the crowd says, over and over for one process after the other.
struct Words {
    /// Of each interval.
    intervals: Vec<Vec<Vec<u8>>>,
    measured: Vec<Vec<u8>>,
}

impl Words {
    fn of(records: &[CellRecord]) -> Self {
        let event = |interval: &IntervalRecord| {
            let interval = interval.clone();
            let event = Box::new(RunEvent::Interval { cell: 0, interval });
            encode(&Report::Event { event })
        };
        let intervals = records.iter().map(|it| it.intervals.iter().map(event));
        let measured = |record: &CellRecord| {
            encode(&Report::Measured {
                records: vec![record.clone()],
                warnings: Vec::new(),
                failure: None,
            })
        };
        Self {
            intervals: intervals.map(Iterator::collect).collect(),
            measured: records.iter().map(measured).collect(),
        }
    }

    /// Says it all; how many bytes of intervals that were.
    fn say(&self, send: &mut dyn FnMut(u32, Vec<u8>)) -> u64 {
        let mut bytes = 0;
        for number in 0..SECONDS as usize {
            for (rank, intervals) in (0..RANKS).zip(self.intervals.iter().cycle()) {
                bytes += intervals[number].len() as u64 + 4;
                send(rank, intervals[number].clone());
            }
        }
        for (rank, measured) in (0..RANKS).zip(self.measured.iter().cycle()) {
            send(rank, encode(&Report::Begun { at_ns: 0 }));
            send(rank, measured.clone());
        }
        bytes
    }
}

/// The record of all of them, put together at once.
fn whole(records: &[CellRecord]) -> CellRecord {
    let parts = (0..RANKS).zip(records.iter().cycle());
    let parts: Vec<RankCell> = parts
        .map(|(rank, record)| RankCell {
            rank,
            host: format!("node{}", rank / 4),
            record: record.clone(),
            begin_ns: 0,
            clock: results::ClockOffset::default(),
            lost_ns: None,
        })
        .collect();
    merged(&parts).expect("a thousand records")
}

fn assert_is_whole(measured: &[CellRecord], live: &[IntervalRecord], whole: &CellRecord) {
    let counts = |it: &IntervalRecord| it.operations.values().map(|it| it.count).sum::<u64>();
    assert_eq!(live.len() as u64, SECONDS);
    assert!(live.iter().all(|it| counts(it) == 2000 * u64::from(RANKS)));
    let [record] = measured else {
        panic!("{} records", measured.len());
    };
    assert_eq!(record.operations, whole.operations);
    assert_eq!(record.total, whole.total);
    assert_eq!(record.intervals, whole.intervals);
    let of_ranks = &record.crew.as_ref().expect("who took part").ranks;
    let sums = [
        of_ranks.iter().map(|it| it.count).sum::<u64>(),
        live.iter().map(counts).sum(),
    ];
    assert_eq!(sums, [record.total.count; 2]);
}

#[test]
fn a_thousand_processes_are_led_by_less_than_a_core() {
    let plan = plan_of(RANKS, &[]);
    let (hub, ends) = hub(RANKS);
    let made = (0..RECORDS as u32).map(|rank| record_of(&plan.cells[0], &plan, rank, SECONDS));
    let made: Vec<CellRecord> = made.collect();
    let (words, whole) = (Words::of(&made), whole(&made));
    let interval_bytes = Arc::new(AtomicU64::new(0));
    let (counted, clock) = (Arc::clone(&interval_bytes), TscClock::new());
    let mut started = 0;
    let crowd = play(ends, move |rank, order, send| {
        if let Some(report) = routine(rank, order, &clock) {
            send(rank, encode(&report));
        }
        if let Order::Start { .. } = order {
            started += 1;
            if started == RANKS {
                counted.store(words.say(send), Relaxed);
            }
        }
    });

    let stop = AtomicBool::new(false);
    let mut leader = Leader::greet(hub, LeaderOptions::default(), &stop).expect("all are there");
    let mut live = Vec::new();
    let (memory_before, cpu_before) = (memory_kib(), cpu_time());
    let (mut first, mut last) = (None, Duration::ZERO);
    let mut listener = |event: &RunEvent| {
        if let RunEvent::Interval { interval, .. } = event {
            last = cpu_time();
            first.get_or_insert(last);
            live.push(interval.clone());
        }
    };
    let mut watch = CrewWatch {
        listener: &mut listener,
        warnings: Vec::new(),
        stop: &stop,
        skip: &AtomicBool::new(false),
    };
    let measured = leader.measure(&plan.cells[0], &mut watch);
    let cpu = cpu_time().saturating_sub(cpu_before);
    drop(leader);
    let bytes_received = crowd.join().expect("the crowd");
    let of_intervals = interval_bytes.load(Relaxed);
    eprintln!(
        "{RANKS} processes, {SECONDS} s: the leader took {cpu:?} of processor time, {:?} of it \
         between first and last interval; {} KiB more memory; {bytes_received} bytes, \
         {of_intervals} of intervals",
        last.saturating_sub(first.unwrap_or_default()),
        memory_kib() - memory_before,
    );
    assert_is_whole(&measured.expect("a record"), &live, &whole);
    let a_second = of_intervals / SECONDS;
    assert!(a_second < BYTES_PER_SECOND_MAX, "{a_second} bytes");
    let limit = Duration::from_secs(SECONDS);
    assert!(cpu < limit, "{cpu:?} for {SECONDS} s");
}
