//! Selects a few representative rates from a large number.

/// Maximum number of selected rates.
pub const PICKED_MAX: usize = 5;

/// Returns the indexes of the slowest three, the median and the fastest rate, with their names.
/// Each index appears once, even if there are fewer rates.
pub fn picks(rates: &[f64]) -> Vec<(&'static str, usize)> {
    let mut order: Vec<usize> = (0..rates.len()).collect();
    order.sort_by(|a, b| rates[*a].total_cmp(&rates[*b]));
    let Some(last) = order.len().checked_sub(1) else {
        return Vec::new();
    };
    let wanted: [(&'static str, usize); PICKED_MAX] = [
        ("slowest", 0),
        ("2nd slowest", 1),
        ("3rd slowest", 2),
        ("median", last / 2),
        ("fastest", last),
    ];
    let mut picked: Vec<(&'static str, usize)> = Vec::new();
    for (label, rank) in wanted {
        let index = order.get(rank).copied();
        // Of two rates, the slowest one is also the median.
        let is_new = |index: &usize| picked.iter().all(|(_, known)| known != index);
        let index = index.filter(is_new);
        picked.extend(index.map(|index| (label, index)));
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ranks_are_reduced_to_first_last_and_middle() {
        let rates: Vec<f64> = (0..1000).map(|it| f64::from((it * 7) % 1000)).collect();
        let picked = picks(&rates);
        let rates: Vec<f64> = picked.iter().map(|(_, index)| rates[*index]).collect();
        assert_eq!(rates, [0.0, 1.0, 2.0, 499.0, 999.0]);
        assert_eq!((picked[0].0, picked[4].0), ("slowest", "fastest"));
    }

    #[test]
    fn a_few_ranks_are_each_picked_once() {
        assert_eq!(picks(&[]), []);
        assert_eq!(picks(&[3.0]), [("slowest", 0)]);
        let indexes: Vec<usize> = picks(&[3.0, 1.0, 2.0]).iter().map(|it| it.1).collect();
        assert_eq!(indexes, [1, 2, 0]);
    }
}
