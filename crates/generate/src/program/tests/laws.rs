//! Requests of access specifications, jobs and programs, counted against the definitions of what
//! they are drawn by.

use plan::job::{
    BlockRule, JobFile, JobPlan, OffsetOrder, PerDirection, ReadWriteMix, SizeRule, StreamEnd,
    StreamPlan,
};
use plan::{EngineKind, Zone};

use super::positions::offsets_in_new_file;
use super::*;
use crate::job::JobStream;
use crate::sample::{line, plan, span, stream};
use crate::{OwnCursor, Transfer};

/// Places of 4 KiB in 1 MiB.
const POSITION_COUNT: usize = 256;
/// Requests of each law in each kind of work.
const REQUEST_COUNT: u32 = 256 * 800;

fn laws() -> Vec<Distribution> {
    let zone = |access_percent, size_percent| Zone {
        access_percent,
        size_percent,
    };
    let zones = vec![zone(60.0, 12.5), zone(10.0, 37.5), zone(30.0, 50.0)];
    vec![
        Distribution::Uniform,
        Distribution::NoRepeat,
        Distribution::Zipf { theta: 0.5 },
        Distribution::Zipf { theta: 1.2 },
        Distribution::Pareto { h: 0.2 },
        Distribution::Pareto { h: 0.4 },
        Distribution::Normal {
            deviation_percent: 10.0,
        },
        Distribution::Zones { zones },
    ]
}

