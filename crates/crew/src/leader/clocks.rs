//! How far the clocks of the others are ahead of the leader's: the shortest of many round trips
//! tells, within half its length.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::clock::Clock;
use results::ClockOffset;

use super::{Leader, Said};
use crate::message::{Order, Report};

/// Round trips to each process, at most.
const TRIPS_MAX: u32 = 200;
/// Time limit of the first comparison of a run, as long as each process answered [`TRIPS_FIRST`]
/// times.
const SPAN_FIRST: Duration = Duration::from_millis(50);
const TRIPS_FIRST: u32 = 5;
/// A later comparison takes at most this share of the time since the one before.
const SHARE: u32 = 50;
/// A shorter comparison would not improve on the one before.
const SPAN_MIN: Duration = Duration::from_millis(1);
/// Time limit of a later comparison.
const SPAN_LATER: Duration = Duration::from_millis(300);
const TRIPS_LATER: u32 = 2;
/// A process that has not answered by then keeps the reading that is known.
const SPAN_MAX: Duration = Duration::from_secs(4);
/// Oscillators of two machines differ by at most this much, in parts per million.
const DRIFT_MAX_PPM: u64 = 50;
/// Nanoseconds between two readings, per nanosecond that their offsets may be wrong by: after less
/// time the drift would be noise.
const DRIFT_BASE: u64 = 10_000;

/// How long the clocks may be compared.
#[derive(Debug, Clone, Copy)]
struct Limit {
    span: Duration,
    trips: u32,
}

/// The readings of a run.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    known: BTreeMap<u32, Reading>,
    /// End of the last comparison.
    compared: Option<Instant>,
}

impl Clocks {
    /// Limit of the comparison before a stage; none while the known readings are good enough.
    fn limit(&self, ranks: &[u32]) -> Option<Limit> {
        let is_known = ranks.iter().all(|rank| self.known.contains_key(rank));
        match self.compared.filter(|_| is_known) {
            None => Some(Limit {
                span: SPAN_FIRST,
                trips: TRIPS_FIRST,
            }),
            Some(compared) => {
                let span = (compared.elapsed() / SHARE).min(SPAN_LATER);
                let trips = TRIPS_LATER;
                (span >= SPAN_MIN).then_some(Limit { span, trips })
            }
        }
    }

    /// Keeps of each process the reading that is more precise now.
    fn take(&mut self, read: &BTreeMap<u32, Reading>, now_ns: u64) {
        for (rank, reading) in read {
            let known = self.known.entry(*rank).or_insert(*reading);
            if reading.bound_ns(now_ns) <= known.bound_ns(now_ns) {
                *known = *reading;
            }
        }
        self.compared = Some(Instant::now());
    }

    /// The known readings of these processes.
    fn of(&self, ranks: &[u32]) -> BTreeMap<u32, Reading> {
        let known = ranks
            .iter()
            .filter_map(|rank| Some((*rank, *self.known.get(rank)?)));
        known.collect()
    }
}

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

impl Reading {
    /// How wrong the offset can be at a time of the leader's clock, in nanoseconds.
    fn bound_ns(&self, now_ns: u64) -> u64 {
        let age_ns = now_ns.saturating_sub(self.at_ns);
        self.trip_ns / 2 + age_ns / 1_000_000 * DRIFT_MAX_PPM
    }
}

impl Leader {
    /// The clocks before a stage: compared once in a run, and again only if that takes a small
    /// share of the time since then. Keeps reports that come meanwhile for later.
    pub(super) fn clocks_before(
        &mut self,
        ranks: &[u32],
        kept: &mut Vec<(u32, Said)>,
    ) -> BTreeMap<u32, Reading> {
        if let Some(limit) = self.clocks.limit(ranks) {
            let read = self.read_clocks(ranks, limit, kept);
            self.clocks.take(&read, self.clock.now_ns());
        }
        self.clocks.of(ranks)
    }

    /// The clocks after a cell, which show how they drifted.
    pub(super) fn clocks_after(&mut self, ranks: &[u32]) -> BTreeMap<u32, Reading> {
        let limit = self.clocks.limit(ranks).unwrap_or(Limit {
            span: SPAN_MIN,
            trips: TRIPS_LATER,
        });
        let read = self.read_clocks(ranks, limit, &mut Vec::new());
        self.clocks.take(&read, self.clock.now_ns());
        read
    }

