//! A time slice with all its counts.

use crate::Counter;

/// Operation numbers are below this limit.
pub const OPERATION_COUNT_MAX: usize = 32;

/// The counters of one time slice, of one worker or of several merged workers.
///
/// Memory is allocated for the operations and transaction kinds given at construction, and for
/// those that a merge adds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interval {
    /// Start of the slice, in nanoseconds since the start of the measurement.
    pub at_ns: u64,
    /// Length of the slice in nanoseconds; 0 if it is not known yet.
    pub length_ns: u64,
    // Unused operations have no counter, because each counter takes more than 20 KB.
    operations: [Option<Box<Counter>>; OPERATION_COUNT_MAX],
    transactions: Vec<Counter>,
}

impl Interval {
    /// An interval for these operation numbers and this many kinds of transaction.
    ///
    /// # Panics
    /// If an operation number is not below [`OPERATION_COUNT_MAX`].
    #[must_use]
    pub fn with(operations: impl IntoIterator<Item = usize>, kinds: usize) -> Self {
        let mut interval = Self::default();
        for index in operations {
            interval.operations[index].get_or_insert_default();
        }
        interval.transactions.resize_with(kinds, Counter::new);
        interval
    }

    /// An empty interval for the same operations and kinds.
    #[must_use]
    pub fn like(&self) -> Self {
        Self::with(
            self.operations().map(|(index, _)| index),
            self.transactions.len(),
        )
    }

    /// The counter of an operation of this interval.
    ///
    /// # Panics
    /// If the interval was not made for the operation.
    #[inline]
    pub fn operation_mut(&mut self, index: usize) -> &mut Counter {
        match self.operations.get_mut(index) {
            Some(Some(counter)) => counter,
            _ => panic_unannounced("operation", index),
        }
    }

    /// The counter of a transaction kind of this interval.
    ///
    /// # Panics
    /// If the interval was not made for the kind.
    #[inline]
    pub fn transaction_mut(&mut self, kind: usize) -> &mut Counter {
        match self.transactions.get_mut(kind) {
            Some(counter) => counter,
            None => panic_unannounced("transaction kind", kind),
        }
    }

    /// The counter of an operation, if the interval was made for it.
    #[must_use]
    pub fn operation(&self, index: usize) -> Option<&Counter> {
        self.operations.get(index)?.as_deref()
    }

    /// The counters with their operation numbers, ascending.
    pub fn operations(&self) -> impl Iterator<Item = (usize, &Counter)> + '_ {
        let numbered = self.operations.iter().enumerate();
        numbered.filter_map(|(index, counter)| Some((index, counter.as_deref()?)))
    }

    /// The counters of the transaction kinds, by kind number.
    #[must_use]
    pub fn transactions(&self) -> &[Counter] {
        &self.transactions
    }

    /// All kinds of transactions in one counter.
    #[must_use]
    pub fn all_transactions(&self) -> Counter {
        let mut all = Counter::new();
        self.transactions.iter().for_each(|kind| all.merge(kind));
        all
    }

    /// All operations in one counter.
    #[must_use]
    pub fn total(&self) -> Counter {
        let mut total = Counter::new();
        for (_, counter) in self.operations() {
            total.merge(counter);
        }
        total
    }

    /// `true` if nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut counters = self.operations().map(|(_, counter)| counter);
        counters.all(Counter::is_empty) && self.transactions.iter().all(Counter::is_empty)
    }

    /// End of the slice, in nanoseconds since the start of the measurement.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.length_ns)
    }

    /// Adds the counters of another interval; the slice becomes the shortest that covers both.
    ///
    /// A slice without length covers nothing, so merging into a new interval copies the other
    /// slice.
    pub fn merge(&mut self, other: &Self) {
        (self.at_ns, self.length_ns) = self.slice_with(other);
        for (index, counter) in other.operations() {
            self.operations[index]
                .get_or_insert_default()
                .merge(counter);
        }
        if self.transactions.len() < other.transactions.len() {
            self.transactions
                .resize_with(other.transactions.len(), Counter::new);
        }
        for (mine, others) in self.transactions.iter_mut().zip(&other.transactions) {
            mine.merge(others);
        }
    }

    /// Start and length of the shortest slice that covers this and another one.
    fn slice_with(&self, other: &Self) -> (u64, u64) {
        match (self.length_ns, other.length_ns) {
            (0, 0) => (self.at_ns.min(other.at_ns), 0),
            (0, _) => (other.at_ns, other.length_ns),
            (_, 0) => (self.at_ns, self.length_ns),
            _ => {
                let at_ns = self.at_ns.min(other.at_ns);
                (at_ns, self.end_ns().max(other.end_ns()) - at_ns)
            }
        }
    }

    /// Resets everything to zero, including the slice, and keeps the memory.
    pub fn clear(&mut self) {
        (self.at_ns, self.length_ns) = (0, 0);
        self.operations
            .iter_mut()
            .flatten()
            .for_each(|counter| counter.clear());
        self.transactions.iter_mut().for_each(Counter::clear);
    }
}

/// Panics: a generator issued an operation or transaction kind that it had not announced.
// Out of line, so that the hot path only compares an index.
#[cold]
#[inline(never)]
fn panic_unannounced(noun: &str, index: usize) -> ! {
    panic!("an interval is made for every {noun} that its generator issues, but not for {index}")
}

#[cfg(test)]
mod tests;
