//! Parts of a cell: its operations, and its transactions if they are something else.

use plan::job::{RecordedPlan, TracePlan};
use results::{CellRecord, IntervalRecord, OperationFigures, Phase, RunRecord, TransactionFigures};

/// Returns the operations that succeeded or failed at least once. Reads and writes come first.
#[must_use]
pub fn operations(cell: &CellRecord) -> Vec<(&str, &OperationFigures)> {
    let done = cell.operations.iter();
    let done = done.filter(|(_, figures)| figures.count > 0 || figures.errors > 0);
    let mut parts: Vec<_> = done
        .map(|(name, figures)| (name.as_str(), figures))
        .collect();
    // A stable sort, so the other operations stay in alphabetical order.
    parts.sort_by_key(|(name, _)| match *name {
        "read" => 0,
        "write" => 1,
        _ => 2,
    });
    parts
}

/// Operations that a cell's total counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedOperations {
    /// All operations.
    All,
    /// Reads and writes, but no other operations.
    ReadsAndWrites,
    /// Operations of a classic program on whole files, of several system calls each.
    FileOperations,
}

impl CountedOperations {
    /// Returns the operations that the total of this cell counts.
    #[must_use]
    pub fn of(cell: &CellRecord) -> Self {
        if is_classic(cell) {
            return Self::FileOperations;
        }
        let moving = operations(cell)
            .into_iter()
            .filter(|(name, _)| moves_bytes(name));
        // The same rule by which the recorder counts a cell's total.
        match moving.count() {
            0 => Self::All,
            count if count == operations(cell).len() => Self::All,
            _ => Self::ReadsAndWrites,
        }
    }

    /// Returns the rate of an interval, per second; `None` for operations on whole files, which
    /// intervals do not count.
    #[must_use]
    pub fn rate(self, interval: &IntervalRecord) -> Option<f64> {
        let counted = interval.operations.iter();
        let counted = counted.filter(|(name, _)| self != Self::ReadsAndWrites || moves_bytes(name));
        let counts = counted.map(|(_, figures)| figures.count);
        let rate = results::per_second(counts.fold(0, u64::saturating_add), interval.length_ns);
        (self != Self::FileOperations).then_some(rate)
    }

    /// Returns the names of the counted operations; `None` for operations on whole files, which
    /// intervals do not count.
    #[must_use]
    pub fn names(self, cell: &CellRecord) -> Option<Vec<&str>> {
        let names = cell.operations.keys().map(String::as_str);
        let counted = names.filter(|name| self != Self::ReadsAndWrites || moves_bytes(name));
        (self != Self::FileOperations).then(|| counted.collect())
    }

    /// Returns the name of the total's rate.
    #[must_use]
    pub fn rate_name(self) -> &'static str {
        match self {
            Self::All => "operations per second",
            Self::ReadsAndWrites => "reads and writes per second",
            Self::FileOperations => "file operations per second",
        }
    }
}

fn moves_bytes(operation: &str) -> bool {
    ["read", "write"].contains(&operation)
}

/// Returns `true` if the cell is a phase of a classic program.
#[must_use]
pub fn is_classic(cell: &CellRecord) -> bool {
    matches!(cell.phase, Phase::Classic(_))
}

/// Returns the requests and the trace that a cell replays; `None` for other work.
#[must_use]
pub fn replayed<'a>(
    record: &'a RunRecord,
    cell: &CellRecord,
) -> Option<(&'a RecordedPlan, &'a TracePlan)> {
    let workers = &record.plan.cell(cell.index)?.workers;
    let jobs = workers.iter().filter_map(|worker| worker.job.as_deref());
    let mut recorded = jobs.filter_map(|job| job.recorded.as_ref());
    recorded.find_map(|it| Some((it, it.trace.as_ref()?)))
}

/// Returns the kinds of transaction to list. Omits those that are single operations, and the only
/// kind in a classic program's phase, which equals the total.
pub fn distinct_transactions(
    cell: &CellRecord,
) -> impl Iterator<Item = (&str, &TransactionFigures)> {
    let flows = cell
        .transactions
        .values()
        .fold(0, |sum: u64, kind| sum.saturating_add(kind.count));
    let has_several = is_classic(cell) && cell.transactions.len() > 1;
    // The total of a cell with reads or writes leaves trims out.
    let requests = cell.operations.iter();
    let requests = requests.filter(|(name, _)| moves_bytes(name) || *name == "trim");
    let requests = requests.fold(0, |sum: u64, (_, it)| sum.saturating_add(it.count));
    // If the counts are equal, every transaction is a single operation.
    let are_distinct = ![cell.total.count, requests].contains(&flows) || has_several;
    cell.transactions
        .iter()
        .filter(move |(_, kind)| are_distinct && kind.count > 0)
        .map(|(name, kind)| (name.as_str(), kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_total_of_reads_and_writes_is_named_so_if_there_are_others() {
        let mut cell = sample::record().cells.remove(0);
        let mut interval = cell.intervals[0].clone();
        assert_eq!(CountedOperations::of(&cell), CountedOperations::All);
        assert_eq!(CountedOperations::All.rate(&interval), Some(1_000.0));
        cell.operations
            .insert("close".to_owned(), cell.operations["read"].clone());
        let figures = interval.operations["read"];
        interval.operations.insert("close".to_owned(), figures);
        assert_eq!(
            CountedOperations::of(&cell),
            CountedOperations::ReadsAndWrites
        );
        assert_eq!(
            CountedOperations::ReadsAndWrites.names(&cell),
            Some(vec!["read", "write"])
        );
        assert_eq!(
            CountedOperations::All.names(&cell).map(|it| it.len()),
            Some(3)
        );
        assert_eq!(
            CountedOperations::ReadsAndWrites.rate(&interval),
            Some(1_000.0)
        );
        assert!(CountedOperations::All.rate(&interval) > Some(1_000.0));
        assert_eq!(CountedOperations::FileOperations.rate(&interval), None);
    }

    #[test]
    fn a_cell_that_moves_no_bytes_counts_everything() {
        let mut cell = sample::record().cells.remove(1);
        let read = cell.operations.remove("read").unwrap();
        cell.operations.insert("unlink".to_owned(), read);
        assert_eq!(CountedOperations::of(&cell), CountedOperations::All);
    }

    #[test]
    fn a_phase_of_a_classic_counts_operations_on_whole_files() {
        let mut cell = sample::record().cells.remove(0);
        assert_eq!(distinct_transactions(&cell).count(), 0);
        cell.phase = Phase::Classic("transactions".to_owned());
        assert_eq!(
            CountedOperations::of(&cell),
            CountedOperations::FileOperations
        );
        assert_eq!(distinct_transactions(&cell).count(), 0);
        let transfer = cell.transactions["transfer"].clone();
        cell.transactions.insert("append".to_owned(), transfer);
        assert_eq!(distinct_transactions(&cell).count(), 2);
    }

    #[test]
    fn operations_that_move_bytes_come_first() {
        let mut cell = sample::record().cells.remove(0);
        for name in ["append", "zap"] {
            cell.operations
                .insert(name.to_owned(), cell.operations["read"].clone());
        }
        let names: Vec<&str> = operations(&cell)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["read", "write", "append", "zap"]);
    }
}
