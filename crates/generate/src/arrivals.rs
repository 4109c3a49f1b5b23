//! Due times of the requests of an open loop.

use crate::spacing::{Gaps, Grid, count_arrivals, saturating_ns};
use crate::{GenerateError, Rng, SharedArrivals, mix};

/// Lower limit of the rate, in arrivals per second of all workers together.
pub const ARRIVAL_RATE_MIN: f64 = plan::RATE_MIN;
/// Upper limit of the rate, in arrivals per second of all workers together.
pub const ARRIVAL_RATE_MAX: f64 = plan::RATE_MAX;

/// Fractional bits of a Poisson due time; enough that rounding a gap has no visible effect.
const FRACTION_BITS: u32 = 32;
/// Separates the stream of gaps from a worker's other streams.
const GAP_SALT: u64 = 0xa881_7a15;

/// One worker's share of an open loop's arrivals: an endless stream of due times in nanoseconds
/// from the start of the loop, ascending.
///
/// Times depend only on the rate, never on a clock, so a late request does not delay later ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    next_ns: u64,
    spacing: Spacing,
}

/// Spacing between arrivals.
#[derive(Debug, Clone, PartialEq)]
enum Spacing {
    /// Constant. Fractions of a nanosecond are carried over, in units of 1 / the grid's divisor.
    Uniform {
        grid: Grid,
        step_ns: u64,
        step_rest: u128,
        rest: u128,
        /// Number of arrivals taken.
        taken: u64,
    },
    /// Exponential gaps.
    Poisson {
        gaps: Gaps,
        /// Next due time in units of 2^-32 ns.
        due: u128,
        seed: u64,
    },
}

impl Arrivals {
    /// Evenly spaced arrivals: the k-th arrival of worker w of n is due at (k n + w) /
    /// `rate_per_second`, truncated to whole nanoseconds. All workers together are therefore evenly
    /// spaced too.
    ///
    /// The rate is that of all workers together. Rounding errors do not accumulate.
    ///
    /// # Errors
    /// If the rate is below [`ARRIVAL_RATE_MIN`] or above [`ARRIVAL_RATE_MAX`].
    pub fn uniform(
        rate_per_second: f64,
        worker_index: u32,
        worker_count: u32,
    ) -> Result<Self, GenerateError> {
        let (divisor, shift) = exact_fraction(checked(rate_per_second)?);
        // The products below have at most 30 + 62 + 32 bits and cannot overflow.
        let second = 1_000_000_000_u128 << shift;
        let phase = second * u128::from(worker_index);
        let step = second * u128::from(worker_count.max(1));
        Ok(Self {
            next_ns: saturating_ns(phase / divisor),
            spacing: Spacing::Uniform {
                grid: Grid {
                    phase,
                    step,
                    divisor,
                },
                step_ns: saturating_ns(step / divisor),
                step_rest: step % divisor,
                rest: phase % divisor,
                taken: 0,
            },
        })
    }

    /// Arrivals of a Poisson process: independent gaps from the exponential distribution with mean
    /// `worker_count` / `rate_per_second`.
    ///
    /// The rate is that of all workers together, whose combined streams are again a Poisson
    /// process. Each worker needs its own `seed`. The first arrival is due one gap after the start.
    ///
    /// # Errors
    /// If the rate is below [`ARRIVAL_RATE_MIN`] or above [`ARRIVAL_RATE_MAX`].
    pub fn poisson(
        rate_per_second: f64,
        worker_count: u32,
        seed: u64,
    ) -> Result<Self, GenerateError> {
        let rate = checked(rate_per_second)?;
        let mut arrivals = Self {
            next_ns: 0,
            spacing: Spacing::Poisson {
                gaps: Gaps {
                    rng: Rng::new(mix(seed ^ GAP_SALT)),
                    mean_ns: f64::from(worker_count.max(1)) * 1e9 / rate,
                },
                due: 0,
                seed,
            },
        };
        arrivals.advance();
        Ok(arrivals)
    }

