//! The table of files: the file in each slot, with its size and directory.

use super::occupied::OccupiedSlots;
use super::{PoolDirectory, PoolFile, PoolRandom, StreamError};

/// Content of a slot.
#[derive(Debug, Clone, Copy)]
struct PooledFile {
    number: u32,
    size_bytes: u32,
}

/// Number of draws to look ahead; about every second slot is occupied.
const DRAWS_AHEAD: usize = 4;

/// Two slots per file, filled from the start. An entry takes 8 bytes, and 4 more if there are
/// several directories. Slots that were never used take no memory.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    slots_count: u32,
    /// The slot after the slot that was filled last.
    cursor: u32,
    occupied: OccupiedSlots,
    entries: Vec<PooledFile>,
    /// Directory number of each entry; empty if there is only one directory.
    directories: Vec<u32>,
    /// Subdirectories per location; 0 if files are in the location itself.
    subdirectories_count: u32,
    has_directories: bool,
    /// Slots from here on are never drawn.
    draw_limit: u32,
    /// Number of occupied slots that can be drawn.
    drawable_count: u32,
}

impl Slots {
    /// A table of `slots_count` slots, of which at most `entries_max` will be used.
    pub(super) fn new(
        slots_count: u32,
        entries_max: u32,
        directories: PoolDirectories,
        reach: u32,
    ) -> Result<Self, StreamError> {
        let too_large = |_| StreamError::Table {
            slots_count: u64::from(slots_count),
        };
        let room = slots_count.min(entries_max) as usize;
        let mut entries = Vec::new();
        // A table that does not fit into memory is an error in the settings and must not abort.
        entries.try_reserve_exact(room).map_err(too_large)?;
        let mut numbers = Vec::new();
        if directories.count()? > 1 {
            numbers.try_reserve_exact(room).map_err(too_large)?;
        }
        Ok(Self {
            slots_count,
            cursor: 0,
            occupied: OccupiedSlots::new(slots_count)?,
            entries,
            directories: numbers,
            subdirectories_count: directories.subdirectories_count,
            has_directories: directories.count()? > 1,
            draw_limit: reach,
            drawable_count: 0,
        })
    }

    /// `true` if no file can be drawn.
    pub(super) const fn is_empty(&self) -> bool {
        self.drawable_count == 0
    }

    /// Slot for a new file: the next one if it is free, otherwise the first free one.
    pub(super) fn free_slot(&mut self) -> Option<u32> {
        // The order in which the original searches for an empty slot.
        let slot = if self.cursor < self.slots_count && !self.occupied.contains(self.cursor) {
            self.cursor
        } else {
            self.occupied.first_free()?
        };
        self.cursor = slot + 1;
        Some(slot)
    }

    /// Puts a file into the slot returned by [`Self::free_slot`].
    pub(super) fn occupy(&mut self, file: PoolFile, size_bytes: u32) {
        let (slot, index) = (file.slot_index, file.slot_index as usize);
        let entry = PooledFile {
            number: file.number,
            size_bytes,
        };
        // The slot is the one after the last used or the first free one: never past the end.
        match self.entries.get_mut(index) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
        if self.has_directories {
            let subdirectory = file.directory.subdirectory_index.unwrap_or(0);
            let number =
                file.directory.location_index * self.subdirectories_count.max(1) + subdirectory;
            match self.directories.get_mut(index) {
                Some(old) => *old = number,
                None => self.directories.push(number),
            }
        }
        self.occupied.insert(slot);
        self.drawable_count += u32::from(slot < self.draw_limit);
    }

    /// Draws slots until one is occupied; there must be one in reach.
    #[inline]
    pub(super) fn pick(&self, numbers: &mut PoolRandom) -> u32 {
        loop {
            // A vain draw advances the generator, as in the original.
            let slot = numbers.below(self.slots_count);
            if self.occupied.contains(slot) {
                return slot;
            }
        }
    }

    /// Prefetches the entry that [`Self::pick`] will select after one more number is drawn, if it
    /// can be determined now. A system call leaves little of the table in the processor's caches.
    #[inline]
    pub(super) fn fetch_ahead(&self, numbers: &PoolRandom) {
        if self.is_empty() {
            return;
        }
        let drawn = (1..=DRAWS_AHEAD).map_while(|count| numbers.ahead(count));
        let mut slots = drawn.map(|number| number % self.slots_count);
        let Some(slot) = slots.find(|slot| self.occupied.contains(*slot)) else {
            return;
        };
        if let Some(entry) = self.entries.get(slot as usize) {
            engine::prefetch(entry);
        }
        if let Some(directory) = self.directories.get(slot as usize) {
            engine::prefetch(directory);
        }
    }

    /// `true` if the slot is occupied.
    #[inline]
    pub(super) fn contains(&self, slot: u32) -> bool {
        self.occupied.contains(slot)
    }

    /// The first occupied slot from `slot` on, wrapping around at the end; one must be occupied.
    #[cold]
    pub(super) fn first_around(&self, slot: u32) -> u32 {
        let found = self.first_from(slot).or_else(|| self.first_from(0));
        found.expect("a table that is drawn from is not empty")
    }

    /// The first occupied slot from `slot` on.
    pub(super) fn first_from(&self, slot: u32) -> Option<u32> {
        self.occupied.first_from(slot)
    }

    /// The file in an occupied slot.
    #[inline]
    pub(super) fn file(&self, slot: u32) -> PoolFile {
        let directory = self.directories.get(slot as usize).copied().unwrap_or(0);
        PoolFile {
            slot_index: slot,
            number: self.entries[slot as usize].number,
            directory: PoolDirectory {
                location_index: directory / self.subdirectories_count.max(1),
                subdirectory_index: directory.checked_rem(self.subdirectories_count),
            },
        }
    }

    /// The size of the file in an occupied slot.
    #[inline]
    pub(super) fn size_bytes(&self, slot: u32) -> u32 {
        self.entries[slot as usize].size_bytes
    }

    /// Adds appended bytes to the size of a file.
    pub(super) fn grow(&mut self, slot: u32, appended_bytes: u32) {
        self.entries[slot as usize].size_bytes += appended_bytes;
    }

    /// Undoes [`Self::grow`].
    pub(super) fn shrink(&mut self, slot: u32, appended_bytes: u32) {
        self.entries[slot as usize].size_bytes -= appended_bytes;
    }

    /// Empties an occupied slot.
    pub(super) fn release(&mut self, slot: u32) {
        self.occupied.remove(slot);
        self.drawable_count -= u32::from(slot < self.draw_limit);
    }
}

/// The directories of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PoolDirectories {
    /// Locations, at least 1.
    pub(super) locations_count: u32,
    /// Subdirectories per location; 0 if files are in the location itself.
    pub(super) subdirectories_count: u32,
}

impl PoolDirectories {
    /// Number of directories.
    pub(super) fn count(self) -> Result<u32, StreamError> {
        let subdirectories = u64::from(self.subdirectories_count.max(1));
        let directories_count = u64::from(self.locations_count) * subdirectories;
        u32::try_from(directories_count).map_err(|_| StreamError::Directories { directories_count })
    }

    /// The subdirectory with a number that counts through all locations; `None` after the last one.
    pub(super) fn subdirectory(self, number: u32) -> Option<PoolDirectory> {
        let subdirectory_index = number.checked_rem(self.subdirectories_count)?;
        let location_index = number / self.subdirectories_count;
        (location_index < self.locations_count).then_some(PoolDirectory {
            location_index,
            subdirectory_index: Some(subdirectory_index),
        })
    }
}
