//! Position of a worker on its path through a file.

use plan::program::FilePath;

use crate::position::Permutation;

/// A path through a file, with a worker's position on it.
#[derive(Debug)]
pub(super) struct FileCursor {
    path: FilePath,
    /// Number of the worker whose blocks and share are used, from 0.
    worker: u64,
    /// Workers of the group, at least 1.
    worker_count: u64,
    /// The same for all workers that share an order.
    order_seed: u64,
    /// Number of calls so far.
    call_count: u64,
    /// Offset of the next call in a strided path.
    next_bytes: u64,
    /// Number of restarts.
    wraps: u64,
    /// Permutation for this number of steps.
    order: Option<(u64, Permutation)>,
}

impl FileCursor {
    /// The path of worker `worker` of `worker_count`.
    pub(super) const fn new(
        path: FilePath,
        worker: u64,
        worker_count: u64,
        order_seed: u64,
    ) -> Self {
        Self {
            path,
            worker,
            worker_count,
            order_seed,
            call_count: 0,
            next_bytes: 0,
            wraps: 0,
            order: None,
        }
    }

    /// `true` if the path continues without end, so that reads along it are done at the end of the
    /// file.
    pub(super) const fn has_end(&self) -> bool {
        matches!(self.path, FilePath::Blocks { .. })
    }

    /// Offset of the next call, which moves `length_bytes` in a file of `size_bytes`.
    #[inline]
    pub(super) fn next(&mut self, size_bytes: u64, length_bytes: u64) -> u64 {
        let turn = self.call_count;
        self.call_count += 1;
        match self.path {
            FilePath::Backward { step_bytes } => {
                let count = steps(size_bytes, step_bytes);
                (count - 1 - turn % count) * u64::from(step_bytes)
            }
            FilePath::Strided {
                stride_bytes,
                shift_bytes,
                margin_bytes,
            } => {
                let at = self.next_bytes;
                let following = at.saturating_add(stride_bytes);
                let end = following.saturating_add(length_bytes.saturating_add(margin_bytes));
                self.next_bytes = if end <= size_bytes {
                    following
                } else {
                    // Each pass begins further on, as in IOzone's stride test.
                    self.wraps += 1;
                    let room = size_bytes.saturating_sub(length_bytes);
                    // Every start up to `room` leaves space for the call.
                    self.wraps.wrapping_mul(shift_bytes) % room.saturating_add(1)
                };
                at
            }
            FilePath::Blocks {
                block_bytes,
                stride_bytes,
                each_bytes,
                block_count,
            } => {
                let per_block = (block_bytes / length_bytes.max(1)).max(1);
                let (mut block, mut within) = (turn / per_block, turn % per_block);
                if block_count > 0 && block >= block_count {
                    (block, within) = (0, 0);
                    self.call_count = 1;
                }
                let blocks = block.saturating_mul(stride_bytes);
                let within = within.saturating_mul(length_bytes);
                let own = self.worker.saturating_mul(each_bytes);
                own.saturating_add(blocks).saturating_add(within)
            }
            FilePath::Shuffled { step_bytes } => self.shuffled(turn, size_bytes, step_bytes),
            FilePath::Dealt { step_bytes } => {
                let dealt = turn.saturating_mul(self.worker_count);
                let dealt = dealt.saturating_add(self.worker);
                self.shuffled(dealt, size_bytes, step_bytes)
            }
        }
    }

    /// The place of the step with this number in the random order of a file's steps.
    fn shuffled(&mut self, number: u64, size_bytes: u64, step_bytes: u32) -> u64 {
        let count = steps(size_bytes, step_bytes);
        let order = match &self.order {
            Some((known, order)) if *known == count => order,
            // A file that has grown has more steps.
            _ => {
                let order = Permutation::new(count, self.order_seed);
                &self.order.insert((count, order)).1
            }
        };
        order.apply(number % count) * u64::from(step_bytes)
    }
}

/// Number of whole steps in a file, at least one.
const fn steps(size_bytes: u64, step_bytes: u32) -> u64 {
    match size_bytes / step_bytes as u64 {
        0 => 1,
        count => count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(path: FilePath, worker: u64, size: u64, length: u64, count: usize) -> Vec<u64> {
        let mut cursor = FileCursor::new(path, worker, 4, 1);
        (0..count).map(|_| cursor.next(size, length)).collect()
    }

    #[test]
    fn backward_goes_from_the_last_step_to_the_first_and_again() {
        let path = FilePath::Backward { step_bytes: 10 };
        assert_eq!(places(path, 0, 35, 10, 4), [20, 10, 0, 20]);
        assert_eq!(places(path, 0, 3, 10, 2), [0, 0]);
    }

    #[test]
    fn each_strided_pass_starts_one_shift_later() {
        let path = |margin_bytes| FilePath::Strided {
            stride_bytes: 30,
            shift_bytes: 10,
            margin_bytes,
        };
        assert_eq!(places(path(0), 0, 80, 10, 6), [0, 30, 60, 10, 40, 70]);
        assert_eq!(places(path(20), 0, 80, 10, 5), [0, 30, 10, 40, 20]);
        assert_eq!(places(path(0), 0, 5, 10, 2), [0, 0]);
    }

    #[test]
    fn blocks_are_dealt_to_workers() {
        let path = FilePath::Blocks {
            block_bytes: 20,
            stride_bytes: 60,
            each_bytes: 20,
            block_count: 0,
        };
        assert_eq!(places(path, 1, 0, 10, 4), [20, 30, 80, 90]);
    }

    #[test]
    fn huge_distances_saturate_at_the_largest_offset() {
        let path = FilePath::Blocks {
            block_bytes: 20,
            stride_bytes: u64::MAX,
            each_bytes: u64::MAX,
            block_count: 0,
        };
        assert_eq!(places(path, 3, 0, 10, 3), [u64::MAX; 3]);
        let path = FilePath::Strided {
            stride_bytes: u64::MAX,
            shift_bytes: u64::MAX,
            margin_bytes: u64::MAX,
        };
        assert_eq!(places(path, 0, u64::MAX, 0, 2)[0], 0);
    }

    #[test]
    fn a_shuffled_file_has_each_step_once() {
        let path = FilePath::Shuffled { step_bytes: 4096 };
        let mut offsets = places(path, 0, 64 * 4096, 4096, 64);
        assert!(!offsets.is_sorted());
        offsets.sort_unstable();
        let all: Vec<u64> = (0..64).map(|step| step * 4096).collect();
        assert_eq!(offsets, all);
    }

    #[test]
    fn workers_share_a_dealt_file() {
        let path = FilePath::Dealt { step_bytes: 4096 };
        let share = |worker| places(path, worker, 64 * 4096, 4096, 16);
        let mut all: Vec<u64> = (0..4).flat_map(share).collect();
        assert!(!all.is_sorted());
        all.sort_unstable();
        let steps: Vec<u64> = (0..64).map(|step| step * 4096).collect();
        assert_eq!(all, steps);
    }

    #[test]
    fn blocks_start_over_after_their_number() {
        let path = FilePath::Blocks {
            block_bytes: 20,
            stride_bytes: 100,
            each_bytes: 20,
            block_count: 2,
        };
        let pass = [20, 30, 120, 130];
        assert_eq!(places(path, 1, 0, 10, 8), [pass, pass].concat());
    }
}
