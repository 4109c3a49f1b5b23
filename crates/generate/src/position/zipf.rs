//! Ranks drawn with power-law probability, in constant time and without a table.

use crate::Rng;

/// Draws rank r of `1..=rank_count` with a probability proportional to r^-theta.
///
/// Source: Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", ACM TOMACS 6(3), 1996.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zipf {
    rank_count: u64,
    theta: f64,
    /// Integral of the hat function at the left end, shifted so that rank 1 needs no rejection.
    area_low: f64,
    /// Integral of the hat function at the right end.
    area_high: f64,
    /// Distance below which a rounded variate is accepted without the full test.
    squeeze: f64,
}

impl Zipf {
    /// `rank_count` must not be 0 and `theta` must be above 0.
    pub(crate) fn new(rank_count: u64, theta: f64) -> Self {
        let mut zipf = Self {
            rank_count,
            theta,
            area_low: 0.0,
            area_high: 0.0,
            squeeze: 0.0,
        };
        zipf.area_low = zipf.integral(1.5) - 1.0;
        zipf.area_high = zipf.integral(rank_count as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.height(2.0));
        zipf
    }

    pub(crate) const fn count(&self) -> u64 {
        self.rank_count
    }

    pub(crate) const fn theta(&self) -> f64 {
        self.theta
    }

    /// The next rank.
    pub(crate) fn rank(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.area_high + rng.unit() * (self.area_low - self.area_high);
            let variate = self.inverse(area);
            // Rounding may move the variate just outside of the ranks.
            let rank = (variate.round() as u64).clamp(1, self.rank_count);
            let position = rank as f64;
            if position - variate <= self.squeeze
                || area >= self.integral(position + 0.5) - self.height(position)
            {
                return rank;
            }
        }
    }

    fn height(&self, position: f64) -> f64 {
        position.powf(-self.theta)
    }

    /// Integral of the height from 1; continuous in theta at 1, where it is the logarithm.
    fn integral(&self, position: f64) -> f64 {
        let log = position.ln();
        let power = (1.0 - self.theta) * log;
        // Close to 0 the quotient loses its digits; its limit is the logarithm.
        if power.abs() < 1e-12 {
            log
        } else {
            log * power.exp_m1() / power
        }
    }

    fn inverse(&self, area: f64) -> f64 {
        // Rounding may move the area below the pole, where the logarithm is not defined.
        let scaled = ((1.0 - self.theta) * area).max(-1.0);
        if scaled.abs() < 1e-12 {
            area.exp()
        } else {
            (area * scaled.ln_1p() / scaled).exp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use proptest::prelude::*;

    #[test]
    fn ranks_follow_the_power_law() {
        for theta in [0.5, 0.9, 1.0, 1.2, 2.5] {
            let zipf = Zipf::new(1000, theta);
            let total: f64 = (1_u32..=1000)
                .map(|rank| f64::from(rank).powf(-theta))
                .sum();
            let mut rng = Rng::new(11);
            let mut counts = [0_u32; 1001];
            let draw_count = 400_000;
            for _ in 0..draw_count {
                counts[zipf.rank(&mut rng) as usize] += 1;
            }
            for rank in [1_u32, 2, 3, 5, 10, 50] {
                let share = f64::from(rank).powf(-theta) / total;
                let wanted = share * f64::from(draw_count);
                let deviation = (f64::from(counts[rank as usize]) - wanted).abs();
                assert!(
                    deviation < 5.0 * wanted.sqrt() + 1.0,
                    "theta {theta} rank {rank}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn every_rank_is_in_range(count in 1_u64..1 << 52, theta in 0.001_f64..100.0, seed: u64) {
            let zipf = Zipf::new(count, theta);
            let mut rng = Rng::new(seed);
            for _ in 0..20 {
                prop_assert!((1..=count).contains(&zipf.rank(&mut rng)));
            }
        }
    }
}