    /// The same process from its start, for `lane_count` threads that take turns. With more than
    /// one thread, the gaps of a Poisson process depend on which thread draws first; their
    /// distribution does not.
    #[must_use]
    pub fn shared_by(&self, lane_count: u32) -> Vec<SharedArrivals> {
        match &self.spacing {
            Spacing::Uniform { grid, .. } => SharedArrivals::uniform(*grid, lane_count),
            Spacing::Poisson { gaps, seed, .. } => {
                SharedArrivals::poisson(gaps.mean_ns, *seed ^ GAP_SALT, lane_count)
            }
        }
    }

    /// Due time that [`Arrivals::next_due_ns`] will return next.
    #[inline]
    #[must_use]
    pub fn peek_ns(&self) -> u64 {
        self.next_ns
    }

    /// Takes the next due time in nanoseconds; `u64::MAX` after 584 years.
    #[inline]
    pub fn next_due_ns(&mut self) -> u64 {
        let due_ns = self.next_ns;
        self.advance();
        due_ns
    }

    /// Number of arrivals not yet taken that are due up to and including `end_ns`.
    ///
    /// Beyond ten million, the rest of a Poisson process is estimated by its mean.
    #[must_use]
    pub fn count_until(&self, end_ns: u64) -> u64 {
        match &self.spacing {
            Spacing::Uniform { grid, taken, .. } => grid.count_until(end_ns).saturating_sub(*taken),
            Spacing::Poisson { gaps, due, .. } => count_arrivals(gaps, *due, FRACTION_BITS, end_ns),
        }
    }

    #[inline]
    fn advance(&mut self) {
        match &mut self.spacing {
            Spacing::Uniform {
                grid,
                step_ns,
                step_rest,
                rest,
                taken,
            } => {
                // An addition per arrival is enough here. `Grid::due_ns` divides numbers of 128
                // bits.
                *rest += *step_rest;
                let carry = *rest >= grid.divisor;
                if carry {
                    *rest -= grid.divisor;
                }
                let next_ns = self.next_ns.saturating_add(*step_ns);
                self.next_ns = next_ns.saturating_add(u64::from(carry));
                *taken += 1;
            }
            Spacing::Poisson { gaps, due, .. } => {
                *due = due.saturating_add(gaps.next(FRACTION_BITS));
                self.next_ns = saturating_ns(*due >> FRACTION_BITS);
            }
        }
    }
}

fn checked(rate_per_second: f64) -> Result<f64, GenerateError> {
    if (ARRIVAL_RATE_MIN..=ARRIVAL_RATE_MAX).contains(&rate_per_second) {
        Ok(rate_per_second)
    } else {
        Err(GenerateError::ArrivalRate { rate_per_second })
    }
}

