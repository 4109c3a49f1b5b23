//! The check sum of a run's results, by which IO500 recognizes edited result files.

use std::fmt;

/// Check sum of pairs of a key and its printed value, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CheckSum(u32);

impl CheckSum {
    /// Adds a value as it is printed.
    pub(super) fn add(&mut self, key: &str, value: &str) {
        let bytes = key.bytes().chain(value.bytes());
        self.0 ^= bytes.fold(0, |sum: u32, byte| {
            sum.rotate_left(2).wrapping_add(byte.into())
        });
    }

    /// Adds that the run breaks the rules.
    pub(super) fn add_invalid(&mut self) {
        self.add("valid", "NO");
    }
}

impl fmt::Display for CheckSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}", self.0)
    }
}
