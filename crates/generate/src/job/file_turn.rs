//! Selection of the next file of a job.

use plan::job::FileOrder;

use crate::position::{Draw, Seeds};
use crate::{GenerateError, Rng};

/// Number of draws that may hit finished files, before the next unfinished file is taken.
const DRAWS_MAX: u32 = 8;

/// Order in which files are selected.
#[derive(Debug, Clone)]
pub(super) enum FileRule {
    Single,
    RoundRobin,
    Sequential,
    Drawn(Draw),
}

/// State of the file order. The unfinished files form a ring.
#[derive(Debug, Clone)]
pub(super) struct FileOrderState {
    current: u32,
    /// The file before the current one in the ring.
    previous: u32,
    /// Number of consecutive requests per file.
    requests_per_turn: u32,
    /// Number of these left for the current file.
    current_left: u32,
    /// Number of unfinished files.
    open_count: u32,
    successors: Box<[u32]>,
}

impl FileRule {
    pub(super) fn new(
        order: &FileOrder,
        file_count: u32,
        seed: u64,
    ) -> Result<Self, GenerateError> {
        Ok(match order {
            // The fast path of a single file (`next_plain_offset`) draws no file, and both must
            // draw the same numbers.
            _ if file_count == 1 => Self::Single,
            FileOrder::RoundRobin => Self::RoundRobin,
            FileOrder::Sequential => Self::Sequential,
            FileOrder::Drawn { distribution } => Self::Drawn(Draw::new(
                distribution,
                file_count.into(),
                Seeds {
                    order: seed,
                    scatter: seed,
                },
            )?),
        })
    }
}

impl FileOrderState {
    pub(super) fn new(rule: &FileRule, file_count: u32, in_a_row: u32) -> Self {
        let mut turn = Self {
            requests_per_turn: in_a_row,
            current: 0,
            previous: 0,
            current_left: 0,
            open_count: 0,
            successors: vec![0; file_count as usize].into(),
        };
        turn.reset(rule);
        turn
    }

    /// Marks all files as unfinished.
    pub(super) fn reset(&mut self, rule: &FileRule) {
        let count = self.successors.len() as u32;
        for (behind, next) in self.successors.iter_mut().zip(1..) {
            *behind = if next == count { 0 } else { next };
        }
        self.open_count = count;
        self.current = 0;
        self.previous = count - 1;
        self.current_left = match rule {
            // The first file must be drawn as well.
            FileRule::Drawn(_) => 0,
            _ => self.requests_per_turn,
        };
    }

    /// Copies another turn with the same number of files.
    pub(super) fn copy_from(&mut self, other: &Self) {
        let Self {
            current,
            previous: before,
            requests_per_turn: _,
            current_left: left_here,
            open_count,
            successors: behind,
        } = other;
        (self.current, self.previous) = (*current, *before);
        (self.current_left, self.open_count) = (*left_here, *open_count);
        self.successors.copy_from_slice(behind);
    }

    /// File of the next request; `None` if all files are finished.
    #[inline]
    pub(super) fn next(
        &mut self,
        rule: &FileRule,
        is_done: impl Fn(u32) -> bool,
        rng: &mut Rng,
    ) -> Option<u32> {
        if self.open_count == 0 {
            return None;
        }
        match rule {
            FileRule::Single | FileRule::Sequential => Some(self.current),
            FileRule::RoundRobin => Some(self.round_robin()),
            FileRule::Drawn(draw) => Some(self.drawn(draw, is_done, rng)),
        }
    }

    fn round_robin(&mut self) -> u32 {
        if self.current_left == 0 {
            self.previous = self.current;
            self.current = self.successors[self.current as usize];
            self.current_left = self.requests_per_turn;
        }
        self.current_left -= 1;
        self.current
    }

    fn drawn(&mut self, draw: &Draw, is_done: impl Fn(u32) -> bool, rng: &mut Rng) -> u32 {
        if self.current_left > 0 && !is_done(self.current) {
            self.current_left -= 1;
            return self.current;
        }
        self.current_left = self.requests_per_turn - 1;
        // With a skewed distribution, the last unfinished file is hardly ever drawn.
        for _ in 0..DRAWS_MAX {
            self.current = draw.index(rng) as u32;
            if !is_done(self.current) {
                return self.current;
            }
        }
        while is_done(self.current) {
            self.current = (self.current + 1) % self.successors.len() as u32;
        }
        self.current
    }

    /// Marks the current file as finished.
    pub(super) fn close(&mut self, rule: &FileRule) {
        self.open_count -= 1;
        if matches!(rule, FileRule::Drawn(_)) {
            // Draws do not use the ring; they skip finished files themselves.
            self.current_left = 0;
            return;
        }
        // The file leaves the ring, so finished files cost no further search.
        self.current = self.successors[self.current as usize];
        self.successors[self.previous as usize] = self.current;
        self.current_left = self.requests_per_turn;
    }
}
