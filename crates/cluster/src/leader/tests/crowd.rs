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

/// The intervals of each record, as its process tells them.
fn sent(samples: &[CellRecord]) -> Vec<Vec<Vec<u8>>> {
    let interval = |interval: &IntervalRecord| {
        let interval = interval.clone();
        encode(&MemberMessage::Event {
            event: Box::new(RunEvent::Interval { cell: 0, interval }),
        })
    };
    let each = samples.iter();
    each.map(|record| record.intervals.iter().map(interval).collect())
        .collect()
}

/// What each measured, as its process tells it.
fn measured(samples: Vec<CellRecord>) -> Vec<Vec<u8>> {
    let messages = samples.into_iter().map(|record| {
        encode(&MemberMessage::Measured {
            records: vec![record],
            failure: None,
        })
    });
    messages.collect()
}

/// The merged record of all processes.
fn whole(samples: &[CellRecord]) -> CellRecord {
    let records = samples.iter().cycle().take(RANKS as usize).cloned();
    let parts: Vec<RankCell> = (0..)
        .zip(records)
        .map(|(rank, record)| RankCell {
            rank,
            host: format!("node{}", rank / 4),
            record,
            begin_ns: 0,
            clock: results::ClockOffset::default(),
        })
        .collect();
    merged(&parts).expect("a thousand records")
}

/// Answers for a thousand processes: sends these samples once every process has received the start
/// order. Adds the size of the intervals to `interval_bytes`.
fn crowd(ends: Ends, samples: Vec<CellRecord>, interval_bytes: Arc<AtomicU64>) -> JoinHandle<u64> {
    let (sent_messages, measured) = (sent(&samples), measured(samples));
    let clock = TscClock::new();
    let mut started = 0;
    play(ends, move |rank, order, send| {
        if let Some(report) = routine(rank, order, &clock) {
            send(rank, encode(&report));
        }
        started += u32::from(matches!(order, LeaderMessage::Start { .. }));
        if started < RANKS {
            return;
        }
        started = 0;
        for number in 0..SECONDS as usize {
            for (rank, sent_messages) in (0..RANKS).zip(sent_messages.iter().cycle()) {
                interval_bytes.fetch_add(sent_messages[number].len() as u64 + 4, Relaxed);
                send(rank, sent_messages[number].clone());
            }
        }
        for (rank, measured) in (0..RANKS).zip(measured.iter().cycle()) {
            send(
                rank,
                encode(&MemberMessage::Begun {
                    phase: None,
                    at_ns: 0,
                }),
            );
            send(rank, measured.clone());
        }
    })
}

#[test]
fn leading_a_thousand_processes_takes_less_than_one_core() {
    let plan = plan_of(RANKS, &[]);
    let (hub, ends) = hub(RANKS);
    let samples = (0..RECORDS as u32).map(|rank| record_of(&plan.cells[0], &plan, rank, SECONDS));
    let samples: Vec<CellRecord> = samples.collect();
    let expected = whole(&samples);
    let interval_bytes = Arc::new(AtomicU64::new(0));
    let crowd = crowd(ends, samples, Arc::clone(&interval_bytes));
    let stop = AtomicBool::new(false);
    let mut leader = Leader::greet(hub, LeaderOptions::default(), &stop).expect("all are there");
    let mut live = Vec::new();
    let before = memory_kib();
    let mut listener = |event: &RunEvent| {
        if let RunEvent::Interval { interval, .. } = event {
            live.push(interval.clone());
        }
    };
    let cpu_before = cpu_time();
    let mut watch = ClusterWatch {
        listener: &mut listener,
        warnings: Vec::new(),
        preconditions: Vec::new(),
        stop: &stop,
        skip: &AtomicBool::new(false),
    };
    let measured = leader.measure(&plan.cells[0], &mut watch);
    let measured = measured.expect("a record");
    let cpu = cpu_time().saturating_sub(cpu_before);
    drop(leader);
    let bytes_received = crowd.join().expect("the crowd");
    let interval_sum = interval_bytes.load(Relaxed);
    eprintln!(
        "{RANKS} processes, {SECONDS} s: the leader took {cpu:?} of processor time; {} KiB more \
         memory; {bytes_received} bytes, {interval_sum} of intervals",
        memory_kib() - before,
    );
    assert_same(&measured, &expected, &live);
    let each_second = interval_sum / SECONDS;
    assert!(each_second < BYTES_PER_SECOND_MAX, "{interval_sum} bytes");
    let span = Duration::from_secs(SECONDS);
    assert!(cpu < span, "{cpu:?} for {SECONDS} s");
}

/// Holds that what came step by step is what all have together.
fn assert_same(measured: &[CellRecord], expected: &CellRecord, live: &[IntervalRecord]) {
    assert_eq!(live.len() as u64, SECONDS);
    let counts = |it: &IntervalRecord| it.operations.values().map(|it| it.count).sum::<u64>();
    assert!(live.iter().all(|it| counts(it) == 2000 * u64::from(RANKS)));
    assert_eq!(live.iter().map(counts).sum::<u64>(), expected.total.count);
    let [record] = measured else {
        panic!("{} records", measured.len());
    };
    assert_eq!(record.operations, expected.operations);
    assert_eq!(record.total, expected.total);
    assert_eq!(record.intervals, expected.intervals);
    let cluster = record.cluster.as_ref().expect("who took part");
    let per_rank = cluster.ranks.iter().map(|it| it.count);
    assert_eq!(per_rank.sum::<u64>(), record.total.count);
}
