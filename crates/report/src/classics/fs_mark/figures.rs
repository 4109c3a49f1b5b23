//! The numbers of an iteration, rounded where the original rounds them.

/// Times of one kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallTimes {
    /// The shortest.
    pub min_ns: u64,
    /// All of them together.
    pub sum_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// What one thread's iteration took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTimes {
    /// Files of the iteration.
    pub file_count: u32,
    /// Writes of each file, at least 1.
    pub writes_per_file: u64,
    /// From the first file to the end of the last sync, removal not included.
    pub loop_ns: u64,
    /// Creating the files.
    pub create: CallTimes,
    /// Their writes.
    pub write: CallTimes,
    /// Their `fsync`s; after all files were written that is open, `fsync` and close together.
    pub fsync: CallTimes,
    /// `sync`.
    pub sync_ns: u64,
    /// Closing what was created.
    pub close: CallTimes,
    /// Removing the files.
    pub unlink: CallTimes,
}

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

impl ThreadTimes {
    /// The figures; times are cut to microseconds.
    ///
    /// `has_single_sync` leaves shortest and longest `fsync` out, as the original does where only
    /// the first file is synced (method 2).
    #[must_use]
    pub fn figures(&self, has_single_sync: bool) -> ThreadFigures {
        let file_count = u64::from(self.file_count.max(1));
        let spread = |times: CallTimes, call_count: u64| Spread {
            min_us: times.min_ns / 1000,
            average_us: times.sum_ns / 1000 / call_count.max(1),
            max_us: times.max_ns / 1000,
        };
        let mut fsync = spread(self.fsync, file_count);
        if has_single_sync {
            (fsync.min_us, fsync.max_us) = (0, 0);
        }
        let sync = Spread {
            average_us: self.sync_ns / 1000,
            ..Spread::default()
        };
        let write_count = file_count.saturating_mul(self.writes_per_file);
        ThreadFigures {
            file_count: self.file_count,
            files_per_second: self.files_per_second(),
            overhead_us: self.overhead_us(),
            create: spread(self.create, file_count),
            write: spread(self.write, write_count),
            fsync,
            sync,
            close: spread(self.close, file_count),
            unlink: spread(self.unlink, file_count),
        }
    }

    /// Files a second; threads hand it on as text with one decimal.
    fn files_per_second(&self) -> f32 {
        // A loop without time would be endlessly fast.
        let loop_us = (self.loop_ns / 1000).max(1);
        let rate = (f64::from(self.file_count) / (loop_us as f64 / 1e6)) as f32;
        format!("{:.1}", f64::from(rate)).parse().unwrap_or(rate)
    }

    fn overhead_us(&self) -> u64 {
        let calls = [self.create, self.write, self.fsync, self.close];
        let calls_ns = calls.iter().map(|times| times.sum_ns).sum::<u64>() + self.sync_ns;
        self.loop_ns.saturating_sub(calls_ns) / 1000
    }
}

impl ThreadFigures {
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

impl Iteration {
    /// The figures of all threads together, in the threads' order.
    ///
    /// Averages are those of the threads' averages. A shortest time of 0 gives way to that of the
    /// next thread, as in the original.
    #[must_use]
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
    pub(super) const fn spreads(&self) -> [Spread; 6] {
        self.spreads
    }
}
