//! The figures of a comparison and the verdicts on them.

use std::slice::from_ref;

use compare::{
    Basis, Comparison, ComparisonOptions, Figure, FigureComparison, Scope, Verdict, compare,
};
use generate::Rng;
use results::RunRecord;
use serde_json::json;

use crate::made;

fn of(a: &RunRecord, b: &RunRecord) -> Comparison {
    compare(from_ref(a), from_ref(b), ComparisonOptions::default()).expect("runs of one plan")
}

fn figure(comparison: &Comparison, kind: Figure) -> &FigureComparison {
    comparison
        .figures()
        .find(|figure| figure.scope == Scope::Total && figure.figure == kind)
        .expect("every figure is there")
}

const QUIET: [f64; 5] = [9900.0, 9950.0, 10_000.0, 10_050.0, 10_100.0];

fn slower() -> Comparison {
    let slow = QUIET.map(|rate| rate * 0.9);
    of(
        &made::measured("/mnt/a", &QUIET),
        &made::measured("/mnt/b", &slow),
    )
}

#[test]
fn every_figure_knows_which_way_is_better() {
    let comparison = slower();
    for (kind, ratio) in [
        (Figure::PerSecond, 0.9),
        (Figure::BytesPerSecond, 0.9),
        (Figure::LatencyMean, 1.0 / 0.9),
        (Figure::LatencyP99, 1.0 / 0.9),
    ] {
        let figure = figure(&comparison, kind);
        assert!(
            (figure.ratio - ratio).abs() < 1e-3,
            "{kind:?}: {}",
            figure.ratio
        );
        assert_eq!(figure.verdict, Verdict::Worse, "{kind:?}");
        assert!(figure.loss() > 0.09);
        assert!((figure.effect - (figure.ratio - 1.0)).abs() < 1e-12);
    }
    let back = of(
        &made::measured("/mnt/b", &QUIET.map(|r| r * 0.9)),
        &made::measured("/a", &QUIET),
    );
    assert!(
        back.figures()
            .all(|figure| figure.verdict == Verdict::Better)
    );
}

#[test]
fn only_regressions_beyond_the_given_percentage_count() {
    let comparison = slower();
    assert!(comparison.fail_on_regression(3.0));
    // The rate lost 10 %, the latency gained 11 %.
    assert_eq!(comparison.regressions(10.5).count(), 2);
    assert!(!comparison.fail_on_regression(12.0));
    let same = of(&made::measured("/a", &QUIET), &made::measured("/a", &QUIET));
    assert!(!same.fail_on_regression(0.0));
}

#[test]
fn bandwidth_at_one_block_size_is_not_a_separate_test() {
    let comparison = slower();
    assert_eq!(comparison.test_count, 3);
    let (rate, bandwidth) = (
        figure(&comparison, Figure::PerSecond),
        figure(&comparison, Figure::BytesPerSecond),
    );
    assert_eq!(
        (rate.same_as, bandwidth.same_as),
        (None, Some(Figure::PerSecond))
    );
    assert_eq!(rate.p_corrected, bandwidth.p_corrected);
}

#[test]
fn single_short_runs_get_ratios_but_no_verdict() {
    let comparison = of(&made::measured("/a", &[1e4]), &made::measured("/a", &[5e3]));
    for figure in comparison.figures() {
        assert_eq!(figure.basis, Basis::Nothing);
        assert_eq!(figure.verdict, Verdict::CannotTell);
        assert_eq!((figure.ci95_low, figure.p_value), (None, None));
    }
    assert_eq!(comparison.test_count, 0);
    assert!(!comparison.fail_on_regression(3.0));
}

#[test]
fn two_noisy_repetitions_cannot_show_even_a_tenfold_difference() {
    let run = made::measured("/a", &[1e3, 9e3]);
    let comparison = of(&run, &run);
    assert!(comparison.figures().all(|f| f.p_corrected.is_some()));
    assert!(
        comparison
            .figures()
            .all(|f| f.smallest_difference.is_none())
    );
}

#[test]
fn single_long_runs_are_judged_by_their_intervals() {
    let mut rng = Rng::new(8);
    let a = made::simulated(&mut rng, 10_000.0, (0.0, 0.03), 1);
    let b = made::simulated(&mut rng, 8_000.0, (0.0, 0.03), 1);
    let comparison = of(&a, &b);
    for kind in [
        Figure::PerSecond,
        Figure::BytesPerSecond,
        Figure::LatencyP99,
    ] {
        let figure = figure(&comparison, kind);
        assert_eq!(
            (figure.basis, figure.verdict),
            (Basis::WithinRun, Verdict::Worse)
        );
        assert!(
            figure.ci95_low.unwrap() < figure.ratio && figure.ratio < figure.ci95_high.unwrap()
        );
        let [low, high] = figure.within_a.unwrap();
        assert!(low < figure.a.mean && figure.a.mean < high);
    }
    let repeated = slower();
    assert!(
        repeated
            .figures()
            .all(|it| it.within_a.is_none() && it.within_b.is_none())
    );
    // Intervals keep no mean latency.
    assert_eq!(
        figure(&comparison, Figure::LatencyMean).basis,
        Basis::Nothing
    );
}

