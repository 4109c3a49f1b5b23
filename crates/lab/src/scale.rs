//! Scales workloads down, so that a table takes minutes.

use std::fmt;
use std::str::FromStr;

use description::Workload;
use units::{Bytes, Span};

use crate::error::LabError;

/// Minimum number of files for a meaningful result.
const FILES_MIN: u32 = 100;
/// Minimum number of transactions or operations for a meaningful result.
const TRANSACTIONS_MIN: u32 = 500;
const BYTES_MIN: u64 = 16 << 20;
const RUN_NS_MIN: u64 = 1_000_000_000;
const RAMP_NS_MIN: u64 = 100_000_000;
const BUDGET_NS_MIN: u64 = 200_000_000;
/// Defaults of workloads, which scaling sets explicitly.
const SIZE_BYTES: u64 = 1 << 30;
const RUN_NS: u64 = 10_000_000_000;
const RAMP_NS: u64 = 2_000_000_000;

/// Scale of workloads: above 0, at most 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabScale(f64);

impl LabScale {
    /// The original size.
    pub const FULL: Self = Self(1.0);

    /// `true` if workloads stay unchanged.
    #[must_use]
    pub fn is_full(self) -> bool {
        self.0 >= 1.0
    }

    /// The workload with scaled counts, sizes and times. No value falls below the minimum for a
    /// meaningful result, or rises above its original value.
    ///
    /// A file pool scales with the square root. Its size changes like a random walk, by the square
    /// root of the number of transactions, and an empty pool ends them.
    #[must_use]
    pub fn applied(self, workload: &Workload) -> Workload {
        let mut scaled = workload.clone();
        if self.is_full() {
            return scaled;
        }
        // The size relative to memory determines the number and size of the files.
        let is_of_memory = scaled.times_memory.is_some() || scaled.total_size.is_some();
        if let Some(times) = &mut scaled.times_memory {
            times.0 *= self.0;
        }
        if scaled.total_size.is_some() {
            self.size(&mut scaled.total_size);
        }
        if let Some(pool) = scaled.pool_counts_mut() {
            if !is_of_memory {
                self.square_root()
                    .files(pool.files, pool.default, FILES_MIN);
            }
            self.files(pool.transactions, pool.default, TRANSACTIONS_MIN);
        }
        if let Some((count, default)) = scaled.file_count_mut().filter(|_| !is_of_memory) {
            self.files(count, default, FILES_MIN);
        }
        if let Some((budget, default)) = scaled.budget_mut() {
            self.span(budget, default.0, BUDGET_NS_MIN);
        }
        if scaled.access_spec.is_empty() && scaled.worker.is_empty() {
            if scaled.run_time.is_some() {
                self.span(&mut scaled.run_time, RUN_NS, RUN_NS_MIN);
            }
            return scaled;
        }
        let full_size = scaled.size;
        if !is_of_memory {
            self.size(&mut scaled.size);
        }
        // A worker without a size follows the workload's size.
        for worker in &mut scaled.worker {
            if worker.size.is_some() {
                self.size(&mut worker.size);
            }
        }
        if scaled.new_file == Some(true) {
            // It ends when the file is full.
            return scaled;
        }
        self.span(&mut scaled.ramp_time, RAMP_NS, RAMP_NS_MIN);
        match &mut scaled.operations {
            Some(operations) => {
                *operations = match (full_size, scaled.size) {
                    // As many passes over the file as before.
                    (Some(full), Some(size)) if full.0 > 0 => {
                        let share = size.0 as f64 / full.0 as f64;
                        ((*operations as f64 * share).round() as u64).max(1)
                    }
                    _ => self.count(*operations, TRANSACTIONS_MIN.into()),
                };
                if scaled.run_time.is_some_and(|span| span.0 > 0) {
                    self.span(&mut scaled.run_time, RUN_NS, RUN_NS_MIN);
                }
            }
            None => self.span(&mut scaled.run_time, RUN_NS, RUN_NS_MIN),
        }
        scaled
    }

    fn square_root(self) -> Self {
        Self(self.0.sqrt())
    }

    fn count(self, count: u64, least: u64) -> u64 {
        let scaled = (count as f64 * self.0).round() as u64;
        // In this order: a workload smaller than the minimum keeps its own value.
        scaled.max(least).min(count)
    }

    fn files(self, count: &mut Option<u32>, default: u32, least: u32) {
        let full = count.unwrap_or(default);
        let scaled = self.count(full.into(), least.into());
        *count = Some(u32::try_from(scaled).unwrap_or(full));
    }

