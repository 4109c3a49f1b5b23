//! Time that the workers' threads ran and waited for a CPU, and the devices' I/O, during a
//! measurement. The monitor observes them from outside.

use std::rc::Rc;

use engine::clock::Clock;
use results::{IntervalDevice, IntervalRecord};
use storage::{DeviceCounters, DeviceSample, WaitCounters, WaitSample};

/// Minimum interval between samples, in nanoseconds.
const SAMPLE_INTERVAL_NS: u64 = 100_000_000;
/// Minimum interval between samples per thread, in nanoseconds. A sample takes about 1 µs per
/// thread, so sampling takes less than 0.1 % of a CPU.
const THREAD_SAMPLE_NS: u64 = 2_000_000;

/// Counters at one time.
#[derive(Clone, Copy, Default)]
struct WaitPoint {
    threads: WaitSample,
    device: Option<DeviceSample>,
}

/// Counters of waiting and of the devices over time.
#[derive(Default)]
pub(crate) struct WaitSeries {
    counters: Option<WaitCounters>,
    devices: Option<Rc<DeviceCounters>>,
    period_ns: u64,
    next_ns: u64,
    points: Vec<(u64, WaitPoint)>,
}

impl WaitSeries {
    /// Starts to sample these devices and threads every 0.1 s, or twice per interval if that is
    /// longer. With many threads, samples are less frequent.
    pub fn start(
        &mut self,
        devices: Option<Rc<DeviceCounters>>,
        thread_ids: &[i32],
        interval_ns: u64,
    ) {
        self.devices = devices;
        self.counters = Some(WaitCounters::open(thread_ids));
        let threads_ns = THREAD_SAMPLE_NS.saturating_mul(thread_ids.len() as u64);
        self.period_ns = SAMPLE_INTERVAL_NS.max(interval_ns / 2).max(threads_ns);
    }

    /// Takes a sample if one is due.
    pub fn look(&mut self, clock: &impl Clock) {
        let now_ns = clock.now_ns();
        if now_ns < self.next_ns {
            return;
        }
        let device = self.device();
        if let Some(counters) = &mut self.counters {
            let threads = counters.sample();
            self.points.push((now_ns, WaitPoint { threads, device }));
            self.next_ns = now_ns.saturating_add(self.period_ns);
        }
    }

    fn device(&self) -> Option<DeviceSample> {
        self.devices.as_ref()?.sample().ok()
    }

    /// Adds the threads' own last readings, because they can no longer be observed after their end.
    pub fn close(&mut self, at_ns: u64, waited_ns: Option<u64>) {
        let sample = self.counters.take().map(|mut it| it.sample());
        let pressure_ns = sample.and_then(|it| it.pressure_ns);
        let device = self.device();
        let Some((last_ns, last)) = self.points.last().copied() else {
            return;
        };
        if at_ns > last_ns {
            let before = last.threads;
            let threads = WaitSample {
                waited_ns: before
                    .waited_ns
                    .zip(waited_ns)
                    // Intervals are differences of this count, so it must not decrease.
                    .map(|(sampled_ns, reported_ns)| reported_ns.max(sampled_ns)),
                ran_ns: sample.and_then(|it| it.ran_ns).or(before.ran_ns),
                pressure_ns: pressure_ns.or(before.pressure_ns),
            };
            let device = device.or(last.device);
            self.points.push((at_ns, WaitPoint { threads, device }));
        }
    }

    /// Sets the waiting time of each interval; the measurement started at `measure_ns`.
    pub fn put_into(&self, intervals: &mut [IntervalRecord], measure_ns: u64) {
        for interval in intervals {
            let at_ns = measure_ns.saturating_add(interval.at_ns);
            let end_ns = at_ns.saturating_add(interval.length_ns);
            let within = |of: fn(&WaitPoint) -> Option<u64>| {
                let grown = self.at(end_ns, of)? - self.at(at_ns, of)?;
                Some(grown.max(0.0) as u64)
            };
            interval.waited_ns = within(|point| point.threads.waited_ns);
            interval.ran_ns = within(|point| point.threads.ran_ns);
            interval.pressure_ns = within(|point| point.threads.pressure_ns);
            interval.device = device(within);
        }
    }

    /// Count at a time of the clock, interpolated between its neighbors.
    fn at(&self, at_ns: u64, of: fn(&WaitPoint) -> Option<u64>) -> Option<f64> {
        let following = self
            .points
            .partition_point(|(point_ns, _)| *point_ns < at_ns);
        let of = |index: usize| -> Option<(f64, f64)> {
            let (point_ns, point) = self.points.get(index)?;
            Some((*point_ns as f64, of(point)? as f64))
        };
        let next = of(following);
        let Some(before) = following.checked_sub(1).and_then(of) else {
            return next.map(|(_, count)| count);
        };
        let Some(next) = next else {
            // Nothing is known after the last sample.
            return Some(before.1);
        };
        let share = (at_ns as f64 - before.0) / (next.0 - before.0);
        Some(before.1 + (next.1 - before.1) * share)
    }
}

/// Device I/O, if all of its counters are known.
fn device(within: impl Fn(fn(&WaitPoint) -> Option<u64>) -> Option<u64>) -> Option<IntervalDevice> {
    Some(IntervalDevice {
        reads: within(|point| Some(point.device?.reads))?,
        read_bytes: within(|point| Some(point.device?.read_bytes))?,
        writes: within(|point| Some(point.device?.writes))?,
        write_bytes: within(|point| Some(point.device?.write_bytes))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &[(u64, u64)]) -> WaitSeries {
        let point = |&(at_ns, waited_ns)| {
            let threads = WaitSample {
                waited_ns: Some(waited_ns),
                ..WaitSample::default()
            };
            let device = DeviceSample {
                reads: waited_ns * 2,
                ..DeviceSample::default()
            };
            let device = Some(device);
            (at_ns, WaitPoint { threads, device })
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
    fn waiting_is_attributed_to_intervals_of_any_length() {
        // The waiting time of the ramp, here 50 ns, does not count.
        let mut series = series(&[(900, 50), (1000, 70), (1100, 80), (1300, 180)]);
        assert_eq!(waits(&series, &[100, 200]), [Some(10), Some(100)]);
        assert_eq!(waits(&series, &[50, 150, 100]), [5, 55, 50].map(Some));
        // There are no samples after 1300 ns, so the second interval has no waiting time.
        assert_eq!(waits(&series, &[300, 100]), [Some(110), Some(0)]);
        series.close(1400, Some(230));
        assert_eq!(waits(&series, &[300, 100]), [Some(110), Some(50)]);
    }

    #[test]
    fn device_activity_is_attributed_to_intervals() {
        let series = series(&[(1000, 0), (1100, 10), (1200, 30)]);
        let mut intervals = [0, 100].map(|at_ns| IntervalRecord {
            at_ns,
            length_ns: 100,
            ..IntervalRecord::default()
        });
        series.put_into(&mut intervals, 1000);
        let reads = intervals.map(|it| it.device.map(|device| device.reads));
        assert_eq!(reads, [Some(20), Some(40)]);
    }

    #[test]
    fn missing_counters_are_not_reported() {
        assert_eq!(waits(&series(&[]), &[100]), [None]);
        let mut series = series(&[(900, 1), (2000, 2)]);
        series.points[1].1.threads.waited_ns = None;
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
