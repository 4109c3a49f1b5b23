//! Whether file systems have room for what workers are about to write, all of them together.

use std::collections::BTreeMap;

/// What is left of each file system's free bytes once the workers that asked have theirs.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    /// By device number.
    left_bytes: BTreeMap<u64, u64>,
}

impl Rooms {
    /// Takes a worker's bytes from its file system, which had `free_bytes` before anybody took
    /// some; false, and nothing is taken, where they do not fit.
    pub fn take(&mut self, device: u64, free_bytes: u64, needed_bytes: u64) -> bool {
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
    fn workers_share_the_room_of_their_own_file_system_only() {
        let (small, large) = (1, 2);
        let mut rooms = Rooms::default();
        assert!(rooms.take(large, 100, 40));
        assert!(rooms.take(large, 100, 40));
        assert!(!rooms.take(large, 100, 40));
        assert!(rooms.take(small, 50, 40));
        assert!(!rooms.take(small, 50, 40));
        assert!(rooms.take(large, 100, 20));
    }
}
