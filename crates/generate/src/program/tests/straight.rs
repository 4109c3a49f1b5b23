//! The fast path does the same as the interpreter.

use plan::program::{OpenModePlan, PhaseEndAction};

use super::*;

/// Labels: one of the whole, the others of steps and calls.
const LABELS: [&str; 4] = ["whole", "step", "other", "call"];
const STEPS: std::ops::Range<u8> = 1..4;

/// Acts on each file, and the steps around them.
#[derive(Debug, Clone)]
struct Row {
    acts: Vec<Act>,
    /// Steps: label, first act and number of acts.
    steps: Vec<(u8, prop::sample::Index, prop::sample::Index)>,
    is_labeled: bool,
}

impl Row {
    /// Each step encloses acts and earlier steps.
    fn body(self) -> Vec<Act> {
        let mut acts = self.acts;
        for (label, begin, count) in self.steps {
            let begin = begin.index(acts.len());
            let end = begin + 1 + count.index(acts.len() - begin);
            let inner = acts.drain(begin..end).collect();
            acts.insert(begin, Act::Step(label, inner));
        }
        match self.is_labeled {
            true => vec![Act::Transaction(0, acts)],
            false => acts,
        }
    }
}

/// A write whose amount is known, in pieces unless it has a label.
fn write() -> impl Strategy<Value = Act> {
    let bytes = prop_oneof![
        Just(MovedBytes::Size),
        (0_u64..20_000).prop_map(|bytes| MovedBytes::Law(Law::fixed(bytes))),
    ];
    let piece_bytes = prop::sample::select(vec![1000, 4096, 50_000]);
    (bytes, piece_bytes, label()).prop_map(|(bytes, piece_bytes, label)| {
        Act::Call(Call {
            label,
            piece_bytes: if label.is_some() { 50_000 } else { piece_bytes },
            bytes,
            ..call(FileOperation::Write, CallObject::Handle)
        })
    })
}

fn label() -> impl Strategy<Value = Option<u8>> {
    prop::option::weighted(0.3, STEPS)
}

fn labeled(operation: FileOperation, on: CallObject, label: Option<u8>) -> Act {
    Act::Call(Call {
        label,
        ..call(operation, on)
    })
}

/// Body for each file: the first call, then acts on the open file.
fn rows() -> impl Strategy<Value = Row> {
    let handled =
        |operation| label().prop_map(move |it| labeled(operation, CallObject::Handle, it));
    let inner = prop_oneof![
        3 => write().boxed(),
        1 => handled(FileOperation::Fsync).boxed(),
    ];
    let inner = prop::collection::vec(inner, 0..6);
    let opening = (
        prop::bool::ANY,
        label(),
        inner,
        handled(FileOperation::Close),
    );
    let opening = opening.prop_map(|(creates, label, inner, close)| {
        let (operation, which) = match creates {
            true => (FileOperation::Create, FileFilter::Absent),
            false => (FileOperation::Open, FileFilter::Present),
        };
        let first = labeled(operation, CallObject::Name(pick(0, which)), label);
        [first].into_iter().chain(inner).chain([close]).collect()
    });
    let named = prop::sample::select(vec![FileOperation::Stat, FileOperation::Unlink]);
    let named = (named, label()).prop_map(|(operation, label)| {
        vec![labeled(
            operation,
            CallObject::Name(pick(0, FileFilter::Present)),
            label,
        )]
    });
    let acts = prop_oneof![3 => opening.boxed(), 1 => named.boxed()];
    let steps = prop::collection::vec(
        (
            STEPS,
            any::<prop::sample::Index>(),
            any::<prop::sample::Index>(),
        ),
        0..5,
    );
    (acts, steps, prop::bool::ANY).prop_map(|(acts, steps, is_labeled)| Row {
        acts,
        steps,
        is_labeled,
    })
}

