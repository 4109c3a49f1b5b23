//! Whole cells on engines that touch nothing.

mod batches;
mod ends;
mod open_loop;
mod rounds;
pub(crate) mod scratch;
mod searched;
mod shared_files;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Clock, Operation, OperationSet, Scripted, StepClock, TscClock};
use generate::ContentSource;
use plan::{
    CacheMode, Cell, ContentPlan, CursorKind, Distribution, EngineKind, LinePlan, PositionRule,
    RingOptions, Sequence, SpanPlan, Work, WorkerPlan,
};
use results::RunEvent;

use crate::RunError;
use crate::batch::Batch;
use crate::cell::run_cell;
use crate::context::{CellContext, ShownStage};
use crate::lane::{Lane, lanes};
use crate::measure::Loop;
use crate::measured::MeasuredCell;
use crate::outcome::WorkerOutcome;
use crate::pace::LoopParts;
use crate::parts::{Sources, parts};
use crate::recorder::{Counting, Recorder};
use crate::sample::exchange;
use crate::schedule::Schedule;
use crate::slots::LoopState;
use crate::spans::{Contents, with_requests};
use crate::targets::OpenFile;

const MIB: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;

pub(crate) fn line(size_bytes: u32, read_percent: f64, random_percent: f64) -> LinePlan {
    LinePlan {
        size_bytes,
        of_size_percent: 100.0,
        read_percent,
        random_percent,
        delay_ns: 0,
        burst: 1,
        align_bytes: 0,
        reply_bytes: 0,
        distribution: Distribution::Uniform,
        sequence: Sequence::Forward,
    }
}

pub(crate) fn worker(worker_index: u32, iodepth: u32, lines: Vec<LinePlan>) -> WorkerPlan {
    WorkerPlan {
        worker_index,
        rank: 0,
        name: format!("worker {worker_index}"),
        access_spec: "test".to_owned(),
        lines,
        spans: vec![SpanPlan {
            target_index: 0,
            iodepth,
            start_bytes: 0,
            size_bytes: 256 * MIB,
            sector_bytes: 512,
        }],
        seed: u64::from(worker_index) + 1,
        position: PositionRule::Uniform,
        cursor: CursorKind::Worker,
        content: ContentPlan::Incompressible,
        verify: false,
        transactions_per_connection: None,
        network: false,
        cpu: None,
        job: None,
    }
}

const NULL: (EngineKind, CacheMode) = (EngineKind::Null, CacheMode::Direct);

pub(crate) fn cell(iodepth: u32, workers: Vec<WorkerPlan>) -> Cell {
    Cell {
        first_index: Some(0),
        workload_index: Some(0),
        iodepth,
        ..Cell::new("test", NULL, Work::Access, workers)
    }
}

fn contents() -> Contents {
    let source = ContentSource::new(&ContentPlan::Incompressible).unwrap();
    Contents {
        source,
        verify: None,
    }
}

fn run(cell: &Cell, events: &mut Vec<RunEvent>) -> MeasuredCell {
    let stop = Arc::new(AtomicBool::new(false));
    run_until(cell, &stop, &mut |event| events.push(event.clone()))
}

/// Runs the cell until it ends or its listener sets `stop`.
fn run_until(
    cell: &Cell,
    stop: &Arc<AtomicBool>,
    listener: &mut dyn FnMut(&RunEvent),
) -> MeasuredCell {
    let open = &|_, _| unreachable!("the null engine opens nothing");
    run_on(cell, open, stop, listener)
}

/// As [`run_until`], on files.
fn run_on(
    cell: &Cell,
    open: &dyn Fn(u32, OperationSet) -> Result<OpenFile, RunError>,
    stop: &Arc<AtomicBool>,
    listener: &mut dyn FnMut(&RunEvent),
) -> MeasuredCell {
    let sources = Sources {
        seed: 7,
        target_count: 1,
        open,
        peer: &|_| None,
        contents: &|_| contents(),
    };
    let context = CellContext {
        cell,
        shown_stage: ShownStage::default(),
        devices: None,
        clock: &TscClock::new(),
        stop,
        skip: None,
        continued: &AtomicBool::new(false),
        agreement: None,
        status: None,
        mark: &mut |_, _| {},
        listener,
    };
    run_cell(context, parts(cell, &sources).unwrap()).unwrap()
}

