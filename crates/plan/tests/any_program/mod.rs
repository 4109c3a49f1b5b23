//! Any program, most of which are refused; for property tests of this crate and of others.

use plan::Distribution;
use plan::program::{
    Act, AmountScope, Band, Call, CallObject, CallPosition, DirectoryTree, FileFilter, FileNames,
    FileOperation, FileSharing, FilesetPlan, FilesetSharing, Group, Law, Measure, MovedBytes,
    OpenModePlan, Pick, PickOrder, Program, ProgramPart, ProgramPhase, Quota, RoundsEnd, Shape,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Laws of all shapes, most of which draw something.
fn law() -> BoxedStrategy<Law> {
    let number = || prop_oneof![20 => 0..100_000_u64, 1 => any::<u64>()].boxed();
    let real = || prop_oneof![20 => 0.1..4.0_f64, 1 => any::<f64>()].boxed();
    let band = (1..3_u32, 0..100_u64, number()).prop_map(|(weight, low, more)| Band {
        weight,
        low,
        high: low.saturating_add(more),
    });
    let shape = prop_oneof![
        4 => number().prop_map(Shape::Fixed),
        2 => (0..100_u64, number()).prop_map(|(low, more)| Shape::Uniform {
            low,
            high: low.saturating_add(more),
        }),
        1 => real().prop_map(|mean| Shape::Exponential { mean }),
        1 => (real(), real()).prop_map(|(mean, shape)| Shape::Gamma { mean, shape }),
        1 => (real(), real()).prop_map(|(mean, deviation)| Shape::Normal { mean, deviation }),
        1 => (real(), real()).prop_map(|(median, spread)| Shape::LogNormal { median, spread }),
        1 => prop::collection::vec(band, 0..3).prop_map(Shape::Table),
    ];
    let most = prop_oneof![1 => Just(u64::MAX), 20 => 100_000..1_000_000_u64];
    let least = prop_oneof![1 => number(), 20 => 0..100_u64];
    (shape, least, most, 0..5000_u64, 0..9_u64)
        .prop_map(|(shape, least, most, step, base)| Law {
            shape,
            base,
            least,
            most,
            step,
        })
        .boxed()
}

fn pick() -> BoxedStrategy<Pick> {
    let order = prop_oneof![
        Just(PickOrder::Next),
        Just(PickOrder::Back),
        Just(PickOrder::Shuffled),
        Just(PickOrder::Around),
        (0..20_u32).prop_map(PickOrder::Index),
        (0.1..1.0_f64).prop_map(|theta| PickOrder::Drawn(Distribution::Zipf { theta })),
        Just(PickOrder::Drawn(Distribution::Uniform)),
    ];
    let filter = select(vec![
        FileFilter::Any,
        FileFilter::Present,
        FileFilter::Absent,
    ]);
    let turn = select(vec![
        FileSharing::Own,
        FileSharing::Slice,
        FileSharing::Shared,
    ]);
    let fileset = prop_oneof![40 => 0..2_u8, 1 => any::<u8>()];
    (fileset, filter, order, turn)
        .prop_map(|(fileset, which, order, turn)| Pick {
            fileset,
            which,
            order,
            turn,
        })
        .boxed()
}

const OPERATIONS: [FileOperation; 18] = [
    FileOperation::Create,
    FileOperation::Open,
    FileOperation::Close,
    FileOperation::Read,
    FileOperation::Write,
    FileOperation::Fsync,
    FileOperation::Fdatasync,
    FileOperation::Stat,
    FileOperation::Unlink,
    FileOperation::Mkdir,
    FileOperation::Rmdir,
    FileOperation::Rename,
    FileOperation::Link,
    FileOperation::Symlink,
    FileOperation::List,
    FileOperation::Truncate,
    FileOperation::Setxattr,
    FileOperation::Getxattr,
];

fn call() -> BoxedStrategy<Call> {
    let on = prop_oneof![
        2 => Just(CallObject::Handle),
        2 => pick().prop_map(CallObject::Name),
        1 => Just(CallObject::Same),
        1 => Just(CallObject::Directory),
    ];
    let bytes = prop_oneof![
        4 => law().prop_map(MovedBytes::Law),
        1 => Just(MovedBytes::Rest),
        1 => Just(MovedBytes::Size),
        1 => (0..3_u8).prop_map(|handle| MovedBytes::SizeOf { handle }),
    ];
    let position = prop_oneof![
        4 => Just(CallPosition::Here),
        1 => Just(CallPosition::Same),
        1 => Just(CallPosition::End),
        1 => any::<u64>().prop_map(CallPosition::At),
        1 => (0..3_u32).prop_map(|align_bytes| CallPosition::Random {
            distribution: Distribution::Uniform,
            align_bytes,
            is_nominal: align_bytes == 2,
        }),
    ];
    let numbers = (0..2_u8, 0..2_u8, prop::option::of(0..2_u8));
    let second = prop::option::of(pick());
    let piece = prop_oneof![Just(0), any::<u32>()];
    (
        select(OPERATIONS.to_vec()),
        on,
        second,
        bytes,
        position,
        numbers,
        piece,
    )
        .prop_map(
            |(operation, on, second, bytes, place, (handle, way, label), piece_bytes)| Call {
                operation,
                on,
                second: second.filter(|_| operation.has_second_name()),
                handle,
                way,
                attribute: 0,
                bytes,
                piece_bytes,
                place,
                label,
            },
        )
        .boxed()
}

/// A file that is opened, worked on and closed, so that many programs pass.
fn whole_file() -> BoxedStrategy<Vec<Act>> {
    (pick(), law(), any::<bool>())
        .prop_map(|(pick, law, is_made)| {
            let (operation, which) = match is_made {
                true => (FileOperation::Create, FileFilter::Absent),
                false => (FileOperation::Open, FileFilter::Present),
            };
            let write = Call {
                bytes: MovedBytes::Law(law),
                piece_bytes: 4096,
                ..Call::new(FileOperation::Write, CallObject::Handle)
            };
            vec![
                Act::Call(Call::new(
                    operation,
                    CallObject::Name(Pick { which, ..pick }),
                )),
                Act::Call(write),
                Act::Call(Call::new(FileOperation::Close, CallObject::Handle)),
            ]
        })
        .boxed()
}

fn acts() -> BoxedStrategy<Vec<Act>> {
    let leaf = prop_oneof![
        1 => call().prop_map(|call| vec![Act::Call(call)]),
        9 => whole_file(),
        1 => law().prop_map(|law| vec![Act::Think(law)]),
        1 => law().prop_map(|law| vec![Act::Burn(law)]),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            (law(), inner.clone()).prop_map(|(law, acts)| vec![Act::Times(law, acts)]),
            (0..2_u8, inner.clone()).prop_map(|(label, acts)| vec![Act::Step(label, acts)]),
            (0..2_u8, inner.clone()).prop_map(|(label, acts)| vec![Act::Transaction(label, acts)]),
            prop::collection::vec((0..9_u32, inner.clone()), 1..3)
                .prop_map(|branches| vec![Act::Mix(branches)]),
            prop::collection::vec(inner, 0..3).prop_map(|lists| lists.concat()),
        ]
    })
    .boxed()
}

