//! Rules about terse reports of PostMark, which have rates and two times, but no counts.

use generate::pool::Totals;

use super::BoardRule;
use super::reports::{GenerationTotals, ReportCheck};

/// A rate of a report: operation, count, and the operation whose time it is over.
type TerseRate = (&'static str, fn(&Totals) -> u64, &'static str);

const RATES: [TerseRate; 5] = [
    ("create", |it| it.created_count, "total"),
    (
        "create in transactions",
        Totals::created_mixed_count,
        "transactions",
    ),
    ("read", |it| it.read_count, "transactions"),
    ("append", |it| it.appended_count, "transactions"),
    (
        "delete in transactions",
        Totals::deleted_mixed_count,
        "transactions",
    ),
];

/// Rounding of a rate with two decimals, and of 32-bit floats relative to it.
const HALF_UNIT: f64 = 0.005;
const FLOAT_ROUNDING: f64 = 1e-6;

/// Checks the rates of a report.
pub(super) fn check(report: &mut ReportCheck, known: &[GenerationTotals]) {
    let allowed = report.session.generators();
    let fits = |(draws, totals): &&GenerationTotals| {
        allowed.contains(draws) && differing(report, totals).is_empty()
    };
    let fitting = known.iter().find(fits);
    let first = known.iter().find(|(draws, _)| allowed.contains(draws));
    let Some((_, totals)) = fitting.or(first) else {
        return;
    };
    for (operation, expected, rate) in differing(report, totals) {
        let expected = format!("{expected:.2} per second, as the seed determines");
        report.add(BoardRule::PoolCounts, operation, expected, rate.to_string());
    }
    deletions(report, totals);
}

/// Returns the rates that differ from the rates of these totals, with the expected ones.
fn differing(report: &ReportCheck, totals: &Totals) -> Vec<(&'static str, f64, f64)> {
    let rates = RATES.iter().filter_map(|(operation, of, during)| {
        let rate = report.value(operation, "per_second")?;
        let seconds = report.seconds(during)?;
        let expected = of(totals) as f64 / seconds.max(1.0);
        // A clock of microseconds is rounded itself, which only whole seconds are not.
        let is_whole = seconds.fract() == 0.0;
        (is_whole && !is_near(rate, expected)).then_some((*operation, expected, rate))
    });
    rates.collect()
}

fn is_near(rate: f64, expected: f64) -> bool {
    (rate - expected).abs() <= HALF_UNIT + expected * FLOAT_ROUNDING
}

/// Checks the rate of all deletions. Versions 1.5 and 1.51 print the rate of creations during the
/// first phase in its place.
fn deletions(report: &mut ReportCheck, totals: &Totals) {
    let rate = report.value("delete", "per_second");
    let before = report.value("create before transactions", "per_second");
    let (Some(rate), Some(before), Some(seconds)) = (rate, before, report.seconds("total")) else {
        return;
    };
    let expected = totals.deleted_count as f64 / seconds.max(1.0);
    if seconds.fract() != 0.0 || is_near(rate, expected) {
        return;
    }
    let creation_s = (totals.created_before_count as f64 / before)
        .round()
        .max(1.0);
    let of_creations = totals.created_count as f64 / creation_s;
    let expected = format!("{expected:.2} deletions per second");
    let rule = match is_near(rate, of_creations) {
        true => BoardRule::PoolTerse,
        false => BoardRule::PoolCounts,
    };
    let actual = match rule {
        BoardRule::PoolTerse => format!("{rate}, the rate of creations of an early version"),
        _ => rate.to_string(),
    };
    report.add(rule, "delete", expected, actual);
}
