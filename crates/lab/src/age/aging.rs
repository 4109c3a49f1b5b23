//! Ages a file system: fills it, uses it, and adjusts its fullness at the end.

use std::time::Instant;

use super::aged::{AgedState, AgingCounts};
use super::files::{AgedFiles, AgingOutcome};
use super::options::AgingOptions;
use super::space::FileSystemSpace;
use super::stream::{AgingKind, AgingOperation, AgingStream};
use crate::error::LabError;

/// Files are synced, and so get their blocks, after writing this part of the capacity.
const SYNC_PART: u64 = 64;
const SYNC_MIN_BYTES: u64 = 1 << 20;
const SYNC_MAX_BYTES: u64 = 64 << 20;
/// The goal is changed only if the file system's own count differs by more than this share of the
/// capacity. Smaller differences are ignored, so that file systems with similar counts get the same
/// operations.
const DEVIATION_MAX: f64 = 0.01;
/// Largest deviation of the final fullness.
const FINAL_DEVIATION_MAX: f64 = 0.005;
/// A changed goal is a multiple of this part of the capacity, so that a few blocks do not matter.
const GOAL_PART: u64 = 256;
/// Used space outside of files is garbage if it is larger than the files and this part of the
/// capacity. No file system needs this much metadata, so it belongs to removed files.
const GARBAGE_PART: u64 = 8;
/// Maximum number of corrections at the end.
const CORRECTIONS_MAX: u32 = 6;
/// After each write without space, the goal drops by this part of the capacity.
const GOAL_DROP_PART: u64 = 50;
/// Writing stops after this number of writes without space.
const FULL_WRITES_MAX: u64 = 30;
/// Use continues in rounds of this share of the fill, until the files have enough extents, for at
/// most this number of rounds.
const ROUND_SHARE: f64 = 0.5;
const ROUNDS_MAX: u32 = 16;

/// Progress of aging, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgingProgress {
    /// Bytes written so far.
    pub written_bytes: u64,
    /// Total bytes to write, as far as known.
    pub wanted_bytes: u64,
}

/// A file system that is being aged.
pub(super) struct AgingRun<'a> {
    aging: AgingOptions,
    files: AgedFiles<'a>,
    stream: AgingStream,
    capacity_bytes: u64,
    /// Bytes used before the first file was created.
    initial_bytes: u64,
    /// Planned size of all files in bytes, in whole blocks.
    goal_bytes: u64,
    /// Upper limit of the goal, set when space runs out.
    ceiling_bytes: u64,
    unsynced_bytes: u64,
    wanted_bytes: u64,
    counts: AgingCounts,
    progress: &'a mut dyn FnMut(AgingProgress),
    start: Instant,
}

impl<'a> AgingRun<'a> {
    /// Starts with empty directories.
    pub fn begin(
        aging: AgingOptions,
        mut files: AgedFiles<'a>,
        progress: &'a mut dyn FnMut(AgingProgress),
    ) -> Result<Self, LabError> {
        files.sync()?;
        let (directory, path) = files.directory();
        let space = FileSystemSpace::settled(directory, path)?;
        let stream = AgingStream::new(aging.seed, space.size_bytes, space.block_bytes);
        let mut run = Self {
            aging,
            files,
            stream,
            capacity_bytes: space.size_bytes,
            initial_bytes: space.used_bytes,
            goal_bytes: 0,
            ceiling_bytes: u64::MAX,
            unsynced_bytes: 0,
            wanted_bytes: 0,
            counts: AgingCounts::default(),
            progress,
            start: Instant::now(),
        };
        run.goal_bytes = run.goal(&space);
        Ok(run)
    }

    /// Ages the file system and measures the result.
    pub fn run(mut self) -> Result<AgedState, LabError> {
        // For the progress only: filling writes the goal once, use writes a multiple of it.
        self.wanted_bytes = (self.goal_bytes as f64 * (1.0 + self.aging.churn)) as u64;
        self.level()?;
        self.counts.filled_bytes = self.counts.written_bytes;
        // Taken after the fill, which may have corrected the goal.
        let round_bytes = self.goal_bytes as f64;
        self.churn((round_bytes * self.aging.churn) as u64)?;
        self.churn_until_split((round_bytes * ROUND_SHARE) as u64)?;
        let space = self.adjust_fullness()?;
        // Flushes everything, so that nothing is written back while a workload runs.
        self.sync()?;
        let layout = self.files.layout(self.stream.live())?;
        self.files.forget(self.stream.live());
        let sizes = self.stream.live().iter().map(|it| it.size_bytes);
        Ok(AgedState {
            full_percent: space.fullness() * 100.0,
            file_count: self.stream.live().len() as u64,
            file_bytes: sizes.sum(),
            layout,
            counts: self.counts,
            elapsed_s: self.start.elapsed().as_secs_f64(),
        })
    }

    /// Creates or removes files until their size reaches the goal.
    fn level(&mut self) -> Result<(), LabError> {
        while self.has_room()
            && let Some(operation) = self.stream.level(self.goal_bytes)
        {
            self.step(operation)?;
        }
        Ok(())
    }

    /// Uses the files until `length_bytes` more are written.
    fn churn(&mut self, length_bytes: u64) -> Result<(), LabError> {
        let end_bytes = self.counts.written_bytes + length_bytes;
        while self.has_room() && self.counts.written_bytes < end_bytes {
            let operation = self.stream.churn(self.goal_bytes);
            self.step(operation)?;
        }
        Ok(())
    }

