//! The numbers of an iteration, rounded where the original rounds them.

use description::classics::fs_mark::{FsMarkPlan, SyncMethod};
use results::{CallTimes, RoundFigures, WorkerTimes};

/// Three numbers of a kind of call, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spread {
    /// The shortest; 0 where there was none.
    pub min_us: u64,
    /// The average of a file.
    pub average_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// What a thread reports of its iteration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ThreadFigures {
    /// Files of the iteration.
    pub file_count: u32,
    /// Files a second, with one decimal.
    pub files_per_second: f32,
    /// What no call took.
    pub overhead_us: u64,
    /// Creating.
    pub create: Spread,
    /// Writing.
    pub write: Spread,
    /// Making durable.
    pub fsync: Spread,
    /// `sync`, which has an average only.
    pub sync: Spread,
    /// Closing.
    pub close: Spread,
    /// Removing.
    pub unlink: Spread,
}

/// The figures of all threads of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Iteration {
    /// Files of all threads.
    pub file_count: u32,
    /// The sum of the threads' rates.
    pub files_per_second: f32,
    /// The sum of the threads' overheads.
    pub overhead_us: u64,
    spreads: [Spread; 6],
}

impl ThreadFigures {
    /// The figures of a thread's times, which are cut to microseconds; where all threads waited for
    /// one `sync`, they are told of that.
    pub fn of(plan: &FsMarkPlan, times: &WorkerTimes, sync_ns: Option<u64>) -> Self {
        let file_count = u64::from(plan.file_count.max(1));
        let spread = |kind: &str, call_count: u64| {
            let CallTimes {
                sum_ns,
                min_ns,
                max_ns,
                ..
            } = times.of(kind);
            Spread {
                min_us: min_ns / 1000,
                average_us: sum_ns / 1000 / call_count.max(1),
                max_us: max_ns / 1000,
            }
        };
        let mut fsync = spread("fsync", file_count);
        // The original leaves both out where only the first file is synced.
        if plan.sync_method == SyncMethod::SyncFirst {
            (fsync.min_us, fsync.max_us) = (0, 0);
        }
        let sync_ns = sync_ns.unwrap_or_else(|| times.of("sync").sum_ns);
        let sync = Spread {
            average_us: sync_ns / 1000,
            ..Spread::default()
        };
        let write_count = file_count.saturating_mul(plan.writes_per_file());
        Self {
            file_count: plan.file_count,
            files_per_second: files_per_second(plan.file_count, times.time_ns),
            overhead_us: overhead_us(times, sync_ns),
            create: spread("create", file_count),
            write: spread("write", write_count),
            fsync,
            sync,
            close: spread("close", file_count),
            unlink: spread("unlink", file_count),
        }
    }

    const fn spreads(&self) -> [Spread; 6] {
        [
            self.create,
            self.write,
            self.fsync,
            self.sync,
            self.close,
            self.unlink,
        ]
    }
}

/// Files a second; threads hand it on as text with one decimal.
fn files_per_second(file_count: u32, time_ns: u64) -> f32 {
    // A loop without time would be endlessly fast.
    let loop_us = (time_ns / 1000).max(1);
    let rate = (f64::from(file_count) / (loop_us as f64 / 1e6)) as f32;
    format!("{:.1}", f64::from(rate)).parse().unwrap_or(rate)
}

fn overhead_us(times: &WorkerTimes, sync_ns: u64) -> u64 {
    let timed = ["create", "write", "fsync", "close"].map(|kind| times.of(kind).sum_ns);
    let calls_ns = timed.into_iter().fold(sync_ns, u64::saturating_add);
    times.time_ns.saturating_sub(calls_ns) / 1000
}

impl Iteration {
    /// The figures of a round of that plan.
    pub fn of(plan: &FsMarkPlan, round: &RoundFigures) -> Self {
        let workers = round.workers.iter();
        let threads = workers.map(|times| ThreadFigures::of(plan, times, round.sync_ns));
        Self::new(&threads.collect::<Vec<_>>())
    }

    /// The figures of all threads together, in the threads' order.
    ///
    /// Averages are those of the threads' averages. A shortest time of 0 gives way to that of the
    /// next thread, as in the original.
    pub fn new(threads: &[ThreadFigures]) -> Self {
        let mut iteration = Self::default();
        for thread in threads {
            iteration.file_count = iteration.file_count.wrapping_add(thread.file_count);
            iteration.files_per_second += thread.files_per_second;
            iteration.overhead_us += thread.overhead_us;
            for (all, one) in iteration.spreads.iter_mut().zip(thread.spreads()) {
                all.average_us += one.average_us;
                all.max_us = all.max_us.max(one.max_us);
                if all.min_us == 0 || one.min_us < all.min_us {
                    all.min_us = one.min_us;
                }
            }
        }
        for all in &mut iteration.spreads {
            all.average_us /= threads.len().max(1) as u64;
        }
        iteration
    }

    /// Create, write, fsync, sync, close and unlink.
    pub const fn spreads(&self) -> [Spread; 6] {
        self.spreads
    }
}
