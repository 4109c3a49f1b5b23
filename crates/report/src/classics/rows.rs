//! Results of a classic program as rows of name and value.

use std::collections::BTreeMap;

use results::{
    CellRecord, PhaseFigures, PoolFigures, ReportedRound, RoundFigures, RoundRule, RunRecord,
};
use serde_json::Value;
use units::format;

const MIB: f64 = 1_048_576.0;
/// Key of PostMark's transaction count.
const TRANSACTIONS: &str = "transactions";
/// Key of the time of PostMark's transactions.
const TRANSACTIONS_TIME: &str = "transactions_ns";
/// Maximum number of values in a row.
const VALUES_MAX: usize = 8;

/// Keys of format 1 that a report shows elsewhere.
const SHOWN_ELSEWHERE: [&str; 6] = [
    "between_next",
    "files_asked",
    "is_create",
    "step",
    "size_bytes",
    "real_ns",
];

/// Values by name.
type ShownValues = BTreeMap<String, String>;

/// Returns the results of a phase as rows of name and value, where they are single or few values.
pub(crate) fn rows(record: &RunRecord, cell: &CellRecord) -> Vec<[String; 2]> {
    let Some(figures) = &cell.phase_figures else {
        return Vec::new();
    };
    let mut planned = record.plan.cells.iter();
    let planned = planned.find(|planned| planned.index == cell.index);
    let mut shown = ShownValues::new();
    // Only PostMark has a pool, and only its output depends on the version.
    let with_pool = planned.filter(|_| figures.pool.is_some());
    if let Some(compat) = with_pool.and_then(|planned| front::pool_version(record, planned)) {
        show(&mut shown, "compat", compat.name());
    }
    show_rounds(&mut shown, figures);
    if let Some(round) = &figures.reported_round {
        show_reported_round(&mut shown, figures, round);
    }
    if let Some(pool) = &figures.pool {
        show_pool(&mut shown, pool);
    }
    shown.extend(untyped_results(&figures.figures_before));
    let phase = cell.phase.name();
    let name = |name: String| match phase {
        // PostMark's results are all in this phase, so they need no prefix to be distinct.
        TRANSACTIONS => name,
        _ => format!("{phase}: {name}"),
    };
    let rows = shown.into_iter();
    rows.map(|(key, value)| [name(words(&key)), value])
        .collect()
}

/// Converts a key to words, without its unit.
fn words(key: &str) -> String {
    match key {
        // Without its unit, this would be the name of their number.
        TRANSACTIONS_TIME => "transactions time".to_owned(),
        _ => key.trim_end_matches("_ns").replace('_', " "),
    }
}

fn show(shown: &mut ShownValues, name: &str, value: impl ToString) {
    shown.insert(name.to_owned(), value.to_string());
}

fn show_rounds(shown: &mut ShownValues, figures: &PhaseFigures) {
    let rounds = &figures.rounds;
    // A single round has the same results as the phase.
    if rounds.len() < 2 {
        return;
    }
    show(shown, "iterations", rounds.len());
    // Only the file work of format 1 recorded rounds.
    let is_of_files = figures.fileset().is_some() || !figures.figures_before.is_empty();
    let file_rounds = rounds.iter().filter(|_| is_of_files);
    let rates: Vec<f64> = file_rounds.map(RoundFigures::files_per_second).collect();
    let syncs = rounds.iter().filter_map(|round| round.sync_ns);
    let syncs: Vec<f64> = syncs.map(|sync_ns| sync_ns as f64).collect();
    for (name, values) in [("files_per_second", rates), ("sync_ns", syncs)] {
        shown.extend(joined_values(&values).map(|values| (name.to_owned(), values)));
    }
}

fn joined_values(values: &[f64]) -> Option<String> {
    let numbers: Vec<String> = values.iter().map(|value| format!("{value:.1}")).collect();
    (1..=VALUES_MAX)
        .contains(&values.len())
        .then(|| numbers.join(", "))
}

fn show_reported_round(shown: &mut ShownValues, figures: &PhaseFigures, round: &ReportedRound) {
    let [time, rate] = match round.rule {
        RoundRule::Best => ["best_ns", "best_files_per_second"],
        RoundRule::Median => ["median_ns", "median_files_per_second"],
    };
    show(shown, time, format::latency_ns(round.time_ns));
    if round.rule == RoundRule::Best {
        show(shown, "passes", round.round_count);
    }
    if let Some(fileset) = figures.fileset() {
        show(shown, "files", fileset.file_count);
    }
    if let Some(per_second) = figures.reported_files_per_second(round.rule) {
        show(shown, rate, real(per_second));
    }
}

fn show_pool(shown: &mut ShownValues, pool: &PoolFigures) {
    for (name, count) in [
        ("transactions", pool.transactions_count),
        ("created", pool.created_count),
        ("created_alone", pool.created_before_count),
        ("created_mixed", pool.created_mixed_count()),
        ("read", pool.read_count),
        ("appended", pool.appended_count),
        ("deleted", pool.deleted_count),
        ("deleted_alone", pool.deleted_after_count),
        ("deleted_mixed", pool.deleted_mixed_count()),
        ("read_bytes", pool.read_bytes),
        ("written_bytes", pool.written_bytes),
    ] {
        show(shown, name, count);
    }
    for (name, time_ns) in [
        ("total_ns", pool.total_ns()),
        ("creation_ns", pool.creation_ns),
        (TRANSACTIONS_TIME, pool.transactions_ns),
        ("deletion_ns", pool.deletion_ns),
    ] {
        show(shown, name, format::latency_ns(time_ns));
    }
    for (name, value) in [
        ("transactions_per_second", pool.transactions_per_second()),
        ("read_mib", pool.read_bytes as f64 / MIB),
        ("written_mib", pool.written_bytes as f64 / MIB),
        // PostMark adds up bytes as 32-bit floats, so its own output has these totals.
        ("read_mib_float32", pool.read_bytes_float / MIB),
        ("written_mib_float32", pool.written_bytes_float / MIB),
    ] {
        show(shown, name, real(value));
    }
}

fn real(value: f64) -> String {
    format!("{value:.2}")
}

/// Returns untyped results of a record in format 1.
fn untyped_results(before: &BTreeMap<String, Value>) -> ShownValues {
    let shown = |key: &str, value: &Value| match value {
        Value::Number(number) if key.ends_with("_ns") => number.as_u64().map(format::latency_ns),
        Value::Number(number) if number.is_f64() => number.as_f64().map(real),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => {
            let numbers: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
            // Values that are not numbers are gone from `numbers`, so the original length decides.
            joined_values(&numbers).filter(|_| values.len() <= VALUES_MAX)
        }
        _ => None,
    };
    let entries = before.iter();
    entries
        .filter(|(key, _)| !SHOWN_ELSEWHERE.contains(&key.as_str()))
        .filter_map(|(key, value)| Some((key.clone(), shown(key, value)?)))
        .collect()
}
