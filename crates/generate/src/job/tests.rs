//! Streams of jobs, with what fio 3.33's own logs of requests showed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Completion, Operation, OperationSet, Request};
use plan::job::{
    BlockRule, FileOrder, JobFile, JobPlan, LoggedRequest, MetadataWork, OffsetOrder, PaceRule,
    PerDirection, RangeSync, ReadBack, ReadWriteMix, RecordedKind, RecordedPlan, RecordedRequest,
    RunDirection, SizeRule, StreamEnd, StreamPlan, SyncRule, ThinkRule, WeightedSize, ZoneRule,
};
use plan::{ArrivalKind, Distribution, EngineKind, Zone};

use super::{JobStage, JobStream, LatencySplitter, RequestLogger, SplitLatencies};
use crate::open_loop::tests::START;
use crate::{Arrivals, DueTimes, Exclusive, Flow, Generator, OpenLoopGenerator, Step, Stripes};

const K: u64 = 1024;

fn fixed(bytes: u32) -> BlockRule {
    BlockRule {
        sizes: SizeRule::Fixed { bytes },
        align_bytes: bytes,
    }
}

/// One pass of sequential 4 KiB requests over a file of `size_bytes`.
pub(super) fn plan(mix: ReadWriteMix, size_bytes: u64) -> JobPlan {
    let end = StreamEnd {
        bytes: size_bytes,
        requests: None,
        loops: Some(1),
        starts_over: false,
    };
    let stream = StreamPlan::sequential(mix, fixed(4096), end);
    JobPlan {
        files: vec![part(0, 0, size_bytes)],
        ..JobPlan::new(EngineKind::Null, stream)
    }
}

pub(super) fn random(mix: ReadWriteMix, size_bytes: u64) -> JobPlan {
    let mut plan = plan(mix, size_bytes);
    plan.stream.random_percent = PerDirection::both(100.0);
    plan
}

const fn part(file_index: u32, start_bytes: u64, size_bytes: u64) -> JobFile {
    JobFile {
        file_index,
        start_bytes,
        size_bytes,
    }
}

/// All requests, with one in flight that completes immediately; time passes only in waits.
pub(super) fn requests(plan: &JobPlan) -> Vec<Request> {
    some_requests(plan, usize::MAX)
}

fn some_requests(plan: &JobPlan, most: usize) -> Vec<Request> {
    let mut stream = JobStream::new(plan, 7).unwrap();
    let (mut requests, mut now_ns) = (Vec::new(), 1_u64);
    while requests.len() < most {
        match stream.next(0, now_ns) {
            Step::Issue(request) => {
                requests.push(request);
                let result = request.length_bytes as i32;
                stream.complete(Completion { slot: 0, result }, now_ns);
            }
            Step::Wait { until_ns } => now_ns = until_ns,
            Step::Again => {}
            Step::Park => panic!("nothing is in flight"),
            Step::Finished => break,
        }
    }
    requests
}

fn offsets(plan: &JobPlan) -> Vec<u64> {
    requests(plan)
        .iter()
        .map(|it| it.offset_bytes / K)
        .collect()
}

#[test]
fn sequential_requests_skip_a_partial_block_at_the_end() {
    assert_eq!(offsets(&plan(ReadWriteMix::Read, 16 * K)), [0, 4, 8, 12]);
    assert_eq!(offsets(&plan(ReadWriteMix::Read, 10 * K)), [0, 4]);
    let mut offset = plan(ReadWriteMix::Write, 8 * K);
    offset.files = vec![part(0, 1024 * K, 8 * K)];
    assert_eq!(offsets(&offset), [1024, 1028]);
}

#[test]
fn more_bytes_than_a_file_holds_wrap_around() {
    let mut round = plan(ReadWriteMix::Read, 8 * K);
    round.stream.end.bytes = 20 * K;
    round.stream.end.starts_over = true;
    assert_eq!(offsets(&round), [0, 4, 0, 4, 0]);
    let mut fewer = plan(ReadWriteMix::Read, 64 * K);
    fewer.stream.end.requests = Some(3);
    assert_eq!(offsets(&fewer), [0, 4, 8]);
}

#[test]
fn steps_leave_holes_or_go_backward() {
    let mut holes = plan(ReadWriteMix::Read, 48 * K);
    holes.stream.step_bytes = 8 * 1024;
    assert_eq!(offsets(&holes)[..4], [0, 12, 24, 36]);
    let mut backward = plan(ReadWriteMix::Read, 60 * K);
    backward.stream.step_bytes = -8 * 1024;
    backward.stream.end.requests = Some(4);
    assert_eq!(offsets(&backward), [0, 52, 48, 44]);
}

#[test]
fn files_take_turns_each_with_its_own_position() {
    let mut two = plan(ReadWriteMix::Read, 16 * K);
    two.files = vec![part(0, 0, 8 * K), part(1, 0, 8 * K)];
    let pairs = |plan: &JobPlan| -> Vec<(u32, u64)> {
        let all = requests(plan);
        all.iter()
            .map(|it| (it.file_index, it.offset_bytes / K))
            .collect()
    };
    assert_eq!(pairs(&two), [(0, 0), (1, 0), (0, 4), (1, 4)]);
    two.stream.file_order = FileOrder::Sequential;
    assert_eq!(pairs(&two), [(0, 0), (0, 4), (1, 0), (1, 4)]);
    two.stream.file_order = FileOrder::RoundRobin;
    two.stream.requests_per_file = 2;
    assert_eq!(pairs(&two), [(0, 0), (0, 4), (1, 0), (1, 4)]);
    // A finished file is skipped.
    two.stream.requests_per_file = 1;
    two.files = vec![part(0, 0, 4 * K), part(1, 0, 12 * K)];
    assert_eq!(pairs(&two), [(0, 0), (1, 0), (1, 4), (1, 8)]);
}