fn counted(measured: &MeasuredCell) -> u64 {
    let spans = measured.lanes.iter().flat_map(|lane| &lane.spans);
    spans.map(|span| span.total().count()).sum()
}

#[test]
fn a_cell_does_exactly_the_requested_operations() {
    for (iodepth, operations) in [(1, 1), (1, 10_000), (32, 10_001), (128, 50)] {
        let workers = (0..3).map(|index| worker(index, iodepth, vec![line(4096, 70.0, 100.0)]));
        let mut cell = cell(iodepth, workers.collect());
        cell.operations = Some(operations);
        let measured = run(&cell, &mut Vec::new());
        assert_eq!(counted(&measured), operations, "at depth {iodepth}");
    }
}

#[test]
fn operations_count_from_the_end_of_the_ramp() {
    let mut cell = cell(16, vec![worker(0, 16, vec![line(4096, 50.0, 100.0)])]);
    cell.operations = Some(12_345);
    cell.ramp_time_ns = 20_000_000;
    assert_eq!(counted(&run(&cell, &mut Vec::new())), 12_345);
}

#[test]
fn a_timed_cell_measures_for_its_time_and_reports_its_intervals() {
    let mut cell = cell(4, vec![worker(0, 4, vec![line(512, 100.0, 100.0)])]);
    cell.ramp_time_ns = 100_000_000;
    cell.run_time_ns = 2_200_000_000;
    let mut events = Vec::new();
    let measured = run(&cell, &mut events);
    // A busy machine lets a thread wait: it may end later, and its intervals may be longer.
    assert!(measured.lanes[0].outcome.measured_ns >= 2_200_000_000);
    assert!((1..=22).contains(&measured.intervals.len()));
    let in_intervals: u64 = measured
        .intervals
        .iter()
        .map(|interval| interval.operations["read"].count)
        .sum();
    assert_eq!(in_intervals, counted(&measured));
    let intervals = events.iter().filter_map(|event| match event {
        RunEvent::Interval { interval, .. } => Some(interval),
        _ => None,
    });
    let intervals =
        intervals.map(|interval| (interval.length_ns, interval.operations["read"].count));
    let (lengths_ns, counts): (Vec<u64>, Vec<u64>) = intervals.unzip();
    // Until a second's end each, or longer where the worker waits, and less after that; the rest is
    // in the record, which comes after.
    let elapsed_ns = measured.lanes[0].outcome.measured_ns;
    let seconds = elapsed_ns / 1_000_000_000 + 1;
    assert!(lengths_ns.len() as u64 <= seconds, "{lengths_ns:?}");
    assert!(
        lengths_ns.iter().sum::<u64>() <= elapsed_ns,
        "{lengths_ns:?}"
    );
    assert!(counts.iter().sum::<u64>() <= in_intervals);
    // Waiting is counted when it ends, which may be in a later interval.
    let waits = measured.intervals.iter().filter_map(|it| it.waited_ns);
    assert!(waits.sum::<u64>() <= elapsed_ns * 2);
}

