use std::collections::BTreeMap;

use plan::{Distribution, SpanPlan};

use super::*;
use crate::sample::{GIB, line, one, plan, span, stream};
use crate::{OwnCursor, SharedCursor, lane, slot_spans};

fn transfer(plan: &WorkerPlan) -> Transfer<OwnCursor> {
    Transfer::new(plan, OwnCursor::one_per_span(plan)).unwrap()
}

/// The paper's four workloads: size and share of each line, read percent, random percent.
fn paper_workloads() -> Vec<WorkerPlan> {
    let file_server: &[(u32, f64)] = &[
        (512, 10.0),
        (1024, 5.0),
        (2048, 5.0),
        (4096, 60.0),
        (8192, 2.0),
        (16_384, 4.0),
        (32_768, 4.0),
        (65_536, 10.0),
    ];
    let web_server: &[(u32, f64)] = &[
        (512, 22.0),
        (1024, 15.0),
        (2048, 8.0),
        (4096, 23.0),
        (8192, 15.0),
        (16_384, 2.0),
        (32_768, 6.0),
        (65_536, 7.0),
        (131_072, 1.0),
        (524_288, 1.0),
    ];
    let one_size: &[(u32, f64)] = &[(8192, 100.0)];
    let specs = [
        (one_size, 67.0, 100.0),
        (one_size, 80.0, 80.0),
        (file_server, 80.0, 100.0),
        (web_server, 100.0, 100.0),
    ];
    let plans = specs
        .into_iter()
        .map(|(lines, read_percent, random_percent)| {
            let lines = lines.iter().map(|&(size_bytes, share)| LinePlan {
                read_percent,
                random_percent,
                ..line(size_bytes, share)
            });
            plan(lines.collect(), vec![span(0, GIB, 8)])
        });
    plans.collect()
}

#[track_caller]
fn assert_share(name: &str, count: u64, of: u64, percent: f64) {
    let share = percent / 100.0;
    let error = (share * (1.0 - share) / of as f64).sqrt();
    let off = count as f64 / of as f64 - share;
    assert!(
        off.abs() <= 4.0 * error,
        "{name}: {count} of {of}, not {percent} %"
    );
}

/// Unoptimized builds take a tenth of the ten million.
const OPERATION_COUNT: u64 = if cfg!(debug_assertions) {
    1_000_000
} else {
    10_000_000
};

#[test]
fn lines_reads_and_random_requests_have_the_shares_of_the_paper() {
    for plan in paper_workloads() {
        let mut generator = transfer(&plan);
        let (mut reads, mut random, mut follows) = (0, 0, 0);
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for number in 0..OPERATION_COUNT {
            let (request, flow) = one(&mut generator, (number % 8) as u32);
            assert_eq!(flow, Flow::Done(0));
            *sizes.entry(request.length_bytes).or_default() += 1;
            reads += u64::from(request.operation == Operation::Read);
            random += u64::from(request.offset_bytes != follows);
            follows = request.offset_bytes + u64::from(request.length_bytes);
        }
        let first = &plan.lines[0];
        assert_share("reads", reads, OPERATION_COUNT, first.read_percent);
        if first.random_percent < 100.0 {
            assert_share("random", random, OPERATION_COUNT, first.random_percent);
        }
        for line in &plan.lines {
            let count = sizes[&line.size_bytes];
            assert_share("line", count, OPERATION_COUNT, line.of_size_percent);
        }
    }
}

#[test]
fn the_same_plan_gives_the_same_requests_and_a_new_seed_new_ones() {
    let mut plan = paper_workloads().remove(2);
    let first = stream(&mut transfer(&plan), 8, 1000);
    assert_eq!(first, stream(&mut transfer(&plan), 8, 1000));
    plan.seed += 1;
    assert_ne!(first, stream(&mut transfer(&plan), 8, 1000));
}

/// Streams must repeat for as long as the program exists: these figures never change.
#[test]
fn the_stream_of_file_server_with_seed_1_never_changes() {
    let requests = stream(&mut transfer(&paper_workloads()[2]), 8, 100_000);
    let reads = requests
        .iter()
        .filter(|request| request.operation == Operation::Read);
    let bytes: u64 = requests
        .iter()
        .map(|request| u64::from(request.length_bytes))
        .sum();
    let hash = requests
        .iter()
        .fold(0, |hash, request| mix(hash ^ request.offset_bytes));
    assert_eq!(
        (reads.count(), bytes, hash),
        (80_047, 1_140_298_240, 5_578_148_184_649_660_459)
    );
}