/// When a worker is to be done, and what ends it before.
#[derive(Debug, Clone)]
struct Ends {
    quota: Option<Quota>,
    time_ns: Option<u64>,
    end_action: PhaseEndAction,
    on_failure: OnFailure,
    on_no_file: OnNoFile,
    /// `true` if the group examines the name at its end.
    has_last_act: bool,
}

fn ends() -> impl Strategy<Value = Ends> {
    let measure = prop_oneof![
        (Just(Measure::Rounds), 1_u64..20),
        (STEPS.prop_map(Measure::Steps), 1_u64..20),
        (STEPS.prop_map(Measure::StepBytes), 1_u64..100_000),
        (Just(Measure::Calls), 1_u64..60),
        (Just(Measure::Bytes), 1_u64..100_000),
    ];
    let of = prop::sample::select(vec![AmountScope::Each, AmountScope::Group]);
    let quota = (measure, of).prop_map(|((what, count), of)| Quota { what, count, of });
    (
        prop::option::of(quota),
        prop::option::of(1_u64..90_000),
        prop::sample::select(vec![
            PhaseEndAction::Stop,
            PhaseEndAction::Finish,
            PhaseEndAction::Level,
        ]),
        prop::sample::select(FAILURE_RULES.to_vec()),
        prop::sample::select(vec![
            OnNoFile::EndWorker,
            OnNoFile::EndPhase,
            OnNoFile::Skip,
        ]),
        prop::bool::ANY,
    )
        .prop_map(|(quota, time_ns, ending, failed, out, has_last)| Ends {
            quota,
            time_ns,
            end_action: ending,
            on_failure: failed,
            on_no_file: out,
            has_last_act: has_last,
        })
}

/// A call that asks for nothing where files are empty.
fn left_out(act: &mut Act) -> Option<&mut Call> {
    match act {
        Act::Call(call) if call.bytes == MovedBytes::Size => Some(call),
        _ => None,
    }
}

/// Ways to open files, with all combinations of their options.
fn ways() -> impl Strategy<Value = OpenModePlan> {
    let unit_bytes = prop::sample::select(vec![0, 0, 512]);
    let flags = (prop::bool::ANY, prop::bool::ANY, prop::bool::ANY);
    (flags, unit_bytes).prop_map(|((is_truncating, seeks, makes_directory), unit_bytes)| {
        OpenModePlan {
            is_truncating,
            seeks,
            unit_bytes,
            makes_directory,
            ..OpenModePlan::default()
        }
    })
}

const FAILURE_RULES: [OnFailure; 4] = [
    OnFailure::EndTransaction,
    OnFailure::Count,
    OnFailure::EndWorker,
    OnFailure::EndRun,
];

/// Results of all workers, as text. The fast path and the interpreter must agree on it.
fn outcome_text(outcome: &PhaseOutcome) -> String {
    let workers = outcome.workers.iter().map(|it| {
        let (amounts, stamps, steps) = (it.amounts(), it.stamps(), it.steps());
        format!(
            "{amounts:?} {stamps:?} {steps:?} {:?} {}",
            it.failure(),
            it.has_run_dry()
        )
    });
    let states = outcome.states.iter().map(|it| {
        let present: Vec<u32> = it.present().collect();
        format!("{present:?} {}", it.present_bytes())
    });
    let parts: Vec<String> = workers.chain(states).collect();
    let (model, flows, is_ended) = (&outcome.model, &outcome.flows, outcome.is_ended);
    format!(
        "{:?} {:?} {flows:?} {is_ended} {parts:?}",
        model.log, model.violations
    )
}

