//! Checks that file systems have room for the data that all workers together will write.

use std::collections::BTreeMap;

/// Free bytes of each file system, minus the bytes reserved for workers.
#[derive(Debug, Default)]
pub(crate) struct UnreservedSpace {
    /// Bytes left, by device number.
    left_bytes: BTreeMap<u64, u64>,
}

impl UnreservedSpace {
    /// Reserves a worker's bytes on its file system, which had `free_bytes` before any reservation.
    /// Returns `false` and reserves nothing if they do not fit.
    pub fn take(&mut self, device: u64, free_bytes: u64, needed_bytes: u64) -> bool {
        // Targets on the same file system share its free space.
        let left = self.left_bytes.entry(device).or_insert(free_bytes);
        match left.checked_sub(needed_bytes) {
            Some(rest) => {
                *left = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_only_the_space_of_their_own_file_system() {
        let (small, large) = (1, 2);
        let mut rooms = UnreservedSpace::default();
        assert!(rooms.take(large, 100, 40));
        assert!(rooms.take(large, 100, 40));
        assert!(!rooms.take(large, 100, 40));
        assert!(rooms.take(small, 50, 40));
        assert!(!rooms.take(small, 50, 40));
        assert!(rooms.take(large, 100, 20));
    }
}