    /// Reads the clocks of all of these; others' reports are kept for later.
    fn read_clocks(
        &mut self,
        ranks: &[u32],
        limit: Limit,
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
            let is_enough = chain.number >= limit.trips && begun.elapsed() > limit.span;
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

/// The clock of a stage that began at `start_ns`, from a reading before it and one after it.
pub(super) fn offset(
    before: Option<&Reading>,
    after: Option<&Reading>,
    start_ns: u64,
) -> ClockOffset {
    let Some(before) = before else {
        return ClockOffset::default();
    };
    let drift = after.and_then(|after| {
        let passed_ns = after.at_ns.saturating_sub(before.at_ns);
        let doubt_ns = before.trip_ns / 2 + after.trip_ns / 2;
        let is_known = passed_ns > 0 && passed_ns >= doubt_ns.saturating_mul(DRIFT_BASE);
        let moved_ns = after.offset_ns.wrapping_sub(before.offset_ns) as f64;
        is_known.then(|| moved_ns * 1e9 / passed_ns as f64)
    });
    ClockOffset {
        offset_ns: before.offset_ns,
        bound_ns: before.bound_ns(start_ns),
        drift_ppb: drift,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn reading(offset_ns: i64, trip_ns: u64, at_ns: u64) -> Reading {
        Reading {
            offset_ns,
            trip_ns,
            at_ns,
        }
    }

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
        let later = reading(50_100, 80, 1_000_005_050);
        let clock = offset(Some(&best), Some(&later), 5050);
        assert_eq!((clock.offset_ns, clock.bound_ns), (50_000, 50));
        assert!((clock.drift_ppb.expect("two readings") - 100.0).abs() < 1e-6);
    }

    #[test]
    fn drift_is_told_only_where_the_time_between_is_long_enough() {
        let before = reading(0, 1000, 0);
        let soon = offset(Some(&before), Some(&reading(500, 1000, 5_000_000)), 0);
        assert_eq!(soon.drift_ppb, None);
        let same = offset(Some(&before), Some(&before), 0);
        assert_eq!(same.drift_ppb, None);
        let late = offset(Some(&before), Some(&reading(500, 1000, 10_000_000)), 0);
        assert_eq!(late.drift_ppb, Some(50_000.0));
    }

    #[test]
    fn an_old_reading_is_as_wrong_as_clocks_can_drift_apart() {
        let before = reading(0, 1000, 0);
        let clock = offset(Some(&before), None, 100_000_000);
        assert_eq!(clock.bound_ns, 500 + 5000);
    }

    #[test]
    fn clocks_are_compared_once_and_again_only_in_proportion() {
        let mut clocks = Clocks::default();
        let first = clocks.limit(&[0, 1]).expect("nothing is known");
        assert_eq!((first.span, first.trips), (SPAN_FIRST, TRIPS_FIRST));
        let read = [(0, reading(0, 100, 0)), (1, reading(7, 100, 0))];
        clocks.take(&read.into(), 0);
        assert!(clocks.limit(&[0, 1]).is_none());
        assert!(clocks.limit(&[0, 1, 2]).is_some());
        let long_ago = Instant::now().checked_sub(Duration::from_secs(2));
        clocks.compared = Some(long_ago.expect("the machine has run for longer"));
        let again = clocks.limit(&[0, 1]).expect("the comparison is old");
        assert!((39..50).contains(&again.span.as_millis()), "{again:?}");
        assert_eq!(clocks.of(&[1]).get(&1).map(|it| it.offset_ns), Some(7));
    }

    #[test]
    fn a_less_precise_reading_replaces_another_only_once_that_is_old() {
        let mut clocks = Clocks::default();
        let offset_of = |clocks: &Clocks| clocks.of(&[1])[&1].offset_ns;
        clocks.take(&[(1, reading(7, 100, 0))].into(), 0);
        clocks.take(&[(1, reading(900, 5000, 1_000_000))].into(), 1_000_000);
        assert_eq!(offset_of(&clocks), 7);
        let later_ns = 1_000_000_000;
        clocks.take(&[(1, reading(40, 5000, later_ns))].into(), later_ns);
        assert_eq!(offset_of(&clocks), 40);
    }
}
