//! Positions of a job's requests, determined only by the plan, the seed and the directions.

mod plain;
mod unused;
mod zoned;

use plan::Distribution;
use plan::job::{BlockRule, JobPlan, OffsetOrder, RunDirection, StreamPlan};

use super::access::JobAccess;
use super::block_map::BlockMap;
use super::file_position::FilePosition;
use super::file_turn::{FileOrderState, FileRule};
use super::number;
use super::random_places::{OffsetRule, OffsetSeeds, RandomOffsets};
use super::seeds::JobSeeds;
use super::sides::{DIRECTIONS, DirectionRule, RequestDirection, side, used_blocks};
use super::size_draw::common_divisor;
use super::zones::ZoneWalk;
use crate::arithmetic::Divisor;
use crate::{GenerateError, Rng};
pub(super) use plain::has_position_only;

/// Parameters that do not change while requests are generated.
#[derive(Debug, Clone)]
pub(super) struct JobWalk {
    directions: [DirectionRule; 2],
    pub(super) parts: Box<[JobPart]>,
    pub(super) files: FileRule,
    step_bytes: i64,
    run_length: u32,
    run_direction: RunDirection,
    zones: Option<ZoneWalk>,
    /// Size of the smallest request of either direction.
    smallest_bytes: u32,
    /// `true` if a file is finished when as many bytes were moved as it has, because random
    /// positions are used once.
    is_done_by_bytes: bool,
    /// `true` if both directions draw from one common order of positions.
    shares_order: bool,
    /// Size of the blocks in the map of used blocks; `None` if there is no map.
    map_block: Option<Divisor>,
    /// `true` if draws start over with each loop. A later run that verifies then reads only what
    /// the first loop has written, however many loops it has time for.
    repeats_draws: bool,
    seeds: JobSeeds,
}

/// The used part of a file.
#[derive(Debug, Clone)]
pub(super) struct JobPart {
    pub(super) start_bytes: u64,
    pub(super) size_bytes: u64,
    /// First block of this part in the map of all parts.
    first_block: u64,
    /// By direction; `None` if there are no random requests or none fits.
    random: [Option<RandomOffsets>; 2],
}

/// Position of a job in its files.
#[derive(Debug, Clone)]
pub(super) struct WalkPosition {
    file_order: FileOrderState,
    files: Box<[FilePosition]>,
    /// For positions, files and directions; continues across loops unless blocks are verified.
    pub(super) rng: Rng,
    /// For sizes; restarts with each loop.
    size_rng: Rng,
    /// Blocks used since the files were restarted.
    used: BlockMap,
}

impl JobWalk {
    pub(super) fn new(plan: &JobPlan, seed: u64) -> Result<Self, GenerateError> {
        let stream = &plan.stream;
        number("the number of files", plan.files.len() as u64, "above 0")?;
        number("the length of runs", stream.run_length.into(), "above 0")?;
        let in_a_row = stream.requests_per_file.into();
        number("the consecutive requests per file", in_a_row, "above 0")?;
        let used: Vec<&BlockRule> = used_blocks(stream);
        let smallest_bytes = used.iter().map(|it| it.sizes.min_bytes()).min();
        let smallest_bytes = smallest_bytes.unwrap_or(0);
        let same_blocks = used.windows(2).all(|pair| pair[0] == pair[1]);
        let all_fixed = used
            .iter()
            .all(|it| it.sizes.min_bytes() == it.sizes.max_bytes());
        let once = stream.visits == OffsetOrder::Once;
        // With one fixed size, an order without repetition has the same effect as fio's map.
        let to_the_letter = stream.is_to_the_letter && !(same_blocks && all_fixed);
        let zones = stream.zones.as_ref().map(ZoneWalk::new).transpose()?;
        let has_map = once && to_the_letter && zones.is_none();
        let map_block = has_map.then(|| Divisor::new(smallest_bytes.max(1).into()));
        let mut walk = Self {
            directions: [
                side(stream, RequestDirection::Read)?,
                side(stream, RequestDirection::Write)?,
            ],
            parts: Box::default(),
            files: FileRule::new(&stream.file_order, plan.files.len() as u32, seed)?,
            step_bytes: stream.step_bytes,
            run_length: stream.run_length,
            run_direction: stream.wrap,
            zones,
            smallest_bytes,
            is_done_by_bytes: once,
            shares_order: same_blocks,
            map_block,
            repeats_draws: plan.check.is_some(),
            seeds: JobSeeds::new(seed),
        };
        walk.parts = walk.new_parts(plan)?;
        if walk
            .parts
            .iter()
            .all(|part| part.size_bytes < u64::from(smallest_bytes))
        {
            return Err(GenerateError::NoRoom { smallest_bytes });
        }
        Ok(walk)
    }

