//! How often a comparison is wrong, over many simulated ones.

use std::slice::from_ref;

use compare::{Comparison, ComparisonOptions, Verdict, compare};
use generate::Rng;
use results::RunRecord;

use crate::made;

const COMPARISONS: u32 = 400;

fn of(a: &RunRecord, b: &RunRecord) -> Comparison {
    compare(from_ref(a), from_ref(b), ComparisonOptions::default()).expect("runs of one plan")
}

/// The share of comparisons in which any figure got a verdict.
fn share_called_different(mut pair: impl FnMut() -> Comparison) -> f64 {
    let called = (0..COMPARISONS).filter(|_| {
        pair()
            .figures()
            .any(|figure| figure.verdict.is_significant())
    });
    called.count() as f64 / f64::from(COMPARISONS)
}

#[test]
fn a_system_compared_with_itself_rarely_differs() {
    let mut rng = Rng::new(1);
    for scatter in [(0.03, 0.0), (0.0, 0.03), (0.03, 0.03)] {
        let mut run = || made::simulated(&mut rng, 10_000.0, scatter, 5);
        let share = share_called_different(|| of(&run(), &run()));
        assert!(share <= 0.05, "{scatter:?}: {share}");
    }
}

#[test]
fn a_system_measured_once_rarely_differs_from_itself() {
    let mut rng = Rng::new(2);
    let mut run = || made::simulated(&mut rng, 10_000.0, (0.0, 0.03), 1);
    let share = share_called_different(|| of(&run(), &run()));
    assert!(share <= 0.05, "{share}");
}

#[test]
fn a_suite_of_forty_cells_rarely_differs_from_itself() {
    let mut rng = Rng::new(3);
    let iodepths: Vec<u32> = (1..=40).collect();
    let mut like = made::run(made::plan(&iodepths, "/mnt/a"));
    like.cells = (0..iodepths.len())
        .map(|index| made::cell(&like.plan, index, 0, 1e4, &[]))
        .collect();
    let mut run = || {
        let mut run = like.clone();
        run.cells.clear();
        for repetition in 0..5 {
            run.cells.extend(like.cells.iter().map(|cell| {
                let rate = 1e4 * (1.0 + 0.03 * made::normal(&mut rng));
                made::cell_at_rate(cell, repetition, rate, &[])
            }));
        }
        run
    };
    let mut comparisons = 0;
    let called = (0..60)
        .filter(|_| {
            let comparison = of(&run(), &run());
            comparisons += comparison.cells.len();
            comparison
                .figures()
                .any(|figure| figure.verdict.is_significant())
        })
        .count();
    assert_eq!(comparisons, 2400);
    assert!(called <= 5, "{called}");
}

#[test]
fn a_slowdown_of_ten_percent_is_found() {
    let mut rng = Rng::new(4);
    let found = (0..COMPARISONS)
        .filter(|_| {
            let a = made::simulated(&mut rng, 10_000.0, (0.02, 0.0), 5);
            let b = made::simulated(&mut rng, 9_000.0, (0.02, 0.0), 5);
            let comparison = of(&a, &b);
            let rate = &comparison.cells[0].figures[0];
            rate.verdict == Verdict::Worse && comparison.fail_on_regression(3.0)
        })
        .count();
    assert!(found >= 396, "{found} of {COMPARISONS}");
}

#[test]
fn alternating_pairs_find_differences_smaller_than_the_drift() {
    let mut rng = Rng::new(5);
    let mut found = (0, 0);
    for _ in 0..100 {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..6 {
            // What the machine does in the minutes of a pair meets both.
            let common = 10_000.0 * (1.0 + 0.10 * made::normal(&mut rng));
            a.push(common * (1.0 + 0.005 * made::normal(&mut rng)));
            b.push(common * 0.96 * (1.0 + 0.005 * made::normal(&mut rng)));
        }
        let (a, b) = (made::measured("/mnt/a", &a), made::measured("/mnt/b", &b));
        let verdict = |paired| {
            let options = ComparisonOptions {
                paired,
                ..ComparisonOptions::default()
            };
            let comparison = compare(from_ref(&a), from_ref(&b), options).unwrap();
            comparison.cells[0].figures[0].verdict
        };
        found.0 += u32::from(verdict(true) == Verdict::Worse);
        found.1 += u32::from(verdict(false) == Verdict::Worse);
    }
    assert!(found.0 >= 99 && found.1 <= 10, "{found:?}");
}

#[test]
fn the_reported_smallest_difference_is_detectable() {
    let mut rng = Rng::new(6);
    let mut reported = 0.0;
    for _ in 0..COMPARISONS {
        let mut run = || made::simulated(&mut rng, 10_000.0, (0.02, 0.0), 5);
        let comparison = of(&run(), &run());
        let rate = &comparison.cells[0].figures[0];
        reported += rate.smallest_difference.unwrap() / f64::from(COMPARISONS);
    }
    // Three tests, so 5 % / 3 of each: (t(0.99167; 8) + t(0.8; 8)) * 2 % * sqrt(2/5).
    assert!((0.045..0.060).contains(&reported), "{reported}");
    let found = (0..COMPARISONS)
        .filter(|_| {
            let a = made::simulated(&mut rng, 10_000.0, (0.02, 0.0), 5);
            let b = made::simulated(&mut rng, 10_000.0 * (1.0 + reported), (0.02, 0.0), 5);
            of(&a, &b).cells[0].figures[0].verdict == Verdict::Better
        })
        .count() as f64
        / f64::from(COMPARISONS);
    // The smallest difference comes from a scatter that five repetitions underestimate by 3 % on
    // average.
    assert!((0.70..0.90).contains(&found), "{found}");
}
