//! Tables of processes and hosts. Large numbers are reduced to the extremes and the median.

use std::collections::BTreeMap;

use results::percentile_is_supported;
use results::{CellCluster, CellRecord, ClusterRecord, HostRecord, RankFigures, RunRecord};
use units::format;

use super::super::sentences::processor;
use super::super::tables::{of_places, places};
use super::LISTED_MAX;
use crate::numbers::{ABSENT, LatencyUnit, digits, percent};
use crate::representative::picks;
use crate::table::{Column, Table};
use crate::wrap::printable;

/// Head of the column that identifies a selected row.
const WHICH_HEADER: &str = "which";
/// Maximum number of lost processes listed if there are many processes.
const LOST_MAX: usize = 3;

/// Returns the hosts of a run with their distinguishing properties. If there are many, equal hosts
/// share a row.
pub fn hosts(cluster: &ClusterRecord) -> Table {
    let mut kinds: BTreeMap<[String; 3], Vec<&HostRecord>> = BTreeMap::new();
    for host in &cluster.hosts {
        kinds.entry(machine(host)).or_default().push(host);
    }
    let is_few = cluster.hosts.len() <= LISTED_MAX;
    let rows: Vec<Vec<String>> = match is_few {
        true => cluster.hosts.iter().map(|it| host_row(&[it])).collect(),
        false => kinds.values().map(|it| host_row(it)).collect(),
    };
    let mut table = Table::new(
        [
            Column::name("host"),
            Column::number("processes", 30),
            Column::name("kernel"),
            Column::name("processor"),
            Column::number("memory", 10),
        ],
        rows,
    );
    table.drop_uniform(&["kernel", "processor", "memory"]);
    table
}

fn host_row(equal_hosts: &[&HostRecord]) -> Vec<String> {
    let name = |host: &HostRecord| printable(&host.name);
    let names = match equal_hosts {
        [only] => name(only),
        [first, .., last] => format!(
            "{} hosts: {} to {}",
            equal_hosts.len(),
            name(first),
            name(last)
        ),
        [] => String::new(),
    };
    let processes: usize = equal_hosts.iter().map(|host| host.ranks.len()).sum();
    let mut row = vec![names, processes.to_string()];
    row.extend(
        equal_hosts
            .first()
            .map(|it| machine(it))
            .into_iter()
            .flatten(),
    );
    row
}

fn machine(host: &HostRecord) -> [String; 3] {
    let environment = &host.environment;
    let memory = match environment.memory_bytes {
        0 => String::new(),
        bytes => format::size(bytes),
    };
    [environment.kernel.clone(), processor(environment), memory].map(|it| printable(&it))
}

/// The rows of a table of processes.
struct RankRows<'a> {
    cluster: &'a CellCluster,
    median: Option<f64>,
    unit: LatencyUnit,
    has_errors: bool,
}

/// Returns the processes of a cell. If there are many, only the slowest three, the median, the
/// fastest and the lost ones.
pub fn ranks(cluster: &CellCluster, unit: LatencyUnit) -> Table {
    let rank_rows = RankRows {
        cluster,
        median: cluster.median_per_second(),
        unit,
        has_errors: cluster.ranks.iter().any(|it| it.errors > 0),
    };
    let rows = match cluster.ranks.len() > LISTED_MAX {
        true => rank_rows.picked(),
        false => cluster
            .ranks
            .iter()
            .map(|it| rank_rows.row("", it))
            .collect(),
    };
    let mut table = Table::new(rank_rows.columns(), rows);
    // Without a selection, all texts of this column are empty.
    table.drop_uniform(&[WHICH_HEADER]);
    table
}

impl RankRows<'_> {
    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![
            Column::name(WHICH_HEADER),
            Column::number("rank", u8::MAX),
            Column::name("host"),
            Column::number("operations", 7),
        ];
        columns.extend(self.has_errors.then(|| Column::number("errors", 20)));
        let unit = self.unit.name();
        columns.extend([
            Column::number("per s", 30),
            Column::number("of median %", 25),
            Column::number(&format!("p50 {unit}"), 10),
            Column::number(&format!("p99 {unit}"), 15),
            Column::number("begin µs", 9),
            Column::number("done s", 12),
            Column::number("clock ± µs", 5),
        ]);
        columns
    }

    fn picked(&self) -> Vec<Vec<String>> {
        let (lost, there): (Vec<&RankFigures>, Vec<&RankFigures>) = self
            .cluster
            .ranks
            .iter()
            .partition(|it| it.lost_ns.is_some());
        let rates: Vec<f64> = there.iter().map(|it| it.per_second).collect();
        let picked = picks(&rates).into_iter();
        let picked = picked.map(|(what, index)| self.row(what, there[index]));
        let lost = lost.into_iter().take(LOST_MAX);
        picked.chain(lost.map(|it| self.row("lost", it))).collect()
    }

    fn row(&self, label: &str, rank: &RankFigures) -> Vec<String> {
        let mut row = vec![
            label.to_owned(),
            rank.rank.to_string(),
            printable(&rank.host),
        ];
        if let Some(lost_ns) = rank.lost_ns {
            // All columns up to `done s`, which then shows the time of the loss.
            let absent = 7 + usize::from(self.has_errors);
            row.extend(vec![ABSENT.to_owned(); absent]);
            let done = row.len() - 1;
            row[done] = format!("lost at {}", seconds(lost_ns));
            row.push(ABSENT.to_owned());
            return row;
        }
        let percentile = |ns: Option<u64>, percent| {
            let ns = ns.filter(|_| percentile_is_supported(rank.count, percent));
            self.unit.show(ns.map(|ns| ns as f64))
        };
        row.push(format::count(rank.count));
        row.extend(self.has_errors.then(|| format::count(rank.errors)));
        row.extend([
            format::iops(rank.per_second),
            percent_of_median(rank.per_second, self.median),
            percentile(rank.p50_ns, 50.0),
            percentile(rank.p99_ns, 99.0),
            digits(rank.begin_ns as f64 / 1e3),
            seconds(rank.done_ns),
            digits(rank.clock.bound_ns as f64 / 1e3),
        ]);
        row
    }
}