    fn size(self, size: &mut Option<Bytes>) {
        let full = size.map_or(SIZE_BYTES, |size| size.0);
        // 0 means everything. A whole number of MiB suits every alignment.
        let rounded = (self.count(full, BYTES_MIN) >> 20) << 20;
        *size = Some(Bytes(if full < BYTES_MIN { full } else { rounded }));
    }

    fn span(self, span: &mut Option<Span>, default_ns: u64, least_ns: u64) {
        let full = span.map_or(default_ns, |span| span.0);
        *span = Some(Span(self.count(full, least_ns)));
    }
}

impl FromStr for LabScale {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let scale = text.trim().parse::<f64>().ok();
        let Some(scale) = scale.filter(|scale| *scale > 0.0 && *scale <= 1.0) else {
            return Err(LabError::BadScale {
                seen: text.to_owned(),
            });
        };
        Ok(Self(scale))
    }
}

impl fmt::Display for LabScale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use description::load_builtin;

    fn scaled(name: &str, scale: &str) -> Workload {
        let loaded = load_builtin(name).unwrap();
        scale.parse::<LabScale>().unwrap().applied(&loaded[0])
    }

    #[test]
    fn counts_sizes_and_times_are_scaled() {
        let create_remove = scaled("create-remove", "0.02").create_remove.unwrap();
        assert_eq!(create_remove.count, Some(10_000));
        let server = scaled("file-server", "0.1");
        assert_eq!(server.size, Some(Bytes(102 << 20)));
        assert_eq!(server.run_time, Some(Span(1_000_000_000)));
        assert_eq!(server.ramp_time, Some(Span(200_000_000)));
    }

    #[test]
    fn sizes_relative_to_memory_are_scaled_only_by_that_factor() {
        let server = scaled("mail-server", "0.02");
        assert_eq!(server.times_memory.map(|times| times.0), Some(0.02));
        let postmark = server.postmark.unwrap();
        assert_eq!((postmark.number, postmark.transactions), (None, Some(500)));
        let database = scaled("database", "0.5");
        assert_eq!(database.times_memory.map(|times| times.0), Some(0.5));
        assert_eq!(database.size, None);
        assert_eq!(scaled("build", "0.1").fs_mark.unwrap().files, None);
    }

    #[test]
    fn a_scaled_pool_lasts_as_long_as_before() {
        let full = description::classics::postmark::Postmark {
            number: Some(9999),
            transactions: Some(5_000_000),
            ..description::classics::postmark::Postmark::default()
        };
        let full = Workload {
            postmark: Some(full),
            ..Workload::default()
        };
        let small = "0.01".parse::<LabScale>().unwrap().applied(&full);
        let small = small.postmark.unwrap();
        assert_eq!(
            (small.number, small.transactions),
            (Some(1000), Some(50_000))
        );
    }

    #[test]
    fn scaled_values_keep_their_minimum_and_never_grow() {
        let postmark = scaled("postmark", "0.001").postmark.unwrap();
        assert_eq!(
            (postmark.number, postmark.transactions),
            (Some(100), Some(500))
        );
        let server = scaled("file-server", "0.001");
        assert_eq!(server.size, Some(Bytes(BYTES_MIN)));
        assert_eq!(server.run_time, Some(Span(RUN_NS_MIN)));
    }

    #[test]
    fn a_scaled_file_is_read_as_many_times_as_before() {
        let read = Workload {
            size: Some(Bytes(128 << 20)),
            operations: Some(2048),
            access_spec: vec![description::model::AccessSpec::default()],
            ..Workload::default()
        };
        let small = "0.001".parse::<LabScale>().unwrap().applied(&read);
        assert_eq!(
            (small.size, small.operations),
            (Some(Bytes(16 << 20)), Some(256))
        );
    }

    #[test]
    fn the_full_scale_changes_nothing() {
        for name in ["postmark", "file-server", "lat-fs", "fs-mark"] {
            let loaded = load_builtin(name).unwrap();
            assert_eq!(LabScale::FULL.applied(&loaded[0]), loaded[0]);
        }
    }

    #[test]
    fn a_scale_is_above_0_and_at_most_1() {
        for text in ["0", "-1", "2", "x", "nan", "inf"] {
            assert!(text.parse::<LabScale>().is_err(), "{text}");
        }
    }
}
