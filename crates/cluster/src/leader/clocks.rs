//! Offsets of the processes' clocks from the leader's clock. The shortest of many round trips gives
//! the offset within half its length.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::clock::Clock;
use results::ClockOffset;

use super::{Leader, PeerEvent};
use crate::message::{LeaderMessage, MemberMessage};

/// Maximum number of round trips to each process.
const TRIPS_MAX: u32 = 200;
/// Time limit of the first comparison of a run, as long as each process answered
/// [`FIRST_TRIPS_MIN`] times.
const FIRST_TIME_MAX: Duration = Duration::from_millis(50);
const FIRST_TRIPS_MIN: u32 = 5;
/// A later comparison takes at most 1/`TIME_SHARE` of the time since the previous one.
// Comparisons before every stage were a reason why two MPI ranks needed a second for each
// repetition of short phases.
const TIME_SHARE: u32 = 50;
/// Minimum duration of a comparison; a shorter one would be less precise than the previous one.
const TIME_MIN: Duration = Duration::from_millis(1);
/// Time limit of a later comparison.
const LATER_TIME_MAX: Duration = Duration::from_millis(300);
const LATER_TRIPS_MIN: u32 = 2;
/// Time limit of any comparison. A process that has not answered by then keeps its known reading.
const TIME_MAX: Duration = Duration::from_secs(4);
/// Maximum difference between the oscillators of two machines, in parts per million.
const DRIFT_MAX_PPM: u64 = 50;
/// Minimum time between two readings for a drift, as a multiple of the error of their offsets.
/// After a shorter time, the drift would be noise.
const DRIFT_TIME_FACTOR: u64 = 10_000;

/// Limit of a comparison of clocks.
#[derive(Debug, Clone, Copy)]
struct ClockLimit {
    span: Duration,
    round_trips: u32,
}

/// Clock readings of a run.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    readings: BTreeMap<u32, ClockReading>,
    /// End of the last comparison.
    compared_at: Option<Instant>,
    /// Number of the first ping of the next comparison.
    first_ping: u32,
}

impl Clocks {
    /// Limit of the comparison before a stage; `None` if the known readings are good enough.
    fn limit(&self, ranks: &[u32]) -> Option<ClockLimit> {
        let is_known = ranks.iter().all(|rank| self.readings.contains_key(rank));
        match self.compared_at.filter(|_| is_known) {
            None => Some(ClockLimit {
                span: FIRST_TIME_MAX,
                round_trips: FIRST_TRIPS_MIN,
            }),
            Some(compared) => {
                let span = (compared.elapsed() / TIME_SHARE).min(LATER_TIME_MAX);
                let trips = LATER_TRIPS_MIN;
                (span >= TIME_MIN).then_some(ClockLimit {
                    span,
                    round_trips: trips,
                })
            }
        }
    }

    /// For each process, keeps the reading that is more precise at this time.
    fn take(&mut self, read: &BTreeMap<u32, ClockReading>, now_ns: u64) {
        for (rank, reading) in read {
            let known = self.readings.entry(*rank).or_insert(*reading);
            if reading.bound_ns(now_ns) <= known.bound_ns(now_ns) {
                *known = *reading;
            }
        }
        self.compared_at = Some(Instant::now());
    }

    /// The known readings of these processes.
    fn of(&self, ranks: &[u32]) -> BTreeMap<u32, ClockReading> {
        let known = ranks
            .iter()
            .filter_map(|rank| Some((*rank, *self.readings.get(rank)?)));
        known.collect()
    }
}

/// Reading of a process's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClockReading {
    pub offset_ns: i64,
    /// Shortest round trip, in nanoseconds.
    pub round_trip_ns: u64,
    /// Time of that round trip, in nanoseconds of the leader's clock.
    pub at_ns: u64,
}

struct PingSeries {
    sent_ns: u64,
    number: u32,
    best: Option<ClockReading>,
}

impl ClockReading {
    /// Maximum error of the offset at a time of the leader's clock, in nanoseconds.
    fn bound_ns(&self, now_ns: u64) -> u64 {
        let age_ns = now_ns.saturating_sub(self.at_ns);
        self.round_trip_ns / 2 + age_ns / 1_000_000 * DRIFT_MAX_PPM
    }
}

impl Leader {
    /// Clocks before a stage. They are compared once per run, and again only if that takes a small
    /// share of the time since then. Reports that arrive meanwhile are added to `kept`.
    pub(super) fn clocks_before(
        &mut self,
        ranks: &[u32],
        kept: &mut Vec<(u32, PeerEvent)>,
    ) -> BTreeMap<u32, ClockReading> {
        if let Some(limit) = self.clocks.limit(ranks) {
            let read = self.read_clocks(ranks, limit, kept);
            self.clocks.take(&read, self.clock.now_ns());
        }
        self.clocks.of(ranks)
    }

    /// Clocks after a cell, which show their drift.
    pub(super) fn clocks_after(&mut self, ranks: &[u32]) -> BTreeMap<u32, ClockReading> {
        let limit = self.clocks.limit(ranks).unwrap_or(ClockLimit {
            span: TIME_MIN,
            round_trips: LATER_TRIPS_MIN,
        });
        // The cell has ended, so other reports no longer matter. `on_event` has already recorded
        // losses.
        let read = self.read_clocks(ranks, limit, &mut Vec::new());
        self.clocks.take(&read, self.clock.now_ns());
        read
    }