#[test]
fn only_the_used_part_of_each_zone_is_accessed() {
    let mut zones = plan(ReadWriteMix::Read, 128 * K);
    zones.stream.zones = Some(ZoneRule {
        used_bytes: 8 * K,
        zone_bytes: 8 * K,
        skip_bytes: 24 * K,
    });
    zones.stream.end.requests = Some(6);
    assert_eq!(offsets(&zones), [0, 4, 32, 36, 64, 68]);
}

/// Requests in zones, in KiB; the file has 64.
fn in_zones(mix: ReadWriteMix, used: u64, zone: u64, skip: u64, count: u64) -> JobPlan {
    let mut plan = plan(mix, 64 * K);
    plan.stream.zones = Some(ZoneRule {
        used_bytes: used * K,
        zone_bytes: zone * K,
        skip_bytes: skip * K,
    });
    plan.stream.end.bytes = count * 4 * K;
    plan
}

#[test]
fn sequential_zones_match_fio() {
    // As fio 3.42 logs them, `zonesize`, `zonerange` and `zoneskip` in KiB.
    let cases: [(u64, u64, u64, &[u64]); 9] = [
        (
            16,
            8,
            0,
            &[0, 4, 0, 4, 8, 12, 8, 12, 16, 20, 16, 20, 24, 28, 24, 28],
        ),
        (
            16,
            8,
            8,
            &[0, 4, 0, 4, 16, 20, 16, 20, 32, 36, 32, 36, 48, 52, 48, 52],
        ),
        (
            12,
            8,
            0,
            &[0, 4, 0, 8, 12, 8, 16, 20, 16, 24, 28, 24, 32, 36, 32, 40],
        ),
        (
            8,
            16,
            0,
            &[0, 4, 16, 20, 32, 36, 48, 52, 0, 4, 16, 20, 32, 36, 48, 52],
        ),
        (
            8,
            10,
            0,
            &[0, 4, 10, 14, 20, 24, 30, 34, 40, 44, 50, 54, 60],
        ),
        (
            10,
            10,
            0,
            &[0, 4, 8, 10, 14, 18, 20, 24, 28, 30, 34, 38, 40, 44, 48, 50],
        ),
        (32, 32, 16, &[0, 4, 8, 12, 16, 20, 24, 28, 48, 52, 56, 60]),
        (8, 8, 56, &[0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4]),
        (8, 128, 0, &[0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4]),
    ];
    for mix in [ReadWriteMix::Read, ReadWriteMix::Write] {
        for (used, zone, skip, wanted) in cases {
            let offsets = offsets(&in_zones(mix, used, zone, skip, 16));
            assert_eq!(offsets, wanted, "{used} {zone} {skip}");
        }
    }
    // Where bytes are left at the end of the file, it begins again.
    let mut twice = in_zones(ReadWriteMix::Read, 32, 32, 16, 32);
    twice.stream.end.starts_over = true;
    let pass = [0, 4, 8, 12, 16, 20, 24, 28, 48, 52, 56, 60];
    assert_eq!(offsets(&twice), [&pass[..], &pass, &pass[..8]].concat());
    let mut loops = in_zones(ReadWriteMix::Read, 16, 8, 8, 6);
    loops.stream.end.loops = Some(2);
    let once = [0, 4, 0, 4, 16, 20];
    assert_eq!(offsets(&loops), [once, once].concat());
}

#[test]
fn each_pass_through_a_zone_visits_each_random_block_once() {
    for (mix, used, zone) in [
        (ReadWriteMix::Read, 32, 16),
        (ReadWriteMix::Write, 64, 32),
        (ReadWriteMix::Read, 16, 16),
        (ReadWriteMix::Both { read_percent: 50.0 }, 32, 16),
    ] {
        let mut plan = in_zones(mix, used, zone, 0, 64);
        plan.stream.random_percent = PerDirection::both(100.0);
        plan.stream.end.starts_over = true;
        let visited = offsets(&plan);
        assert_eq!(visited.len(), 64);
        let per_pass = (zone / 4) as usize;
        for (number, pass) in visited.chunks(per_pass).enumerate() {
            let zone_number = number as u64 / (used / zone) % (64 / zone);
            let mut sorted = pass.to_vec();
            sorted.sort_unstable();
            let wanted: Vec<u64> = (0..zone / 4)
                .map(|it| zone_number * zone + 4 * it)
                .collect();
            assert_eq!(sorted, wanted, "pass {number} of {used}/{zone}");
        }
    }
}

