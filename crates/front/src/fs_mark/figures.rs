//! Results of an iteration, rounded where the original rounds them.

use description::classics::fs_mark::{FsMarkPlan, SyncMethod};
use results::{CallTimes, RoundFigures, WorkerTimes};

/// Times of one kind of call, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallTimeSummary {
    /// The shortest; 0 without calls.
    pub min_us: u64,
    /// Total time divided by the planned number of calls.
    pub average_us: u64,
    /// The longest; 0 without calls.
    pub max_us: u64,
}

/// Results that a thread reports for an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ThreadFigures {
    /// Number of files.
    pub file_count: u32,
    /// Files per second, rounded to one decimal.
    pub files_per_second: f32,
    /// Time outside of the calls, in microseconds.
    pub overhead_us: u64,
    /// Times of creating.
    pub create: CallTimeSummary,
    /// Times of writing.
    pub write: CallTimeSummary,
    /// Times of fsync.
    pub fsync: CallTimeSummary,
    /// Time of `sync`, which only has an average.
    pub sync: CallTimeSummary,
    /// Times of closing.
    pub close: CallTimeSummary,
    /// Times of removing.
    pub unlink: CallTimeSummary,
}

/// Results of all threads of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Iteration {
    /// Number of files of all threads.
    pub file_count: u32,
    /// Sum of the threads' rates, per second.
    pub files_per_second: f32,
    /// Sum of the threads' overheads, in microseconds.
    pub overhead_us: u64,
    spreads: [CallTimeSummary; 6],
}

impl ThreadFigures {
    /// Results from a thread's times, truncated to microseconds. `sync_ns` is the duration of a
    /// `sync` that all threads waited for, if there was one.
    pub fn of(plan: &FsMarkPlan, times: &WorkerTimes, sync_ns: Option<u64>) -> Self {
        let file_count = u64::from(plan.file_count.max(1));
        let spread = |kind: &str, call_count: u64| {
            let CallTimes {
                sum_ns,
                min_ns,
                max_ns,
                ..
            } = times.of(kind);
            CallTimeSummary {
                min_us: min_ns / 1000,
                average_us: sum_ns / 1000 / call_count.max(1),
                max_us: max_ns / 1000,
            }
        };
        let mut fsync = spread("fsync", file_count);
        // The original omits both if only the first file is synced.
        if plan.sync_method == SyncMethod::SyncFirst {
            (fsync.min_us, fsync.max_us) = (0, 0);
        }
        let sync_ns = sync_ns.unwrap_or_else(|| times.of("sync").sum_ns);
        let sync = CallTimeSummary {
            average_us: sync_ns / 1000,
            ..CallTimeSummary::default()
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

    const fn spreads(&self) -> [CallTimeSummary; 6] {
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

/// Files per second, rounded to one decimal because the original's threads report it as text.
fn files_per_second(file_count: u32, time_ns: u64) -> f32 {
    // Avoids a division by zero.
    let loop_us = (time_ns / 1000).max(1);
    let rate = (f64::from(file_count) / (loop_us as f64 / 1e6)) as f32;
    format!("{:.1}", f64::from(rate)).parse().unwrap_or(rate)
}

fn overhead_us(times: &WorkerTimes, sync_ns: u64) -> u64 {
    // Unlinks are left out, since the original does them after its measured loop.
    let timed = ["create", "write", "fsync", "close"].map(|kind| times.of(kind).sum_ns);
    let calls_ns = timed.into_iter().fold(sync_ns, u64::saturating_add);
    times.time_ns.saturating_sub(calls_ns) / 1000
}

impl Iteration {
    /// Results of a round of this plan.
    pub fn of(plan: &FsMarkPlan, round: &RoundFigures) -> Self {
        let workers = round.workers.iter();
        let threads = workers.map(|times| ThreadFigures::of(plan, times, round.sync_ns));
        Self::new(&threads.collect::<Vec<_>>())
    }

    /// Combines the results of all threads, in the threads' order.
    ///
    /// Averages are averages of the threads' averages. As in the original, the next thread's
    /// shortest time replaces a shortest time of 0.
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

    /// Times of create, write, fsync, sync, close and unlink.
    pub const fn spreads(&self) -> [CallTimeSummary; 6] {
        self.spreads
    }
}
