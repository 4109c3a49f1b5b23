//! Every measured number with a unit on the pages of runs is one of the record.

use std::collections::BTreeMap;

use plan::CurvePart;
use report::html;
use results::{
    CellCluster, CellRecord, IntervalRecord, OpenLoopFigures, OperationFigures, RunRecord,
    per_second,
};
use serde_json::Value;
use stats::{CurveOrigin, ResponsePoint, overall_response_time};

use crate::shown::{Quantity, ShownNumber, numbers};
use crate::{made_up, runs};

/// Beginnings of remarks in parentheses with typical values of kinds of devices, which are not in
/// the record.
const TYPICAL_VALUES: [&str; 2] = ["(typical: ", "(SATA: "];

/// Parts of charts that are computed from histograms or from all values of another line.
const COMPUTED: [&str; 4] = [
    "of \"Latency by percentile\"",
    "in \"fitted line\"",
    "in \"mean +",
    "in \"mean -",
];

/// Values of records, in ascending order.
#[derive(Default)]
struct RecordedValues(Vec<(Quantity, f64)>);

impl RecordedValues {
    fn of(records: &[RunRecord]) -> Self {
        let mut values = Self::default();
        for record in records {
            let json = serde_json::to_value(record).expect("a record is JSON");
            values.add("", &json);
            record.cells.iter().for_each(|cell| values.add_cell(cell));
            values.add_load(&record.cells);
        }
        values.0.sort_by(|a, b| a.1.total_cmp(&b.1));
        values
    }

    /// Adds the numbers of a part of the record. Their keys name their units.
    fn add(&mut self, key: &str, value: &Value) {
        match value {
            Value::Object(map) if map.contains_key("metric") => self.add_estimate(map),
            Value::Object(map) => {
                // Numbers of an object have the unit of the object.
                let has_unit = quantity(key).is_some();
                for (name, value) in map.iter().filter(|(name, _)| *name != "histogram") {
                    self.add(if has_unit { key } else { name }, value);
                }
            }
            Value::Array(items) => items.iter().for_each(|it| self.add(key, it)),
            Value::Number(number) => {
                let value = number.as_f64().expect("it is finite");
                self.0.extend(quantity(key).map(|it| (it, value)));
            }
            _ => {}
        }
    }

    fn extend(&mut self, quantity: Quantity, values: impl IntoIterator<Item = f64>) {
        let values = values.into_iter().map(|value| (quantity, value));
        self.0.extend(values);
    }

    /// Adds a mean over repetitions, and the half-width of its interval.
    fn add_estimate(&mut self, estimate: &serde_json::Map<String, Value>) {
        let Some(name) = estimate["metric"].as_str() else {
            return;
        };
        let number = |name: &str| estimate.get(name).and_then(Value::as_f64);
        let ends = [number("ci95_low"), number("ci95_high")];
        let half = ends[0].zip(ends[1]).map(|(low, high)| (high - low) / 2.0);
        let values = [number("mean"), ends[0], ends[1], half];
        // The others are latencies.
        let quantity = quantity(name).unwrap_or(Quantity::Time);
        self.extend(quantity, values.into_iter().flatten());
    }

    /// Adds values that are computed from several ones of a cell.
    fn add_cell(&mut self, cell: &CellRecord) {
        let kinds = cell.transactions.values().map(|it| it.per_second);
        self.extend(Quantity::Rate, [kinds.sum()]);
        self.extend(Quantity::Rate, cell.transactions_per_second());
        cell.intervals.iter().for_each(|it| self.add_interval(it));
        for worker in &cell.worker_figures {
            let operations = || worker.operations.values();
            let bytes = operations().map(|it| it.bytes_per_second);
            self.extend(Quantity::Bandwidth, [bytes.sum()]);
            let rates = operations().map(|it| it.per_second);
            self.extend(Quantity::Rate, [rates.sum()]);
        }
        if let Some(device) = &cell.device {
            let time_ns = device.covered_ns.unwrap_or(cell.run_time_ns);
            let bytes = [device.read_bytes, device.write_bytes];
            let rates = bytes.map(|bytes| per_second(bytes, time_ns));
            self.extend(Quantity::Bandwidth, rates);
        }
        if let Some(CurvePart::Trial { limit, .. }) = cell.curve {
            self.extend(Quantity::Time, [limit.max_ns as f64]);
        }
        let pool = cell.phase_figures.as_ref().and_then(|it| it.pool.as_ref());
        let total_ns = pool.map(|it| it.creation_ns + it.transactions_ns + it.deletion_ns);
        self.extend(Quantity::Time, total_ns.map(|ns| ns as f64));
        cell.cluster.iter().for_each(|it| self.add_cluster(it));
    }

