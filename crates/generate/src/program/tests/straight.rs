//! The straight path does what the interpreter does.

use workload::program::Ending;

use super::*;

/// What a body does with each file: the first call, then what it does to what is open.
fn bodies() -> impl Strategy<Value = Vec<Act>> {
    let writes = prop::collection::vec(prop::bool::weighted(0.7), 0..6);
    let opening = (prop::bool::ANY, writes).prop_map(|(creates, writes)| {
        let (operation, which) = match creates {
            true => (FileOperation::Create, Which::Absent),
            false => (FileOperation::Open, Which::Present),
        };
        let inner = writes.into_iter().map(|is_write| match is_write {
            true => moving(FileOperation::Write, Bytes::Law(Law::fixed(4096)), 4096),
            false => act(FileOperation::Fsync, On::Handle),
        });
        let first = [act(operation, On::Name(pick(0, which)))].into_iter();
        let last = [act(FileOperation::Close, On::Handle)];
        first.chain(inner).chain(last).collect()
    });
    let named = prop::sample::select(vec![FileOperation::Stat, FileOperation::Unlink])
        .prop_map(|operation| vec![act(operation, On::Name(pick(0, Which::Present)))]);
    prop_oneof![3 => opening, 1 => named]
}

const FAILED: [Failed; 4] = [
    Failed::EndTransaction,
    Failed::Count,
    Failed::EndWorker,
    Failed::EndRun,
];

/// What a worker came to, whichever way it went.
fn told(seen: &Seen) -> String {
    let workers = seen.workers.iter().map(|it| {
        let (amounts, stamps, steps) = (it.amounts(), it.stamps(), it.steps());
        format!(
            "{amounts:?} {stamps:?} {steps:?} {:?} {}",
            it.failure(),
            it.has_run_dry()
        )
    });
    let states = seen.states.iter().map(|it| {
        let present: Vec<u32> = it.present().collect();
        format!("{present:?} {}", it.present_bytes())
    });
    let parts: Vec<String> = workers.chain(states).collect();
    let (model, done, is_ended) = (&seen.model, &seen.done, seen.is_ended);
    format!(
        "{:?} {:?} {done:?} {is_ended} {parts:?}",
        model.log, model.wrong
    )
}

proptest! {
    #[test]
    fn both_paths_are_one(
        body in bodies(),
        is_labeled in prop::bool::ANY,
        present in 0_u32..20,
        failing in prop::collection::btree_set(1_usize..60, 0..3),
        rounds in prop::option::of(1_u64..20),
        time_ns in prop::option::of(1_u64..60_000),
        ending in prop::sample::select(vec![Ending::Stop, Ending::Finish, Ending::Level]),
        failed in prop::sample::select(FAILED.to_vec()),
        workers in 1_u32..4,
    ) {
        let program = of(vec![set("files", 20)], &["whole"]);
        let body = match is_labeled {
            true => vec![Act::Transaction(0, body)],
            false => body,
        };
        let mut phase = phase(body);
        phase.time_ns = time_ns;
        phase.time_up = ending;
        phase.first_done = (workers > 1).then_some(ending);
        phase.groups[0].failed = failed;
        let quota = |count| Quota { what: Measure::Rounds, count, of: Share::Each };
        phase.groups[0].quotas = rounds.map(quota).into_iter().collect();
        let on_path = |is_straight| {
            let setting = Setting {
                workers,
                present: vec![present],
                failing: failing.clone(),
                is_straight,
                ..Setting::default()
            };
            told(&carry_out(&program, &phase, &setting))
        };
        prop_assert_eq!(on_path(true), on_path(false));
    }
}

#[test]
fn what_is_not_known_beforehand_is_the_interpreters() {
    let program = of(vec![set("files", 4)], &[]);
    let open = || act(FileOperation::Open, On::Name(pick(0, Which::Present)));
    let close = || act(FileOperation::Close, On::Handle);
    let drawn = Law::of(Shape::Exponential { mean: 1e4 });
    let write = |bytes, piece_bytes| moving(FileOperation::Write, bytes, piece_bytes);
    let bodies = [
        vec![
            open(),
            moving(FileOperation::Read, Bytes::Rest, 4096),
            close(),
        ],
        vec![open(), write(Bytes::Law(drawn), 4096), close()],
        vec![open(), write(Bytes::Law(Law::fixed(8192)), 4096), close()],
        vec![open(), act(FileOperation::Fsync, On::Handle)],
        vec![open(), close(), Act::Think(Law::fixed(1))],
        vec![act(
            FileOperation::Stat,
            On::Name(around(0, Which::Present)),
        )],
        vec![Act::Times(Law::fixed(2), vec![open(), close()])],
    ];
    let is_straight = |phase: &ProgramPhase, setting: &Setting| {
        let states = [Arc::new(FileStates::new(4, false))];
        let mut workers = seated(&program, phase, setting, &states);
        Straight::of(workers.remove(0)).is_ok()
    };
    for body in bodies {
        let shown = format!("{body:?}");
        assert!(!is_straight(&phase(body), &Setting::default()), "{shown}");
    }
    let plain = phase(vec![open(), close()]);
    assert!(is_straight(&plain, &Setting::default()));
    let deep = Setting {
        slots: 2,
        ..Setting::default()
    };
    assert!(!is_straight(&plain, &deep));
}