fn phase() -> BoxedStrategy<ProgramPhase> {
    let quota = (0..50_u64, 0..4_u8).prop_map(|(count, what)| Quota {
        what: match what {
            0 => Measure::Rounds,
            1 => Measure::Bytes,
            2 => Measure::Calls,
            _ => Measure::Steps(0),
        },
        count,
        of: AmountScope::Group,
    });
    let group = (
        acts(),
        acts(),
        prop::option::of(1..9_u32),
        prop::option::of(quota),
    )
        .prop_map(|(first, body, workers, quota)| Group {
            name: "group".to_owned(),
            workers,
            first,
            body,
            quotas: quota.into_iter().collect(),
            ..Group::default()
        });
    let groups = prop::collection::vec(group, 1..3);
    (groups, prop::option::weighted(0.9, any::<u64>()))
        .prop_map(|(groups, time_ns)| ProgramPhase {
            name: "phase".to_owned(),
            ramp_ns: time_ns.unwrap_or(0) / 2,
            time_ns,
            groups,
            ..ProgramPhase::default()
        })
        .boxed()
}

fn fileset(name: String, count: u32) -> FilesetPlan {
    FilesetPlan {
        path: name.clone(),
        copies: FilesetSharing::One,
        count,
        names: FileNames::Number {
            before: format!("{name}-"),
            digits: 0,
            after: String::new(),
        },
        name,
        tree: DirectoryTree::Flat,
        size: Law::fixed(0),
        present_permille: 0,
    }
}

/// Any program; most are refused.
pub fn program() -> BoxedStrategy<Program> {
    let set = (20..1000_u32, 100..901_u32, law(), 0..5_u32, any::<bool>());
    let sets = prop::collection::vec(set, 2..3);
    let until = prop_oneof![
        (0..4_u32).prop_map(RoundsEnd::Times),
        any::<u64>().prop_map(|ns| RoundsEnd::Spent { ns }),
        Just(RoundsEnd::Full),
    ];
    (sets, phase(), prop::option::of((until, phase())))
        .prop_map(|(sets, phase, rounds)| {
            let rounds = rounds.map(|(until, phase)| ProgramPart::Rounds {
                until,
                parts: vec![ProgramPart::Phase(phase)],
            });
            let sets = sets.into_iter().enumerate();
            let filesets =
                sets.map(
                    |(index, (count, present_permille, size, each, own))| FilesetPlan {
                        present_permille,
                        size,
                        tree: match each {
                            0 => DirectoryTree::Flat,
                            each => DirectoryTree::Blocks { each },
                        },
                        copies: if own {
                            FilesetSharing::PerWorker
                        } else {
                            FilesetSharing::One
                        },
                        ..fileset(format!("set{index}"), count)
                    },
                );
            let direct = OpenModePlan {
                is_direct: true,
                ..OpenModePlan::default()
            };
            Program {
                labels: vec!["one".to_owned(), "two".to_owned()],
                attributes: vec!["user.one".to_owned()],
                filesets: filesets.collect(),
                ways: vec![OpenModePlan::default(), direct],
                tokens: Vec::new(),
                parts: [ProgramPart::Phase(phase)]
                    .into_iter()
                    .chain(rounds)
                    .collect(),
                ..Program::default()
            }
        })
        .boxed()
}
