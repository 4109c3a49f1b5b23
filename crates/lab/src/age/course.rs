//! Filling, use, and the last steps to the fullness that was asked for.

use std::time::Instant;

use super::aged::{AgeCounts, Aged};
use super::asked::Aging;
use super::files::{Files, Outcome};
use super::space::Space;
use super::stream::{Kind, Operation, Stream};
use crate::error::LabError;

/// Written content is given its place whenever so much of the capacity was written.
const SYNC_PART: u64 = 64;
const SYNC_MIN_BYTES: u64 = 1 << 20;
const SYNC_MAX_BYTES: u64 = 64 << 20;
/// The goal moves when the file system's own count says that it is off by more of the capacity,
/// and not for less, so that file systems that count alike see the same operations.
const OFF: f64 = 0.01;
/// At the end fullness is as near as that.
const OFF_AT_THE_END: f64 = 0.005;
/// A goal that moves is a multiple of this part of the capacity, so that a few blocks more or less
/// change nothing.
const GOAL_PART: u64 = 256;
/// Beside files, more than they hold themselves and than this part of the capacity is nothing that
/// a file system needs, but what was removed.
const GARBAGE_PART: u64 = 8;
/// How often the end is tried to be met.
const ENDS: u32 = 6;
/// So much less is held after each write that found no room.
const ROOM_PART: u64 = 50;
/// After so many of them nothing more is written.
const REFUSALS_MAX: u64 = 30;
/// Use goes on in rounds of so much of what fills the file system, until there are enough extents
/// or so many rounds are over.
const ROUND: f64 = 0.5;
const ROUNDS_MAX: u32 = 16;

/// How far aging has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgeProgress {
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes that are to be written in all, as far as it is known.
    pub wanted_bytes: u64,
}

/// A file system on its way to the age that was asked for.
pub(super) struct Course<'a> {
    aging: Aging,
    files: Files<'a>,
    stream: Stream,
    capacity_bytes: u64,
    /// Used before there were files.
    new_bytes: u64,
    /// So many bytes files should have, in whole blocks.
    goal_bytes: u64,
    /// There was no room for more.
    ceiling_bytes: u64,
    unsynced_bytes: u64,
    wanted_bytes: u64,
    counts: AgeCounts,
    progress: &'a mut dyn FnMut(AgeProgress),
    start: Instant,
}

impl<'a> Course<'a> {
    /// Begins with directories that are empty.
    pub fn begin(
        aging: Aging,
        mut files: Files<'a>,
        progress: &'a mut dyn FnMut(AgeProgress),
    ) -> Result<Self, LabError> {
        files.sync()?;
        let (directory, path) = files.directory();
        let space = Space::settled(directory, path)?;
        let stream = Stream::new(aging.seed, space.size_bytes, space.block_bytes);
        let mut course = Self {
            aging,
            files,
            stream,
            capacity_bytes: space.size_bytes,
            new_bytes: space.used_bytes,
            goal_bytes: 0,
            ceiling_bytes: u64::MAX,
            unsynced_bytes: 0,
            wanted_bytes: 0,
            counts: AgeCounts::default(),
            progress,
            start: Instant::now(),
        };
        course.goal_bytes = course.goal(&space);
        Ok(course)
    }

    /// Ages to the end, and looks at what it came to.
    pub fn run(mut self) -> Result<Aged, LabError> {
        self.wanted_bytes = (self.goal_bytes as f64 * (1.0 + self.aging.churn)) as u64;
        self.level()?;
        self.counts.filled_bytes = self.counts.written_bytes;
        let round_bytes = self.goal_bytes as f64;
        self.churn((round_bytes * self.aging.churn) as u64)?;
        self.until_split((round_bytes * ROUND) as u64)?;
        let space = self.meet()?;
        // Nothing is left that would be written while a workload runs.
        self.sync()?;
        let layout = self.files.layout(self.stream.live())?;
        self.files.forget(self.stream.live());
        let sizes = self.stream.live().iter().map(|it| it.size_bytes);
        Ok(Aged {
            full_percent: space.fullness() * 100.0,
            file_count: self.stream.live().len() as u64,
            file_bytes: sizes.sum(),
            layout,
            counts: self.counts,
            elapsed_s: self.start.elapsed().as_secs_f64(),
        })
    }

    /// Creates or removes files until there are as many bytes as there should be.
    fn level(&mut self) -> Result<(), LabError> {
        while self.has_room()
            && let Some(operation) = self.stream.level(self.goal_bytes)
        {
            self.step(operation)?;
        }
        Ok(())
    }

    /// Uses the files until so much more was written.
    fn churn(&mut self, length_bytes: u64) -> Result<(), LabError> {
        let end_bytes = self.counts.written_bytes + length_bytes;
        while self.has_room() && self.counts.written_bytes < end_bytes {
            let operation = self.stream.churn(self.goal_bytes);
            self.step(operation)?;
        }
        Ok(())
    }

