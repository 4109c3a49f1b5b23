//! What all do together while a cell goes on, for displays and the store.

use std::collections::BTreeMap;

use results::{IntervalRecord, RunEvent, beside};

/// What each has told of a cell so far.
#[derive(Default)]
pub(super) struct Live {
    /// Intervals that not all have told yet, by their numbers.
    open: BTreeMap<usize, BTreeMap<u32, IntervalRecord>>,
    /// How many each has told.
    told: BTreeMap<u32, usize>,
    progress: BTreeMap<u32, RunEvent>,
}

impl Live {
    /// Takes an event of one; what is to be told of all, where so many are at work.
    pub fn take(&mut self, rank: u32, event: RunEvent, ranks: &[u32]) -> Vec<RunEvent> {
        match event {
            RunEvent::Interval { cell, interval } => {
                let number = self.told.entry(rank).or_default();
                self.open.entry(*number).or_default().insert(rank, interval);
                *number += 1;
                self.complete(cell, ranks)
            }
            RunEvent::Progress { .. } => {
                self.progress.insert(rank, event);
                let is_first = ranks.first() == Some(&rank);
                self.sum(ranks).into_iter().filter(|_| is_first).collect()
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

    fn complete(&mut self, cell: u32, ranks: &[u32]) -> Vec<RunEvent> {
        let mut events = Vec::new();
        while let Some(first) = self.open.first_entry() {
            if !ranks.iter().all(|rank| first.get().contains_key(rank)) {
                break;
            }
            let each: Vec<IntervalRecord> = first.remove().into_values().collect();
            let interval = beside(&each);
            events.push(RunEvent::Interval { cell, interval });
        }
        events
    }

    fn sum(&self, ranks: &[u32]) -> Option<RunEvent> {
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
            *errors += failed;
            octaves.resize(octaves.len().max(counts.len()), 0);
            octaves
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        }
        if ranks.len() > 1 {
            // Percentiles of all are not known from those of each, nor of those who told first.
            (*p50_ns, *p99_ns) = (None, None);
        }
        Some(sum)
    }
}
