//! Counting requests together gives the same results as counting each of them.

use engine::Operation;
use proptest::prelude::*;
use stats::Interval;

use super::*;
use crate::tally::Single;

const OPERATIONS: [Operation; 5] = [
    Operation::Read,
    Operation::Write,
    Operation::Fsync,
    Operation::Stat,
    Operation::Trim,
];

/// A completion: span, operation, bytes expected, result, latency, and how its flow ended.
type TestCompletion = (u32, Operation, u32, i32, u64, Option<(u8, i32)>);

fn ended() -> impl Strategy<Value = TestCompletion> {
    (
        0_u32..2,
        prop::sample::select(OPERATIONS.to_vec()),
        prop::sample::select(vec![512, 4096, EXPECTED_FAILURE]),
        prop::sample::select(vec![-5, 0, 100, 512, 4096]),
        prop::sample::select(vec![0, 1, 20, 20, 21, 5000]),
        prop::option::of((0_u8..2, prop::sample::select(vec![0, 0, -5]))),
    )
}

fn sample() -> Sample {
    let span = Interval::with(OPERATIONS.map(|it| it as usize), 2);
    Sample {
        spans: vec![span; 2],
        ..Sample::default()
    }
}

/// One by one, as the rules are.
fn count(sample: &mut Sample, completion: &TestCompletion) {
    let (span, operation, expected_bytes, result, latency_ns, flow) = *completion;
    let span = &mut sample.spans[span as usize];
    let counter = span.operation_mut(operation as usize);
    match operation.moves_bytes() {
        _ if result < 0 && expected_bytes != EXPECTED_FAILURE => {
            counter.record_error(-result, latency_ns);
        }
        false => counter.record(0, latency_ns),
        true if result as u32 >= expected_bytes => {
            counter.record(expected_bytes.into(), latency_ns);
        }
        // Its result has no length.
        true if operation == Operation::Trim => {
            counter.record(expected_bytes.into(), latency_ns);
        }
        true => counter.record_short(result as u64, latency_ns),
    }
    match flow {
        Some((kind, errno @ ..0)) => span
            .transaction_mut(kind.into())
            .record_error(errno, latency_ns),
        Some((kind, _)) => span.transaction_mut(kind.into()).record(0, latency_ns),
        None => {}
    }
}

fn recorder(ramp_ns: u64) -> Recorder {
    let schedule = Schedule {
        start_ns: 100,
        ramp_ns,
        run_ns: 0,
        interval_ns: u64::MAX / 4,
        operations: u64::MAX,
        grace_ns: 0,
    };
    let (current, outbox, _inbox) = exchange(sample());
    let stop = Arc::new(AtomicBool::new(false));
    Recorder::new(current, outbox, schedule, stop, Counting::BySpan)
}

#[test]
fn a_thread_that_catches_up_is_measured_from_the_due_times() {
    for (from_ns, ramp_ns, wanted_ns) in [
        (None, 0, 900 - 190),
        (Some(90), 0, 900 - 100),
        (Some(150), 0, 900 - 150),
        (None, 300, 900 - 450),
        (Some(150), 300, 900 - 400),
    ] {
        let mut recorder = recorder(ramp_ns);
        if let Some(from_ns) = from_ns {
            recorder.catch_up_from(from_ns);
        }
        recorder.start(190);
        recorder.tick(450, &LoopState::new(1));
        recorder.finish(900);
        assert_eq!(recorder.into_outcome().measured_ns, wanted_ns);
    }
}

proptest! {
    #[test]
    fn counting_in_batches_equals_counting_one_by_one(
        turns in prop::collection::vec(prop::collection::vec(ended(), 0..12), 0..12),
    ) {
        let mut recorder = recorder(0);
        let mut wanted = sample();
        for turn in &turns {
            let (mut single, mut together) = (Single, BatchTally::new());
            for ended in turn {
                count(&mut wanted, ended);
                let (file_index, operation, expected_bytes, result, latency_ns, flow) = *ended;
                let request = Request { file_index, operation, ..Request::EMPTY };
                let bytes = (expected_bytes, result);
                let flow_end = flow.map(|(kind, errno)| EndedFlow { kind, errno, latency_ns });
                if let [_] = turn[..] {
                    recorder.record(&mut single, &request, bytes, latency_ns);
                    if let Some(it) = flow_end {
                        recorder.record_flow(&mut single, &request, it);
                    }
                } else {
                    recorder.record(&mut together, &request, bytes, latency_ns);
                    if let Some(it) = flow_end {
                        recorder.record_flow(&mut together, &request, it);
                    }
                }
            }
            recorder.end_turn(&together);
        }
        prop_assert_eq!(&recorder.into_outcome().last_sample.spans, &wanted.spans);
    }
}
