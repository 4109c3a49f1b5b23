//! Random order of records: each record once, in the same order in every run.

use std::sync::Arc;

use plan::program::Card;

use crate::random::Mt19937x64;

// The original seeds its generator with these numbers in every run.
const SEED: [u64; 4] = [0x12345, 0x23456, 0x34567, 0x45678];

/// The numbers from 0 to `count` - 1 in a random order.
pub(super) fn shuffled(count: u32) -> Arc<[Card]> {
    let mut numbers: Vec<u32> = (0..count).collect();
    let mut twister = Mt19937x64::of(&SEED);
    // From the last record to the first, as in the original; the other direction gives another
    // order.
    for last in (0..count as usize).rev() {
        // Less than the number of records, so it fits.
        let other = (twister.next() % (last as u64 + 1)) as usize;
        numbers.swap(last, other);
    }
    let card = |number| Card { choice: 0, number };
    numbers.into_iter().map(card).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_shuffled_as_in_the_original() {
        let order: Vec<u32> = shuffled(16).iter().map(|card| card.number).collect();
        let wanted = [1, 5, 7, 13, 10, 6, 0, 8, 14, 3, 11, 2, 4, 12, 9, 15];
        assert_eq!(order, wanted);
        let order: Vec<u32> = shuffled(64).iter().map(|card| card.number).collect();
        assert_eq!(order[..8], [39, 53, 8, 3, 31, 29, 62, 1]);
        assert_eq!(order[61..], [40, 6, 63]);
    }
}