/// Splits a rate exactly into a numerator and the exponent of a power of two as denominator. The
/// exponent is at most 62, for the smallest rate.
fn exact_fraction(rate: f64) -> (u128, u32) {
    let mut numerator = rate;
    let mut shift = 0;
    // Doubling is exact, so the loop ends after the last binary digit of the fraction.
    while numerator.fract() != 0.0 {
        numerator *= 2.0;
        shift += 1;
    }
    (numerator as u128, shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stats::KolmogorovSmirnov;

    use super::*;

    const ARRIVAL_COUNT: u64 = 10_000_000;

    /// The due time of an arrival counted over all workers, from the count alone.
    fn due_ns_from_count(rate: f64, arrival: u128) -> u64 {
        let (numerator, shift) = exact_fraction(rate);
        u64::try_from(((arrival * 1_000_000_000) << shift) / numerator).unwrap()
    }

    fn gaps_ns(arrivals: &mut Arrivals, count: usize) -> Vec<f64> {
        let mut before_ns = 0;
        (0..count)
            .map(|_| {
                let due_ns = arrivals.next_due_ns();
                let gap_ns = due_ns - before_ns;
                before_ns = due_ns;
                gap_ns as f64
            })
            .collect()
    }

    #[test]
    fn uniform_arrivals_do_not_drift_over_ten_million_requests() {
        for (rate, worker_index, worker_count) in [
            (333_333.3, 0, 1),
            (1e7, 2, 3),
            (30_000.0, 6, 7),
            (7.7, 0, 1),
            (0.01, 1, 2),
        ] {
            let mut arrivals = Arrivals::uniform(rate, worker_index, worker_count).unwrap();
            let last_ns = (0..=ARRIVAL_COUNT).fold(0, |_, _| arrivals.next_due_ns());
            let arrival =
                u128::from(ARRIVAL_COUNT * u64::from(worker_count) + u64::from(worker_index));
            assert_eq!(last_ns, due_ns_from_count(rate, arrival), "{rate}");
            let exact_ns = arrival as f64 * 1e9 / rate;
            assert!((last_ns as f64 - exact_ns).abs() <= 1.0 + exact_ns * 1e-15);
        }
    }

    #[test]
    fn the_workers_of_a_uniform_loop_take_turns() {
        let mut workers: Vec<Arrivals> = (0..4)
            .map(|index| Arrivals::uniform(1000.0, index, 4).unwrap())
            .collect();
        let mut due_ns: Vec<u64> = (0..8).map(|k| workers[k % 4].next_due_ns()).collect();
        assert_eq!(due_ns, (0..8).map(|k| k * 1_000_000).collect::<Vec<u64>>());
        due_ns.dedup();
        assert_eq!(due_ns.len(), 8);
    }

    #[test]
    fn thirds_of_a_nanosecond_are_not_lost() {
        let mut arrivals = Arrivals::uniform(3.0, 0, 1).unwrap();
        let due_ns: Vec<u64> = (0..4).map(|_| arrivals.next_due_ns()).collect();
        assert_eq!(due_ns, [0, 333_333_333, 666_666_666, 1_000_000_000]);
    }

    #[test]
    fn peeking_takes_nothing() {
        for mut arrivals in [
            Arrivals::uniform(10.0, 1, 2).unwrap(),
            Arrivals::poisson(10.0, 2, 1).unwrap(),
        ] {
            for _ in 0..100 {
                let seen_ns = arrivals.peek_ns();
                assert_eq!(seen_ns, arrivals.peek_ns());
                assert_eq!(seen_ns, arrivals.next_due_ns());
                assert!(arrivals.peek_ns() > seen_ns);
            }
        }
    }

    #[test]
    fn the_gaps_of_poisson_arrivals_are_exponential() {
        for (rate, worker_count, seed) in [(1000.0, 1, 3), (30_000.0, 4, 4), (0.5, 1, 5)] {
            let mut arrivals = Arrivals::poisson(rate, worker_count, seed).unwrap();
            let gaps = gaps_ns(&mut arrivals, 100_000);
            let mean_ns = f64::from(worker_count) * 1e9 / rate;
            let test = KolmogorovSmirnov::exponential(&gaps, mean_ns).unwrap();
            // 1.36 / sqrt(n) is the 5 % point.
            assert!(test.distance < 0.0043 && test.p_value > 0.05, "{test:?}");
        }
    }

    #[test]
    fn the_gaps_of_poisson_arrivals_are_independent() {
        let gaps = gaps_ns(&mut Arrivals::poisson(1e6, 1, 6).unwrap(), 100_000);
        let mean = stats::mean(&gaps).unwrap();
        let product = |pair: &[f64]| (pair[0] - mean) * (pair[1] - mean);
        let correlation = gaps.windows(2).map(product).sum::<f64>() / 1e5 / (mean * mean);
        assert!(correlation.abs() < 3.0 / 1e5_f64.sqrt(), "{correlation}");
    }

    #[test]
    fn poisson_arrivals_come_at_the_given_rate() {
        for (rate, seed) in [(1000.0, 1_u64), (300_000.0, 2), (1e7, 3)] {
            let mut arrivals = Arrivals::poisson(rate, 1, seed).unwrap();
            let end_ns = (1e6 / rate * 1e9) as u64;
            let count = std::iter::from_fn(|| Some(arrivals.next_due_ns()))
                .take_while(|due_ns| *due_ns < end_ns)
                .count();
            assert!((count as f64 - 1e6).abs() < 3e3, "{rate}: {count}");
        }
    }

    #[test]
    fn four_workers_together_arrive_at_the_rate_of_the_loop() {
        let end_ns = 10_000_000_000;
        let count: usize = (0..4)
            .map(|seed| {
                let mut arrivals = Arrivals::poisson(20_000.0, 4, seed).unwrap();
                std::iter::from_fn(|| Some(arrivals.next_due_ns()))
                    .take_while(|due_ns| *due_ns < end_ns)
                    .count()
            })
            .sum();
        assert!((count as f64 - 2e5).abs() < 3.0 * 2e5_f64.sqrt(), "{count}");
    }

    #[test]
    fn the_mean_gap_of_ten_million_poisson_arrivals_is_exact() {
        // Gaps of 100 ns on average: cut to whole nanoseconds each, they would be 0.5 % short.
        let mut arrivals = Arrivals::poisson(1e7, 1, 7).unwrap();
        let last_ns = (0..ARRIVAL_COUNT).fold(0, |_, _| arrivals.next_due_ns());
        let mean_ns = last_ns as f64 / ARRIVAL_COUNT as f64;
        assert!((mean_ns - 100.0).abs() < 3.0 * 100.0 / (ARRIVAL_COUNT as f64).sqrt());
    }

    #[test]
    fn a_seed_always_gives_the_same_arrivals() {
        let arrivals = |seed| gaps_ns(&mut Arrivals::poisson(1e4, 1, seed).unwrap(), 1000);
        assert_eq!(arrivals(1), arrivals(1));
        assert_ne!(arrivals(1), arrivals(2));
    }

    #[test]
    fn arrivals_due_by_a_time_are_counted_without_consuming_them() {
        for mut arrivals in [
            Arrivals::uniform(333_333.3, 3, 7).unwrap(),
            Arrivals::poisson(333_333.3, 7, 1).unwrap(),
        ] {
            for end_ns in [0, 9000, 10_000_000, 1_000_000_000] {
                let count = arrivals.count_until(end_ns);
                let taken: Vec<u64> = (0..count).map(|_| arrivals.next_due_ns()).collect();
                assert!(taken.last().is_none_or(|last_ns| *last_ns <= end_ns));
                assert!(arrivals.peek_ns() > end_ns, "{end_ns}");
            }
        }
    }

    #[test]
    fn a_long_backlog_of_a_poisson_process_is_counted_to_a_tenth_of_a_percent() {
        let arrivals = Arrivals::poisson(1e6, 1, 1).unwrap();
        let count = arrivals.count_until(3600 * 1_000_000_000);
        assert!((count as f64 / 3.6e9 - 1.0).abs() < 1e-3, "{count}");
    }

    #[test]
    fn rates_out_of_range_are_refused() {
        for rate in [0.0, 0.0009, 1.1e7, -1.0, f64::NAN, f64::INFINITY] {
            let error = Arrivals::uniform(rate, 0, 1).unwrap_err();
            assert!(error.to_string().contains("0.001"), "{error}");
            assert!(Arrivals::poisson(rate, 1, 1).is_err());
        }
    }

    proptest! {
        #[test]
        fn every_uniform_arrival_time_follows_from_its_index(
            rate in ARRIVAL_RATE_MIN..ARRIVAL_RATE_MAX,
            worker_count in 1_u32..2000,
            worker in any::<prop::sample::Index>(),
        ) {
            let worker_index = worker.index(worker_count as usize) as u32;
            let mut arrivals = Arrivals::uniform(rate, worker_index, worker_count).unwrap();
            for k in 0..200_u128 {
                let arrival = k * u128::from(worker_count) + u128::from(worker_index);
                prop_assert_eq!(arrivals.next_due_ns(), due_ns_from_count(rate, arrival));
            }
        }

        #[test]
        fn arrival_times_never_decrease(rate in ARRIVAL_RATE_MIN..ARRIVAL_RATE_MAX, seed: u64) {
            let mut arrivals = Arrivals::poisson(rate, 1, seed).unwrap();
            let mut before_ns = 0;
            for _ in 0..200 {
                let due_ns = arrivals.next_due_ns();
                prop_assert!(due_ns >= before_ns);
                before_ns = due_ns;
            }
        }
    }
}
