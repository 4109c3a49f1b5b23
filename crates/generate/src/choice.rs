//! A weighted random choice in constant time.

use std::hint::select_unpredictable;

/// Walker's alias table: each column represents one alternative and part of another one.
///
/// Source: Vose, "A linear algorithm for generating random numbers with a given distribution",
/// IEEE TSE 17(9), 1991.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AliasTable {
    columns: Vec<AliasColumn>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct AliasColumn {
    /// Number of draws, of 2^32 in this column, that select the column's own alternative.
    own: u64,
    /// Alternative that the other draws select.
    alias: u32,
}

impl AliasTable {
    /// Creates a choice of alternatives, numbered from 0. Weights must be finite, not negative, and
    /// not all 0.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let count = weights.len() as f64;
        let mut shares: Vec<f64> = weights
            .iter()
            .map(|weight| weight / total * count)
            .collect();
        let mut columns: Vec<AliasColumn> = (0..weights.len() as u32)
            .map(|alias| AliasColumn {
                // Columns that rounding leaves over at the end keep all their draws.
                own: 1 << 32,
                alias,
            })
            .collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&index| shares[index] < 1.0);
        // Each turn completes one column, so there are at most as many turns as alternatives.
        while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
            columns[taker] = AliasColumn {
                own: (shares[taker] * (1_u64 << 32) as f64).round() as u64,
                alias: giver as u32,
            };
            shares[giver] -= 1.0 - shares[taker];
            if shares[giver] < 1.0 {
                large.pop();
                small.push(giver);
            }
        }
        Self { columns }
    }

    /// The alternative that 64 random bits select.
    #[inline]
    pub(crate) fn pick(&self, bits: u64) -> usize {
        let index = (((bits >> 32) * self.columns.len() as u64) >> 32) as usize;
        let column = self.columns[index];
        let own = (bits & u64::from(u32::MAX)) < column.own;
        // Branchless, because a branch predictor cannot predict a draw.
        select_unpredictable(own, index, column.alias as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use proptest::prelude::*;

    /// The exact probability of each alternative, read off the table.
    fn shares(weighted: &AliasTable) -> Vec<f64> {
        let count = weighted.columns.len();
        let mut shares = vec![0.0; count];
        for (index, column) in weighted.columns.iter().enumerate() {
            let own = column.own as f64 / (1_u64 << 32) as f64;
            shares[index] += own / count as f64;
            shares[column.alias as usize] += (1.0 - own) / count as f64;
        }
        shares
    }

    proptest! {
        #[test]
        fn the_table_represents_each_weight_to_within_a_billionth(
            weights in proptest::collection::vec(0.0_f64..100.0, 1..120),
        ) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 1.0);
            let table = AliasTable::new(&weights);
            for (share, weight) in shares(&table).iter().zip(&weights) {
                prop_assert!((share - weight / total).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn picks_follow_the_table() {
        let table = AliasTable::new(&[10.0, 0.0, 90.0]);
        let mut rng = Rng::new(1);
        let mut counts = [0_u32; 3];
        for _ in 0..100_000 {
            counts[table.pick(rng.next_u64())] += 1;
        }
        assert!((9_600..10_400).contains(&counts[0]));
        assert_eq!(counts[1], 0);
    }
}
