//! What all do together while a cell goes on, for displays and the store.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use results::{Beside, IntervalRecord, RunEvent};

/// Nobody may be so many intervals ahead of another.
const AHEAD_MAX: usize = 4096;

/// What each has told of a cell so far.
#[derive(Default)]
pub(super) struct Live {
    /// Intervals that not all have told yet, by their numbers.
    open: BTreeMap<usize, Open>,
    /// How many each has told.
    told: BTreeMap<u32, usize>,
    progress: BTreeMap<u32, RunEvent>,
}

/// What some have told of an interval.
struct Open {
    sum: Beside,
    by: BTreeSet<u32>,
}

impl Live {
    /// Takes an event of one; what is to be told of all, where these are at work.
    pub fn take(&mut self, rank: u32, event: RunEvent, ranks: &BTreeSet<u32>) -> Vec<RunEvent> {
        match event {
            RunEvent::Interval { cell, interval } => {
                let number = self.told.entry(rank).or_default();
                let first = self.open.first_key_value().map_or(*number, |it| *it.0);
                if *number < first.saturating_add(AHEAD_MAX) {
                    match self.open.entry(*number) {
                        Entry::Occupied(open) => open.into_mut().add(rank, &interval),
                        Entry::Vacant(place) => {
                            place.insert(Open::of(rank, interval));
                        }
                    }
                }
                *number += 1;
                self.complete(cell, ranks)
            }
            // All judge the rounds of all.
            RunEvent::Round { .. } if ranks.first() == Some(&rank) => vec![event],
            RunEvent::Progress { .. } => {
                self.progress.insert(rank, event);
                let is_first = ranks.first() == Some(&rank);
                let sum = is_first.then(|| self.sum(ranks)).flatten();
                sum.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Begins a stage, of which nothing is told yet.
    pub fn begin_stage(&mut self) {
        self.open.clear();
        self.told.clear();
        self.progress.clear();
    }

    fn complete(&mut self, cell: u32, ranks: &BTreeSet<u32>) -> Vec<RunEvent> {
        let mut events = Vec::new();
        while let Some(first) = self.open.first_entry() {
            // Those who are done or lost since may be among them.
            let is_whole = first.get().by.len() >= ranks.len() && ranks.is_subset(&first.get().by);
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
            // Percentiles of all are not known from those of each, nor of those who told first.
            (*p50_ns, *p99_ns) = (None, None);
        }
        Some(sum)
    }
}

impl Open {
    fn of(rank: u32, interval: IntervalRecord) -> Self {
        Self {
            sum: Beside::of(interval),
            by: BTreeSet::from([rank]),
        }
    }

    fn add(&mut self, rank: u32, interval: &IntervalRecord) {
        self.sum.add(interval);
        self.by.insert(rank);
    }
}
