//! How far the clocks of the others are ahead of the leader's: the shortest of many round trips
//! tells, within half its length.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::clock::Clock;
use results::ClockOffset;

use super::{Leader, Said};
use crate::message::{Order, Report};

/// Round trips to each at most, and at least.
const TRIPS_MAX: u32 = 200;
const TRIPS_MIN: u32 = 5;
/// After so long the fewest are enough.
const SPAN: Duration = Duration::from_millis(300);
/// Who has not answered by then is left with what is known.
const SPAN_MAX: Duration = Duration::from_secs(4);

/// What is known of a clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub offset_ns: i64,
    /// The shortest round trip.
    pub trip_ns: u64,
    /// When that was, in nanoseconds of the leader's clock.
    pub at_ns: u64,
}

struct Chain {
    sent_ns: u64,
    number: u32,
    best: Option<Reading>,
}

impl Leader {
    /// Reads the clocks of all of these; others' reports are kept for later.
    pub(super) fn read_clocks(
        &mut self,
        ranks: &[u32],
        kept: &mut Vec<(u32, Said)>,
    ) -> BTreeMap<u32, Reading> {
        let begun = Instant::now();
        let mut chains = BTreeMap::new();
        for rank in ranks {
            let sent_ns = self.clock.now_ns();
            self.say(*rank, &Order::Ping { number: 0 });
            chains.insert(
                *rank,
                Chain {
                    sent_ns,
                    number: 0,
                    best: None,
                },
            );
        }
        let is_open = |chain: &Chain| {
            let is_enough = chain.number >= TRIPS_MIN && begun.elapsed() > SPAN;
            chain.number < TRIPS_MAX && !is_enough
        };
        while chains.values().any(is_open) && begun.elapsed() < SPAN_MAX {
            match self.hear(Duration::from_millis(20)) {
                Some((rank, Said::Report(Report::Pong { number, at_ns }))) => {
                    let now_ns = self.clock.now_ns();
                    let Some(chain) = chains.get_mut(&rank).filter(|it| it.number == number) else {
                        continue;
                    };
                    chain.take(at_ns, now_ns);
                    chain.number += 1;
                    if is_open(chain) {
                        chain.sent_ns = self.clock.now_ns();
                        let number = chain.number;
                        self.say(rank, &Order::Ping { number });
                    }
                }
                Some((rank, Said::Lost(why))) => {
                    chains.remove(&rank);
                    kept.push((rank, Said::Lost(why)));
                }
                Some(other) => kept.push(other),
                None => {}
            }
        }
        let read = chains
            .into_iter()
            .filter_map(|(rank, chain)| Some((rank, chain.best?)));
        read.collect()
    }
}

impl Chain {
    fn take(&mut self, at_ns: u64, now_ns: u64) {
        let trip_ns = now_ns.saturating_sub(self.sent_ns);
        if self.best.is_none_or(|best| trip_ns < best.trip_ns) {
            let middle_ns = self.sent_ns + trip_ns / 2;
            self.best = Some(Reading {
                offset_ns: at_ns.cast_signed().wrapping_sub(middle_ns.cast_signed()),
                trip_ns,
                at_ns: middle_ns,
            });
        }
    }
}

/// A clock as two readings, before a cell and after it, tell.
pub(super) fn offset(before: Option<&Reading>, after: Option<&Reading>) -> ClockOffset {
    let Some(before) = before else {
        return ClockOffset::default();
    };
    let drift = after.map(|after| {
        let moved_ns = after.offset_ns.wrapping_sub(before.offset_ns) as f64;
        let passed_ns = after.at_ns.saturating_sub(before.at_ns).max(1) as f64;
        moved_ns * 1e9 / passed_ns
    });
    ClockOffset {
        offset_ns: before.offset_ns,
        bound_ns: before.trip_ns / 2,
        drift_ppb: drift,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_counts() {
        let mut chain = Chain {
            sent_ns: 1000,
            number: 0,
            best: None,
        };
        chain.take(51_500, 2000);
        chain.sent_ns = 5000;
        chain.take(55_050, 5100);
        chain.sent_ns = 9000;
        chain.take(60_000, 12_000);
        let best = chain.best.expect("three trips");
        assert_eq!(
            (best.offset_ns, best.trip_ns, best.at_ns),
            (50_000, 100, 5050)
        );
        let later = Reading {
            offset_ns: 50_100,
            trip_ns: 80,
            at_ns: 1_000_005_050,
        };
        let clock = offset(Some(&best), Some(&later));
        assert_eq!((clock.offset_ns, clock.bound_ns), (50_000, 50));
        assert!((clock.drift_ppb.expect("two readings") - 100.0).abs() < 1e-6);
    }
}