    /// Goes on until files are in as many extents as was asked for, but not for ever.
    fn until_split(&mut self, round_bytes: u64) -> Result<(), LabError> {
        let Some(wanted) = self.aging.extents else {
            return Ok(());
        };
        for _ in 0..ROUNDS_MAX {
            self.sync()?;
            let layout = self.files.layout(self.stream.live())?;
            if layout.is_none_or(|it| it.extents_per_file() >= wanted) {
                break;
            }
            self.wanted_bytes += round_bytes;
            self.churn(round_bytes)?;
        }
        Ok(())
    }

    /// Comes as near to the fullness that was asked for as the file system lets it.
    fn meet(&mut self) -> Result<Space, LabError> {
        for _ in 0..ENDS {
            self.level()?;
            self.sync()?;
            let space = self.settled()?;
            let off = space.fullness() - self.aging.fullness.fraction();
            if off.abs() <= OFF_AT_THE_END {
                return Ok(space);
            }
            self.heed_garbage(&space)?;
            self.goal_bytes = self.rounded_goal(&space);
        }
        self.settled()
    }

    fn step(&mut self, operation: Operation) -> Result<(), LabError> {
        match self.files.apply(operation)? {
            Outcome::Done => self.count(operation),
            Outcome::NoRoom => {
                self.stream.take_back(operation);
                self.yield_room()?;
            }
        }
        let part_bytes = self.capacity_bytes / SYNC_PART;
        if self.unsynced_bytes >= part_bytes.clamp(SYNC_MIN_BYTES, SYNC_MAX_BYTES) {
            self.sync()?;
            self.correct()?;
        }
        Ok(())
    }

    fn count(&mut self, operation: Operation) {
        let counts = &mut self.counts;
        *match operation.kind {
            Kind::Create => &mut counts.creates,
            Kind::Append => &mut counts.appends,
            Kind::Rewrite => &mut counts.rewrites,
            Kind::Delete => &mut counts.deletes,
        } += 1;
        counts.written_bytes += operation.length_bytes;
        self.unsynced_bytes += operation.length_bytes;
    }

    fn has_room(&self) -> bool {
        self.counts.refusals < REFUSALS_MAX
    }

    /// Holds less from now on: the file system is full, whatever it says.
    fn yield_room(&mut self) -> Result<(), LabError> {
        self.counts.refusals += 1;
        let less_bytes = self.capacity_bytes / ROOM_PART;
        self.ceiling_bytes = self.stream.held_bytes().saturating_sub(less_bytes);
        self.goal_bytes = self.goal_bytes.min(self.ceiling_bytes);
        self.sync()
    }

    fn sync(&mut self) -> Result<(), LabError> {
        self.unsynced_bytes = 0;
        if !self.files.sync()? {
            self.counts.refusals += 1;
        }
        (self.progress)(AgeProgress {
            written_bytes: self.counts.written_bytes,
            wanted_bytes: self.wanted_bytes,
        });
        Ok(())
    }

    fn settled(&self) -> Result<Space, LabError> {
        let (directory, path) = self.files.directory();
        Space::settled(directory, path)
    }

    /// Moves the goal where the file system counts otherwise than its files' blocks.
    fn correct(&mut self) -> Result<(), LabError> {
        let (directory, path) = self.files.directory();
        if self.is_off(&Space::now(directory, path)?) {
            let space = self.settled()?;
            if self.is_off(&space) {
                self.heed_garbage(&space)?;
                self.goal_bytes = self.rounded_goal(&space);
            }
        }
        Ok(())
    }

    fn is_off(&self, space: &Space) -> bool {
        let off_bytes = self.goal(space).abs_diff(self.goal_bytes);
        off_bytes as f64 > self.capacity_bytes as f64 * OFF
    }

    /// Refuses a file system that frees nothing until it is cleaned: files would go until none is
    /// left, and it would still be full.
    fn heed_garbage(&self, space: &Space) -> Result<(), LabError> {
        let held_bytes = self.stream.held_bytes();
        let grown_bytes = space.used_bytes.saturating_sub(self.new_bytes);
        let garbage_bytes = grown_bytes.saturating_sub(held_bytes);
        let is_overhead = garbage_bytes <= held_bytes.max(self.capacity_bytes / GARBAGE_PART);
        if self.counts.deletes == 0 || is_overhead {
            return Ok(());
        }
        Err(LabError::NotFreed {
            path: self.files.directory().1.clone(),
            used_bytes: space.used_bytes,
            held_bytes,
        })
    }

    fn rounded_goal(&self, space: &Space) -> u64 {
        let unit_bytes = (self.capacity_bytes / GOAL_PART).max(1);
        let nearest = (self.goal(space) + unit_bytes / 2) / unit_bytes;
        (nearest * unit_bytes).min(self.ceiling_bytes)
    }

    /// How many bytes the files should have, as the file system counts now.
    fn goal(&self, space: &Space) -> u64 {
        let wanted_bytes = space.size_bytes as f64 * self.aging.fullness.fraction();
        let beside_bytes = space.used_bytes as i64 - self.stream.held_bytes() as i64;
        let goal_bytes = (wanted_bytes as i64).saturating_sub(beside_bytes).max(0);
        (goal_bytes as u64).min(self.ceiling_bytes)
    }
}