fn seconds(ns: u64) -> String {
    digits(ns as f64 / 1e9)
}

fn percent_of_median(rate: f64, median: Option<f64>) -> String {
    let median = median.filter(|it| *it > 0.0);
    median.map_or_else(|| ABSENT.to_owned(), |median| percent(rate / median))
}

/// The processes of a host.
#[derive(Default)]
struct HostRanks<'a> {
    present: Vec<&'a RankFigures>,
    lost_count: usize,
}

impl HostRanks<'_> {
    fn sum(&self, of: fn(&RankFigures) -> f64) -> f64 {
        self.present.iter().map(|it| of(it)).sum()
    }

    fn mean(&self) -> f64 {
        // A host can have lost all its processes.
        self.sum(|it| it.per_second) / self.present.len().max(1) as f64
    }
}

/// Returns the processes of a cell by host. If there are many hosts, only the extremes and the
/// median. `None` for a single host.
pub fn by_host(cluster: &CellCluster) -> Option<Table> {
    let mut hosts: Vec<(&str, HostRanks)> = Vec::new();
    let mut host_indexes: BTreeMap<&str, usize> = BTreeMap::new();
    for rank in &cluster.ranks {
        let index = *host_indexes.entry(rank.host.as_str()).or_insert_with(|| {
            hosts.push((&rank.host, HostRanks::default()));
            hosts.len() - 1
        });
        match rank.lost_ns {
            None => hosts[index].1.present.push(rank),
            Some(_) => hosts[index].1.lost_count += 1,
        }
    }
    let median = cluster.median_per_second();
    let row =
        |label: &str, (name, host): &(&str, HostRanks)| host_figures(label, name, host, median);
    let rows: Vec<Vec<String>> = match hosts.len() {
        0 | 1 => return None,
        count if count <= LISTED_MAX => hosts.iter().map(|it| row("", it)).collect(),
        _ => {
            // Hosts may have different numbers of processes, so they are compared by process.
            let rates: Vec<f64> = hosts.iter().map(|(_, it)| it.mean()).collect();
            let picked = picks(&rates).into_iter();
            picked
                .map(|(what, host_index)| row(what, &hosts[host_index]))
                .collect()
        }
    };
    let mut table = Table::new(
        [
            Column::name(WHICH_HEADER),
            Column::name("host"),
            Column::number("processes", 10),
            Column::number("lost", 20),
            Column::number("operations", 7),
            Column::number("per s", 30),
            Column::number("each, of median %", 25),
            Column::number("slowest, of median %", 15),
        ],
        rows,
    );
    table.drop_uniform(&[WHICH_HEADER]);
    if hosts.iter().all(|(_, it)| it.lost_count == 0) {
        table.drop_column("lost");
    }
    Some(table)
}

fn host_figures(label: &str, name: &str, host: &HostRanks, median: Option<f64>) -> Vec<String> {
    let rates = host.present.iter().map(|it| it.per_second);
    let slowest = rates.reduce(f64::min);
    let count: u64 = host.present.iter().map(|it| it.count).sum();
    vec![
        label.to_owned(),
        printable(name),
        (host.present.len() + host.lost_count).to_string(),
        host.lost_count.to_string(),
        format::count(count),
        format::iops(host.sum(|it| it.per_second)),
        percent_of_median(host.mean(), median),
        slowest.map_or_else(|| ABSENT.to_owned(), |rate| percent_of_median(rate, median)),
    ]
}

/// Returns one row per cell, with its slowest process, and how well the times agree.
pub fn cells(record: &RunRecord) -> Option<Table> {
    let identity = places(record);
    let row = |cell: &CellRecord| Some([identity(cell), cell_row(cell.cluster.as_ref()?)].concat());
    let columns = [
        Column::number("slowest rank", 20),
        Column::name("on"),
        Column::number("of median %", 25),
        Column::number("start µs", 9),
        Column::number("clocks ± µs", 5),
        Column::number("drift ppb", 4),
        Column::number("tail ms", 12),
        Column::number("tail %", 15),
    ];
    of_places(columns, record.cells.iter().filter_map(row).collect())
}

fn cell_row(cluster: &CellCluster) -> Vec<String> {
    let present = cluster.ranks.iter().filter(|it| it.lost_ns.is_none());
    let slowest = present.min_by(|a, b| a.per_second.total_cmp(&b.per_second));
    let or_absent = |text: Option<String>| text.unwrap_or_else(|| ABSENT.to_owned());
    let median = cluster.median_per_second();
    vec![
        or_absent(slowest.map(|it| it.rank.to_string())),
        or_absent(slowest.map(|it| printable(&it.host))),
        or_absent(slowest.map(|it| percent_of_median(it.per_second, median))),
        digits(cluster.start_spread_ns as f64 / 1e3),
        digits(cluster.offset_bound_ns as f64 / 1e3),
        or_absent(cluster.drift_ppb.map(digits)),
        digits(cluster.tail_ns as f64 / 1e6),
        percent(cluster.tail_share),
    ]
}
