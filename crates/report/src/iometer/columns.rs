//! The 80 columns of Iometer 1.1.0, and rows filled by column name.

/// Column heads, in order.
pub const HEADERS: [&str; 80] = [
    // The apostrophe marks a line of heads in all of Iometer's files.
    "'Target Type",
    "Target Name",
    "Access Specification Name",
    "# Managers",
    "# Workers",
    "# Disks",
    "IOps",
    "Read IOps",
    "Write IOps",
    "MiBps (Binary)",
    "Read MiBps (Binary)",
    "Write MiBps (Binary)",
    "MBps (Decimal)",
    "Read MBps (Decimal)",
    "Write MBps (Decimal)",
    "Transactions per Second",
    "Connections per Second",
    "Average Response Time",
    "Average Read Response Time",
    "Average Write Response Time",
    "Average Transaction Time",
    "Average Connection Time",
    "Maximum Response Time",
    "Maximum Read Response Time",
    "Maximum Write Response Time",
    "Maximum Transaction Time",
    "Maximum Connection Time",
    "Errors",
    "Read Errors",
    "Write Errors",
    "Bytes Read",
    "Bytes Written",
    "Read I/Os",
    "Write I/Os",
    "Connections",
    "Transactions per Connection",
    "Total Raw Read Response Time",
    "Total Raw Write Response Time",
    "Total Raw Transaction Time",
    "Total Raw Connection Time",
    "Maximum Raw Read Response Time",
    "Maximum Raw Write Response Time",
    "Maximum Raw Transaction Time",
    "Maximum Raw Connection Time",
    "Total Raw Run Time",
    "Starting Sector",
    "Maximum Size",
    "Queue Depth",
    "% CPU Utilization",
    "% User Time",
    "% Privileged Time",
    "% DPC Time",
    "% Interrupt Time",
    "Processor Speed",
    "Interrupts per Second",
    "CPU Effectiveness",
    "Packets/Second",
    "Packet Errors",
    "Segments Retransmitted/Second",
    "0 to 50 uS",
    "50 to 100 uS",
    "100 to 200 uS",
    "200 to 500 uS",
    "0.5 to 1 mS",
    "1 to 2 mS",
    "2 to 5 mS",
    "5 to 10 mS",
    "10 to 15 mS",
    "15 to 20 mS",
    "20 to 30 mS",
    "30 to 50 mS",
    "50 to 100 mS",
    "100 to 200 mS",
    "200 to 500 mS",
    "0.5 to 1 S",
    "1 to 2 s",
    "2 to 4.7 s",
    "4.7 to 5 s",
    "5 to 10 s",
    // Programs compare heads exactly, so Iometer's leading blank stays.
    " >= 10 s",
];

/// Index of the first latency bin. Rows of processors end before it.
pub const BIN_FIRST: usize = 59;

/// Upper bounds of the bins according to their labels, in nanoseconds; the last bin has none.
// Iometer itself counts with 1/67 s, 1/33 s and 4 s under three of these labels.
pub const BIN_BOUNDS_NS: [u64; 20] = [
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    15_000_000,
    20_000_000,
    30_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    4_700_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// A row of the table. Fields are empty until set.
#[derive(Debug, Clone)]
pub struct IometerRow {
    fields: [String; HEADERS.len()],
}

impl IometerRow {
    /// Creates a row with its first two fields.
    pub fn new(kind: &str, name: &str) -> Self {
        let mut row = Self {
            fields: std::array::from_fn(|_| String::new()),
        };
        row.text("'Target Type", kind);
        row.text("Target Name", &super::name(name));
        row
    }

    /// Sets a field to a text.
    pub fn text(&mut self, head: &str, text: &str) {
        // By name, because versions of the file have 56, 59 or 80 columns.
        let index = HEADERS.iter().position(|known| *known == head);
        let index = index.expect("fields are only set under the heads of Iometer's 80 columns");
        text.clone_into(&mut self.fields[index]);
    }

    /// Sets a field to a whole number.
    pub fn integer(&mut self, head: &str, value: u64) {
        self.text(head, &value.to_string());
    }

    /// Sets a field to a real number with six decimals, as Iometer does. The field stays empty if
    /// the number is not finite.
    pub fn real(&mut self, head: &str, value: f64) {
        if value.is_finite() {
            self.text(head, &format!("{value:.6}"));
        }
    }

    /// Sets the latency bins.
    pub fn bins(&mut self, counts: &[u64]) {
        for (field, count) in self.fields[BIN_FIRST..].iter_mut().zip(counts) {
            *field = count.to_string();
        }
    }

    /// Returns the whole row as a line.
    pub fn line(&self) -> String {
        self.fields.join(",")
    }

    /// Returns the row without latency bins, for processors.
    pub fn line_without_bins(&self) -> String {
        self.fields[..BIN_FIRST].join(",")
    }
}
