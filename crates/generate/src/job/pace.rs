//! Due times of the requests in each direction of a job.

use plan::ArrivalKind;
use plan::job::{BlockRule, JobPlan, PaceRule, SizeRule};

use super::seeds::JobSeeds;
use crate::{Arrivals, GenerateError, Rng};
use stats::mix;

/// Upper limit of byte rates, in bytes per second.
const BYTE_RATE_MAX: f64 = 1e15;
const NS_PER_SECOND: f64 = 1e9;
const NS_PER_MICROSECOND: u64 = 1000;

/// Due times of a direction, in nanoseconds from the start, ascending.
#[derive(Debug, Clone)]
pub(super) struct DuePace {
    schedule: PaceSchedule,
    /// Due time of the next request.
    due_ns: u64,
    /// Total of the pauses by which due times are delayed.
    paused_ns: u64,
    ignores_pauses: bool,
}

#[derive(Debug, Clone)]
enum PaceSchedule {
    Requests(Arrivals),
    /// The gap after each request is proportional to its length.
    Bytes {
        /// In units of 2^-64 ns.
        ns_per_byte: u128,
        /// In units of 2^-64 ns.
        due: u128,
    },
    /// Like `Bytes`, with exponential gaps of the same mean.
    PoissonBytes {
        ns_per_byte: f64,
        due_ns: f64,
        rng: Rng,
    },
    /// Exponential gaps with a mean of whole microseconds, truncated to whole microseconds.
    Microseconds {
        mean_us: u64,
        rng: Rng,
    },
}

impl DuePace {
    pub(super) fn new(
        plan: &JobPlan,
        rule: &PaceRule,
        sizes: &SizeRule,
        seed: u64,
    ) -> Result<Self, GenerateError> {
        let rate = rule.per_second;
        let is_poisson = rule.arrivals == ArrivalKind::Poisson;
        let rng = Rng::new(mix(seed));
        if rule.is_of_bytes && !(rate > 0.0 && rate <= BYTE_RATE_MAX) {
            return Err(GenerateError::ArrivalRate {
                rate_per_second: rate,
            });
        }
        let law = if is_poisson && plan.stream.is_to_the_letter {
            // fio converts a byte rate as if every request had the smallest size.
            let per_request = if rule.is_of_bytes {
                f64::from(sizes.min_bytes().max(1))
            } else {
                1.0
            };
            // fio computes with whole requests per second.
            let requests = ((rate / per_request) as u64).max(1);
            let mean_us = 1_000_000 / requests;
            PaceSchedule::Microseconds { mean_us, rng }
        } else if rule.is_of_bytes && is_poisson {
            PaceSchedule::PoissonBytes {
                ns_per_byte: NS_PER_SECOND / rate,
                due_ns: 0.0,
                rng,
            }
        } else if rule.is_of_bytes {
            PaceSchedule::Bytes {
                // At the highest rate a byte takes a millionth of a nanosecond, so the unit must be
                // far smaller.
                ns_per_byte: (NS_PER_SECOND / rate * 2_f64.powi(64)) as u128,
                due: 0,
            }
        } else if is_poisson {
            PaceSchedule::Requests(Arrivals::poisson(rate, 1, seed)?)
        } else {
            PaceSchedule::Requests(Arrivals::uniform(rate, 0, 1)?)
        };
        let due_ns = match &law {
            PaceSchedule::Requests(arrivals) => arrivals.peek_ns(),
            // The first request is due immediately: its length determines when the second one is.
            _ => 0,
        };
        Ok(Self {
            schedule: law,
            due_ns,
            paused_ns: 0,
            ignores_pauses: rule.ignores_pauses,
        })
    }

    /// Due time of the next request.
    #[inline]
    pub(super) const fn due_ns(&self) -> u64 {
        self.due_ns.saturating_add(self.paused_ns)
    }

    /// Advances the due time after a request of `length_bytes` was issued.
    #[inline]
    pub(super) fn issued(&mut self, length_bytes: u32) {
        match &mut self.schedule {
            PaceSchedule::Requests(arrivals) => {
                arrivals.next_due_ns();
                self.due_ns = arrivals.peek_ns();
            }
            PaceSchedule::Bytes { ns_per_byte, due } => {
                let gap = ns_per_byte.saturating_mul(length_bytes.into());
                *due = due.saturating_add(gap);
                self.due_ns = (*due >> 64) as u64;
            }
            PaceSchedule::PoissonBytes {
                ns_per_byte,
                due_ns,
                rng,
            } => {
                *due_ns += exponential(rng) * *ns_per_byte * f64::from(length_bytes);
                self.due_ns = *due_ns as u64;
            }
            PaceSchedule::Microseconds { mean_us, rng } => {
                let gap_us = (exponential(rng) * *mean_us as f64) as u64;
                self.due_ns = self.due_ns.saturating_add(gap_us * NS_PER_MICROSECOND);
            }
        }
    }

    /// Records a pause of the job. Delays due times if the rate ignores pauses.
    pub(super) const fn paused(&mut self, pause_ns: u64) {
        if self.ignores_pauses {
            self.paused_ns = self.paused_ns.saturating_add(pause_ns);
        }
    }
}

/// Due times by direction; `None` for directions that are not used or have no rate.
pub(super) fn paces(plan: &JobPlan, seed: u64) -> Result<[Option<DuePace>; 2], GenerateError> {
    let stream = &plan.stream;
    if stream.skips_writes() {
        // Requests that are not issued are never due.
        return Ok([None, None]);
    }
    let pace = |is_used: bool, rule: &Option<PaceRule>, blocks: &BlockRule, seed: u64| {
        let rule = rule.as_ref().filter(|_| is_used);
        let pace = |rule| DuePace::new(plan, rule, &blocks.sizes, seed);
        rule.map(pace).transpose()
    };
    let (rules, blocks) = (&stream.pace, &stream.blocks);
    let seeds = JobSeeds::new(seed);
    Ok([
        pace(
            stream.mix.reads(),
            &rules.read,
            &blocks.read,
            seeds.read_pace,
        )?,
        pace(
            stream.mix.modifies(),
            &rules.write,
            &blocks.write,
            seeds.write_pace,
        )?,
    ])
}

/// A variate of the exponential distribution with mean 1.
fn exponential(rng: &mut Rng) -> f64 {
    // 1 - unit is above 0, so its logarithm is finite.
    -(1.0 - rng.unit()).ln()
}
