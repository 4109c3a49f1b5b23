//! Limits of chance.

/// Maximum deviation in standard errors; chance exceeds it in 1 of 370 cases.
pub(crate) const ERRORS_MAX: f64 = 3.0;

/// Smallest and largest plausible number of successes in `count` trials that each succeed with
/// `probability`. Chance goes beyond either limit in at most 1 of 740 cases.
pub(crate) fn binomial_bounds(count: u32, probability: f64) -> (u32, u32) {
    // One tail of the normal distribution beyond `ERRORS_MAX` standard errors.
    const TAIL: f64 = 0.00135;
    let chances: Vec<f64> = (0..=count)
        .map(|it| chance(count, it, probability))
        .collect();
    let mut below = 0.0;
    let low = chances.iter().position(|chance| {
        below += chance;
        below > TAIL
    });
    let mut above = 0.0;
    let high = chances.iter().rposition(|chance| {
        above += chance;
        above > TAIL
    });
    let bound = |found: Option<usize>, otherwise| found.map_or(otherwise, |it| it as u32);
    (bound(low, 0), bound(high, count))
}

/// Probability of exactly `hits` successes in `count` trials.
fn chance(count: u32, hits: u32, probability: f64) -> f64 {
    // In logarithms, because powers such as 0.05^1000 are too small for an `f64`.
    let ways: f64 = (0..hits)
        .map(|it| (f64::from(count - it) / f64::from(hits - it)).ln())
        .sum();
    let (hit, miss) = (f64::from(hits), f64::from(count - hits));
    (ways + hit * probability.ln() + miss * (1.0 - probability).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_bounds_allow_for_chance() {
        // For 20 trials at 5 %: chance exceeds 5 in 3 of 10,000 cases, and 4 in 26.
        assert_eq!(binomial_bounds(20, 0.05), (0, 5));
        assert_eq!(binomial_bounds(40, 0.95).1, 40);
        let (low, high) = binomial_bounds(1000, 0.95);
        assert!(
            (925..=931).contains(&low) && (967..=972).contains(&high),
            "{low} {high}"
        );
        let sum: f64 = (0..=40).map(|it| chance(40, it, 0.95)).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}