    /// Reads the clocks of these processes. Other reports are added to `kept`.
    fn read_clocks(
        &mut self,
        ranks: &[u32],
        limit: ClockLimit,
        kept: &mut Vec<(u32, PeerEvent)>,
    ) -> BTreeMap<u32, ClockReading> {
        let begun = Instant::now();
        // Numbers are never used twice: a late answer to an earlier comparison would look like a
        // short trip with an offset of seconds.
        let first = self.clocks.first_ping;
        self.clocks.first_ping = first.wrapping_add(TRIPS_MAX + 1);
        let mut chains = BTreeMap::new();
        for rank in ranks {
            let sent_ns = self.clock.now_ns();
            self.send(*rank, &LeaderMessage::Ping { number: first });
            chains.insert(
                *rank,
                PingSeries {
                    sent_ns,
                    number: first,
                    best: None,
                },
            );
        }
        let is_open = |chain: &PingSeries| {
            let trips = chain.number.wrapping_sub(first);
            let is_enough = trips >= limit.round_trips && begun.elapsed() > limit.span;
            trips < TRIPS_MAX && !is_enough
        };
        while chains.values().any(is_open) && begun.elapsed() < TIME_MAX {
            match self.receive(Duration::from_millis(20)) {
                Some((rank, PeerEvent::Report(MemberMessage::Pong { number, at_ns }))) => {
                    let now_ns = self.clock.now_ns();
                    // Answers to the last pings of the previous comparison may arrive only now.
                    let Some(chain) = chains.get_mut(&rank).filter(|it| it.number == number) else {
                        continue;
                    };
                    chain.take(at_ns, now_ns);
                    chain.number = chain.number.wrapping_add(1);
                    if is_open(chain) {
                        chain.sent_ns = self.clock.now_ns();
                        let number = chain.number;
                        self.send(rank, &LeaderMessage::Ping { number });
                    }
                }
                Some((rank, PeerEvent::Lost(why))) => {
                    chains.remove(&rank);
                    kept.push((rank, PeerEvent::Lost(why)));
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

impl PingSeries {
    fn take(&mut self, at_ns: u64, now_ns: u64) {
        let trip_ns = now_ns.saturating_sub(self.sent_ns);
        if self.best.is_none_or(|best| trip_ns < best.round_trip_ns) {
            // The process read its clock at some time within the round trip. For the middle, the
            // maximum error is smallest.
            let middle_ns = self.sent_ns + trip_ns / 2;
            self.best = Some(ClockReading {
                offset_ns: at_ns.cast_signed().wrapping_sub(middle_ns.cast_signed()),
                round_trip_ns: trip_ns,
                at_ns: middle_ns,
            });
        }
    }
}

/// Clock offset in a stage that started at `start_ns`, from a reading before it and one after it.
pub(super) fn offset(
    before: Option<&ClockReading>,
    after: Option<&ClockReading>,
    start_ns: u64,
) -> ClockOffset {
    let Some(before) = before else {
        return ClockOffset::default();
    };
    let drift = after.and_then(|after| {
        let passed_ns = after.at_ns.saturating_sub(before.at_ns);
        let doubt_ns = before.round_trip_ns / 2 + after.round_trip_ns / 2;
        // Both offsets have an error, and a short time between them would make the drift mostly
        // error.
        let is_known = passed_ns > 0 && passed_ns >= doubt_ns.saturating_mul(DRIFT_TIME_FACTOR);
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

    const fn reading(offset_ns: i64, trip_ns: u64, at_ns: u64) -> ClockReading {
        ClockReading {
            offset_ns,
            round_trip_ns: trip_ns,
            at_ns,
        }
    }

    #[test]
    fn the_shortest_round_trip_counts() {
        let mut chain = PingSeries {
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
            (best.offset_ns, best.round_trip_ns, best.at_ns),
            (50_000, 100, 5050)
        );
        let later = reading(50_100, 80, 1_000_005_050);
        let clock = offset(Some(&best), Some(&later), 5050);
        assert_eq!((clock.offset_ns, clock.bound_ns), (50_000, 50));
        assert!((clock.drift_ppb.expect("two readings") - 100.0).abs() < 1e-6);
    }

    #[test]
    fn drift_is_reported_only_for_readings_far_enough_apart() {
        let before = reading(0, 1000, 0);
        let soon = offset(Some(&before), Some(&reading(500, 1000, 5_000_000)), 0);
        assert_eq!(soon.drift_ppb, None);
        let same = offset(Some(&before), Some(&before), 0);
        assert_eq!(same.drift_ppb, None);
        let late = offset(Some(&before), Some(&reading(500, 1000, 10_000_000)), 0);
        assert_eq!(late.drift_ppb, Some(50_000.0));
    }

    #[test]
    fn the_error_bound_of_an_old_reading_grows_with_possible_drift() {
        let before = reading(0, 1000, 0);
        let clock = offset(Some(&before), None, 100_000_000);
        assert_eq!(clock.bound_ns, 500 + 5000);
    }

    #[test]
    fn clock_comparisons_take_a_limited_share_of_the_elapsed_time() {
        let mut clocks = Clocks::default();
        let first = clocks.limit(&[0, 1]).expect("nothing is known");
        assert_eq!(
            (first.span, first.round_trips),
            (FIRST_TIME_MAX, FIRST_TRIPS_MIN)
        );
        let read = [(0, reading(0, 100, 0)), (1, reading(7, 100, 0))];
        clocks.take(&read.into(), 0);
        assert!(clocks.limit(&[0, 1]).is_none());
        assert!(clocks.limit(&[0, 1, 2]).is_some());
        let long_ago = Instant::now().checked_sub(Duration::from_secs(2));
        clocks.compared_at = Some(long_ago.expect("the machine has run for longer"));
        let again = clocks.limit(&[0, 1]).expect("the comparison is old");
        assert!((39..50).contains(&again.span.as_millis()), "{again:?}");
        assert_eq!(clocks.of(&[1]).get(&1).map(|it| it.offset_ns), Some(7));
    }

    #[test]
    fn a_less_precise_reading_replaces_only_an_old_one() {
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
