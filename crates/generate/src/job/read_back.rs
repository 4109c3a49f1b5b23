//! Reading back what a job wrote, by repeating the same walk.

use plan::job::{JobPlan, ReadWriteMix};

use super::access::JobAccess;
use super::block_map::BlockMap;
use super::number;
use super::sides::RequestDirection;
use super::walk::{JobWalk, WalkPosition};
use crate::GenerateError;
use crate::arithmetic::Divisor;

/// Maximum number of requests in a loop whose directions are recorded, one bit each.
// A map of this size takes 8 GiB of memory.
const DIRECTIONS_MAX: u64 = 1 << 36;

/// Repeats the walk of a loop and finds its writes.
#[derive(Debug, Clone)]
pub(super) struct RepeatedWalk {
    /// Position of the second walk.
    position: WalkPosition,
    /// Writes of the loop, and the number of these that the second walk has reached.
    written_count: u64,
    reached_count: u64,
    /// Requests that the second walk has reached.
    request_count: u64,
    /// Requests of the loop.
    issued_count: u64,
    /// Blocks written and not read since; `None` if no position occurs twice in a loop.
    unread: Option<UnreadBlocks>,
    /// Requests of the loop that were writes; `None` if the walk determines the directions.
    directions: Option<BlockMap>,
}

/// Progress of reading back what a loop has written.
#[derive(Debug, Clone)]
pub(super) struct ReadBackState {
    pub(super) walk: RepeatedWalk,
    pub(super) backlog: u64,
    pub(super) batch: u64,
}

impl ReadBackState {
    /// `None` if nothing is read back. `position` is the start of the loop.
    pub(super) fn new(
        plan: &JobPlan,
        walk: &JobWalk,
        position: &WalkPosition,
    ) -> Result<Option<Self>, GenerateError> {
        // An endless job never reaches the read-back at its end, only the one after a backlog.
        let is_endless = plan.stream.end.loops.is_none();
        let rule = plan.stream.read_back;
        let Some(rule) = rule.filter(|it| !is_endless || it.backlog > 0 || it.skips_writes) else {
            return Ok(None);
        };
        Ok(Some(Self {
            walk: RepeatedWalk::new(plan, walk, position)?,
            backlog: rule.backlog,
            batch: rule.batch,
        }))
    }
}

#[derive(Debug, Clone)]
struct UnreadBlocks {
    block: Divisor,
    /// Where the blocks of each part begin.
    first_blocks: Box<[u64]>,
    map: BlockMap,
}

impl RepeatedWalk {
    /// Prepares the second walk. `position` is the start of the loop.
    pub(super) fn new(
        plan: &JobPlan,
        walk: &JobWalk,
        position: &WalkPosition,
    ) -> Result<Self, GenerateError> {
        let stream = &plan.stream;
        let has_pace = stream.pace.read.is_some() || stream.pace.write.is_some();
        // With rates, the clock decides the directions, so a second walk cannot repeat them.
        let directions = if has_pace && matches!(stream.mix, ReadWriteMix::Both { .. }) {
            let smallest = walk.smallest_bytes().max(1);
            let most = stream.end.bytes / u64::from(smallest);
            let count = most.min(stream.end.requests.unwrap_or(u64::MAX));
            let wanted = "at most 2^36 if rate-limited reads and writes are read back";
            if count > DIRECTIONS_MAX {
                number("the number of requests in a loop", 0, wanted)?;
            }
            // The division rounds down, and the last request may pass the end of the loop.
            Some(BlockMap::new(count + 2))
        } else {
            None
        };
        Ok(Self {
            position: position.clone(),
            written_count: 0,
            reached_count: 0,
            request_count: 0,
            issued_count: 0,
            // Only a loop that may repeat a position needs the map.
            unread: walk
                .may_repeat(stream)
                .then(|| UnreadBlocks::new(walk, walk.grain_bytes(stream))),
            directions,
        })
    }

    /// Starts a loop.
    pub(super) fn begin_loop(&mut self, position: &WalkPosition) {
        self.position.copy_from(position);
        self.written_count = 0;
        self.reached_count = 0;
        self.request_count = 0;
        self.issued_count = 0;
        if let Some(directions) = &mut self.directions {
            directions.clear();
        }
    }

    /// Records a request of the loop.
    #[inline]
    pub(super) fn issued(&mut self, access: JobAccess, side: RequestDirection) {
        if side == RequestDirection::Write {
            self.written_count += 1;
            if let Some(unread) = &mut self.unread {
                unread.written(access);
            }
            if let Some(directions) = &mut self.directions {
                directions.put(self.issued_count);
            }
        }
        self.issued_count += 1;
    }

    /// Number of writes of the loop that the second walk has not reached.
    #[inline]
    pub(super) const fn left_count(&self) -> u64 {
        self.written_count - self.reached_count
    }

    /// Gives up the writes that the second walk has not reached.
    pub(super) const fn forget(&mut self) {
        self.reached_count = self.written_count;
    }

    /// The next write that was not read since; `None` if there are no more. `choose` returns the
    /// direction of the next request, as in the loop; it is given the direction if that was
    /// recorded.
    pub(super) fn next(
        &mut self,
        walk: &JobWalk,
        mut choose: impl FnMut(&mut WalkPosition, Option<RequestDirection>) -> RequestDirection,
    ) -> Option<JobAccess> {
        while self.left_count() > 0 {
            let known = self.directions.as_ref().map(|directions| {
                if directions.has(self.request_count) {
                    RequestDirection::Write
                } else {
                    RequestDirection::Read
                }
            });
            let side = choose(&mut self.position, known);
            // The loop may have started over within its bytes. This walk has to do so at the same
            // request.
            let access = walk.next(&mut self.position, side).or_else(|| {
                walk.start_over(&mut self.position);
                walk.next(&mut self.position, side)
            })?;
            self.request_count += 1;
            if side == RequestDirection::Read {
                continue;
            }
            self.reached_count += 1;
            // A block that was written twice is read only once.
            if self
                .unread
                .as_mut()
                .is_none_or(|unread| unread.read(access))
            {
                return Some(access);
            }
        }
        None
    }
}

impl UnreadBlocks {
    fn new(walk: &JobWalk, grain_bytes: u64) -> Self {
        let block = Divisor::new(grain_bytes);
        let mut block_count = 0;
        let first_blocks = walk.parts.iter().map(|part| {
            let first = block_count;
            block_count += block.divide(part.size_bytes).0 + 1;
            first
        });
        Self {
            block,
            first_blocks: first_blocks.collect(),
            map: BlockMap::new(block_count),
        }
    }

    fn blocks(&self, access: JobAccess) -> std::ops::Range<u64> {
        let first = self.first_blocks[access.file_index as usize];
        let end_bytes = access.offset_bytes + u64::from(access.length_bytes);
        let begin = self.block.divide(access.offset_bytes).0;
        first + begin..first + self.block.divide(end_bytes - 1).0 + 1
    }

    fn written(&mut self, access: JobAccess) {
        self.blocks(access).for_each(|block| self.map.put(block));
    }

    /// Marks a request as read. Returns `true` if any of it was written and not read since.
    fn read(&mut self, access: JobAccess) -> bool {
        // `fold` marks all blocks; `any` would stop at the first unread one.
        self.blocks(access)
            .fold(false, |any, block| self.map.take(block) | any)
    }
}
