//! Merged live results of all processes during a cell, for displays and the store.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use results::{IntervalRecord, MergedInterval, RunEvent};

/// Maximum number of intervals that a process can be ahead of another.
const AHEAD_MAX: usize = 4096;

/// Live results that the processes have reported for a cell.
#[derive(Default)]
pub(super) struct RankProgress {
    /// Intervals that not all processes have reported yet, by number.
    pending: BTreeMap<usize, PendingInterval>,
    /// Number of intervals that each process has reported.
    interval_counts: BTreeMap<u32, usize>,
    progress: BTreeMap<u32, RunEvent>,
}

/// Interval that some processes have reported.
struct PendingInterval {
    sum: MergedInterval,
    ranks: BTreeSet<u32>,
}

impl RankProgress {
    /// Takes an event of a process; returns the merged events that `ranks`, the working processes,
    /// have completed.
    pub fn take(&mut self, rank: u32, event: RunEvent, ranks: &BTreeSet<u32>) -> Vec<RunEvent> {
        match event {
            RunEvent::Interval { cell, interval } => {
                let number = self.interval_counts.entry(rank).or_default();
                let first = self.pending.first_key_value().map_or(*number, |it| *it.0);
                // Live intervals of a process that is too far ahead are dropped, so that memory
                // stays limited. The cell's records contain all of them.
                if *number < first.saturating_add(AHEAD_MAX) {
                    match self.pending.entry(*number) {
                        Entry::Occupied(open) => open.into_mut().add(rank, &interval),
                        Entry::Vacant(place) => {
                            place.insert(PendingInterval::of(rank, interval));
                        }
                    }
                }
                *number += 1;
                self.complete(cell, ranks)
            }
            // Every process judges the rounds of all, so one report suffices.
            RunEvent::Round { .. } if ranks.first() == Some(&rank) => vec![event],
            RunEvent::Progress { .. } => {
                self.progress.insert(rank, event);
                // All processes report at the same interval, so one sum per report of the first
                // process is enough.
                let is_first = ranks.first() == Some(&rank);
                let sum = is_first.then(|| self.sum(ranks)).flatten();
                sum.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Starts a stage without any reports.
    pub fn begin_stage(&mut self) {
        self.pending.clear();
        self.interval_counts.clear();
        self.progress.clear();
    }

    fn complete(&mut self, cell: u32, ranks: &BTreeSet<u32>) -> Vec<RunEvent> {
        let mut events = Vec::new();
        while let Some(first) = self.pending.first_entry() {
            // The interval's ranks may include processes that are done or lost by now.
            let is_whole =
                first.get().ranks.len() >= ranks.len() && ranks.is_subset(&first.get().ranks);
            if !is_whole {
                break;
            }
            let interval = first.remove().sum.together();
            events.push(RunEvent::Interval { cell, interval });
        }
        events
    }

    fn sum(&self, ranks: &BTreeSet<u32>) -> Option<RunEvent> {
        let all: Vec<&RunEvent> = ranks
            .iter()
            .filter_map(|rank| self.progress.get(rank))
            .collect();
        let mut sum = (*all.first()?).clone();
        let RunEvent::Progress {
            iops,
            bytes_per_second,
            p50_ns,
            p99_ns,
            octaves,
            errors,
            ..
        } = &mut sum
        else {
            return None;
        };
        for other in &all[1..] {
            let RunEvent::Progress {
                iops: more,
                bytes_per_second: bytes,
                octaves: counts,
                errors: failed,
                ..
            } = other
            else {
                continue;
            };
            *iops += more;
            *bytes_per_second += bytes;
            *errors = errors.saturating_add(*failed);
            octaves.resize(octaves.len().max(counts.len()), 0);
            octaves
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        }
        if ranks.len() > 1 {
            // Percentiles cannot be merged, and the first process does not represent all.
            (*p50_ns, *p99_ns) = (None, None);
        }
        Some(sum)
    }
}

impl PendingInterval {
    fn of(rank: u32, interval: IntervalRecord) -> Self {
        Self {
            sum: MergedInterval::of(interval),
            ranks: BTreeSet::from([rank]),
        }
    }

    fn add(&mut self, rank: u32, interval: &IntervalRecord) {
        self.sum.add(interval);
        self.ranks.insert(rank);
    }
}
