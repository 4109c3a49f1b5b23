use plan::{Distribution, Zone};
use proptest::prelude::*;

use super::*;
use crate::sample::{GIB, line, plan, span};
use crate::{OwnCursor, Rng};

fn placement(line: &LinePlan, span: &SpanPlan) -> Result<Placement, GenerateError> {
    let kind = RequestKind {
        number: 0,
        length_bytes: line.size_bytes,
        order_seed: 5,
    };
    Placement::new(line, span, kind)
}

fn cursor() -> OwnCursor {
    OwnCursor::new(&plan(vec![line(512, 100.0)], Vec::new()))
}

/// Number of draws of each offset of 1 KiB requests.
fn histogram(distribution: Distribution, start_count: u64, draw_count: u32) -> Vec<u32> {
    let mut line = line(1024, 100.0);
    line.align_bytes = 1024;
    line.distribution = distribution;
    let placement = placement(&line, &span(0, start_count * 1024, 1)).unwrap();
    let (mut rng, mut cursor) = (Rng::new(7), cursor());
    let mut counts = vec![0; start_count as usize];
    for _ in 0..draw_count {
        counts[(placement.random(&mut rng, &mut cursor) / 1024) as usize] += 1;
    }
    counts
}

fn sequence(sequence: Sequence, size_bytes: u32, align_bytes: u32, size: u64) -> Vec<u64> {
    let mut line = line(size_bytes, 100.0);
    (line.align_bytes, line.sequence) = (align_bytes, sequence);
    let placement = placement(&line, &span(4096, size, 1)).unwrap();
    let mut cursor = cursor();
    (0..6).map(|_| placement.sequential(&mut cursor)).collect()
}

#[test]
fn uniform_positions_pass_a_chi_square_test() {
    let counts = histogram(Distribution::Uniform, 1000, 1_000_000);
    let chi_square: f64 = counts
        .iter()
        .map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0)
        .sum();
    // Mean 999, standard deviation 44.7: within four of them.
    assert!((820.0..1178.0).contains(&chi_square), "{chi_square}");
}

#[test]
fn forward_requests_follow_each_other_and_wrap_to_the_start() {
    let offsets = sequence(Sequence::Forward, 4096, 0, 4 * 4096);
    assert_eq!(offsets, [4096, 8192, 12_288, 16_384, 4096, 8192]);
}

#[test]
fn forward_requests_leave_holes_required_by_the_alignment() {
    let offsets = sequence(Sequence::Forward, 3072, 2048, 12_288);
    assert_eq!(offsets, [4096, 8192, 12_288, 4096, 8192, 12_288]);
}

#[test]
fn backward_requests_start_at_the_end_and_wrap_to_it() {
    let offsets = sequence(Sequence::Backward, 4096, 0, 3 * 4096);
    assert_eq!(offsets, [12_288, 8192, 4096, 12_288, 8192, 4096]);
}

#[test]
fn strided_requests_keep_their_distance() {
    let stride_bytes = 8192;
    let offsets = sequence(Sequence::Strided { stride_bytes }, 512, 0, 20_480);
    assert_eq!(offsets, [4096, 12_288, 20_480, 4096, 12_288, 20_480]);
    let offsets = sequence(
        Sequence::Strided {
            stride_bytes: u64::MAX,
        },
        512,
        0,
        20_480,
    );
    assert_eq!(offsets, [4096; 6]);
}

#[test]
fn a_sequence_continues_after_a_random_request() {
    let placement = placement(&line(4096, 100.0), &span(0, GIB, 1)).unwrap();
    let (mut rng, mut cursor) = (Rng::new(1), cursor());
    let random = placement.random(&mut rng, &mut cursor);
    assert_eq!(placement.sequential(&mut cursor), random + 4096);
}

#[test]
fn a_few_ranks_of_a_zipf_distribution_take_most_requests_and_are_scattered() {
    let counts = histogram(Distribution::Zipf { theta: 1.2 }, 4096, 200_000);
    let mut ranked: Vec<(u32, usize)> = counts.iter().copied().zip(0..).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    let weight = |rank: u32| f64::from(rank).powf(-1.2);
    let total: f64 = (1..=4096).map(weight).sum();
    for rank in 1..5 {
        let wanted = 200_000.0 * weight(rank) / total;
        let count = f64::from(ranked[rank as usize - 1].0);
        assert!((count - wanted).abs() < 5.0 * wanted.sqrt(), "rank {rank}");
    }
    let neighbors = ranked[..20]
        .windows(2)
        .filter(|pair| pair[0].1.abs_diff(pair[1].1) < 40);
    assert!(neighbors.count() < 4);
}