#[test]
fn a_single_run_is_compared_with_the_other_sides_repetitions() {
    let comparison = of(
        &made::measured("/a", &QUIET),
        &made::measured("/a", &[9_000.0]),
    );
    let rate = figure(&comparison, Figure::PerSecond);
    assert_eq!((rate.basis, rate.verdict), (Basis::OneSide, Verdict::Worse));
    let inside = of(
        &made::measured("/a", &QUIET),
        &made::measured("/a", &[9_930.0]),
    );
    assert_eq!(
        figure(&inside, Figure::PerSecond).verdict,
        Verdict::NoDifferenceShown
    );
}

#[test]
fn repetitions_are_paired_only_if_both_sides_have_equally_many() {
    let paired = ComparisonOptions {
        paired: true,
        ..ComparisonOptions::default()
    };
    let basis = |b: &[f64]| {
        let (a, b) = (made::measured("/a", &QUIET), made::measured("/b", b));
        let comparison = compare(&[a], &[b], paired).unwrap();
        comparison.cells[0].figures[0].basis
    };
    assert_eq!(basis(&QUIET), Basis::Pairs);
    assert_eq!(basis(&QUIET[1..]), Basis::Repetitions);
    assert_eq!(basis(&QUIET[..1]), Basis::OneSide);
}

#[test]
fn values_one_histogram_bucket_apart_do_not_differ() {
    let side = |p99_ns: u64| {
        let mut run = made::measured("/a", &[1e4; 5]);
        for cell in &mut run.cells {
            cell.total.latency.percentiles_ns.p99 = Some(p99_ns);
        }
        run
    };
    // Neighboring buckets of 64 to an octave, and the same one on every repetition.
    let comparison = of(&side(65 << 14), &side(66 << 14));
    let p99 = figure(&comparison, Figure::LatencyP99);
    assert_eq!(p99.verdict, Verdict::NoDifferenceShown);
    let apart = of(&side(65 << 14), &side(72 << 14));
    assert_eq!(figure(&apart, Figure::LatencyP99).verdict, Verdict::Worse);
}

#[test]
fn single_runs_one_histogram_bucket_apart_do_not_differ() {
    let side = |bucket: u64| {
        let mut run = made::measured("/a", &[1e4]);
        let mut cell = made::cell_at_rate(&run.cells[0], 0, 1e4, &[1e4; 60]);
        for (second, interval) in cell.intervals.iter_mut().enumerate() {
            let bucket = bucket + u64::from(second % 7 == 0);
            let figures = interval.operations.get_mut("read").unwrap();
            figures.p99_ns = Some(bucket << 14);
        }
        cell.total.latency.percentiles_ns.p99 = Some(bucket << 14);
        run.cells[0] = cell;
        run
    };
    let judged = |b: u64| {
        let comparison = of(&side(65), &side(b));
        let p99 = figure(&comparison, Figure::LatencyP99);
        (p99.basis, p99.verdict)
    };
    assert_eq!(judged(66), (Basis::WithinRun, Verdict::CannotTell));
    assert_eq!(judged(72), (Basis::WithinRun, Verdict::Worse));
}

#[test]
fn a_percentile_of_too_few_samples_is_not_compared() {
    let mut run = made::measured("/a", &QUIET);
    run.cells[0].total.latency.count = 999;
    let comparison = of(&run, &run);
    assert!(comparison.figures().all(|f| f.figure != Figure::LatencyP99));
}

#[test]
fn each_operation_and_transaction_is_compared_separately() {
    let mut run = made::measured("/a", &QUIET);
    for cell in &mut run.cells {
        let write = cell.operations["read"].clone();
        cell.operations.insert("write".into(), write);
        for (kind, rate) in [("create", 100.0), ("delete", 100.0)] {
            let figures = json!({"count": 50, "per_second": rate});
            let figures = serde_json::from_value(figures).unwrap();
            cell.transactions.insert(kind.into(), figures);
        }
    }
    let comparison = of(&run, &run);
    let mut scopes: Vec<&Scope> = comparison.figures().map(|figure| &figure.scope).collect();
    scopes.dedup();
    let named = |scope: fn(String) -> Scope, name: &str| scope(name.to_owned());
    assert_eq!(
        scopes,
        [
            &Scope::Total,
            &named(Scope::Operation, "read"),
            &named(Scope::Operation, "write"),
            &named(Scope::Transaction, "create"),
            &named(Scope::Transaction, "delete"),
        ]
    );
    // Nothing moved and no latency kept: a rate and no more.
    let create = comparison.figures().filter(|f| f.scope == *scopes[3]);
    assert_eq!(
        create.map(|f| f.figure).collect::<Vec<_>>(),
        [Figure::PerSecond]
    );
}

#[test]
fn a_comparison_round_trips_through_json() {
    let comparison = slower();
    let text = serde_json::to_string(&comparison).unwrap();
    assert!(text.contains(r#""verdict":"worse""#), "{text}");
    assert!(text.contains(r#""scope":{"of":"total"}"#), "{text}");
    let again: Comparison = serde_json::from_str(&text).unwrap();
    let again = serde_json::to_string(&again).unwrap();
    assert_eq!(again.len(), text.len());
}

#[test]
fn verdicts_have_readable_names() {
    let names = [Verdict::Better, Verdict::Worse, Verdict::NoDifferenceShown].map(Verdict::name);
    assert_eq!(names, ["better", "worse", "no difference shown"]);
}