#[test]
fn a_reply_reverses_direction_on_the_same_target_and_slot() {
    let mut with_reply = line(4096, 100.0);
    (with_reply.reply_bytes, with_reply.read_percent) = (512, 50.0);
    let plan = plan(vec![with_reply], vec![span(0, GIB, 2), span(GIB, GIB, 1)]);
    let mut generator = transfer(&plan);
    for number in 0..300 {
        let slot = number % 3;
        let (request, flow) = one(&mut generator, slot);
        assert_eq!((request.length_bytes, flow), (4096, Flow::Continues));
        let (reply, flow) = one(&mut generator, slot);
        assert_eq!((reply.length_bytes, flow), (512, Flow::Done(0)));
        assert_eq!(reply.file_index, request.file_index);
        assert_ne!(reply.operation, request.operation);
        assert_ne!(reply.offset_bytes, request.offset_bytes);
    }
}

#[test]
fn a_sequential_reply_follows_its_request() {
    let mut with_reply = line(4096, 100.0);
    (with_reply.reply_bytes, with_reply.random_percent) = (512, 0.0);
    let plan = plan(vec![with_reply], vec![span(0, GIB, 1)]);
    let offsets: Vec<u64> = stream(&mut transfer(&plan), 1, 4)
        .iter()
        .map(|request| request.offset_bytes)
        .collect();
    assert_eq!(offsets, [0, 4096, 4608, 8704]);
}

#[test]
fn operations_lists_exactly_those_the_lines_can_produce() {
    let of = |read_percent, reply_bytes| {
        let mut line = line(512, 100.0);
        (line.read_percent, line.reply_bytes) = (read_percent, reply_bytes);
        let plan = plan(vec![line], vec![span(0, GIB, 1)]);
        let operations = transfer(&plan).operations();
        operations.iter().collect::<Vec<_>>()
    };
    assert_eq!(of(100.0, 0), [Operation::Read]);
    assert_eq!(of(0.0, 0), [Operation::Write]);
    assert_eq!(of(99.9, 0), [Operation::Read, Operation::Write]);
    assert_eq!(of(100.0, 512), [Operation::Read, Operation::Write]);
}

#[test]
fn the_whole_worker_waits_before_each_burst() {
    let mut slow = line(512, 100.0);
    (slow.delay_ns, slow.burst) = (1000, 3);
    let plan = plan(vec![slow], vec![span(0, GIB, 2)]);
    let mut generator = transfer(&plan);
    let issued = |step| matches!(step, Step::Issue(_));
    assert_eq!(generator.next(0, 0), Step::Wait { until_ns: 1000 });
    assert_eq!(generator.next(1, 999), Step::Wait { until_ns: 1000 });
    for slot in [0, 1, 0] {
        assert!(issued(generator.next(slot, 1500)));
        generator.complete(Completion { slot, result: 512 }, 1500);
    }
    assert_eq!(generator.next(1, 1600), Step::Wait { until_ns: 2600 });
    assert!(issued(generator.next(1, 2600)));
}

#[test]
fn a_burst_is_consecutive_transactions_of_one_line() {
    let burst = |size_bytes| LinePlan {
        burst: 5,
        ..line(size_bytes, 50.0)
    };
    let plan = plan(vec![burst(512), burst(1024)], vec![span(0, GIB, 3)]);
    let requests = stream(&mut transfer(&plan), 3, 5000);
    let mut both = [0; 2];
    for burst in requests.chunks(5) {
        let size_bytes = burst[0].length_bytes;
        assert!(
            burst
                .iter()
                .all(|request| request.length_bytes == size_bytes)
        );
        both[size_bytes as usize / 1024] += 1;
    }
    assert!(both.iter().all(|&count| count > 400), "{both:?}");
}

#[test]
fn slots_are_dealt_round_robin_until_each_target_has_its_depth() {
    let spans = [
        span(0, GIB, 1),
        span(0, GIB, 3),
        span(0, GIB, 0),
        span(0, GIB, 2),
    ];
    assert_eq!(slot_spans(&spans), [0, 1, 3, 1, 3, 1]);
    let plan = plan(vec![line(512, 100.0)], spans.to_vec());
    let files: Vec<u32> = stream(&mut transfer(&plan), 6, 6)
        .iter()
        .map(|request| request.file_index)
        .collect();
    assert_eq!(files, slot_spans(&spans));
}

#[test]
fn requests_stay_in_the_span_of_their_target() {
    let spans = vec![span(GIB, 1 << 20, 1), span(0, 1 << 16, 1)];
    let plan = plan(vec![line(512, 50.0), line(65_536, 50.0)], spans.clone());
    for request in stream(&mut transfer(&plan), 2, 10_000) {
        let SpanPlan {
            start_bytes,
            size_bytes,
            ..
        } = spans[request.file_index as usize];
        assert!(request.offset_bytes >= start_bytes);
        let end_bytes = request.offset_bytes + u64::from(request.length_bytes);
        assert!(end_bytes <= start_bytes + size_bytes);
    }
}