    fn new_parts(&self, plan: &JobPlan) -> Result<Box<[JobPart]>, GenerateError> {
        let mut parts = Vec::with_capacity(plan.files.len());
        let mut first_block = 0;
        for (index, file) in (0_u64..).zip(&plan.files) {
            let room_bytes = match &self.zones {
                Some(zones) => zones.room_bytes().min(file.size_bytes),
                None => file.size_bytes,
            };
            let seeds = OffsetSeeds {
                order: self.seeds.blocks(index),
                // Depends only on the file, so that all jobs have the same hot spots.
                scatter: file.file_index.into(),
            };
            let mut random = [None, None];
            for side in DIRECTIONS {
                random[side as usize] =
                    self.random_offsets(&plan.stream, side, room_bytes, seeds)?;
            }
            parts.push(JobPart {
                start_bytes: file.start_bytes,
                size_bytes: file.size_bytes,
                first_block,
                random,
            });
            if let Some(block) = self.map_block {
                first_block += block.divide(file.size_bytes).0 + 1;
            }
        }
        Ok(parts.into())
    }

    /// Random positions of a direction.
    fn random_offsets(
        &self,
        stream: &StreamPlan,
        side: RequestDirection,
        room_bytes: u64,
        seeds: OffsetSeeds,
    ) -> Result<Option<RandomOffsets>, GenerateError> {
        let rule = &self.directions[side as usize];
        let smallest_bytes = rule.sizes.min_bytes();
        let is_used = match side {
            RequestDirection::Read => stream.mix.reads(),
            RequestDirection::Write => stream.mix.modifies(),
        };
        if !is_used || rule.random == 0 || u64::from(smallest_bytes) > room_bytes {
            return Ok(None);
        }
        let blocks = [&stream.blocks.read, &stream.blocks.write][side as usize];
        number("the alignment", blocks.align_bytes.into(), "above 0")?;
        // Requests of different sizes cannot each use every position once, and a map excludes
        // repetition anyway.
        let is_drawn = self.map_block.is_some() || !rule.sizes.is_fixed();
        let index = side as usize;
        let visits = match &stream.visits {
            OffsetOrder::Once if is_drawn => OffsetRule::Drawn(&Distribution::Uniform),
            OffsetOrder::Once => OffsetRule::NoRepeat,
            OffsetOrder::Drawn { distribution } => OffsetRule::Drawn(distribution),
            OffsetOrder::DrawnByDirection { distributions: by } => {
                OffsetRule::Drawn([&by.read, &by.write][index])
            }
            OffsetOrder::DrawnZones { zones } => {
                OffsetRule::Zones([&zones.read, &zones.write][index])
            }
        };
        let room = (room_bytes, smallest_bytes, blocks.align_bytes);
        RandomOffsets::new(&visits, room, seeds).map(Some)
    }

    /// Position before the first request.
    pub(super) fn position(&self, in_a_row: u32) -> WalkPosition {
        let block_count = self.parts.last().map_or(0, |part| {
            let blocks = |block: Divisor| block.divide(part.size_bytes).0 + 1;
            part.first_block + self.map_block.map_or(0, blocks)
        });
        WalkPosition {
            file_order: FileOrderState::new(&self.files, self.parts.len() as u32, in_a_row),
            files: vec![FilePosition::default(); self.parts.len()].into(),
            rng: Rng::new(self.seeds.choices),
            size_rng: Rng::new(self.seeds.sizes),
            used: BlockMap::new(block_count),
        }
    }

    /// Size of the smallest request.
    pub(super) const fn smallest_bytes(&self) -> u32 {
        self.smallest_bytes
    }

    /// `true` if a loop may use a position twice.
    pub(super) fn may_repeat(&self, stream: &StreamPlan) -> bool {
        let is_once =
            stream.visits == OffsetOrder::Once && (self.map_block.is_some() || self.shares_order);
        let is_plain = self
            .directions
            .iter()
            .all(|side| side.sizes.is_fixed() || side.random == 0);
        let both = stream.mix.reads() && stream.mix.writes();
        let is_sequential = self.directions.iter().all(|side| side.random == 0);
        stream.end.starts_over
            || stream.step_bytes != 0
            || stream.run_length > 1
            || self.zones.is_some()
            || !(is_sequential || (is_once && is_plain && !both))
    }