    fn add_interval(&mut self, interval: &IntervalRecord) {
        let rate = |amount| per_second(amount, interval.length_ns);
        let operations = || interval.operations.values();
        let bytes = operations().map(|it| rate(it.bytes));
        self.extend(Quantity::Bandwidth, bytes);
        // A cell counts all operations, or only some kinds.
        let counts = operations().map(|it| it.count);
        let all = operations().map(|it| it.count).sum();
        self.extend(Quantity::Rate, counts.chain([all]).map(rate));
    }

    fn add_cluster(&mut self, cluster: &CellCluster) {
        let mut hosts: BTreeMap<&str, f64> = BTreeMap::new();
        for rank in &cluster.ranks {
            *hosts.entry(&rank.host).or_default() += rank.per_second;
        }
        let median = cluster.median_per_second();
        self.extend(Quantity::Rate, hosts.into_values().chain(median));
    }

    /// Adds values that are computed from several cells at requested rates.
    fn add_load(&mut self, cells: &[CellRecord]) {
        let loads = cells.iter().filter_map(|cell| cell.open_loop.as_ref());
        let point = |load: &OpenLoopFigures| {
            Some(ResponsePoint {
                per_second: load.achieved_per_second,
                response_ns: load.response.mean_ns?,
            })
        };
        let mut points: Vec<ResponsePoint> = loads.filter_map(point).collect();
        points.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
        let overall = overall_response_time(&points, CurveOrigin::MeasuredOnly);
        self.extend(Quantity::Time, overall);
        // A search ends between two neighboring rates.
        let mut rates: Vec<f64> = cells.iter().map(|it| it.total.per_second).collect();
        rates.sort_by(f64::total_cmp);
        let middles = rates.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
        self.extend(Quantity::Rate, middles);
    }

    fn has(&self, shown: &ShownNumber) -> bool {
        let [low, high] = shown.range;
        // Half of the last digit may be rounded either way.
        let slack = 1e-9 * high.abs();
        let first = self.0.partition_point(|it| it.1 < low - slack);
        let mut near = self.0[first..].iter().take_while(|it| it.1 <= high + slack);
        near.any(|it| it.0 == shown.quantity)
    }
}

fn quantity(key: &str) -> Option<Quantity> {
    match key {
        _ if key.contains("bytes_per_second") => Some(Quantity::Bandwidth),
        _ if key.contains("per_second") || key == "within" => Some(Quantity::Rate),
        _ if key.ends_with("_ns") || key.contains("_ns_") => Some(Quantity::Time),
        "count" | "errors" => Some(Quantity::Count),
        _ => None,
    }
}

/// Returns the numbers of a page that none of its records has, and the number of all.
fn unknown(page: &str, records: &[RunRecord]) -> (Vec<String>, usize) {
    let values = RecordedValues::of(records);
    let mut page = page.to_owned();
    for remark in TYPICAL_VALUES {
        while let Some(start) = page.find(remark) {
            let end = page[start..].find(')').expect("a remark ends");
            page.replace_range(start..=start + end, "");
        }
    }
    let shown = numbers(&page);
    let is_computed = |it: &ShownNumber| COMPUTED.iter().any(|part| it.context.contains(part));
    let unknown = shown
        .iter()
        .filter(|it| !is_computed(it) && !values.has(it));
    let unknown = unknown.map(|it| it.context.clone()).collect();
    (unknown, shown.len())
}

#[test]
fn every_number_with_a_unit_is_in_the_record() {
    let mut count = 0;
    for (name, records) in runs::pages() {
        // Its cells are like others, and there are too many to search.
        if name == "thousand" {
            continue;
        }
        let page = html(&records);
        let (found, shown_count) = unknown(&page, &records);
        assert!(found.is_empty(), "{name}: {found:#?}");
        count += shown_count;
    }
    assert!(count > 20_000, "only {count} numbers were found");
}

#[test]
fn a_number_of_another_record_is_found() {
    let record = made_up::single();
    let page = html(std::slice::from_ref(&record));
    assert!(unknown(&page, std::slice::from_ref(&record)).0.is_empty());
    let changes: [fn(&mut OperationFigures); 3] = [
        |total| total.per_second *= 1.001,
        |total| total.bytes_per_second *= 1.001,
        |total| total.latency.mean_ns = total.latency.mean_ns.map(|ns| ns * 1.001),
    ];
    for change in changes {
        let mut other = record.clone();
        change(&mut other.cells[0].total);
        assert!(!unknown(&page, &[other]).0.is_empty());
    }
}
