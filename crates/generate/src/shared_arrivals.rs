//! Arrivals of one stream, shared by the threads of a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::spacing::{Gaps, Grid, count_arrivals};
use crate::{Rng, mix};

/// Fractional bits of a shared Poisson due time; 64 bits last for two years.
const FRACTION_BITS: u32 = 8;

/// One thread's handle of a stream of arrivals: each due time goes to the thread that requests it
/// first.
#[derive(Debug, Clone)]
pub struct SharedArrivals {
    stream: ArrivalProcess,
}

#[derive(Debug, Clone)]
enum ArrivalProcess {
    /// The number of arrivals taken determines the next due time.
    Uniform { grid: Grid, taken: Arc<AtomicU64> },
    /// The thread that takes an arrival draws the gap to the next one. All gaps are independent of
    /// each other and of the thread, so the stream is always a Poisson process.
    Poisson { gaps: Gaps, due: Arc<AtomicU64> },
}

impl SharedArrivals {
    pub(crate) fn uniform(grid: Grid, lane_count: u32) -> Vec<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let lane = |_| Self {
            stream: ArrivalProcess::Uniform {
                grid,
                taken: Arc::clone(&taken),
            },
        };
        (0..lane_count).map(lane).collect()
    }

    pub(crate) fn poisson(mean_ns: f64, seed: u64, lane_count: u32) -> Vec<Self> {
        let gaps = |number: u64| Gaps {
            rng: Rng::new(mix(mix(seed) ^ number)),
            mean_ns,
        };
        // From a separate generator, because it must not repeat any thread's first gap.
        let first = gaps(u64::from(lane_count)).next(FRACTION_BITS) as u64;
        let due = Arc::new(AtomicU64::new(first));
        let lane = |lane_index: u32| Self {
            stream: ArrivalProcess::Poisson {
                gaps: gaps(u64::from(lane_index)),
                due: Arc::clone(&due),
            },
        };
        (0..lane_count).map(lane).collect()
    }

    /// Takes the next due time, in nanoseconds from the start of the loop.
    #[inline]
    pub fn take_ns(&mut self) -> u64 {
        match &mut self.stream {
            ArrivalProcess::Uniform { grid, taken } => {
                grid.due_ns(taken.fetch_add(1, Ordering::Relaxed))
            }
            ArrivalProcess::Poisson { gaps, due } => {
                let gap = gaps.next(FRACTION_BITS) as u64;
                // One addition takes a due time and sets the next one.
                due.fetch_add(gap, Ordering::Relaxed) >> FRACTION_BITS
            }
        }
    }

    /// The due time that will be taken next by any thread.
    #[must_use]
    pub fn peek_ns(&self) -> u64 {
        match &self.stream {
            ArrivalProcess::Uniform { grid, taken } => grid.due_ns(taken.load(Ordering::Relaxed)),
            ArrivalProcess::Poisson { due, .. } => due.load(Ordering::Relaxed) >> FRACTION_BITS,
        }
    }

    /// The due times that no thread has taken, without taking them. For a Poisson process, as this
    /// thread would draw them.
    pub fn left(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match &self.stream {
            ArrivalProcess::Uniform { grid, taken } => {
                let taken = taken.load(Ordering::Relaxed);
                Box::new((taken..).map(|index| grid.due_ns(index)))
            }
            ArrivalProcess::Poisson { gaps, due } => {
                let mut gaps = gaps.clone();
                let due = due.load(Ordering::Relaxed);
                let next =
                    move |due: &u64| Some(due.saturating_add(gaps.next(FRACTION_BITS) as u64));
                Box::new(std::iter::successors(Some(due), next).map(|due| due >> FRACTION_BITS))
            }
        }
    }

    /// As [`crate::Arrivals::count_until`], for arrivals that no thread has taken.
    #[must_use]
    pub fn count_until(&self, end_ns: u64) -> u64 {
        match &self.stream {
            ArrivalProcess::Uniform { grid, taken } => {
                let taken = taken.load(Ordering::Relaxed);
                grid.count_until(end_ns).saturating_sub(taken)
            }
            ArrivalProcess::Poisson { gaps, due } => {
                let due = u128::from(due.load(Ordering::Relaxed));
                count_arrivals(gaps, due, FRACTION_BITS, end_ns)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use stats::KolmogorovSmirnov;

    use crate::Arrivals;

    /// What several threads take of a stream while it lasts, in order.
    fn taken(arrivals: &Arrivals, lane_count: u32, end_ns: u64) -> Vec<u64> {
        let threads: Vec<_> = arrivals
            .shared_by(lane_count)
            .into_iter()
            .map(|mut lane| {
                thread::spawn(move || {
                    let own = std::iter::from_fn(|| Some(lane.take_ns()));
                    own.take_while(|due_ns| *due_ns < end_ns)
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut all: Vec<u64> = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn threads_share_all_arrivals_of_a_uniform_loop() {
        let mut alone = Arrivals::uniform(333_333.3, 1, 3).unwrap();
        let shared = taken(&alone, 4, 200_000_000);
        let alone: Vec<u64> = shared.iter().map(|_| alone.next_due_ns()).collect();
        assert_eq!(shared, alone);
        assert_eq!(shared.len(), 22_222);
    }

    #[test]
    fn arrivals_shared_by_threads_are_a_poisson_process_of_the_rate() {
        let arrivals = Arrivals::poisson(40_000.0, 2, 3).unwrap();
        let due_ns = taken(&arrivals, 4, 5_000_000_000);
        assert!((due_ns.len() as f64 - 1e5).abs() < 3.0 * 1e5_f64.sqrt());
        let gaps: Vec<f64> = due_ns
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let test = KolmogorovSmirnov::exponential(&gaps, 50_000.0).unwrap();
        assert!(test.p_value > 0.01, "{test:?}");
    }

    #[test]
    fn the_count_until_a_time_equals_the_arrivals_left_to_take() {
        for arrivals in [
            Arrivals::uniform(7777.7, 2, 5).unwrap(),
            Arrivals::poisson(7777.7, 5, 9).unwrap(),
        ] {
            let mut lanes = arrivals.shared_by(2);
            assert!((0..100).all(|_| lanes[0].take_ns() < u64::MAX));
            let left_count = lanes[1].count_until(1_000_000_000);
            let first_ns = lanes[0].peek_ns();
            let mut due_ns: Vec<u64> = (0..left_count).map(|_| lanes[1].take_ns()).collect();
            assert_eq!(due_ns.first(), Some(&first_ns));
            assert!(due_ns.pop().unwrap() <= 1_000_000_000);
            assert!(lanes[0].take_ns() > 1_000_000_000);
            assert_eq!(lanes[1].count_until(1_000_000_000), 0);
        }
    }
}