/// The plan of a lane of a worker.
fn slot_plan(plan: &WorkerPlan, lane_index: u32) -> WorkerPlan {
    let span_index = slot_spans(&plan.spans)[lane_index as usize];
    lane(plan, lane_index, span_index)
}

/// Threads that share a cursor, each with its own worker; the offsets each saw.
fn threads(plan: &WorkerPlan, cursor: &SharedCursor, requests_each: u32) -> Vec<u64> {
    let workers: Vec<_> = (0..4)
        .map(|lane_index| {
            let lane = slot_plan(plan, lane_index);
            let mut generator = Transfer::new(&lane, vec![cursor.clone()]).unwrap();
            std::thread::spawn(move || stream(&mut generator, 1, requests_each))
        })
        .collect();
    let requests = workers
        .into_iter()
        .flat_map(|worker| worker.join().unwrap());
    requests.map(|request| request.offset_bytes).collect()
}

#[test]
fn threads_with_a_shared_cursor_cover_a_file_exactly_once_a_pass() {
    for distribution in [None, Some(Distribution::NoRepeat)] {
        let mut shared = line(4096, 100.0);
        shared.align_bytes = 4096;
        shared.random_percent = if distribution.is_some() { 100.0 } else { 0.0 };
        shared.distribution = distribution.unwrap_or_default();
        let plan = plan(vec![shared], vec![span(8192, 40_000 * 4096, 4)]);
        for cursor in [
            SharedCursor::current_sector_address(3, 1),
            SharedCursor::between_lanes(&plan),
        ] {
            let mut offsets = threads(&plan, &cursor, 30_000);
            offsets.sort_unstable();
            let wanted = (0..40_000).flat_map(|block| [8192 + block * 4096; 3]);
            assert!(offsets.into_iter().eq(wanted));
        }
    }
}

#[test]
fn the_current_sector_address_advances_by_each_request_size() {
    let sizes = |size_bytes| {
        let mut line = line(size_bytes, 100.0);
        line.random_percent = 0.0;
        plan(vec![line], vec![span(0, 16_384, 1)])
    };
    let cursor = SharedCursor::current_sector_address(1, 1);
    let mut small = Transfer::new(&sizes(512), vec![cursor.clone()]).unwrap();
    let mut large = Transfer::new(&sizes(4096), vec![cursor]).unwrap();
    let mut offsets = Vec::new();
    for _ in 0..4 {
        offsets.push(one(&mut small, 0).0.offset_bytes);
        offsets.push(one(&mut large, 0).0.offset_bytes);
    }
    // 13824 + 4096 would pass the end, so the large request goes to the start.
    assert_eq!(offsets, [0, 4096, 4608, 8704, 9216, 0, 512, 4608]);
}

#[test]
fn lanes_continue_after_the_last_request_of_any_size() {
    let sequential = |size_bytes| LinePlan {
        random_percent: 0.0,
        ..line(size_bytes, 50.0)
    };
    let plan = plan(
        vec![sequential(512), sequential(4096)],
        vec![span(0, GIB, 2)],
    );
    let cursor = SharedCursor::between_lanes(&plan);
    let mut lanes: Vec<_> = (0..2)
        .map(|index| Transfer::new(&slot_plan(&plan, index), vec![cursor.clone()]).unwrap())
        .collect();
    let mut end_bytes = 0;
    for number in 0..1000 {
        let (request, _) = one(&mut lanes[number % 2], 0);
        assert_eq!(request.offset_bytes, end_bytes);
        end_bytes += u64::from(request.length_bytes);
    }
}

#[test]
fn each_lane_has_one_slot_on_its_target_and_its_own_seed() {
    let plan = plan(
        vec![line(512, 100.0)],
        vec![span(0, GIB, 2), span(GIB, GIB, 1)],
    );
    let lanes: Vec<WorkerPlan> = (0..3).map(|index| slot_plan(&plan, index)).collect();
    let starts: Vec<u64> = lanes.iter().map(|lane| lane.spans[0].start_bytes).collect();
    assert_eq!(starts, [0, GIB, 0]);
    assert!(lanes.iter().all(|lane| slot_spans(&lane.spans) == [0]));
    assert_ne!(lanes[0].seed, lanes[2].seed);
}