proptest! {
    #[test]
    fn the_fast_path_and_the_interpreter_agree(
        mut row in rows(),
        way in ways(),
        size_bytes in prop::sample::select(vec![0, 1, 10_000]),
        present in 0_u32..20,
        failing in prop::collection::btree_set(1_usize..60, 0..3),
        short in prop::collection::btree_set(1_usize..60, 0..3),
        ends in ends(),
        requests_max in prop::sample::select(vec![1, 20, 45, 2000, 2000, 2000]),
        workers in 1_u32..4,
    ) {
        let files = FilesetPlan { size: Law::fixed(size_bytes), ..set("files", 20) };
        let mut program = of(vec![files], &LABELS);
        program.ways = vec![way];
        // Calls that are skipped for empty files belong to no step and have no label.
        let mut empty: Vec<&mut Call> = row.acts.iter_mut().filter_map(left_out).collect();
        if size_bytes == 0 && !empty.is_empty() {
            empty.iter_mut().for_each(|call| call.label = None);
            row.steps.clear();
        }
        let mut phase = phase(row.body());
        phase.time_ns = ends.time_ns;
        phase.time_up = ends.end_action;
        phase.first_done = (workers > 1).then_some(ends.end_action);
        let group = &mut phase.groups[0];
        group.failed = ends.on_failure;
        group.out = ends.on_no_file;
        group.quotas = ends.quota.into_iter().collect();
        if ends.has_last_act {
            group.last = vec![act(FileOperation::Stat, CallObject::Same)];
        }
        let on_path = |is_straight| {
            let setting = Setting {
                workers,
                present: vec![present],
                failing: failing.clone(),
                short: short.clone(),
                requests_max,
                is_fast_path: is_straight,
                ..Setting::default()
            };
            outcome_text(&carry_out(&program, &phase, &setting))
        };
        prop_assert_eq!(on_path(true), on_path(false));
    }
}

#[test]
fn bodies_not_known_in_advance_go_to_the_interpreter() {
    let program = of(vec![set("files", 4)], &["step"]);
    let open = || {
        act(
            FileOperation::Open,
            CallObject::Name(pick(0, FileFilter::Present)),
        )
    };
    let close = || act(FileOperation::Close, CallObject::Handle);
    let drawn = Law::of(Shape::Exponential { mean: 1e4 });
    let write = |bytes, piece_bytes| moving(FileOperation::Write, bytes, piece_bytes);
    let labeled_pieces = Act::Call(Call {
        bytes: MovedBytes::Law(Law::fixed(8192)),
        piece_bytes: 4096,
        label: Some(0),
        ..call(FileOperation::Write, CallObject::Handle)
    });
    let bodies = [
        vec![
            open(),
            moving(FileOperation::Read, MovedBytes::Rest, 4096),
            close(),
        ],
        vec![open(), write(MovedBytes::Law(drawn), 4096), close()],
        vec![
            open(),
            write(MovedBytes::Law(Law::fixed(1 << 20)), 4096),
            close(),
        ],
        vec![open(), labeled_pieces, close()],
        vec![open(), Act::Step(0, vec![]), close()],
        vec![Act::Step(
            0,
            vec![Act::Transaction(0, vec![open(), close()])],
        )],
        vec![open(), act(FileOperation::Fsync, CallObject::Handle)],
        vec![open(), close(), Act::Think(Law::fixed(1))],
        vec![act(
            FileOperation::Stat,
            CallObject::Name(around(0, FileFilter::Present)),
        )],
        vec![Act::Times(Law::fixed(2), vec![open(), close()])],
    ];
    let is_straight = |phase: &ProgramPhase, setting: &Setting| {
        let states = [Arc::new(FileStates::new(4, false))];
        let mut workers = unstarted_interpreters(&program, phase, setting, &states);
        FastPath::of(workers.remove(0)).is_ok()
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

#[test]
fn a_way_may_create_the_directory_before_the_file() {
    let mut program = of(vec![set("files", 4)], &[]);
    program.ways = vec![OpenModePlan {
        makes_directory: true,
        ..OpenModePlan::default()
    }];
    let create = act(
        FileOperation::Create,
        CallObject::Name(pick(0, FileFilter::Absent)),
    );
    let phase = phase(vec![create, act(FileOperation::Close, CallObject::Handle)]);
    let states = [Arc::new(FileStates::new(4, false))];
    let mut workers = unstarted_interpreters(&program, &phase, &Setting::default(), &states);
    assert!(FastPath::of(workers.remove(0)).is_ok());
}
