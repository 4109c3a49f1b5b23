//! Rules about distributions of latencies.

use results::{CellRecord, Latency};

use super::rule::FindingList;
use super::{BoardRule, is_close, place};

/// Width of a histogram's bucket, relative to its values.
const BUCKET_WIDTH: f64 = 0.008;

/// Checks the histograms of a cell.
pub(super) fn check(cell: &CellRecord, found: &mut FindingList) {
    for (name, it) in &cell.operations {
        let at = format!("{}, latency of {name}", place(cell));
        let latency = &it.latency;
        let is_counted = [0, it.count, it.count.saturating_add(it.errors)].contains(&latency.count);
        if !is_counted {
            let expected = format!("{} latencies", it.count);
            found.add(
                BoardRule::Histograms,
                &at,
                expected,
                latency.count.to_string(),
            );
        }
        distribution(latency, &at, found);
    }
    for (name, it) in &cell.transactions {
        let at = format!("{}, latency of transaction {name}", place(cell));
        distribution(&it.latency, &at, found);
    }
}

fn distribution(latency: &Latency, at: &str, found: &mut FindingList) {
    let buckets = &latency.histogram.buckets_ns;
    let (Some([first_low, first_high, _]), Some([last_low, last_high, _])) =
        (buckets.first(), buckets.last())
    else {
        return;
    };
    let mut expect = |is_true: bool, expected: String, actual: String| {
        if !is_true {
            found.add(BoardRule::Histograms, at, expected, actual);
        }
    };
    let sum = buckets
        .iter()
        .fold(0_u64, |sum, it| sum.saturating_add(it[2]));
    expect(
        sum == latency.count,
        format!("{} latencies in all buckets", latency.count),
        sum.to_string(),
    );
    let is_ordered = buckets.windows(2).all(|pair| pair[0][1] < pair[1][0])
        && buckets.iter().all(|it| it[0] <= it[1] && it[2] > 0);
    expect(
        is_ordered,
        "buckets in increasing order".to_owned(),
        "another order".to_owned(),
    );
    for (what, value, [low, high]) in [
        ("minimum", latency.min_ns, [*first_low, *first_high]),
        ("maximum", latency.max_ns, [*last_low, *last_high]),
    ] {
        let value = value.unwrap_or(0);
        expect(
            (low..=high).contains(&value),
            format!("a {what} from {low} to {high} ns"),
            format!("{value} ns"),
        );
    }
    let mean = latency.sum_ns as f64 / latency.count.max(1) as f64;
    let recorded = latency.mean_ns.unwrap_or(0.0);
    expect(
        is_close(mean, recorded, 1e-9),
        format!("a mean of {mean} ns from the sum"),
        recorded.to_string(),
    );
    let middle = |it: &[u64; 3]| (it[0] as f64 + it[1] as f64) / 2.0 * it[2] as f64;
    let of_buckets = buckets.iter().map(middle).sum::<f64>() / sum.max(1) as f64;
    // Latencies of a few nanoseconds are whole numbers, so the middle is off by up to half of one.
    let is_near = is_close(of_buckets, mean, BUCKET_WIDTH) || (of_buckets - mean).abs() <= 1.0;
    expect(
        is_near,
        format!("a mean within 0.8 % of the buckets' {of_buckets:.1} ns"),
        format!("{mean:.1} ns"),
    );
    let again = Latency::of(&latency.histogram());
    expect(
        again.percentiles_ns == latency.percentiles_ns,
        format!("percentiles of the buckets: {}", percentiles(&again)),
        percentiles(latency),
    );
    let form = &latency.histogram.hdr_v2_base64;
    expect(
        form.is_empty() || again.histogram.hdr_v2_base64 == *form,
        "an interchange form with the buckets' counts".to_owned(),
        "other counts".to_owned(),
    );
}

fn percentiles(latency: &Latency) -> String {
    let it = &latency.percentiles_ns;
    let shown = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |it| it.to_string());
    let values = [it.p50, it.p90, it.p95, it.p99, it.p99_9].map(shown);
    values.join(" ")
}
