//! Plans for the tests of this crate.

use engine::{Completion, Request};
use plan::{
    ContentPlan, CursorKind, Distribution, LinePlan, PositionRule, Sequence, SpanPlan, WorkerPlan,
};

use crate::{Flow, Generator, Step};

pub(crate) const GIB: u64 = 1 << 30;

/// One line: all reads, all random, no delay, sector alignment.
pub(crate) fn line(size_bytes: u32, of_size_percent: f64) -> LinePlan {
    LinePlan {
        size_bytes,
        of_size_percent,
        read_percent: 100.0,
        random_percent: 100.0,
        delay_ns: 0,
        burst: 1,
        align_bytes: 0,
        reply_bytes: 0,
        distribution: Distribution::Uniform,
        sequence: Sequence::Forward,
    }
}

pub(crate) fn span(start_bytes: u64, size_bytes: u64, iodepth: u32) -> SpanPlan {
    SpanPlan {
        target_index: 0,
        iodepth,
        start_bytes,
        size_bytes,
        sector_bytes: 512,
    }
}

pub(crate) fn plan(lines: Vec<LinePlan>, spans: Vec<SpanPlan>) -> WorkerPlan {
    WorkerPlan {
        worker_index: 0,
        rank: 0,
        name: "worker".into(),
        access_spec: "spec".into(),
        lines,
        spans,
        seed: 1,
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

/// The next request of a slot, after all waits, and its flow once it has completed immediately.
pub(crate) fn one(generator: &mut impl Generator, slot: u32) -> (Request, Flow) {
    let mut now_ns = 0;
    loop {
        match generator.next(slot, now_ns) {
            Step::Issue(request) => {
                assert_eq!(request.slot, slot);
                let result = request.length_bytes as i32;
                return (
                    request,
                    generator.complete(Completion { slot, result }, now_ns),
                );
            }
            Step::Wait { until_ns } => {
                assert!(until_ns > now_ns);
                now_ns = until_ns;
            }
            Step::Park | Step::Again | Step::Finished => {
                panic!("access specifications go on at any time")
            }
        }
    }
}

/// Requests of all slots in turn.
pub(crate) fn stream(generator: &mut impl Generator, slots: u32, count: u32) -> Vec<Request> {
    (0..count)
        .map(|number| one(generator, number % slots).0)
        .collect()
}
