//! Distribution of file sizes.

use generate::Rng;

/// Logarithm of the median file size in bytes, base 2.
const MEDIAN_DOUBLINGS: f64 = 12.0;
/// Standard deviation of the logarithm.
const SPREAD_DOUBLINGS: f64 = 4.0;

/// Log-normal distribution of file sizes. The median is 4 KiB and one standard deviation is four
/// doublings, so the mean is 187 KiB. Sizes above a limit are drawn again.
///
/// Source: Agrawal, Bolosky, Douceur, Lorch, "A five-year study of file-system metadata", FAST
/// 2007 (median 4 KB, mean 189 KB in 2004); Meyer and Bolosky, "A study of practical
/// deduplication", FAST 2011 (the median still 4 KB).
#[derive(Debug, Clone, Copy)]
pub(super) struct FileSizeDistribution {
    max_bytes: u64,
}

impl FileSizeDistribution {
    /// Sizes from 1 to `max_bytes`, which is at least 4096.
    pub fn up_to(max_bytes: u64) -> Self {
        Self {
            max_bytes: max_bytes.max(1 << 12),
        }
    }

    /// Draws a file size, in bytes.
    pub fn draw(self, rng: &mut Rng) -> u64 {
        loop {
            let size = exp2(MEDIAN_DOUBLINGS + SPREAD_DOUBLINGS * normal(rng)).ceil();
            if size <= self.max_bytes as f64 {
                return (size as u64).max(1);
            }
        }
    }
}

/// Approximates the standard normal distribution by a sum of twelve uniform numbers. It avoids
/// functions whose results differ between math libraries.
fn normal(rng: &mut Rng) -> f64 {
    // A uniform number has the variance 1/12, so twelve of them have 1, and the mean 6.
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

/// Two to the given power. It uses only square roots, which give the same result everywhere.
fn exp2(power: f64) -> f64 {
    let integer = power.floor();
    let (mut rest, mut root, mut factor) = (power - integer, 2.0_f64, 1.0);
    for _ in 0..24 {
        root = root.sqrt();
        rest *= 2.0;
        if rest >= 1.0 {
            rest -= 1.0;
            factor *= root;
        }
    }
    factor * 2.0_f64.powi(integer as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_match_the_standard_library() {
        for power in [-3.7, -1.0, 0.0, 0.5, 4.25, 12.0, 29.9] {
            let ratio = exp2(power) / f64::exp2(power);
            assert!((ratio - 1.0).abs() < 1e-6, "{power}: {ratio}");
        }
    }

    #[test]
    fn median_and_mean_match_the_study() {
        let mut rng = Rng::new(1);
        let sizes = FileSizeDistribution::up_to(1 << 40);
        let mut drawn: Vec<u64> = (0..400_000).map(|_| sizes.draw(&mut rng)).collect();
        drawn.sort_unstable();
        let median = drawn[drawn.len() / 2];
        assert!((3900..4300).contains(&median), "{median}");
        let mean = drawn.iter().sum::<u64>() / drawn.len() as u64;
        assert!((140 << 10..240 << 10).contains(&mean), "{mean}");
    }

    #[test]
    fn no_file_is_larger_than_the_limit_or_empty() {
        let mut rng = Rng::new(2);
        let sizes = FileSizeDistribution::up_to(1 << 16);
        let all_fit = (0..10_000).all(|_| (1..=1 << 16).contains(&sizes.draw(&mut rng)));
        assert!(all_fit);
    }
}
