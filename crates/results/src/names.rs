//! What counters count by number, by its name.

use std::collections::BTreeMap;

use stats::{Counter, ERRNO_OTHER, Interval};

use crate::{ErrnoCount, OperationFigures, Operations, TransactionFigures};

/// The operations that a workload is judged by, where it does any of them.
pub(crate) const MOVES_BYTES: [&str; 3] = ["read", "read_whole", "write"];

/// The names of what counters count, by their number.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// Of the operations.
    pub operations: &'a [&'a str],
    /// Of the kinds of transaction.
    pub transactions: &'a [&'a str],
}

impl Names<'_> {
    /// The name of this number; the number itself where there is none.
    pub(crate) fn of(names: &[&str], index: usize) -> String {
        names
            .get(index)
            .map_or_else(|| format!("number {index}"), |name| (*name).to_owned())
    }

    /// Figures of the operations that were done, or tried, in `length_ns` of measured time.
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

    /// Figures of the kinds of transaction that were done in `length_ns` of measured time.
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

    /// What a workload is judged by: the operations that move bytes, `read` and `write`; all
    /// operations where none was to move any.
    ///
    /// Opening and closing a connection, for instance, are no requests that the workload asks for.
    #[must_use]
    pub fn headline(self, totals: &Interval) -> Counter {
        let mut moving = Counter::new();
        for (index, counter) in totals.operations() {
            let name = self.operations.get(index);
            if name.is_some_and(|name| MOVES_BYTES.contains(name)) {
                moving.merge(counter);
            }
        }
        if moving.is_empty() {
            totals.total()
        } else {
            moving
        }
    }

    /// The failures by operation and cause.
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

/// What the system calls an error number, without the number itself.
fn errno_message(errno: i32) -> String {
    if errno == ERRNO_OTHER {
        return "an error number that Linux does not have".to_owned();
    }
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split_once(" (os error")
        .map_or(text.as_str(), |(message, _)| message)
        .to_owned()
}