#[test]
fn plans_that_make_no_stream_are_refused() {
    let good = plan(vec![line(512, 100.0)], vec![span(0, GIB, 1)]);
    let refused = |change: fn(&mut WorkerPlan)| {
        let mut plan = good.clone();
        change(&mut plan);
        Transfer::new(&plan, OwnCursor::one_per_span(&plan))
            .unwrap_err()
            .to_string()
    };
    let refusals = [
        refused(|plan| plan.lines.clear()),
        refused(|plan| plan.spans.clear()),
        refused(|plan| plan.spans[0].iodepth = 0),
        refused(|plan| plan.lines[0].size_bytes = 0),
        refused(|plan| plan.lines[0].of_size_percent = 96.0),
        refused(|plan| plan.lines[0].read_percent = 101.0),
        refused(|plan| plan.lines[0].random_percent = f64::NAN),
        refused(|plan| plan.spans[0].size_bytes = 511),
        refused(|plan| plan.spans[0].sector_bytes = 0),
        refused(|plan| plan.spans[0].start_bytes = u64::MAX),
    ];
    let wanted = [
        "worker `worker` has no access line with a weight above 0",
        "worker `worker` has no request in flight: no target, or an iodepth of `0`",
        "worker `worker` has no request in flight: no target, or an iodepth of `0`",
        "access line `0` of `spec` moves `0` bytes",
        "the access lines of `spec` add up to `96` %, not 100 %",
        "the share of reads is `101` %, not between 0 and 100",
        "the share of random requests is `NaN` %, not between 0 and 100",
        "a request of `512` bytes aligned to `512` does not fit in the span of `511` bytes at `0`",
        "target `0` has a sector of `0` bytes",
        "a span of `1073741824` bytes at `18446744073709551615` ends beyond byte \
         `4611686018427387904`",
    ];
    assert_eq!(refusals, wanted);
    let error = Transfer::new(&good, Vec::<OwnCursor>::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "worker `worker` has `1` targets but `0` cursors"
    );
}

#[test]
fn a_single_thread_issues_the_same_with_a_shared_or_its_own_cursor() {
    let mut plan = paper_workloads().remove(2);
    for line in &mut plan.lines {
        (line.random_percent, line.reply_bytes) = (50.0, 1024);
    }
    let own = stream(&mut transfer(&plan), 8, 5000);
    let cursors = vec![SharedCursor::between_lanes(&plan)];
    let shared = stream(&mut Transfer::new(&plan, cursors).unwrap(), 8, 5000);
    assert_eq!(own, shared);
    let own = crate::Iometer::new(&plan, OwnCursor::one_per_span(&plan)).unwrap();
    let cursors = vec![SharedCursor::between_lanes(&plan)];
    let shared = crate::Iometer::new(&plan, cursors).unwrap();
    let (mut own, mut shared) = (own, shared);
    assert_eq!(stream(&mut own, 8, 5000), stream(&mut shared, 8, 5000));
}

#[test]
fn a_shared_cursor_for_fewer_lines_still_works() {
    let mut plan = paper_workloads().remove(2);
    for line in &mut plan.lines {
        line.distribution = Distribution::NoRepeat;
    }
    let cursor = SharedCursor::current_sector_address(1, 0);
    let mut generator = Transfer::new(&plan, vec![cursor]).unwrap();
    assert_eq!(stream(&mut generator, 8, 1000).len(), 1000);
}

#[test]
fn a_span_too_far_for_a_shared_cursor_is_refused() {
    let plan = plan(vec![line(512, 100.0)], vec![span(1 << 48, GIB, 1)]);
    assert!(Transfer::new(&plan, OwnCursor::one_per_span(&plan)).is_ok());
    let shared = vec![SharedCursor::current_sector_address(1, 1)];
    let error = Transfer::new(&plan, shared).unwrap_err();
    assert!(
        matches!(error, GenerateError::SpanOutOfRange { .. }),
        "{error}"
    );
}

#[test]
fn workers_that_share_a_target_visit_it_in_the_same_order() {
    let mut line = line(4096, 100.0);
    (line.align_bytes, line.distribution) = (4096, Distribution::NoRepeat);
    let of = |target_index| SpanPlan {
        target_index,
        ..span(0, 1000 * 4096, 1)
    };
    let addresses = [5, 6].map(|seed| SharedCursor::current_sector_address(seed, 1));
    let mut offsets = Vec::new();
    for targets in [vec![0, 1], vec![1]] {
        let spans = targets.iter().map(|target| of(*target)).collect();
        let cursors = targets.iter().map(|it| addresses[*it as usize].clone());
        let plan = plan(vec![line.clone()], spans);
        let mut generator = Transfer::new(&plan, cursors.collect()).unwrap();
        let slot_count = targets.len() as u32;
        let shared_index = slot_count - 1;
        let requests = stream(&mut generator, slot_count, 500 * slot_count);
        let shared = requests.iter().filter(|it| it.file_index == shared_index);
        offsets.extend(shared.map(|it| it.offset_bytes));
    }
    offsets.sort_unstable();
    assert!(offsets.into_iter().eq((0..1000).map(|it| it * 4096)));
}
