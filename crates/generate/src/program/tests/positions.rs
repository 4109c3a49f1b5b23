//! Where open files are read and written, and how long they are then.

use plan::program::{FilePath, OpenModePlan};

use super::*;

/// Requests of a phase on a file of 100 bytes, each answered in full.
fn requests(mode: OpenModePlan, body: Vec<Act>) -> Vec<(Operation, u64)> {
    let program = Program {
        ways: vec![mode],
        ..of(vec![set("f", 1)], &[])
    };
    let states = vec![Arc::new(FileStates::new(1, false))];
    states[0].mark_present(0, false);
    states[0].set_size(0, 100);
    let phase = phase(body);
    let mut worker = interpreters(&program, &phase, &Setting::default(), &states).remove(0);
    let mut issued = Vec::new();
    while let Step::Issue(request) = worker.next(0, 1) {
        issued.push((request.operation, request.offset_bytes));
        let result = request.length_bytes as i32;
        worker.complete(Completion { slot: 0, result }, 1);
    }
    issued
}

fn at(operation: FileOperation, position: CallPosition) -> Act {
    Act::Call(Call {
        bytes: MovedBytes::Law(Law::fixed(10)),
        place: position,
        ..call(operation, CallObject::Handle)
    })
}

fn body() -> Vec<Act> {
    use FileOperation::{Read, Write};
    let only = Pick {
        order: PickOrder::Next,
        ..pick(0, FileFilter::Present)
    };
    vec![
        act(FileOperation::Open, CallObject::Name(only)),
        at(Read, CallPosition::Here),
        at(Write, CallPosition::Same),
        at(Read, CallPosition::Here),
        at(Read, CallPosition::At(50)),
        at(Read, CallPosition::At(60)),
        at(Write, CallPosition::End),
        at(Write, CallPosition::At(110)),
        at(Read, CallPosition::Here),
        act(FileOperation::Close, CallObject::Handle),
    ]
}

fn moves(issued: Vec<(Operation, u64)>) -> Vec<u64> {
    let moves = issued.into_iter().filter(|(it, _)| it.moves_bytes());
    moves.map(|(_, offset)| offset).collect()
}

#[test]
fn a_worker_seeks_only_when_the_file_position_differs() {
    let mode = OpenModePlan {
        seeks: true,
        ..OpenModePlan::default()
    };
    const CURRENT: u64 = Request::AT_POSITION;
    assert_eq!(
        moves(requests(mode, body())),
        [
            CURRENT,
            Request::seeking(0),
            CURRENT,
            Request::seeking(50),
            CURRENT,
            Request::SEEK_END,
            CURRENT,
            Request::seeking(20),
        ]
    );
    assert_eq!(
        moves(requests(OpenModePlan::default(), body())),
        [0, 0, 10, 50, 60, Request::AT_END, 110, 20]
    );
}

#[test]
fn each_request_carries_its_unit_size() {
    let mode = OpenModePlan {
        unit_bytes: 1,
        ..OpenModePlan::default()
    };
    let only = pick(0, FileFilter::Present);
    let body = vec![
        act(FileOperation::Open, CallObject::Name(only)),
        moving(FileOperation::Read, MovedBytes::Law(Law::fixed(8)), 4),
        act(FileOperation::Close, CallObject::Handle),
    ];
    assert_eq!(moves(requests(mode, body)), [Request::in_units(1); 2]);
}

#[test]
fn an_existing_file_keeps_its_length_unless_the_way_truncates() {
    let length_after = |mode: OpenModePlan| {
        let program = Program {
            ways: vec![mode],
            ..of(vec![set("f", 1)], &[])
        };
        let states = vec![Arc::new(FileStates::new(1, false))];
        states[0].mark_present(0, false);
        states[0].set_size(0, 100);
        let phase = phase(vec![
            act(
                FileOperation::Create,
                CallObject::Name(pick(0, FileFilter::Any)),
            ),
            act(FileOperation::Close, CallObject::Handle),
        ]);
        let mut worker = interpreters(&program, &phase, &Setting::default(), &states).remove(0);
        while let Step::Issue(_) = worker.next(0, 1) {
            worker.complete(Completion { slot: 0, result: 0 }, 1);
        }
        states[0].present_bytes()
    };
    let existing = OpenModePlan {
        takes_existing: true,
        ..OpenModePlan::default()
    };
    assert_eq!(length_after(existing.clone()), 100);
    let emptied = OpenModePlan {
        is_truncating: true,
        ..existing
    };
    assert_eq!(length_after(emptied), 0);
    assert_eq!(length_after(OpenModePlan::default()), 0);
}