/// Each place's share of the requests, in the order of the places; for laws of ranks in theirs.
fn expected_shares(law: &Distribution) -> Vec<f64> {
    let count = POSITION_COUNT as f64;
    let weight = |index: usize| {
        let rank = index as f64 + 1.0;
        match law {
            Distribution::Uniform | Distribution::NoRepeat => 1.0,
            Distribution::Zipf { theta } => rank.powf(-theta),
            Distribution::Pareto { h } => {
                let power = (1.0 - h).ln() / h.ln();
                (rank / count).powf(power) - ((rank - 1.0) / count).powf(power)
            }
            Distribution::Normal { deviation_percent } => {
                let distance = ((rank - 0.5) / count - 0.5) / (deviation_percent / 100.0);
                (-0.5 * distance * distance).exp()
            }
            Distribution::Zones { zones } => {
                let mut end = 0.0;
                let zone = zones.iter().find(|zone| {
                    end += zone.size_percent * count / 100.0;
                    rank <= end + 1e-9
                });
                zone.map_or(0.0, |zone| zone.access_percent / zone.size_percent)
            }
        }
    };
    let weights: Vec<f64> = (0..POSITION_COUNT).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Holds counts to a law.
#[track_caller]
fn assert_law(law: &Distribution, offsets: &[u64], context: &str) {
    let mut counts = vec![0_u32; POSITION_COUNT];
    for offset in offsets {
        counts[(offset / 4096) as usize] += 1;
    }
    if matches!(law, Distribution::Zipf { .. } | Distribution::Pareto { .. }) {
        // Which place has which rank follows from a seed.
        counts.sort_unstable_by(|a, b| b.cmp(a));
    }
    let total = offsets.len() as f64;
    let (mut observed, mut wanted) = (0.0, 0.0);
    for (position, (count, share)) in counts.iter().zip(expected_shares(law)).enumerate() {
        observed += f64::from(*count) / total;
        wanted += share;
        // Sorting by the counts favors the hot side a little.
        let difference: f64 = observed - wanted;
        assert!(
            difference.abs() < 0.012,
            "{context} by {law:?}: {observed} of the requests in {} places, not {wanted}",
            position + 1
        );
    }
    if *law == Distribution::NoRepeat {
        assert!(
            counts.iter().all(|it| *it == counts[0]),
            "{context}: {counts:?}"
        );
    }
}

fn offsets_by_access_specification(law: &Distribution) -> Vec<u64> {
    let mut line = line(4096, 100.0);
    line.distribution = law.clone();
    line.align_bytes = 4096;
    let plan = plan(vec![line], vec![span(0, 1 << 20, 1)]);
    let mut transfer = Transfer::new(&plan, vec![OwnCursor::new(&plan)]).unwrap();
    let requests = stream(&mut transfer, 1, REQUEST_COUNT);
    requests.iter().map(|it| it.offset_bytes).collect()
}

/// Of the writes of a job that reads and writes, each by a law of its own.
fn of_job(law: &Distribution) -> Vec<u64> {
    let blocks = BlockRule {
        sizes: SizeRule::Fixed { bytes: 4096 },
        align_bytes: 4096,
    };
    let is_once = *law == Distribution::NoRepeat;
    let mix = match is_once {
        true => ReadWriteMix::Write,
        false => ReadWriteMix::Both { read_percent: 20.0 },
    };
    let end = StreamEnd {
        bytes: u64::MAX,
        requests: None,
        loops: Some(1),
        starts_over: true,
    };
    let stream = StreamPlan {
        random_percent: PerDirection::both(100.0),
        visits: match is_once {
            true => OffsetOrder::Once,
            false => OffsetOrder::DrawnByDirection {
                distributions: PerDirection {
                    read: Distribution::Uniform,
                    write: law.clone(),
                },
            },
        },
        ..StreamPlan::sequential(mix, blocks, end)
    };
    let plan = JobPlan {
        files: vec![JobFile {
            file_index: 0,
            start_bytes: 0,
            size_bytes: 1 << 20,
        }],
        ..JobPlan::new(EngineKind::Null, stream)
    };
    let mut job = JobStream::new(&plan, 7).unwrap();
    let mut offsets = Vec::new();
    while offsets.len() < REQUEST_COUNT as usize {
        let Step::Issue(request) = job.next(0, 1) else {
            panic!("a job without end goes on");
        };
        if request.operation == Operation::Write {
            offsets.push(request.offset_bytes);
        }
        let result = request.length_bytes as i32;
        job.complete(Completion { slot: 0, result }, 1);
    }
    offsets
}

fn of_program(law: &Distribution, is_nominal: bool) -> Vec<u64> {
    let position = CallPosition::Random {
        distribution: law.clone(),
        align_bytes: 4096,
        is_nominal,
    };
    offsets_in_new_file(FileOperation::Write, position, REQUEST_COUNT.into())
}

/// Files that are picked by a law, as if they were places.
fn picked_files(law: &Distribution) -> Vec<u64> {
    let program = of(vec![set("f", POSITION_COUNT as u32)], &[]);
    let states = vec![Arc::new(FileStates::new(POSITION_COUNT as u32, false))];
    (0..POSITION_COUNT as u32).for_each(|file| states[0].mark_present(file, false));
    let drawn = Pick {
        order: PickOrder::Drawn(law.clone()),
        ..pick(0, FileFilter::Present)
    };
    let stat = act(FileOperation::Stat, CallObject::Name(drawn));
    let mut phase = phase(vec![Act::Times(
        Law::fixed(REQUEST_COUNT.into()),
        vec![stat],
    )]);
    phase.groups[0].quotas = vec![Quota {
        what: Measure::Rounds,
        count: 1,
        of: AmountScope::Each,
    }];
    let mut worker = interpreters(&program, &phase, &Setting::default(), &states).remove(0);
    let mut offsets = Vec::new();
    while let Step::Issue(request) = worker.next(0, 1) {
        offsets.push(u64::from(request.file_index) * 4096);
        worker.complete(Completion { slot: 0, result: 0 }, 1);
    }
    offsets
}

#[test]
fn requests_of_every_workload_kind_follow_their_distributions() {
    let mut count = 0;
    for law in laws() {
        let kinds = [
            (
                "an access specification",
                offsets_by_access_specification(&law),
            ),
            ("a job", of_job(&law)),
            ("a program", of_program(&law, false)),
            ("a program in nominal sizes", of_program(&law, true)),
            ("picks", picked_files(&law)),
        ];
        for (what, offsets) in kinds {
            assert_eq!(offsets.len(), REQUEST_COUNT as usize, "{what}");
            assert_law(&law, &offsets, what);
            count += offsets.len();
        }
    }
    assert!(count >= 1_000_000);
}
