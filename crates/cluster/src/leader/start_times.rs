//! Start times of a cell's stages, by the clocks of all processes.

use std::collections::BTreeMap;

use results::ClockOffset;

use super::clocks::{ClockReading, offset};

/// Start of one stage.
#[derive(Debug, Default)]
pub(super) struct StageStart {
    /// Phase that the stage belongs to, if the cell has phases.
    phase: Option<String>,
    /// Agreed start, in nanoseconds of the leader's clock.
    pub start_ns: u64,
    /// Start of each process's first worker, relative to the agreed start, in nanoseconds.
    begins_ns: BTreeMap<u32, i64>,
    /// Clock readings before the stage.
    before: BTreeMap<u32, ClockReading>,
    /// Clock readings after the stage.
    after: BTreeMap<u32, ClockReading>,
}

/// Starts of all stages of a cell.
#[derive(Debug, Default)]
pub(super) struct StageStarts {
    current: Option<StageStart>,
    /// For each phase, the stage in which the processes started furthest apart.
    ended: Vec<StageStart>,
}

impl StageStarts {
    /// Ends the previous stage and notes the next one, with its start by the leader's clock.
    pub fn begin(&mut self, start_ns: u64, clocks: BTreeMap<u32, ClockReading>) {
        self.end(&clocks);
        self.current = Some(StageStart {
            start_ns,
            before: clocks,
            ..StageStart::default()
        });
    }

    /// Records the start of a process, given by that process's clock.
    pub fn note(&mut self, rank: u32, phase: Option<String>, at_ns: u64) {
        let Some(current) = &mut self.current else {
            return;
        };
        let offset_ns = current.before.get(&rank).map_or(0, |it| it.offset_ns);
        let own_ns = at_ns.cast_signed().wrapping_sub(offset_ns);
        let begin_ns = own_ns.wrapping_sub(current.start_ns.cast_signed());
        current.begins_ns.insert(rank, begin_ns);
        current.phase = current.phase.take().or(phase);
    }

    /// Ends the current stage, with the latest clock readings.
    pub fn end(&mut self, clocks: &BTreeMap<u32, ClockReading>) {
        let Some(mut later) = self.current.take() else {
            return;
        };
        later.after.clone_from(clocks);
        for known in &mut self.ended {
            // Two identical readings give no drift, so a later reading replaces the copy.
            let later_ones = clocks.iter().filter(|(rank, reading)| {
                let readings = known.after.get(rank).zip(known.before.get(rank));
                readings.is_some_and(|(after, before)| after.at_ns <= before.at_ns)
                    && readings.is_some_and(|(_, before)| reading.at_ns > before.at_ns)
            });
            let later_ones: Vec<(u32, ClockReading)> = later_ones.map(|(a, b)| (*a, *b)).collect();
            known.after.extend(later_ones);
        }
        let mut ended = self.ended.iter_mut();
        match ended.find(|it| it.phase == later.phase) {
            Some(known) if later.spread_ns() > known.spread_ns() => {
                // The times of losses count from the start of the phase's first stage.
                later.start_ns = known.start_ns;
                *known = later;
            }
            Some(_) => {}
            None => self.ended.push(later),
        }
    }

    /// Start of a phase; for a cell without phases, the start of the cell.
    pub fn of(&self, phase: &str) -> Option<&StageStart> {
        let is_it = |it: &&StageStart| it.phase.as_deref() == Some(phase);
        self.ended.iter().find(is_it).or(self.ended.last())
    }
}

impl StageStart {
    /// Time from the first process's start to the last one's, in nanoseconds.
    fn spread_ns(&self) -> u64 {
        let first_ns = self.begins_ns.values().min();
        let last_ns = self.begins_ns.values().max();
        last_ns.zip(first_ns).map_or(0, |(a, b)| a.abs_diff(*b))
    }

    /// Start of a process's first worker, relative to the agreed start, in nanoseconds.
    pub fn begin_ns(&self, rank: u32) -> i64 {
        self.begins_ns.get(&rank).copied().unwrap_or(0)
    }

    /// Clock offset of a process.
    pub fn clock(&self, rank: u32) -> ClockOffset {
        let (before, after) = (self.before.get(&rank), self.after.get(&rank));
        offset(before, after, self.start_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clocks of two that are so far ahead.
    fn clocks(at_ns: u64, offsets_ns: [i64; 2]) -> BTreeMap<u32, ClockReading> {
        let reading = |offset_ns| ClockReading {
            offset_ns,
            round_trip_ns: 100,
            at_ns,
        };
        (0..).zip(offsets_ns.map(reading)).collect()
    }

    fn stage(all: &mut StageStarts, phase: &str, start_ns: u64, begins_ns: [u64; 2]) {
        all.begin(start_ns, clocks(start_ns, [0, 1000]));
        for (rank, begin_ns) in (0..).zip(begins_ns) {
            let own_ns = start_ns + begin_ns + 1000 * u64::from(rank);
            all.note(rank, Some(phase.to_owned()), own_ns);
        }
    }

    fn begins(all: &StageStarts, phase: &str) -> (u64, [i64; 2]) {
        let it = all.of(phase).expect("it has begun");
        (it.start_ns, [0, 1].map(|rank| it.begin_ns(rank)))
    }

    #[test]
    fn each_phase_has_its_own_start_times() {
        let mut all = StageStarts::default();
        stage(&mut all, "create", 10_000, [5, 905]);
        stage(&mut all, "stat", 50_000, [7, 8]);
        all.end(&clocks(90_000, [0, 1000]));
        assert_eq!(begins(&all, "create"), (10_000, [5, 905]));
        assert_eq!(begins(&all, "stat"), (50_000, [7, 8]));
        // A phase without its own start times uses the times of the cell.
        assert_eq!(begins(&all, "measure"), (50_000, [7, 8]));
    }

    #[test]
    fn the_stage_with_the_widest_start_spread_counts_for_its_phase() {
        let mut all = StageStarts::default();
        stage(&mut all, "create", 10_000, [5, 6]);
        stage(&mut all, "remove", 20_000, [1, 2]);
        stage(&mut all, "create", 30_000, [400, 5]);
        stage(&mut all, "create", 40_000, [5, 9]);
        all.end(&BTreeMap::new());
        // The first stage determines the start time of the phase.
        assert_eq!(begins(&all, "create"), (10_000, [400, 5]));
        assert_eq!(begins(&all, "remove"), (20_000, [1, 2]));
    }

    #[test]
    fn a_phase_uses_the_clock_readings_before_and_after_its_stage() {
        let mut all = StageStarts::default();
        all.begin(1000, clocks(1000, [0, 500]));
        all.note(1, Some("create".to_owned()), 1600);
        all.begin(1_001_000, clocks(1_001_000, [0, 600]));
        all.note(1, Some("stat".to_owned()), 1_001_700);
        all.end(&clocks(2_001_000, [0, 600]));
        let clock = |phase| all.of(phase).expect("it has begun").clock(1);
        let (create, stat) = (clock("create"), clock("stat"));
        assert_eq!((create.offset_ns, stat.offset_ns), (500, 600));
        assert_eq!((create.drift_ppb, stat.drift_ppb), (Some(1e5), Some(0.0)));
        assert_eq!(begins(&all, "stat").1, [0, 100]);
    }
}