#[test]
fn several_workers_may_create_a_file_that_may_already_exist() {
    let program = Program {
        ways: vec![OpenModePlan {
            takes_existing: true,
            ..OpenModePlan::default()
        }],
        ..of(vec![set("f", 1)], &[])
    };
    let states = vec![Arc::new(FileStates::new(1, true))];
    let mut phase = phase(vec![
        act(
            FileOperation::Create,
            CallObject::Name(pick(0, FileFilter::Any)),
        ),
        act(FileOperation::Close, CallObject::Handle),
    ]);
    phase.groups[0].workers = Some(2);
    let mut workers = interpreters(&program, &phase, &Setting::default(), &states);
    let issued = |worker: &mut Interpreter| matches!(worker.next(0, 1), Step::Issue(_));
    assert!(workers.iter_mut().all(issued));
    for worker in &mut workers {
        worker.complete(Completion { slot: 0, result: 0 }, 1);
    }
    assert_eq!(states[0].present_count(), 1);
    // Each closes it for itself.
    assert!(workers.iter_mut().all(issued));
}

#[test]
fn no_offset_exceeds_the_largest_possible_one() {
    let only = Pick {
        order: PickOrder::Next,
        ..pick(0, FileFilter::Present)
    };
    let body = vec![
        act(FileOperation::Open, CallObject::Name(only)),
        at(FileOperation::Write, CallPosition::At(u64::MAX)),
        at(FileOperation::Write, CallPosition::Same),
        act(FileOperation::Close, CallObject::Handle),
    ];
    let offsets = moves(requests(OpenModePlan::default(), body));
    assert_eq!(offsets, [Request::OFFSET_MAX; 2]);
}

#[test]
fn reading_blocks_stops_at_the_end_of_the_file() {
    let open = act(
        FileOperation::Open,
        CallObject::Name(pick(0, FileFilter::Present)),
    );
    let path = FilePath::Blocks {
        block_bytes: 10,
        stride_bytes: 30,
        each_bytes: 10,
        block_count: 0,
    };
    let (program, mut phase) = (
        of(vec![set("f", 1)], &[]),
        phase(vec![at(FileOperation::Read, CallPosition::Along(path))]),
    );
    phase.groups[0].first = vec![open];
    phase.groups[0].last = vec![act(FileOperation::Close, CallObject::Handle)];
    phase.groups[0].quotas = vec![Quota {
        what: Measure::Rounds,
        count: 1_000_000,
        of: AmountScope::Each,
    }];
    let setting = Setting {
        workers: 3,
        present: vec![1],
        ..Setting::default()
    };
    // Of 10,000 bytes the last ten are the first worker's.
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended && outcome.model.violations.is_empty());
    let read = outcome.workers.iter().map(|it| it.amounts().read_bytes);
    assert_eq!(read.collect::<Vec<_>>(), [3340, 3330, 3330]);
}

