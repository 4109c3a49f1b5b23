//! Values of a row. Rows of a higher level add up the rows of the level below.

use results::{Latency, OperationFigures, Operations};

use super::columns::{BIN_BOUNDS_NS, IometerRow};

/// Bytes per mebibyte and per megabyte.
const MEBI: f64 = 1_048_576.0;
const MEGA: f64 = 1e6;
/// Nanoseconds per millisecond.
const MILLI: f64 = 1e6;

/// Values of one direction.
#[derive(Debug, Clone, Copy, Default)]
struct Direction {
    count: u64,
    errors: u64,
    bytes: u64,
    per_second: f64,
    bytes_per_second: f64,
    latency: LatencySum,
}

/// Sum, count and maximum of latencies.
#[derive(Debug, Clone, Copy, Default)]
struct LatencySum {
    count: u64,
    sum_ns: u64,
    max_ns: u64,
}

impl LatencySum {
    fn of(latency: &Latency) -> Self {
        Self {
            count: latency.count,
            sum_ns: latency.sum_ns,
            max_ns: latency.max_ns.unwrap_or(0),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            sum_ns: self.sum_ns.saturating_add(other.sum_ns),
            max_ns: self.max_ns.max(other.max_ns),
        }
    }

    /// Returns the mean in milliseconds; 0 without samples, as in Iometer.
    fn mean_ms(self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum_ns as f64 / self.count as f64 / MILLI
        }
    }

    fn max_ms(self) -> f64 {
        self.max_ns as f64 / MILLI
    }
}

impl Direction {
    fn of(figures: Option<&OperationFigures>) -> Self {
        let Some(figures) = figures else {
            return Self::default();
        };
        Self {
            count: figures.count,
            errors: figures.errors,
            bytes: figures.bytes,
            per_second: figures.per_second,
            bytes_per_second: figures.bytes_per_second,
            latency: LatencySum::of(&figures.latency),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            errors: self.errors.saturating_add(other.errors),
            bytes: self.bytes.saturating_add(other.bytes),
            per_second: self.per_second + other.per_second,
            bytes_per_second: self.bytes_per_second + other.bytes_per_second,
            latency: self.latency.plus(other.latency),
        }
    }
}

/// Values of a row.
#[derive(Debug, Clone, Default)]
pub struct IometerFigures {
    read: Direction,
    write: Direction,
    transactions_per_second: f64,
    transaction: LatencySum,
    connections_per_second: f64,
    connections: u64,
    connection: LatencySum,
    bins: Vec<u64>,
    run_time_ns: u64,
}

/// Transactions and connections of a row.
#[derive(Debug, Clone, Copy, Default)]
pub struct IometerFlows<'a> {
    /// Number of successful transactions, without connections.
    pub transactions: u64,
    /// Latencies of the transactions; `None` if each transaction is a single operation.
    pub transaction_latency: Option<&'a Latency>,
    /// Number of connections that were opened and closed.
    pub connections: u64,
    /// Durations of the connections; `None` if there were none.
    pub connection_latency: Option<&'a Latency>,
}

impl IometerFigures {
    /// Computes the values from operations and flows over `run_time_ns`.
    pub fn of(operations: &Operations, run_time_ns: u64, flows: IometerFlows) -> Self {
        let read = Direction::of(operations.get("read"));
        let write = Direction::of(operations.get("write"));
        let mut bins = vec![0; BIN_BOUNDS_NS.len() + 1];
        // Iometer's bins count reads and writes together.
        for name in ["read", "write"] {
            if let Some(figures) = operations.get(name) {
                add(&mut bins, &figures.latency.counts_between(&BIN_BOUNDS_NS));
            }
        }
        Self {
            transactions_per_second: results::per_second(flows.transactions, run_time_ns),
            transaction: flows
                .transaction_latency
                // Without replies, every request is a transaction.
                .map_or_else(|| read.latency.plus(write.latency), LatencySum::of),
            connections_per_second: results::per_second(flows.connections, run_time_ns),
            connections: flows.connections,
            connection: flows
                .connection_latency
                .map(LatencySum::of)
                .unwrap_or_default(),
            read,
            write,
            bins,
            run_time_ns,
        }
    }

