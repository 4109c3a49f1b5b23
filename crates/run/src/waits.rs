//! How long the workers' threads waited for a processor, over the time of a measurement. The
//! monitor looks from outside; the workers know nothing of it.

use engine::clock::Clock;
use results::IntervalRecord;
use target::{WaitCounters, WaitSample};

/// How often it is looked at, in nanoseconds.
const LOOK_NS: u64 = 100_000_000;
/// What lies between two looks at each thread, at least: a look takes about a microsecond, so that
/// all of them take less than a thousandth of a processor.
const THREAD_LOOK_NS: u64 = 2_000_000;

/// The counts of waiting at times of the clock.
#[derive(Default)]
pub(crate) struct WaitSeries {
    counters: Option<WaitCounters>,
    period_ns: u64,
    next_ns: u64,
    points: Vec<(u64, WaitSample)>,
}

impl WaitSeries {
    /// Begins to look at these threads, where they are few every 0.1 s, or twice in an interval
    /// where that is longer.
    pub fn start(&mut self, thread_ids: &[i32], interval_ns: u64) {
        self.counters = Some(WaitCounters::open(thread_ids));
        let of_threads = THREAD_LOOK_NS.saturating_mul(thread_ids.len() as u64);
        self.period_ns = LOOK_NS.max(interval_ns / 2).max(of_threads);
    }

    /// Looks, where it is time to.
    pub fn look(&mut self, clock: &impl Clock) {
        let now_ns = clock.now_ns();
        if now_ns < self.next_ns {
            return;
        }
        if let Some(counters) = &mut self.counters {
            self.points.push((now_ns, counters.sample()));
            self.next_ns = now_ns.saturating_add(self.period_ns);
        }
    }

    /// Takes what the threads themselves saw at their end, when nobody can look at them any more.
    pub fn close(&mut self, at_ns: u64, waited_ns: Option<u64>) {
        let pressure_ns = self
            .counters
            .take()
            .and_then(|mut it| it.sample().pressure_ns);
        let Some((last_ns, last)) = self.points.last().copied() else {
            return;
        };
        if at_ns > last_ns {
            let sample = WaitSample {
                waited_ns: last
                    .waited_ns
                    .zip(waited_ns)
                    .map(|(seen, told)| told.max(seen)),
                pressure_ns: pressure_ns.or(last.pressure_ns),
            };
            self.points.push((at_ns, sample));
        }
    }

    /// Puts into each interval what was waited in it; the measurement began at `measure_ns`.
    pub fn put_into(&self, intervals: &mut [IntervalRecord], measure_ns: u64) {
        for interval in intervals {
            let at_ns = measure_ns.saturating_add(interval.at_ns);
            let end_ns = at_ns.saturating_add(interval.length_ns);
            let within = |of: fn(&WaitSample) -> Option<u64>| {
                let grown = self.at(end_ns, of)? - self.at(at_ns, of)?;
                Some(grown.max(0.0) as u64)
            };
            interval.waited_ns = within(|sample| sample.waited_ns);
            interval.pressure_ns = within(|sample| sample.pressure_ns);
        }
    }

    /// A count at a time of the clock, on the line between its neighbors.
    fn at(&self, at_ns: u64, of: fn(&WaitSample) -> Option<u64>) -> Option<f64> {
        let behind = self
            .points
            .partition_point(|(point_ns, _)| *point_ns < at_ns);
        let of = |place: usize| -> Option<(f64, f64)> {
            let (point_ns, sample) = self.points.get(place)?;
            Some((*point_ns as f64, of(sample)? as f64))
        };
        let next = of(behind);
        let Some(before) = behind.checked_sub(1).and_then(of) else {
            return next.map(|(_, count)| count);
        };
        let Some(next) = next else {
            return Some(before.1);
        };
        let share = (at_ns as f64 - before.0) / (next.0 - before.0);
        Some(before.1 + (next.1 - before.1) * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &[(u64, u64)]) -> WaitSeries {
        let point = |&(at_ns, waited_ns)| {
            let sample = WaitSample {
                waited_ns: Some(waited_ns),
                pressure_ns: None,
            };
            (at_ns, sample)
        };
        WaitSeries {
            points: points.iter().map(point).collect(),
            ..WaitSeries::default()
        }
    }

    fn waits(series: &WaitSeries, lengths_ns: &[u64]) -> Vec<Option<u64>> {
        let mut at_ns = 0;
        let interval = |length_ns: &u64| {
            at_ns += length_ns;
            IntervalRecord {
                at_ns: at_ns - length_ns,
                length_ns: *length_ns,
                ..IntervalRecord::default()
            }
        };
        let mut intervals: Vec<_> = lengths_ns.iter().map(interval).collect();
        series.put_into(&mut intervals, 1000);
        intervals.iter().map(|it| it.waited_ns).collect()
    }

    #[test]
    fn waiting_is_told_by_intervals_of_any_length() {
        // What was waited in the ramp is none of it.
        let mut series = series(&[(900, 50), (1000, 70), (1100, 80), (1300, 180)]);
        assert_eq!(waits(&series, &[100, 200]), [Some(10), Some(100)]);
        assert_eq!(waits(&series, &[50, 150, 100]), [5, 55, 50].map(Some));
        // Nobody looked any more.
        assert_eq!(waits(&series, &[300, 100]), [Some(110), Some(0)]);
        series.close(1400, Some(230));
        assert_eq!(waits(&series, &[300, 100]), [Some(110), Some(50)]);
    }

    #[test]
    fn what_was_not_counted_is_not_told() {
        assert_eq!(waits(&series(&[]), &[100]), [None]);
        let mut series = series(&[(900, 1), (2000, 2)]);
        series.points[1].1.waited_ns = None;
        series.close(3000, Some(5));
        assert_eq!(waits(&series, &[1500]), [None]);
        let mut intervals = [IntervalRecord::default()];
        series.put_into(&mut intervals, 2500);
        assert_eq!(
            (intervals[0].waited_ns, intervals[0].pressure_ns),
            (None, None)
        );
    }
}
