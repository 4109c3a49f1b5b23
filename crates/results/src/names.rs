//! Names for numbered counters.

use std::collections::BTreeMap;

use stats::{Counter, ERRNO_OTHER, Interval};

use crate::{ErrnoCount, OperationFigures, Operations, TransactionFigures};

/// The headline operations of a workload that uses any of them.
// `read_whole` opens, reads and closes a small file by linked requests of a ring.
pub(crate) const DATA_OPERATIONS: [&str; 3] = ["read", "read_whole", "write"];

/// Names of counters, by number.
#[derive(Debug, Clone, Copy)]
pub struct CounterNames<'a> {
    /// Names of the operations.
    pub operations: &'a [&'a str],
    /// Names of the kinds of transaction.
    pub transactions: &'a [&'a str],
}

impl CounterNames<'_> {
    /// The name with this number; if there is none, a text with the number.
    pub(crate) fn of(names: &[&str], index: usize) -> String {
        names
            .get(index)
            .map_or_else(|| format!("number {index}"), |name| (*name).to_owned())
    }

    /// Results of the operations that were done or attempted in `length_ns` of measured time.
    #[must_use]
    pub fn operations_of(self, totals: &Interval, length_ns: u64) -> Operations {
        totals
            .operations()
            .filter(|(_, counter)| !counter.is_empty())
            .map(|(index, counter)| {
                (
                    Self::of(self.operations, index),
                    OperationFigures::of(counter, length_ns),
                )
            })
            .collect()
    }

    /// Results per kind of transaction over `length_ns` of measured time.
    #[must_use]
    pub fn transactions_of(
        self,
        totals: &Interval,
        length_ns: u64,
    ) -> BTreeMap<String, TransactionFigures> {
        totals
            .transactions()
            .iter()
            .enumerate()
            .filter(|(_, counter)| !counter.is_empty())
            .map(|(kind, counter)| {
                (
                    Self::of(self.transactions, kind),
                    TransactionFigures::of(counter, length_ns),
                )
            })
            .collect()
    }

    /// Headline counter of a workload: the operations that move bytes, `read` and `write`, or all
    /// operations if none moves bytes.
    ///
    /// Opening and closing a connection, for example, are not requests of the workload.
    #[must_use]
    pub fn headline(self, totals: &Interval) -> Counter {
        let mut moving = Counter::new();
        for (index, counter) in totals.operations() {
            let name = self.operations.get(index);
            if name.is_some_and(|name| DATA_OPERATIONS.contains(name)) {
                moving.merge(counter);
            }
        }
        if moving.is_empty() {
            totals.total()
        } else {
            moving
        }
    }

    /// Failed operations by name and error number.
    #[must_use]
    pub fn errors_of(self, totals: &Interval) -> Vec<ErrnoCount> {
        let mut errors = Vec::new();
        for (index, counter) in totals.operations() {
            errors.extend(counter.errnos().map(|(errno, count)| ErrnoCount {
                operation: Self::of(self.operations, index),
                errno,
                message: errno_message(errno),
                count,
            }));
        }
        errors
    }
}

/// The system's text for an error number, without the number.
fn errno_message(errno: i32) -> String {
    if errno == ERRNO_OTHER {
        return "an error number that Linux does not have".to_owned();
    }
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    // The record has the number in a separate field.
    text.split_once(" (os error")
        .map_or(text.as_str(), |(message, _)| message)
        .to_owned()
}