    /// Restarts all files.
    pub(super) fn start_over(&self, position: &mut WalkPosition) {
        // fio repeats the same order and sizes in each loop and after each wrap.
        position.file_order.reset(&self.files);
        position.files.fill(FilePosition::default());
        position.size_rng = Rng::new(self.seeds.sizes);
        position.used.clear();
        if self.repeats_draws {
            position.rng = Rng::new(self.seeds.choices);
        }
    }

    /// A common divisor of all lengths and positions.
    pub(super) fn grain_bytes(&self, stream: &StreamPlan) -> u64 {
        let mut grain = 0;
        for blocks in used_blocks(stream) {
            grain = common_divisor(grain, blocks.align_bytes.into());
        }
        for rule in &self.directions {
            grain = common_divisor(grain, rule.sizes.grain_bytes().into());
        }
        for part in &self.parts {
            // Backward steps count from the end.
            if self.step_bytes < 0 {
                grain = common_divisor(grain, part.size_bytes);
            }
        }
        if let Some(zones) = &self.zones {
            grain = common_divisor(grain, zones.pitch_bytes());
        }
        common_divisor(grain, self.step_bytes.unsigned_abs()).max(1)
    }

    /// The next request in a direction; `None` if no file has more for it.
    #[inline]
    pub(super) fn next(
        &self,
        position: &mut WalkPosition,
        side: RequestDirection,
    ) -> Option<JobAccess> {
        let WalkPosition {
            file_order: turn,
            files,
            rng,
            size_rng,
            used,
        } = position;
        // Each turn returns a request or closes a file, so the loop ends.
        loop {
            let is_done = |index: u32| files[index as usize].is_done;
            let file_index = turn.next(&self.files, is_done, rng)?;
            let part = &self.parts[file_index as usize];
            let file = &mut files[file_index as usize];
            let mut draws = WalkDraws {
                rng,
                size_rng,
                used,
            };
            if let Some((offset_bytes, length_bytes)) =
                self.next_extent(part, file, &mut draws, side)
            {
                return Some(JobAccess {
                    file_index,
                    offset_bytes,
                    length_bytes,
                });
            }
            file.is_done = true;
            turn.close(&self.files);
        }
    }

    #[inline]
    fn next_extent(
        &self,
        part: &JobPart,
        file: &mut FilePosition,
        draws: &mut WalkDraws<'_>,
        side: RequestDirection,
    ) -> Option<(u64, u32)> {
        let extent = if let Some(zones) = &self.zones {
            self.extent_in_zones(zones, part, file, draws, side)
        } else {
            self.extent_in_range(part, file, draws, side, (0, part.size_bytes))
        };
        let (offset_bytes, length_bytes) = extent?;
        let number = side as usize;
        file.start_bytes[number] = offset_bytes;
        file.end_bytes[number] = offset_bytes + u64::from(length_bytes);
        file.moved_bytes += u64::from(length_bytes);
        Some((offset_bytes, length_bytes))
    }

    /// A position within a range of a part.
    #[inline]
    fn extent_in_range(
        &self,
        part: &JobPart,
        file: &mut FilePosition,
        draws: &mut WalkDraws<'_>,
        side: RequestDirection,
        (low_bytes, high_bytes): (u64, u64),
    ) -> Option<(u64, u32)> {
        let number = side as usize;
        let rule = &self.directions[number];
        if rule.random == 0 {
            return self.sequential(part, file, draws, side, (low_bytes, high_bytes));
        }
        // Moved bytes do not finish a file with zones: after the last zone, the first one follows.
        if self.is_done_by_bytes
            && file.moved_bytes + u64::from(self.smallest_bytes) > part.size_bytes
            && self.zones.is_none()
        {
            return None;
        }
        // fio's `randread:4`: a new random position after every four requests.
        if self.run_length > 1 {
            if file.run_left[number] > 0 {
                file.run_left[number] -= 1;
                if let Some(extent) = self.extent_in_run(file, draws, side, high_bytes) {
                    return Some(self.used(part, draws, extent));
                }
            }
            file.run_left[number] = self.run_length - 1;
        } else if rule.random < 1 << 32
            && draws.rng.next_u64() >> 32 >= rule.random
            && let Some(extent) = self.sequential(part, file, draws, side, (low_bytes, high_bytes))
        {
            return Some(self.used(part, draws, extent));
        }
        self.random(part, file, draws, side, (low_bytes, high_bytes))
    }

