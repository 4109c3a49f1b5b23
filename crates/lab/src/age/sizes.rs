//! How large files are.

use generate::Rng;

/// Half of all files are no larger: 2 to this power bytes.
const MEDIAN_DOUBLINGS: f64 = 12.0;
/// One standard deviation.
const SPREAD_DOUBLINGS: f64 = 4.0;

/// Sizes of files: log-normal, the median 4 KiB and one standard deviation four doublings, which
/// makes the mean 187 KiB; larger ones than a limit are drawn anew.
///
/// Source: Agrawal, Bolosky, Douceur, Lorch, "A five-year study of file-system metadata", FAST
/// 2007 (median 4 KB, mean 189 KB in 2004); Meyer and Bolosky, "A study of practical
/// deduplication", FAST 2011 (the median still 4 KB).
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    max_bytes: u64,
}

impl Sizes {
    /// Sizes from 1 to `max_bytes`, which is 4096 at least.
    pub fn up_to(max_bytes: u64) -> Self {
        Self {
            max_bytes: max_bytes.max(1 << 12),
        }
    }

    /// The size of another file, in bytes.
    pub fn draw(self, rng: &mut Rng) -> u64 {
        loop {
            let size = exp2(MEDIAN_DOUBLINGS + SPREAD_DOUBLINGS * normal(rng)).ceil();
            if size <= self.max_bytes as f64 {
                return (size as u64).max(1);
            }
        }
    }
}

/// A number of the standard normal distribution, nearly: twelve uniform ones added up, which takes
/// no function that libraries compute differently.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

/// Two to that power, by square roots, which are the same everywhere.
fn exp2(power: f64) -> f64 {
    let whole = power.floor();
    let (mut rest, mut root, mut factor) = (power - whole, 2.0_f64, 1.0);
    for _ in 0..24 {
        root = root.sqrt();
        rest *= 2.0;
        if rest >= 1.0 {
            rest -= 1.0;
            factor *= root;
        }
    }
    factor * 2.0_f64.powi(whole as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        for power in [-3.7, -1.0, 0.0, 0.5, 4.25, 12.0, 29.9] {
            let ratio = exp2(power) / f64::exp2(power);
            assert!((ratio - 1.0).abs() < 1e-6, "{power}: {ratio}");
        }
    }

    #[test]
    fn median_and_mean_are_those_of_the_study() {
        let mut rng = Rng::new(1);
        let sizes = Sizes::up_to(1 << 40);
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
        let sizes = Sizes::up_to(1 << 16);
        let all_fit = (0..10_000).all(|_| (1..=1 << 16).contains(&sizes.draw(&mut rng)));
        assert!(all_fit);
    }
}
