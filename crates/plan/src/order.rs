//! The order of the cells within a repetition.

use crate::worker_seed;

/// Separates these draws from the workers' seeds, which are derived from the same number.
const ORDER_SALT: u64 = 0x6f72_6465_7221_2121;

/// The order in which the cells of a repetition (0-based) are measured, as indexes into the order
/// of the file. The first repetition keeps that order; each further one has its own, drawn from the
/// seed.
///
/// With a fixed order, each cell would always meet the same part of a drift and follow the same
/// cell. A random order turns both effects into scatter, which the confidence intervals cover.
/// Source: Fisher, "The Design of Experiments", 1935, chapter 2; the shuffle is Durstenfeld's,
/// Communications of the ACM 7, 1964.
#[must_use]
pub fn order_of_repetition(count: usize, seed: u64, repetition: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if repetition == 0 {
        return order;
    }
    let stream = worker_seed(seed ^ ORDER_SALT, repetition);
    for (draw, last) in (0..).zip((1..count).rev()) {
        let random = u128::from(worker_seed(stream, draw));
        // The upper half of the product is at most `last`; its bias is below 2^-50.
        let other = (random * (last as u128 + 1)) >> 64;
        order.swap(last, other as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_repetition_keeps_the_order_of_the_file() {
        assert_eq!(order_of_repetition(5, 7, 0), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn every_cell_runs_once_in_each_repetition() {
        for (count, seed, repetition) in [(0, 1, 1), (1, 1, 1), (2, 1, 3), (100, 9, 2)] {
            let mut order = order_of_repetition(count, seed, repetition);
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn order_depends_only_on_seed_and_repetition() {
        let order = |seed, repetition| order_of_repetition(20, seed, repetition);
        assert_eq!(order(1, 1), order(1, 1));
        assert_ne!(order(1, 1), order(2, 1));
        assert_ne!(order(1, 1), order(1, 2));
    }

    #[test]
    fn every_cell_is_at_every_position_equally_often() {
        let mut counts = [[0_u32; 4]; 4];
        for repetition in 1..=8000 {
            for (position, cell) in order_of_repetition(4, 1, repetition)
                .into_iter()
                .enumerate()
            {
                counts[cell][position] += 1;
            }
        }
        // 2000 each, standard deviation 39.
        let all = counts.iter().flatten();
        assert!(
            all.clone().all(|count| (1830..2170).contains(count)),
            "{counts:?}"
        );
    }
}
