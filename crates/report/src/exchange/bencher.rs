//! JSON in the format of Bencher, which tracks benchmarks of a project over its history.
//!
//! Source: "Bencher Metric Format", Bencher documentation, 2025.

use results::RunRecord;
use serde_json::{Map, Value, json};

use crate::group::{Metric, Naming, RepeatedCell, groups};

/// Measures of a repeated cell: the names that Bencher uses, or similar ones. Times are in
/// nanoseconds, rates per second.
const MEASURES: [(&str, Metric); 5] = [
    ("throughput", Metric::PerSecond),
    ("bandwidth", Metric::BytesPerSecond),
    ("latency", Metric::LatencyMean),
    ("latency-p50", Metric::LatencyP50),
    ("latency-p99", Metric::LatencyP99),
];

/// Returns an object with an entry per repeated cell.
pub fn render(record: &RunRecord) -> String {
    let naming = Naming::of(record);
    let mut benchmarks = Map::new();
    for group in groups(record) {
        let measures = measures(&group);
        if !measures.is_empty() {
            let name = unused(&benchmarks, naming.place(&group.identity));
            benchmarks.insert(name, Value::Object(measures));
        }
    }
    format!("{:#}\n", Value::Object(benchmarks))
}

fn measures(group: &RepeatedCell<'_>) -> Map<String, Value> {
    let mut measures = Map::new();
    for (name, metric) in MEASURES {
        let Some(figure) = group.figure(metric) else {
            continue;
        };
        // No program moves bytes in all of its phases.
        if metric == Metric::BytesPerSecond && figure.mean == 0.0 {
            continue;
        }
        let interval = figure.interval.or_else(|| match metric {
            Metric::PerSecond => within(group),
            _ => None,
        });
        let mut measure = json!({ "value": figure.mean });
        if let Some([low, high]) = interval {
            measure["lower_value"] = low.into();
            measure["upper_value"] = high.into();
        }
        measures.insert(name.to_owned(), measure);
    }
    measures
}

/// Returns the 95 % interval of the rate within a cell that was measured once.
fn within(group: &RepeatedCell<'_>) -> Option<[f64; 2]> {
    let [cell] = group.cells[..] else {
        return None;
    };
    let within = cell.within.as_ref()?;
    within.ci95_low.zip(within.ci95_high).map(<[f64; 2]>::from)
}

/// Returns the name, with a number if another entry has it.
fn unused(benchmarks: &Map<String, Value>, name: String) -> String {
    if !benchmarks.contains_key(&name) {
        return name;
    }
    let numbered = (2_u64..).map(|number| format!("{name} ({number})"));
    let mut unused = numbered.filter(|name| !benchmarks.contains_key(name));
    unused.next().unwrap_or(name)
}