    /// Adds a row of the level below. Rates and counts are added; the run time is the longest.
    pub fn add(&mut self, below: &Self) {
        self.read = self.read.plus(below.read);
        self.write = self.write.plus(below.write);
        self.transactions_per_second += below.transactions_per_second;
        self.transaction = self.transaction.plus(below.transaction);
        self.connections_per_second += below.connections_per_second;
        self.connections = self.connections.saturating_add(below.connections);
        self.connection = self.connection.plus(below.connection);
        if self.bins.is_empty() {
            self.bins = vec![0; BIN_BOUNDS_NS.len() + 1];
        }
        add(&mut self.bins, &below.bins);
        self.run_time_ns = self.run_time_ns.max(below.run_time_ns);
    }

    /// Returns the requests per second in both directions.
    pub fn iops(&self) -> f64 {
        self.read.per_second + self.write.per_second
    }

    /// Fills in rates, times, counts and bins; raw times only with `raw`.
    pub fn fill(&self, row: &mut IometerRow, raw: bool) {
        self.fill_rates(row);
        self.fill_times(row);
        self.fill_counts(row);
        if raw {
            self.fill_raw(row);
        }
        row.bins(&self.bins);
    }

    fn fill_rates(&self, row: &mut IometerRow) {
        let bytes = self.read.bytes_per_second + self.write.bytes_per_second;
        for (head, per_second) in [
            ("IOps", self.iops()),
            ("Read IOps", self.read.per_second),
            ("Write IOps", self.write.per_second),
            ("MiBps (Binary)", bytes / MEBI),
            ("Read MiBps (Binary)", self.read.bytes_per_second / MEBI),
            ("Write MiBps (Binary)", self.write.bytes_per_second / MEBI),
            ("MBps (Decimal)", bytes / MEGA),
            ("Read MBps (Decimal)", self.read.bytes_per_second / MEGA),
            ("Write MBps (Decimal)", self.write.bytes_per_second / MEGA),
            ("Transactions per Second", self.transactions_per_second),
            ("Connections per Second", self.connections_per_second),
        ] {
            row.real(head, per_second);
        }
    }

    fn fill_times(&self, row: &mut IometerRow) {
        let both = self.read.latency.plus(self.write.latency);
        for (head, milliseconds) in [
            ("Average Response Time", both.mean_ms()),
            ("Average Read Response Time", self.read.latency.mean_ms()),
            ("Average Write Response Time", self.write.latency.mean_ms()),
            ("Average Transaction Time", self.transaction.mean_ms()),
            ("Average Connection Time", self.connection.mean_ms()),
            ("Maximum Response Time", both.max_ms()),
            ("Maximum Read Response Time", self.read.latency.max_ms()),
            ("Maximum Write Response Time", self.write.latency.max_ms()),
            ("Maximum Transaction Time", self.transaction.max_ms()),
            ("Maximum Connection Time", self.connection.max_ms()),
        ] {
            row.real(head, milliseconds);
        }
    }

    fn fill_counts(&self, row: &mut IometerRow) {
        for (head, count) in [
            ("Errors", self.read.errors.saturating_add(self.write.errors)),
            ("Read Errors", self.read.errors),
            ("Write Errors", self.write.errors),
            ("Bytes Read", self.read.bytes),
            ("Bytes Written", self.write.bytes),
            ("Read I/Os", self.read.count),
            ("Write I/Os", self.write.count),
            ("Connections", self.connections),
        ] {
            row.integer(head, count);
        }
    }

    fn fill_raw(&self, row: &mut IometerRow) {
        for (head, ns) in [
            ("Total Raw Read Response Time", self.read.latency.sum_ns),
            ("Total Raw Write Response Time", self.write.latency.sum_ns),
            ("Total Raw Transaction Time", self.transaction.sum_ns),
            ("Total Raw Connection Time", self.connection.sum_ns),
            ("Maximum Raw Read Response Time", self.read.latency.max_ns),
            ("Maximum Raw Write Response Time", self.write.latency.max_ns),
            ("Maximum Raw Transaction Time", self.transaction.max_ns),
            ("Maximum Raw Connection Time", self.connection.max_ns),
            ("Total Raw Run Time", self.run_time_ns),
        ] {
            row.integer(head, ns);
        }
    }
}

fn add(bins: &mut [u64], counts: &[u64]) {
    for (bin, count) in bins.iter_mut().zip(counts) {
        *bin = bin.saturating_add(*count);
    }
}