#[test]
fn pareto_is_the_self_similar_law_on_every_scale() {
    for h in [0.1, 0.2, 0.4] {
        let mut counts = histogram(Distribution::Pareto { h }, 10_000, 1_000_000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        for part in [0.0001, 0.01, 0.1, h, h * h] {
            let hot: u32 = counts[..(part * 10_000.0) as usize].iter().sum();
            let share = f64::from(hot) / 1_000_000.0;
            let wanted = f64::powf(part, f64::ln(1.0 - h) / f64::ln(h));
            // Sorting by the counts seen favors the hot side a little.
            let surplus = share - wanted;
            assert!((-0.003..0.03).contains(&surplus), "{h} {part}: {share}");
        }
    }
}

#[test]
fn a_normal_distribution_is_centered_on_the_middle() {
    for (deviation_percent, within, wanted) in [
        (10.0, 1000, 0.6827),
        (5.0, 1000, 0.9545),
        (30.0, 3000, 0.7546),
        (1e9, 2500, 0.5),
    ] {
        let counts = histogram(Distribution::Normal { deviation_percent }, 10_000, 200_000);
        let near: u32 = counts[5000 - within..5000 + within].iter().sum();
        let share = f64::from(near) / 200_000.0;
        assert!(
            (share - wanted).abs() < 0.006,
            "{deviation_percent} %: {share}"
        );
    }
}

#[test]
fn zones_get_their_shares() {
    let zone = |access_percent, size_percent| Zone {
        access_percent,
        size_percent,
    };
    let zones = vec![zone(70.0, 10.0), zone(0.0, 40.0), zone(30.0, 50.0)];
    let counts = histogram(Distribution::Zones { zones }, 1000, 200_000);
    let hot: u32 = counts[..100].iter().sum();
    assert!((139_000..141_000).contains(&hot), "{hot}");
    assert!(counts[100..500].iter().all(|&count| count == 0));
    assert!(counts[500..].iter().all(|&count| count > 0));
}

#[test]
fn zones_narrower_than_one_start_stay_within_the_span() {
    let zones = (0..50).map(|_| Zone {
        access_percent: 2.0,
        size_percent: 2.0,
    });
    let counts = histogram(
        Distribution::Zones {
            zones: zones.collect(),
        },
        3,
        3000,
    );
    assert_eq!(counts.iter().sum::<u32>(), 3000);
}

#[test]
fn no_repeat_draws_each_start_once_a_pass() {
    assert_eq!(histogram(Distribution::NoRepeat, 777, 777), vec![1; 777]);
    assert_eq!(
        histogram(Distribution::NoRepeat, 777, 3 * 777),
        vec![3; 777]
    );
}

#[test]
fn meaningless_parameters_are_refused() {
    let zone = Zone {
        access_percent: 50.0,
        size_percent: 100.0,
    };
    let invalid = [
        Distribution::Zipf { theta: 0.0 },
        Distribution::Zipf { theta: f64::NAN },
        Distribution::Pareto { h: 1.0 },
        Distribution::Normal {
            deviation_percent: -1.0,
        },
        Distribution::Zones { zones: vec![zone] },
        Distribution::Zones { zones: Vec::new() },
    ];
    for distribution in invalid {
        let mut line = line(512, 100.0);
        line.distribution = distribution;
        let error = placement(&line, &span(0, GIB, 1)).unwrap_err();
        assert!(
            matches!(error, GenerateError::Distribution { .. }),
            "{error}"
        );
    }
}

fn any_sequence() -> impl Strategy<Value = Sequence> {
    prop_oneof![
        Just(Sequence::Forward),
        Just(Sequence::Backward),
        any::<u64>().prop_map(|stride_bytes| Sequence::Strided { stride_bytes }),
        (0_u64..100_000).prop_map(|stride_bytes| Sequence::Strided { stride_bytes }),
    ]
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        Just(Distribution::NoRepeat),
        (0.01_f64..5.0).prop_map(|theta| Distribution::Zipf { theta }),
        (0.01_f64..0.99).prop_map(|h| Distribution::Pareto { h }),
        (0.01_f64..1e6).prop_map(|deviation_percent| Distribution::Normal { deviation_percent }),
    ]
}

proptest! {
    #[test]
    fn no_request_is_unaligned_or_leaves_the_span(
        sizes in proptest::collection::vec(1_u32..100_000, 1..4),
        align_bytes in 0_u32..10_000,
        start_bytes in 0_u64..1 << 40,
        size_bytes in 1_u64..1 << 22,
        (sequence, distribution) in (any_sequence(), any_distribution()),
        choices: Vec<bool>,
    ) {
        let span = span(start_bytes, size_bytes, 1);
        let lines = sizes.iter().map(|&size_bytes| LinePlan {
            align_bytes,
            sequence,
            distribution: distribution.clone(),
            ..line(size_bytes, 100.0)
        });
        let placements: Vec<Placement> =
            lines.filter_map(|line| placement(&line, &span).ok()).collect();
        let align_bytes = if align_bytes == 0 { 512 } else { u64::from(align_bytes) };
        let (mut rng, mut cursor) = (Rng::new(1), cursor());
        for (number, random) in choices.into_iter().enumerate() {
            for placement in placements.iter().skip(number % 3) {
                let start = if random {
                    placement.random(&mut rng, &mut cursor)
                } else {
                    placement.sequential(&mut cursor)
                };
                prop_assert_eq!(start % align_bytes, 0);
                prop_assert!(start >= span.start_bytes);
                let end = start + u64::from(placement.length_bytes());
                prop_assert!(end <= span.start_bytes + span.size_bytes);
            }
        }
    }

    #[test]
    fn a_request_is_refused_exactly_when_no_aligned_start_fits(
        size_bytes in 1_u32..5000,
        align_bytes in 1_u32..3000,
        start_bytes in 0_u64..10_000,
        span_bytes in 0_u64..10_000,
    ) {
        let mut line = line(size_bytes, 100.0);
        line.align_bytes = align_bytes;
        let end_bytes = start_bytes + span_bytes;
        let fits = (start_bytes..=end_bytes).any(|start| {
            start % u64::from(align_bytes) == 0 && start + u64::from(size_bytes) <= end_bytes
        });
        prop_assert_eq!(placement(&line, &span(start_bytes, span_bytes, 1)).is_ok(), fits);
    }
}