#[test]
fn the_stop_flag_ends_a_cell_and_keeps_its_counts() {
    let mut cell = cell(1, vec![worker(0, 1, vec![line(512, 100.0, 0.0)])]);
    cell.run_time_ns = 60_000_000_000;
    let stop = Arc::new(AtomicBool::new(false));
    let measured = run_until(&cell, &stop, &mut |event| {
        if matches!(event, RunEvent::Interval { .. }) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    assert!(measured.lanes[0].outcome.stopped);
    assert!(counted(&measured) > 0);
}

/// The only lane of a one-worker cell, and a recorder for it on a step clock.
fn scripted(cell: &Cell, run_ns: u64, ramp_ns: u64) -> (Lane, Recorder) {
    let lane = lanes(cell, 7, 1).unwrap().remove(0);
    let requests = lane.requests().unwrap();
    let kinds = requests.transaction_kinds().len();
    let (sample, outbox, _) = exchange(lane.shape(requests.operations(), kinds));
    let schedule = Schedule {
        start_ns: 0,
        ramp_ns,
        run_ns,
        interval_ns: u64::MAX / 4,
        operations: cell.operations.unwrap_or(u64::MAX),
        grace_ns: crate::times::grace_ns(cell),
    };
    (
        lane,
        Recorder::new(
            sample,
            outbox,
            schedule,
            Arc::new(AtomicBool::new(false)),
            Counting::BySpan,
        ),
    )
}

fn run_scripted(
    cell: &Cell,
    (run_ns, ramp_ns): (u64, u64),
    mut script: impl FnMut(&engine::Request) -> engine::ScriptedOutcome,
) -> WorkerOutcome {
    let (lane, recorder) = scripted(cell, run_ns, ramp_ns);
    let clock = StepClock::new();
    let slots = lane.slot_count();
    let engine = Scripted::new(
        slots,
        lane.buffer_bytes(),
        clock.clone(),
        |request: &engine::Request, _: &mut [u8]| script(request),
    )
    .unwrap();
    let requests = lane.requests().unwrap();
    let parts = LoopParts {
        engine,
        recorder,
        clock,
        batch: Batch::fixed(32),
    };
    with_requests(parts, requests, &lane, &contents()).unwrap()
}

#[test]
fn a_scripted_device_gives_exact_figures() {
    let cell = cell(4, vec![worker(0, 4, vec![line(4096, 100.0, 100.0)])]);
    let outcome = run_scripted(&cell, (1_000_000_000, 0), |request| {
        engine::ScriptedOutcome {
            delay_ns: 1_000_000,
            result: request.length_bytes as i32,
        }
    });
    let counter = outcome.last_sample.spans[0]
        .operation(Operation::Read as usize)
        .unwrap();
    assert_eq!(outcome.measured_ns, 1_000_000_000);
    assert_eq!(counter.count(), 4000);
    assert_eq!(counter.bytes(), 4000 * 4096);
    assert_eq!(counter.latency().min_ns(), Some(1_000_000));
    assert_eq!(counter.latency().max_ns(), Some(1_000_000));
}

/// A clock that is read alternately on two cores. The clock of the second core is late.
struct TwoCores {
    clock: StepClock,
    read_count: std::cell::Cell<u64>,
}

impl Clock for TwoCores {
    fn now_ns(&self) -> u64 {
        let count = self.read_count.replace(self.read_count.get() + 1);
        self.clock.now_ns() - count % 2 * 3_000_000
    }
}

#[test]
fn a_core_with_a_late_clock_gives_no_huge_latency() {
    let cell = cell(1, vec![worker(0, 1, vec![line(4096, 100.0, 100.0)])]);
    let (lane, recorder) = scripted(&cell, 100_000_000, 0);
    let clock = StepClock::new();
    clock.advance(1_000_000_000);
    let answer = |request: &engine::Request, _: &mut [u8]| engine::ScriptedOutcome {
        delay_ns: 1_000_000,
        result: request.length_bytes as i32,
    };
    let parts = LoopParts {
        engine: Scripted::new(1, lane.buffer_bytes(), clock.clone(), answer).unwrap(),
        recorder,
        clock: TwoCores {
            clock,
            read_count: std::cell::Cell::new(0),
        },
        batch: Batch::fixed(32),
    };
    let outcome = with_requests(parts, lane.requests().unwrap(), &lane, &contents()).unwrap();
    let counter = outcome.last_sample.spans[0].total();
    assert!((90..=103).contains(&counter.count()), "{counter:?}");
    assert!(counter.latency().max_ns().unwrap() <= 3_100_000);
    assert!((100_000_000..=103_000_000).contains(&outcome.measured_ns));
}

#[test]
fn the_intervals_of_a_scripted_device_are_exact() {
    let cell = cell(2, vec![worker(0, 2, vec![line(4096, 100.0, 100.0)])]);
    let lane = lanes(&cell, 7, 1).unwrap().remove(0);
    let requests = lane.requests().unwrap();
    let shape = lane.shape(requests.operations(), requests.transaction_kinds().len());
    let (sample, outbox, inbox) = exchange(shape.clone());
    let schedule = Schedule {
        start_ns: 0,
        ramp_ns: 0,
        run_ns: 2_200_000_000,
        interval_ns: SECOND_NS,
        operations: u64::MAX,
        grace_ns: SECOND_NS,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let recorder = Recorder::new(sample, outbox, schedule, stop, Counting::BySpan);
    let clock = StepClock::new();
    let answer = |request: &engine::Request, _: &mut [u8]| engine::ScriptedOutcome {
        delay_ns: 1_000_000,
        result: request.length_bytes as i32,
    };
    let parts = LoopParts {
        engine: Scripted::new(2, lane.buffer_bytes(), clock.clone(), answer).unwrap(),
        recorder,
        clock,
        batch: Batch::fixed(32),
    };
    let mut outcome = with_requests(parts, requests, &lane, &contents()).unwrap();
    let steps = crate::times::IntervalSteps::even(SECOND_NS);
    let mut collection = crate::collect::CollectedCounts::new(vec![inbox], vec![shape], steps);
    collection.collect();
    assert_eq!(collection.timeline.take_unreported().len(), 2);
    // The rest is handed over when the lane ends.
    outcome.hand_over_rest();
    collection.collect();
    collection.add_rest(0, &outcome);
    collection.close();
    let (intervals, _) = collection.timeline.take();
    let reported: Vec<_> = intervals
        .iter()
        .map(|it| (it.at_ns, it.length_ns, it.operations["read"].count))
        .collect();
    let second = |index: u64| (index * SECOND_NS, SECOND_NS, 2000);
    assert_eq!(
        reported,
        [second(0), second(1), (2 * SECOND_NS, 200_000_000, 400)]
    );
}

#[test]
fn the_ramp_is_not_counted() {
    let cell = cell(1, vec![worker(0, 1, vec![line(4096, 100.0, 100.0)])]);
    let outcome = run_scripted(&cell, (100_000_000, 50_000_000), |request| {
        engine::ScriptedOutcome {
            delay_ns: 1_000_000,
            result: request.length_bytes as i32,
        }
    });
    assert_eq!(outcome.last_sample.spans[0].total().count(), 100);
    assert_eq!(outcome.measured_ns, 100_000_000);
}

#[test]
fn errors_and_short_transfers_are_counted_apart() {
    let cell = cell(1, vec![worker(0, 1, vec![line(4096, 100.0, 100.0)])]);
    let mut count = 0;
    let outcome = run_scripted(&cell, (90_000, 0), |_| {
        count += 1;
        let result = match count % 3 {
            0 => -5,
            1 => 512,
            _ => 4096,
        };
        engine::ScriptedOutcome {
            delay_ns: 1000,
            result,
        }
    });
    let counter = outcome.last_sample.spans[0]
        .operation(Operation::Read as usize)
        .unwrap();
    assert_eq!(
        (counter.count(), counter.errors(), counter.short_count()),
        (60, 30, 30)
    );
    assert_eq!(counter.bytes(), 30 * 512 + 30 * 4096);
    assert_eq!(counter.errnos().collect::<Vec<_>>(), [(5, 30)]);
    let transactions = &outcome.last_sample.spans[0].transactions()[0];
    assert_eq!((transactions.count(), transactions.errors()), (60, 30));
}

#[test]
fn a_reply_belongs_to_its_transaction() {
    let mut with_reply = line(4096, 100.0, 100.0);
    with_reply.reply_bytes = 512;
    let cell = cell(1, vec![worker(0, 1, vec![with_reply])]);
    let outcome = run_scripted(&cell, (100_000, 0), |request| engine::ScriptedOutcome {
        delay_ns: 1000,
        result: request.length_bytes as i32,
    });
    let span = &outcome.last_sample.spans[0];
    assert_eq!(
        span.operation(Operation::Read as usize).unwrap().count(),
        50
    );
    assert_eq!(
        span.operation(Operation::Write as usize).unwrap().count(),
        50
    );
    assert_eq!(span.transactions()[0].count(), 50);
    assert_eq!(span.transactions()[0].latency().max_ns(), Some(2000));
}

#[test]
fn a_delay_comes_before_each_burst() {
    let mut delayed = line(4096, 100.0, 100.0);
    delayed.delay_ns = 10_000_000;
    delayed.burst = 5;
    let cell = cell(1, vec![worker(0, 1, vec![delayed])]);
    let outcome = run_scripted(&cell, (150_000_000, 0), |request| engine::ScriptedOutcome {
        delay_ns: 1_000_000,
        result: request.length_bytes as i32,
    });
    // Every 15 ms: 10 ms of delay, then five requests of 1 ms.
    assert_eq!(outcome.last_sample.spans[0].total().count(), 50);
}

#[test]
fn nothing_is_allocated_between_ramp_and_end() {
    let lines = vec![line(4096, 60.0, 80.0)];
    let mut cell = cell(32, vec![worker(0, 32, lines)]);
    cell.operations = Some(100_000);
    let (lane, recorder) = scripted(&cell, 0, 5_000_000);
    let crate::lane::Requests::Transfer(generator) = lane.requests().unwrap() else {
        unreachable!("the worker has its own cursor");
    };
    let engine = engine::Null::new(32, 4096).unwrap();
    let content = contents().source.plain(1);
    let clock = TscClock::new();
    let mut turns = LoopState::new(32);
    let mut measured = Loop {
        engine,
        generator,
        content,
        clock,
        recorder,
        batch: Batch::fixed(32),
    };
    let counts = allocation_counter::measure(|| measured.turn(&mut turns).unwrap());
    assert_eq!(counts.count_total, 0);
    let rest = measured.recorder.into_outcome().last_sample;
    assert_eq!(rest.spans[0].total().count(), 100_000);
}

#[test]
fn connections_last_from_open_to_close_and_transactions_do_not_contain_them() {
    let mut plan = worker(0, 2, vec![line(4096, 100.0, 100.0)]);
    plan.transactions_per_connection = Some(4);
    plan.spans.push(plan.spans[0]);
    let cell = cell(2, vec![plan]);
    let (lane, _) = scripted(&cell, 1_000_000_000, 0);
    let clock = StepClock::new();
    let engine = Scripted::new(
        lane.slot_count(),
        4096,
        clock.clone(),
        |request: &engine::Request, _: &mut [u8]| engine::ScriptedOutcome {
            delay_ns: match request.operation {
                Operation::Read => 1_000_000,
                _ => 3_000_000 + u64::from(request.file_index) * 1_000_000,
            },
            result: request.length_bytes as i32,
        },
    )
    .unwrap();
    let transfer =
        generate::Transfer::new(&lane.plan, generate::OwnCursor::one_per_span(&lane.plan)).unwrap();
    let generator = generate::Connections::new(transfer, &lane.plan, 4);
    let kinds = generate::Generator::transaction_kinds(&generator).len();
    let operations = generate::Generator::operations(&generator);
    let (sample, outbox, _) = exchange(lane.shape(operations, kinds));
    let schedule = Schedule {
        start_ns: 0,
        ramp_ns: 0,
        run_ns: 1_000_000_000,
        interval_ns: u64::MAX / 4,
        operations: u64::MAX,
        grace_ns: SECOND_NS,
    };
    let recorder = Recorder::new(
        sample,
        outbox,
        schedule,
        Arc::new(AtomicBool::new(false)),
        Counting::BySpan,
    );
    let content = contents().source.plain(1);
    let mut measuring = Loop {
        engine,
        generator,
        content,
        clock,
        recorder,
        batch: Batch::fixed(32),
    };
    measuring.run().unwrap();
    let outcome = measuring.recorder.into_outcome();
    for (index, (connection_ns, count)) in [(8_000_000, 125), (10_000_000, 100)]
        .into_iter()
        .enumerate()
    {
        let span = &outcome.last_sample.spans[index];
        let connections = &span.transactions()[1];
        assert_eq!(connections.latency().max_ns(), Some(connection_ns));
        assert_eq!(connections.count(), count);
        let transactions = &span.transactions()[0];
        assert_eq!(transactions.latency().max_ns(), Some(1_000_000));
        assert_eq!(transactions.count(), count * 4);
    }
}