#[test]
fn half_of_a_random_zone_visits_half_of_its_blocks() {
    let mut plan = in_zones(ReadWriteMix::Read, 8, 16, 0, 16);
    plan.stream.random_percent = PerDirection::both(100.0);
    let visited = offsets(&plan);
    for (number, pair) in visited.chunks(2).enumerate() {
        let zone = number as u64 % 4;
        assert!(pair.iter().all(|it| it / 16 == zone), "{visited:?}");
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn both_directions_restart_a_zone_once_all_of_it_was_accessed() {
    let plan = in_zones(ReadWriteMix::Both { read_percent: 50.0 }, 16, 8, 0, 16);
    let issued = requests(&plan);
    for (number, pair) in issued.chunks(2).enumerate() {
        let low = number as u64 / 2 * 8 * K;
        let second = match pair[0].operation == pair[1].operation {
            true => low + 4 * K,
            false => low,
        };
        assert_eq!((pair[0].offset_bytes, pair[1].offset_bytes), (low, second));
    }
}

#[test]
fn each_direction_has_its_own_distribution() {
    let mut plan = random(ReadWriteMix::Both { read_percent: 50.0 }, 4096 * K);
    let zone = |access_percent, size_percent| Zone {
        access_percent,
        size_percent,
    };
    // As fio's `zoned:50/5:50/95,20/10:80/90`.
    plan.stream.visits = OffsetOrder::DrawnByDirection {
        distributions: PerDirection {
            read: Distribution::Zones {
                zones: vec![zone(50.0, 5.0), zone(50.0, 95.0)],
            },
            write: Distribution::Zones {
                zones: vec![zone(20.0, 10.0), zone(80.0, 90.0)],
            },
        },
    };
    plan.stream.end.bytes = 200_000 * 4 * K;
    plan.stream.end.starts_over = true;
    let issued = requests(&plan);
    let share = |operation: Operation, percent: u64| {
        let own: Vec<&Request> = issued
            .iter()
            .filter(|it| it.operation == operation)
            .collect();
        let end_bytes = 4096 * K * percent / 100;
        let inside = own
            .iter()
            .filter(|it| it.offset_bytes + 4 * K <= end_bytes + 2 * K);
        inside.count() as f64 / own.len() as f64
    };
    let (read, write) = (share(Operation::Read, 5), share(Operation::Write, 10));
    assert!(
        (read - 0.5).abs() < 0.01 && (write - 0.2).abs() < 0.01,
        "{read} {write}"
    );
}

#[test]
fn every_block_comes_once_and_each_loop_repeats_the_order() {
    let mut once = random(ReadWriteMix::Read, 1024 * K);
    once.stream.end.loops = Some(2);
    let all = offsets(&once);
    assert_eq!(all.len(), 512);
    assert_eq!(all[..256].iter().collect::<BTreeSet<_>>().len(), 256);
    assert_eq!(all[..256], all[256..]);
    assert!(!all[..256].is_sorted());
    let mut drawn = random(ReadWriteMix::Read, 1024 * K);
    drawn.stream.visits = OffsetOrder::Drawn {
        distribution: Distribution::Uniform,
    };
    let all = offsets(&drawn);
    let distinct = all.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(all.len(), 256);
    // 256 (1 - 1/e) places.
    assert!((130..195).contains(&distinct), "{distinct}");
}

#[test]
fn runs_continue_from_random_offsets() {
    let mut runs = random(ReadWriteMix::Read, 1024 * K);
    runs.stream.run_length = 4;
    runs.stream.visits = OffsetOrder::Drawn {
        distribution: Distribution::Uniform,
    };
    let all = offsets(&runs);
    let onward = all.windows(2).filter(|pair| pair[1] == pair[0] + 4).count();
    assert!((150..=256).contains(&onward), "{onward}");
    runs.stream.wrap = RunDirection::Same;
    let all = offsets(&runs);
    assert!(
        all[..64]
            .chunks(4)
            .all(|run| run.iter().all(|it| *it == run[0]))
    );
}

#[test]
fn mixed_reads_and_writes_have_separate_positions() {
    let mut mixed = plan(ReadWriteMix::Both { read_percent: 70.0 }, 4096 * K);
    mixed.stream.end.requests = Some(1000);
    let all = requests(&mixed);
    for operation in [Operation::Read, Operation::Write] {
        let own: Vec<u64> = all
            .iter()
            .filter(|it| it.operation == operation)
            .map(|it| it.offset_bytes)
            .collect();
        let wanted: Vec<u64> = (0..own.len() as u64).map(|it| it * 4096).collect();
        assert_eq!(own, wanted);
    }
}

#[test]
fn shares_hold_over_a_million_requests() {
    let mut mixed = random(ReadWriteMix::Both { read_percent: 70.0 }, 1 << 40);
    mixed.stream.blocks = PerDirection::both(BlockRule {
        sizes: SizeRule::Split {
            shares: vec![
                WeightedSize {
                    bytes: 4096,
                    percent: 60.0,
                },
                WeightedSize {
                    bytes: 65536,
                    percent: 40.0,
                },
            ],
        },
        align_bytes: 4096,
    });
    let all = some_requests(&mixed, 1_000_000);
    let share = |is: &dyn Fn(&Request) -> bool| {
        all.iter().filter(|it| is(it)).count() as f64 / all.len() as f64
    };
    let reads = share(&|it| it.operation == Operation::Read);
    let small = share(&|it| it.length_bytes == 4096);
    assert!((reads - 0.7).abs() < 0.005, "{reads}");
    assert!((small - 0.6).abs() < 0.005, "{small}");
    // Only the sizes of the rule occur.
    assert!(
        all.iter()
            .all(|it| [4096, 65536].contains(&it.length_bytes))
    );
}

#[test]
fn fio_exact_sizes_are_cut_at_used_blocks() {
    let mut letter = random(ReadWriteMix::Write, 1024 * K);
    letter.stream.blocks = PerDirection::both(BlockRule {
        sizes: SizeRule::Range {
            min_bytes: 1024,
            max_bytes: 4096,
            unit_bytes: 1024,
        },
        align_bytes: 1024,
    });
    letter.stream.is_to_the_letter = true;
    let all = requests(&letter);
    let mut used = BTreeSet::new();
    for request in &all {
        let blocks =
            request.offset_bytes / K..(request.offset_bytes + u64::from(request.length_bytes)) / K;
        for block in blocks {
            assert!(used.insert(block), "block {block} comes twice");
        }
    }
    assert_eq!(used.len(), 1024);
}

#[test]
fn fio_exact_picks_free_blocks_after_used_ones_first() {
    let mut letter = random(ReadWriteMix::Write, (256 << 10) * K);
    letter.stream.blocks = PerDirection::both(BlockRule {
        sizes: SizeRule::Split {
            shares: vec![
                WeightedSize {
                    bytes: 1024,
                    percent: 50.0,
                },
                WeightedSize {
                    bytes: 16 * 1024,
                    percent: 50.0,
                },
            ],
        },
        align_bytes: 1024,
    });
    letter.stream.is_to_the_letter = true;
    let all = requests(&letter);
    // fio 3.33 makes 51435 requests of this; with all free blocks alike there are 70 % more.
    let share = all.len() as f64 / 51_435.0;
    assert!((share - 1.0).abs() < 0.04, "{} requests", all.len());
}

#[test]
fn syncs_follow_writes_but_not_the_last() {
    let mut synced = plan(ReadWriteMix::Write, 64 * K);
    synced.stream.sync.fsync_each = 4;
    let all = requests(&synced);
    let syncs = |all: &[Request]| {
        all.iter()
            .filter(|it| it.operation == Operation::Fsync)
            .count()
    };
    // 16 writes.
    assert_eq!((all.len(), syncs(&all)), (19, 3));
    assert_eq!(all[4].operation, Operation::Fsync);
    synced.stream.sync = SyncRule {
        fsync_at_end: true,
        ..SyncRule::default()
    };
    let all = requests(&synced);
    assert_eq!((all.len(), syncs(&all)), (17, 1));
}

#[test]
fn a_sync_that_is_due_at_the_end_of_a_loop_comes_before_the_next() {
    let mut synced = plan(ReadWriteMix::Write, 32 * K);
    synced.stream.sync.fsync_each = 4;
    synced.stream.end.loops = Some(3);
    let all = requests(&synced);
    let syncs = all.iter().filter(|it| it.operation == Operation::Fsync);
    // 24 writes, the last of which is left out.
    assert_eq!((all.len(), syncs.count()), (29, 5));
    assert_eq!(all[9].operation, Operation::Fsync);
}

#[test]
fn sync_ranges_cover_what_was_written_to_a_file_since_the_last_sync() {
    let mut synced = plan(ReadWriteMix::Write, 64 * K);
    synced.files = vec![part(0, 1024 * K, 32 * K), part(1, 0, 32 * K)];
    synced.stream.sync.range = Some(RangeSync {
        write_count: 6,
        waits_before: true,
        writes: true,
        waits_after: false,
    });
    let all = requests(&synced);
    let ranges = all
        .iter()
        .filter(|it| it.operation == Operation::SyncFileRange);
    let ranges: Vec<_> = ranges
        .map(|it| {
            (
                it.file_index,
                it.offset_bytes / K,
                it.length_bytes / 1024,
                it.handle,
            )
        })
        .collect();
    let flags = Request::WAIT_BEFORE | Request::WRITE_OUT;
    // 16 writes, by turns to both files: the sixth and the twelfth are the second file's.
    assert_eq!(ranges, [(1, 0, 12, flags), (1, 12, 12, flags)]);
}

#[test]
fn an_endless_job_reads_back_only_after_every_n_writes() {
    let mut verified = random(ReadWriteMix::Write, 40 * K);
    verified.stream.end.loops = None;
    let read_back = |backlog| {
        Some(ReadBack {
            backlog,
            batch: 0,
            skips_writes: false,
        })
    };
    verified.stream.read_back = read_back(5);
    let count = |plan: &JobPlan, operation| {
        let all = some_requests(plan, 100);
        all.iter().filter(|it| it.operation == operation).count()
    };
    assert_eq!(count(&verified, Operation::Read), 50);
    verified.stream.read_back = read_back(0);
    assert_eq!(count(&verified, Operation::Read), 0);
}

#[test]
fn written_blocks_are_read_back_in_order() {
    let mut verified = random(ReadWriteMix::Write, 256 * K);
    verified.stream.read_back = Some(ReadBack {
        backlog: 0,
        batch: 0,
        skips_writes: false,
    });
    let all = requests(&verified);
    assert_eq!(all.len(), 128);
    let offsets_of =
        |all: &[Request]| -> Vec<u64> { all.iter().map(|it| it.offset_bytes).collect() };
    assert!(all[..64].iter().all(|it| it.operation == Operation::Write));
    assert!(all[64..].iter().all(|it| it.operation == Operation::Read));
    assert_eq!(offsets_of(&all[..64]), offsets_of(&all[64..]));
    // With replacement each block is read once.
    verified.stream.visits = OffsetOrder::Drawn {
        distribution: Distribution::Uniform,
    };
    let all = requests(&verified);
    let written: BTreeSet<u64> = offsets_of(&all[..64]).into_iter().collect();
    let read = offsets_of(&all[64..]);
    assert_eq!(read.len(), written.len());
    assert_eq!(read.into_iter().collect::<BTreeSet<_>>(), written);
    // A backlog is read in between.
    verified.stream.visits = OffsetOrder::Once;
    verified.stream.read_back = Some(ReadBack {
        backlog: 16,
        batch: 0,
        skips_writes: false,
    });
    let all = requests(&verified);
    assert_eq!(all.len(), 128);
    assert_eq!(all[16].operation, Operation::Read);
    assert_eq!(all[32].operation, Operation::Write);
}

#[test]
fn the_rate_sets_when_requests_are_due() {
    let mut paced = plan(ReadWriteMix::Both { read_percent: 90.0 }, 1 << 30);
    let rule = PaceRule {
        per_second: 1000.0,
        is_of_bytes: false,
        arrivals: ArrivalKind::Uniform,
        ignores_pauses: false,
    };
    paced.stream.pace = PerDirection::both(Some(rule));
    let mut stream = JobStream::new(&paced, 1).unwrap();
    let (mut now_ns, mut counts) = (5_000_000_000_u64, [0, 0]);
    while now_ns < 6_000_000_000 {
        match stream.next(0, now_ns) {
            Step::Issue(request) => {
                counts[request.operation as usize] += 1;
                let flow = stream.complete(
                    Completion {
                        slot: 0,
                        result: 4096,
                    },
                    now_ns + 10,
                );
                let Flow::Timed { start_ns, .. } = flow else {
                    panic!("{flow:?}");
                };
                assert!(start_ns <= now_ns);
            }
            Step::Wait { until_ns } => now_ns = until_ns,
            step => panic!("{step:?}"),
        }
    }
    // The rates determine the number of reads and writes, not the mix.
    assert_eq!(counts, [1000, 1000]);
}

#[test]
fn pauses_begin_when_no_request_is_in_flight() {
    let mut pausing = plan(ReadWriteMix::Read, 64 * K);
    pausing.stream.think = Some(ThinkRule {
        pause_ns: 10_000_000,
        requests: 4,
        time_ns: 0,
        counts_issued: false,
    });
    let mut stream = JobStream::new(&pausing, 1).unwrap();
    let (mut now_ns, mut issued) = (1, 0);
    loop {
        match stream.next(0, now_ns) {
            Step::Issue(_) => {
                issued += 1;
                stream.complete(
                    Completion {
                        slot: 0,
                        result: 4096,
                    },
                    now_ns,
                );
            }
            Step::Wait { until_ns } => {
                assert!(issued % 4 == 0 && until_ns == now_ns + 10_000_000);
                now_ns = until_ns;
            }
            Step::Again => {}
            Step::Finished => break,
            Step::Park => panic!("nothing is in flight"),
        }
    }
    assert_eq!(issued, 16);
}

#[test]
fn an_error_ends_the_job_unless_it_is_tolerated() {
    let failing = plan(ReadWriteMix::Read, 64 * K);
    let mut stream = JobStream::new(&failing, 1).unwrap();
    let flag = Arc::new(AtomicBool::new(false));
    stream.set_failure_flag(Arc::clone(&flag));
    assert!(matches!(stream.next(0, 1), Step::Issue(_)));
    stream.complete(
        Completion {
            slot: 0,
            result: -5,
        },
        2,
    );
    assert!(!flag.load(Ordering::Relaxed));
    assert_eq!(stream.next(0, 3), Step::Finished);
    assert!(flag.load(Ordering::Relaxed));
    let bearing = JobPlan {
        goes_on_after_errors: true,
        ..failing
    };
    let mut stream = JobStream::new(&bearing, 1).unwrap();
    assert!(matches!(stream.next(0, 1), Step::Issue(_)));
    stream.complete(
        Completion {
            slot: 0,
            result: -5,
        },
        2,
    );
    assert!(matches!(stream.next(0, 3), Step::Issue(_)));
}

#[test]
fn requests_stay_within_their_part_of_a_file() {
    let sizes = BlockRule {
        sizes: SizeRule::Range {
            min_bytes: 512,
            max_bytes: 20_480,
            unit_bytes: 512,
        },
        align_bytes: 512,
    };
    for (percent, step) in [(0.0, 0), (100.0, 0), (50.0, 0), (0.0, 3000), (0.0, -9000)] {
        for letter in [false, true] {
            let mut unaligned = plan(ReadWriteMix::Both { read_percent: 50.0 }, 1 << 30);
            unaligned.files = vec![part(0, 3000, 50_000), part(1, 0, 512), part(2, 777, 21_000)];
            unaligned.stream.blocks = PerDirection::both(sizes.clone());
            unaligned.stream.random_percent = PerDirection::both(percent);
            unaligned.stream.step_bytes = step;
            unaligned.stream.is_to_the_letter = letter;
            unaligned.stream.end.starts_over = true;
            for request in some_requests(&unaligned, 20_000) {
                let part = unaligned.files[request.file_index as usize];
                let end = request.offset_bytes + u64::from(request.length_bytes);
                assert!(request.offset_bytes >= part.start_bytes && request.length_bytes > 0);
                assert!(end <= part.start_bytes + part.size_bytes, "{request:?}");
            }
        }
    }
}

/// Steps of a stream with four slots until it is finished. Requests complete in pairs.
fn steps(mut stream: JobStream) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut flying = Vec::new();
    while steps.len() < 2000 {
        let slot = flying.len() as u32;
        let step = stream.next(slot, 1);
        steps.push(step);
        match step {
            Step::Issue(request) => flying.push((slot, request.length_bytes as i32)),
            Step::Finished => break,
            _ => {}
        }
        if flying.len() == 4 || matches!(step, Step::Park) {
            for _ in 0..2 {
                let Some((slot, result)) = flying.pop() else {
                    break;
                };
                stream.complete(Completion { slot, result }, 2);
            }
        }
    }
    steps
}

#[test]
fn a_plain_job_issues_the_same_requests_as_the_general_one() {
    let drawn = OffsetOrder::Drawn {
        distribution: Distribution::Uniform,
    };
    for (visits, mix, loops, starts_over) in [
        (OffsetOrder::Once, ReadWriteMix::Read, Some(1), false),
        (OffsetOrder::Once, ReadWriteMix::Write, Some(3), false),
        (OffsetOrder::Once, ReadWriteMix::Read, None, true),
        (drawn.clone(), ReadWriteMix::Read, None, true),
        (drawn, ReadWriteMix::Write, Some(2), false),
    ] {
        let mut job = random(mix, 250 * K);
        job.iodepth = 4;
        job.files = vec![part(0, 8 * K, 250 * K)];
        job.stream.visits = visits;
        job.stream.end.loops = loops;
        job.stream.end.starts_over = starts_over;
        job.stream.sync.fsync_at_end = true;
        for seed in 0..20 {
            let plain = JobStream::new(&job, seed).unwrap();
            assert!(matches!(plain.stage, JobStage::Plain(..)));
            let mut general = plain.clone();
            general.stage = JobStage::Loop;
            assert_eq!(steps(plain), steps(general), "{job:?}");
        }
    }
}

#[test]
fn jobs_that_need_more_than_the_next_offset_are_not_plain() {
    let changes: [fn(&mut JobPlan); 8] = [
        |it| it.files.push(part(1, 0, 64 * K)),
        |it| it.stream.random_percent = PerDirection::both(99.0),
        |it| it.stream.mix = ReadWriteMix::Both { read_percent: 50.0 },
        |it| it.stream.run_length = 2,
        |it| it.stream.end.requests = Some(5),
        |it| it.stream.sync.fsync_each = 3,
        |it| it.stream.sync.fdatasync_each = 3,
        |it| {
            it.stream.zones = Some(ZoneRule {
                used_bytes: 8 * K,
                zone_bytes: 8 * K,
                skip_bytes: 8 * K,
            });
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut job = random(ReadWriteMix::Write, 64 * K);
        change(&mut job);
        let stream = JobStream::new(&job, 1).unwrap();
        assert!(matches!(stream.stage, JobStage::Loop), "{number}");
    }
}

#[test]
fn a_log_is_replayed_in_its_order_and_at_its_times() {
    let act = |due_ns, kind, offset_bytes, length_bytes| RecordedRequest {
        due_ns,
        kind,
        part_index: 0,
        length_bytes,
        offset_bytes,
    };
    let acts = [
        act(0, RecordedKind::Write, 8192, 4096),
        act(1000, RecordedKind::Fsync, 0, 0),
        act(5000, RecordedKind::Read, 8192, 512),
        act(5000, RecordedKind::Trim, 0, 4096),
    ];
    let mut plan = plan(ReadWriteMix::Both { read_percent: 50.0 }, 64 * K);
    plan.recorded = Some(RecordedPlan::new("log".to_owned(), acts.into()));
    plan.stream.end.loops = Some(2);
    let issued = |plan: &JobPlan| -> Vec<(Operation, u64, u32)> {
        let requests = requests(plan);
        let one = |it: &Request| (it.operation, it.offset_bytes, it.length_bytes);
        requests.iter().map(one).collect()
    };
    let once = [
        (Operation::Write, 8192, 4096),
        (Operation::Fsync, 0, 0),
        (Operation::Read, 8192, 512),
        (Operation::Trim, 0, 4096),
    ];
    assert_eq!(issued(&plan), [once, once].concat());

    let mut stream = JobStream::new(&plan, 7).unwrap();
    assert!(matches!(stream.next(0, 100), Step::Issue(_)));
    stream.complete(
        Completion {
            slot: 0,
            result: 4096,
        },
        200,
    );
    assert!(matches!(stream.next(0, 200), Step::Wait { until_ns: 1100 }));
    assert!(matches!(stream.next(0, 7000), Step::Issue(_)));
    stream.complete(Completion { slot: 0, result: 0 }, 7000);
    // It is late, so it starts immediately. Its latency counts from its due time.
    assert!(matches!(stream.next(0, 7000), Step::Issue(_)));
    let flow = stream.complete(
        Completion {
            slot: 0,
            result: 512,
        },
        8000,
    );
    assert!(
        matches!(flow, Flow::Timed { start_ns: 5100, .. }),
        "{flow:?}"
    );

    // A plan from a record has no recorded acts, so it cannot run.
    plan.recorded.as_mut().unwrap().acts = [].into();
    assert!(JobStream::new(&plan, 7).is_err());
}

#[test]
fn every_issued_request_is_logged() {
    let mut plan = random(ReadWriteMix::Write, 64 << 20);
    plan.stream.sync.fsync_each = 5;
    let (sender, receiver) = std::sync::mpsc::channel();
    let stream = JobStream::new(&plan, 7).unwrap();
    let mut stream = RequestLogger::new(stream, Some(sender), 1);
    let mut offsets = Vec::new();
    let mut now_ns = 50;
    while let Step::Issue(request) = stream.next(0, now_ns) {
        offsets.push(request.offset_bytes);
        let result = request.length_bytes as i32;
        stream.complete(Completion { slot: 0, result }, now_ns + 3);
        now_ns += 10;
    }
    drop(stream);
    let noted: Vec<LoggedRequest> = receiver.try_iter().flatten().collect();
    let logged: Vec<u64> = noted.iter().map(|it| it.request.offset_bytes).collect();
    assert_eq!(logged, offsets);
    assert_eq!((noted[0].request.due_ns, noted[1].request.due_ns), (0, 10));
    assert_eq!((noted[0].done_ns, noted[1].done_ns), (3, 13));
    let syncs = noted
        .iter()
        .filter(|it| it.request.kind == RecordedKind::Fsync);
    assert_eq!(syncs.count(), 16_384 / 5);
}

/// Issues these requests, one in each section: before, in and after the measurement.
struct Sections(Vec<Request>);

impl Generator for Sections {
    fn operations(&self) -> OperationSet {
        OperationSet::EMPTY.with(Operation::Open)
    }

    fn transaction_kinds(&self) -> Vec<String> {
        Vec::new()
    }

    fn next(&mut self, _: u32, _: u64) -> Step {
        self.0.pop().map_or(Step::Finished, Step::Issue)
    }

    fn complete(&mut self, _: Completion, _: u64) -> Flow {
        Flow::Uncounted
    }
}

#[test]
fn only_the_measured_calls_of_work_on_files_are_logged() {
    let opening = |file_index| Request {
        operation: Operation::Open,
        file_index,
        ..Request::EMPTY
    };
    let writing = Request {
        operation: Operation::Write,
        file_index: 2,
        offset_bytes: Request::seeking(4096),
        ..Request::EMPTY
    };
    let (sender, receiver) = std::sync::mpsc::channel();
    let requests = vec![opening(3), writing, opening(2), opening(1)];
    let mut stream = RequestLogger::new(Sections(requests), Some(sender), 1);
    let mut now_ns = 0;
    let mut issue = |stream: &mut RequestLogger<Sections>| {
        stream.next(0, now_ns);
        let done = Completion { slot: 0, result: 0 };
        stream.complete(done, now_ns + 3);
        now_ns += 10;
    };
    stream.enter();
    issue(&mut stream);
    stream.begin();
    issue(&mut stream);
    issue(&mut stream);
    stream.leave();
    issue(&mut stream);
    drop(stream.into_inner());
    let noted: Vec<LoggedRequest> = receiver.try_iter().flatten().collect();
    let logged = noted.iter().map(|it| {
        let request = it.request;
        (request.kind, request.offset_bytes, it.done_ns)
    });
    let wanted = [(RecordedKind::Other, 0, 3), (RecordedKind::Write, 4096, 13)];
    assert_eq!(logged.collect::<Vec<_>>(), wanted);
}

#[test]
fn requests_are_logged_on_completion_and_keep_their_order() {
    let mut plan = random(ReadWriteMix::Read, 16 * K);
    plan.iodepth = 2;
    let (sender, receiver) = std::sync::mpsc::channel();
    let stream = JobStream::new(&plan, 7).unwrap();
    let mut stream = RequestLogger::new(stream, Some(sender), 2);
    let issued = |step| match step {
        Step::Issue(request) => request.offset_bytes,
        step => panic!("{step:?}"),
    };
    let first = issued(stream.next(0, 100));
    let second = issued(stream.next(1, 100));
    for (slot, result, now_ns) in [(1, -5, 120), (0, 1024, 150)] {
        stream.complete(Completion { slot, result }, now_ns);
    }
    drop(stream);
    let noted: Vec<LoggedRequest> = receiver.try_iter().flatten().collect();
    let logged = noted.iter().map(|it| {
        (
            it.request.offset_bytes,
            it.index,
            it.moved_bytes,
            it.done_ns,
        )
    });
    assert_eq!(
        logged.collect::<Vec<_>>(),
        [(second, 1, 0, 20), (first, 0, 1024, 50)]
    );
}

#[test]
fn latencies_are_split_at_the_submission_of_each_request() {
    let mut plan = random(ReadWriteMix::Read, 16 * K);
    plan.iodepth = 2;
    let (log_sender, log) = std::sync::mpsc::channel();
    let (split_sender, split) = std::sync::mpsc::channel();
    let times = engine::SubmissionTimes::new(2);
    let splitter = LatencySplitter::new(times.clone(), 2, 140, split_sender);
    let stream = JobStream::new(&plan, 7).unwrap();
    let stream = RequestLogger::new(stream, Some(log_sender), 2);
    let mut stream = stream.splitting(Some(splitter));
    for slot in [0, 1] {
        assert!(matches!(stream.next(slot, 100), Step::Issue(_)));
        times.set(slot, 107);
    }
    // The first one completes during the ramp.
    for (slot, result, now_ns) in [(1, 1024, 120), (0, 1024, 150)] {
        stream.complete(Completion { slot, result }, now_ns);
    }
    assert!(matches!(stream.next(0, 160), Step::Issue(_)));
    let failed = Completion {
        slot: 0,
        result: -5,
    };
    stream.complete(failed, 170);
    drop(stream);
    let logged: Vec<LoggedRequest> = log.try_iter().flatten().collect();
    assert_eq!(logged[1].submitted_ns, 7, "from the first request");
    let split: Vec<SplitLatencies> = split.try_iter().flatten().collect();
    let [reads] = &split[..] else {
        panic!("only reads were made: {split:?}");
    };
    let part = |it: &stats::Histogram| (it.count(), it.max_ns());
    assert_eq!(reads.operation, Operation::Read);
    assert_eq!(part(&reads.submission), (1, Some(7)));
    assert_eq!(part(&reads.completion), (1, Some(43)));
}

#[test]
fn name_operations_follow_the_order_of_the_files() {
    let mut plan = plan(ReadWriteMix::Read, 4 * K);
    plan.files = (0..3).map(|index| part(index, 0, 4 * K)).collect();
    plan.stream.end.loops = Some(2);
    let of = |work: MetadataWork| {
        let plan = JobPlan {
            names: Some(work),
            ..plan.clone()
        };
        let issued = requests(&plan);
        let one = |it: &Request| (it.operation, it.file_index);
        issued.iter().map(one).collect::<Vec<_>>()
    };
    let expected = |operation| [0, 1, 2, 0, 1, 2].map(|file| (operation, file));
    assert_eq!(of(MetadataWork::Stat), expected(Operation::Stat));
    assert_eq!(of(MetadataWork::Delete), expected(Operation::Unlink));
    assert_eq!(of(MetadataWork::Mkdir), expected(Operation::Mkdir));
    assert_eq!(of(MetadataWork::StatDirectory), expected(Operation::Stat));
    assert_eq!(of(MetadataWork::Rmdir), expected(Operation::Rmdir));
    let created = of(MetadataWork::Create);
    let created: Vec<_> = created.chunks(2).map(|it| (it[0], it[1])).collect();
    let both = expected(Operation::Create).map(|it| (it, (Operation::Close, it.1)));
    assert_eq!(created, both);
}

#[test]
fn a_step_across_the_end_starts_over() {
    let mut holed = plan(ReadWriteMix::Read, 32 * K);
    holed.stream.step_bytes = 8192;
    let offsets_kib: Vec<u64> = requests(&holed)
        .iter()
        .map(|it| it.offset_bytes / K)
        .collect();
    assert_eq!(offsets_kib, [0, 12, 24, 0, 12, 24, 0, 12]);
    // At the end exactly, nothing is left.
    let mut holed = plan(ReadWriteMix::Read, 40 * K);
    holed.stream.step_bytes = 8192;
    assert_eq!(requests(&holed).len(), 4);
}

#[test]
fn a_wrong_read_also_ends_a_fixed_rate_job() {
    let mut plan = plan(ReadWriteMix::Read, 1 << 20);
    plan.ends_on_mismatch = true;
    let stream = JobStream::new(&plan, 7).unwrap();
    let stream = Exclusive::new(stream, vec![Stripes::default()], 1);
    let due = DueTimes::Own(Arrivals::uniform(1000.0, 0, 1).unwrap());
    let mut stream = OpenLoopGenerator::new(stream, due, START, 1);
    for (due_ns, is_wrong) in [(0, false), (1_000_000, true)] {
        let Step::Issue(request) = stream.next(0, due_ns) else {
            panic!("a request is due at {due_ns}");
        };
        if is_wrong {
            stream.on_mismatch();
        }
        let result = request.length_bytes as i32;
        stream.complete(Completion { slot: 0, result }, due_ns + 10);
    }
    assert_eq!(stream.next(0, 2_000_000), Step::Finished);
}

#[test]
fn a_job_that_skips_writes_reads_what_it_would_have_written() {
    for mix in [
        ReadWriteMix::Write,
        ReadWriteMix::Both { read_percent: 40.0 },
    ] {
        for visits in [
            OffsetOrder::Once,
            OffsetOrder::Drawn {
                distribution: Distribution::Uniform,
            },
        ] {
            let mut job = random(mix, 256 * K);
            job.stream.visits = visits;
            job.stream.sync.fsync_each = 3;
            job.stream.read_back = Some(ReadBack::default());
            let wrote = requests(&job);
            let skips = ReadBack {
                skips_writes: true,
                ..ReadBack::default()
            };
            job.stream.read_back = Some(skips);
            let skipped = requests(&job);
            let read_back = |all: &[Request]| -> Vec<u64> {
                let all = all.iter().filter(|it| it.is_read_back());
                all.map(|it| it.offset_bytes).collect()
            };
            assert_eq!(read_back(&skipped), read_back(&wrote));
            assert!(skipped.iter().all(Request::is_read_back));
            assert!(!skipped.is_empty() && !job.writes());
        }
    }
}