    /// Continues until the files have the requested number of extents, for a limited number of
    /// rounds.
    fn churn_until_split(&mut self, round_bytes: u64) -> Result<(), LabError> {
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

    /// Adjusts the fullness as close to the requested value as the file system allows.
    fn adjust_fullness(&mut self) -> Result<FileSystemSpace, LabError> {
        for _ in 0..CORRECTIONS_MAX {
            self.level()?;
            self.sync()?;
            let space = self.settled()?;
            let off = space.fullness() - self.aging.fullness.fraction();
            if off.abs() <= FINAL_DEVIATION_MAX {
                return Ok(space);
            }
            self.check_garbage(&space)?;
            self.goal_bytes = self.rounded_goal(&space);
        }
        self.settled()
    }

    fn step(&mut self, operation: AgingOperation) -> Result<(), LabError> {
        match self.files.apply(operation)? {
            AgingOutcome::Done => self.count(operation),
            AgingOutcome::NoSpace => {
                // The stream has already counted the operation, but its effect on the file was
                // undone.
                self.stream.revert(operation);
                self.lower_goal()?;
            }
        }
        let part_bytes = self.capacity_bytes / SYNC_PART;
        if self.unsynced_bytes >= part_bytes.clamp(SYNC_MIN_BYTES, SYNC_MAX_BYTES) {
            self.sync()?;
            self.correct_goal()?;
        }
        Ok(())
    }

    fn count(&mut self, operation: AgingOperation) {
        let counts = &mut self.counts;
        *match operation.kind {
            AgingKind::Create => &mut counts.creates,
            AgingKind::Append => &mut counts.appends,
            AgingKind::Rewrite => &mut counts.rewrites,
            AgingKind::Delete => &mut counts.deletes,
        } += 1;
        counts.written_bytes += operation.length_bytes;
        self.unsynced_bytes += operation.length_bytes;
    }

    fn has_room(&self) -> bool {
        self.counts.refusals < FULL_WRITES_MAX
    }

    /// Lowers the goal: the file system is full, whatever it reports.
    fn lower_goal(&mut self) -> Result<(), LabError> {
        self.counts.refusals += 1;
        let less_bytes = self.capacity_bytes / GOAL_DROP_PART;
        // A ceiling, because later corrections by the file system's count would raise the goal
        // again.
        self.ceiling_bytes = self.stream.held_bytes().saturating_sub(less_bytes);
        self.goal_bytes = self.goal_bytes.min(self.ceiling_bytes);
        self.sync()
    }

    fn sync(&mut self) -> Result<(), LabError> {
        self.unsynced_bytes = 0;
        if !self.files.sync()? {
            self.counts.refusals += 1;
        }
        (self.progress)(AgingProgress {
            written_bytes: self.counts.written_bytes,
            wanted_bytes: self.wanted_bytes,
        });
        Ok(())
    }

    fn settled(&self) -> Result<FileSystemSpace, LabError> {
        let (directory, path) = self.files.directory();
        FileSystemSpace::settled(directory, path)
    }

    /// Changes the goal if the file system's own count differs from the blocks of its files.
    fn correct_goal(&mut self) -> Result<(), LabError> {
        let (directory, path) = self.files.directory();
        // A quick look first, because waiting for a stable count takes at least 10 ms per sync.
        if self.is_off_goal(&FileSystemSpace::now(directory, path)?) {
            let space = self.settled()?;
            if self.is_off_goal(&space) {
                self.check_garbage(&space)?;
                self.goal_bytes = self.rounded_goal(&space);
            }
        }
        Ok(())
    }

    fn is_off_goal(&self, space: &FileSystemSpace) -> bool {
        let off_bytes = self.goal(space).abs_diff(self.goal_bytes);
        off_bytes as f64 > self.capacity_bytes as f64 * DEVIATION_MAX
    }

    /// Refuses a file system that frees no space until its log is cleaned. Removing all files would
    /// leave it just as full.
    fn check_garbage(&self, space: &FileSystemSpace) -> Result<(), LabError> {
        let held_bytes = self.stream.held_bytes();
        let grown_bytes = space.used_bytes.saturating_sub(self.initial_bytes);
        let garbage_bytes = grown_bytes.saturating_sub(held_bytes);
        let is_overhead = garbage_bytes <= held_bytes.max(self.capacity_bytes / GARBAGE_PART);
        // Without deletions, no space can belong to removed files.
        if self.counts.deletes == 0 || is_overhead {
            return Ok(());
        }
        Err(LabError::NotFreed {
            path: self.files.directory().1.clone(),
            used_bytes: space.used_bytes,
            held_bytes,
        })
    }

    fn rounded_goal(&self, space: &FileSystemSpace) -> u64 {
        let unit_bytes = (self.capacity_bytes / GOAL_PART).max(1);
        // Rounded to the nearest unit: file systems whose counts differ slightly get the same
        // operations.
        let nearest = (self.goal(space) + unit_bytes / 2) / unit_bytes;
        (nearest * unit_bytes).min(self.ceiling_bytes)
    }

    /// Target size of all files in bytes, by the file system's current count.
    fn goal(&self, space: &FileSystemSpace) -> u64 {
        let wanted_bytes = space.size_bytes as f64 * self.aging.fullness.fraction();
        // Signed, because a file system that packs or compresses files can use less than their
        // blocks.
        let other_bytes = space.used_bytes as i64 - self.stream.held_bytes() as i64;
        let goal_bytes = (wanted_bytes as i64).saturating_sub(other_bytes).max(0);
        (goal_bytes as u64).min(self.ceiling_bytes)
    }
}