/// Offsets of calls on a new file of `set`, whose size is 1 MiB.
pub(super) fn offsets_in_new_file(
    operation: FileOperation,
    position: CallPosition,
    count: u64,
) -> Vec<u64> {
    let mut fileset = set("f", 1);
    fileset.size = Law::fixed(1 << 20);
    let program = of(vec![fileset], &[]);
    let states = vec![Arc::new(FileStates::new(1, false))];
    let one = Act::Call(Call {
        bytes: MovedBytes::Law(Law::fixed(4096)),
        place: position,
        ..call(operation, CallObject::Handle)
    });
    let phase = phase(vec![
        act(
            FileOperation::Create,
            CallObject::Name(pick(0, FileFilter::Absent)),
        ),
        Act::Times(Law::fixed(count), vec![one]),
        act(FileOperation::Close, CallObject::Handle),
    ]);
    let mut worker = interpreters(&program, &phase, &Setting::default(), &states).remove(0);
    let mut offsets = Vec::new();
    while let Step::Issue(request) = worker.next(0, 1) {
        if request.operation.moves_bytes() {
            offsets.push(request.offset_bytes);
        }
        let result = match request.operation {
            Operation::Write => request.length_bytes as i32,
            _ => 0,
        };
        worker.complete(Completion { slot: 0, result }, 1);
    }
    offsets
}

fn at_random(distribution: Distribution, is_nominal: bool) -> CallPosition {
    CallPosition::Random {
        distribution,
        align_bytes: 4096,
        is_nominal,
    }
}

#[test]
fn random_writes_cover_all_of_a_new_file() {
    use FileOperation::{Read, Write};
    let uniform = |is_nominal| at_random(Distribution::Uniform, is_nominal);
    for place in [uniform(false), uniform(true)] {
        let offsets = offsets_in_new_file(Write, place, 256 * 256);
        let mut counts = [0_u32; 256];
        for offset in offsets {
            counts[(offset / 4096) as usize] += 1;
        }
        // 256 on average, with a standard deviation of 16.
        assert!(
            counts.iter().all(|it| (160..352).contains(it)),
            "{counts:?}"
        );
    }
    // The original reads places that nobody has written; others read what there is.
    let nominal: BTreeSet<u64> = offsets_in_new_file(Read, uniform(true), 1000)
        .into_iter()
        .collect();
    assert!(nominal.len() > 230, "{}", nominal.len());
    assert_eq!(offsets_in_new_file(Read, uniform(false), 3), [0; 3]);
}

#[test]
fn each_write_path_covers_all_of_a_new_file() {
    use FileOperation::Write;
    let all: Vec<u64> = (0..256).map(|block| block * 4096).collect();
    let shuffled = CallPosition::Along(FilePath::Shuffled { step_bytes: 4096 });
    for place in [shuffled, at_random(Distribution::NoRepeat, false)] {
        let mut offsets = offsets_in_new_file(Write, place, 256);
        assert!(!offsets.is_sorted());
        offsets.sort_unstable();
        assert_eq!(offsets, all);
    }
    let backward = CallPosition::Along(FilePath::Backward { step_bytes: 4096 });
    let mut offsets = offsets_in_new_file(Write, backward, 256);
    offsets.reverse();
    assert_eq!(offsets, all);
    let strided = CallPosition::Along(FilePath::Strided {
        stride_bytes: 512 << 10,
        shift_bytes: 4096,
        margin_bytes: 0,
    });
    let offsets = offsets_in_new_file(Write, strided, 4);
    assert_eq!(offsets, [0, 512 << 10, 4096, (512 << 10) + 4096]);
}

#[test]
fn rank_distributions_hold_for_offsets_in_the_file() {
    for (distribution, hottest, hottest_tenth) in [
        // 256^-0.1386 and (26/256)^-0.1386 of Gray's law for 80/20.
        (Distribution::Pareto { h: 0.2 }, 0.4636, 0.7284),
        // Of the sum of 1/r over 256 ranks.
        (Distribution::Zipf { theta: 1.0 }, 0.1633, 0.6293),
    ] {
        let offsets =
            offsets_in_new_file(FileOperation::Write, at_random(distribution, true), 200_000);
        let mut counts = vec![0_u32; 256];
        for offset in offsets {
            counts[(offset / 4096) as usize] += 1;
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let share = |count: usize| f64::from(counts[..count].iter().sum::<u32>()) / 200_000.0;
        assert!((share(1) - hottest).abs() < 0.006, "{}", share(1));
        assert!((share(26) - hottest_tenth).abs() < 0.006, "{}", share(26));
    }
}