    /// A position at the end of the last request, or at its start again.
    fn extent_in_run(
        &self,
        file: &FilePosition,
        draws: &mut WalkDraws<'_>,
        side: RequestDirection,
        high_bytes: u64,
    ) -> Option<(u64, u32)> {
        let number = side as usize;
        let offset_bytes = match self.run_direction {
            RunDirection::Onward => file.end_bytes[number],
            RunDirection::Same => file.start_bytes[number],
        };
        let room_bytes = high_bytes.checked_sub(offset_bytes)?;
        let sizes = &self.directions[number].sizes;
        Some((offset_bytes, sizes.fitting(draws.size_rng, room_bytes)?))
    }

    #[inline]
    fn sequential(
        &self,
        part: &JobPart,
        file: &FilePosition,
        draws: &mut WalkDraws<'_>,
        side: RequestDirection,
        (low_bytes, high_bytes): (u64, u64),
    ) -> Option<(u64, u32)> {
        let number = side as usize;
        let mut offset_bytes = file.end_bytes[number].max(low_bytes);
        if self.step_bytes != 0 && offset_bytes > low_bytes {
            let before_bytes = offset_bytes;
            offset_bytes = match offset_bytes.checked_add_signed(self.step_bytes) {
                // A step past the end restarts, except in the last of several zones. A position
                // already at the end is finished. fio compares the distance from `offset` with the
                // length of the file, and so restarts at `offset`.
                Some(next_bytes)
                    if next_bytes >= high_bytes.saturating_add(part.start_bytes)
                        && before_bytes < high_bytes
                        && low_bytes == 0 =>
                {
                    part.start_bytes
                }
                Some(offset_bytes) if offset_bytes >= low_bytes => offset_bytes,
                // Before the first byte: continue backward from the end.
                _ => high_bytes
                    .saturating_add_signed(self.step_bytes)
                    .max(low_bytes),
            };
        }
        let room_bytes = high_bytes.checked_sub(offset_bytes)?;
        let sizes = &self.directions[number].sizes;
        Some((offset_bytes, sizes.fitting(draws.size_rng, room_bytes)?))
    }

    #[inline]
    fn random(
        &self,
        part: &JobPart,
        file: &mut FilePosition,
        draws: &mut WalkDraws<'_>,
        side: RequestDirection,
        (low_bytes, high_bytes): (u64, u64),
    ) -> Option<(u64, u32)> {
        let number = side as usize;
        let offsets = part.random[number].as_ref()?;
        // fio has one map of used blocks per file, so a block is read or written once per pass, not
        // both.
        let turn = &mut file.turns[if self.shares_order { 0 } else { number }];
        if let Some(block) = self.map_block {
            let start_bytes = offsets.start_bytes(draws.rng, turn, 0);
            let unused = (part, offsets, block);
            return self.random_unused(unused, start_bytes, draws, side);
        }
        let sizes = &self.directions[number].sizes;
        // The first pass uses the same order as jobs without zones.
        let round = file.zone_round.saturating_sub(1);
        let start_bytes = offsets.start_bytes(draws.rng, turn, round);
        let room_bytes = high_bytes - low_bytes;
        if self.zones.is_some() {
            // The end of the file may cut off its last zone.
            let room_bytes = room_bytes.checked_sub(start_bytes)?;
            let length_bytes = sizes.fitting(draws.size_rng, room_bytes)?;
            return Some((low_bytes + start_bytes, length_bytes));
        }
        let length_bytes = sizes.fitting(draws.size_rng, room_bytes)?;
        let last_bytes = room_bytes - u64::from(length_bytes);
        // Positions are prepared for the smallest size. A larger request may not fit at the last
        // ones.
        let start_bytes = if start_bytes > last_bytes {
            offsets.at_or_before(last_bytes)
        } else {
            start_bytes
        };
        Some((low_bytes + start_bytes, length_bytes))
    }
}

/// Random state for drawing a position.
struct WalkDraws<'a> {
    rng: &'a mut Rng,
    size_rng: &'a mut Rng,
    used: &'a mut BlockMap,
}

impl WalkPosition {
    /// Copies another position of the same walk.
    pub(super) fn copy_from(&mut self, other: &Self) {
        // In place, because the measurement loop must not allocate.
        self.file_order.copy_from(&other.file_order);
        self.files.copy_from_slice(&other.files);
        self.rng = other.rng.clone();
        self.size_rng = other.size_rng.clone();
        self.used.copy_from(&other.used);
    }
}
