//! The table of files: which slot holds which file, its size and its directory.

use super::occupied::Occupied;
use super::{Numbers, PoolDirectory, PoolFile, StreamError};

/// What a slot holds.
#[derive(Debug, Clone, Copy)]
struct Entry {
    number: u32,
    size_bytes: u32,
}

/// Draws that are looked at ahead; about every second slot is occupied.
const DRAWS_AHEAD: usize = 4;

/// Two slots for each file, filled from the start; 8 bytes for a file and 4 where there is more
/// than one directory. Slots that were never used take no memory.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    slots_count: u32,
    /// The slot after the one that was taken last.
    cursor: u32,
    occupied: Occupied,
    entries: Vec<Entry>,
    /// Number of the entry's directory; empty if there is only one.
    directories: Vec<u32>,
    /// Subdirectories of each location, 0 if files lie in the location itself.
    subdirectories_count: u32,
    has_directories: bool,
    /// Slots from here on are never drawn.
    reach: u32,
    /// Occupied slots that can be drawn.
    in_reach_count: u32,
}

impl Slots {
    /// A table of `slots_count` slots, of which `entries_max` will be used at most.
    pub(super) fn new(
        slots_count: u32,
        entries_max: u32,
        directories: Directories,
        reach: u32,
    ) -> Result<Self, StreamError> {
        let too_large = |_| StreamError::Table {
            slots_count: u64::from(slots_count),
        };
        let room = slots_count.min(entries_max) as usize;
        let mut entries = Vec::new();
        entries.try_reserve_exact(room).map_err(too_large)?;
        let mut numbers = Vec::new();
        if directories.count()? > 1 {
            numbers.try_reserve_exact(room).map_err(too_large)?;
        }
        Ok(Self {
            slots_count,
            cursor: 0,
            occupied: Occupied::new(slots_count)?,
            entries,
            directories: numbers,
            subdirectories_count: directories.subdirectories_count,
            has_directories: directories.count()? > 1,
            reach,
            in_reach_count: 0,
        })
    }

    /// Whether no file can be drawn.
    pub(super) const fn is_empty(&self) -> bool {
        self.in_reach_count == 0
    }

    /// The slot for a new file: the next one, or else the first that is free.
    pub(super) fn free_slot(&mut self) -> Option<u32> {
        let slot = if self.cursor < self.slots_count && !self.occupied.contains(self.cursor) {
            self.cursor
        } else {
            self.occupied.first_free()?
        };
        self.cursor = slot + 1;
        Some(slot)
    }

    /// Puts a file into the slot that [`Self::free_slot`] gave.
    pub(super) fn occupy(&mut self, file: PoolFile, size_bytes: u32) {
        let (slot, index) = (file.slot_index, file.slot_index as usize);
        let entry = Entry {
            number: file.number,
            size_bytes,
        };
        // A free slot is the one after the last taken or the first free: never beyond the end.
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
        self.in_reach_count += u32::from(slot < self.reach);
    }

    /// Draws slots until one is occupied; there must be one in reach.
    #[inline]
    pub(super) fn pick(&self, numbers: &mut Numbers) -> u32 {
        loop {
            let slot = numbers.below(self.slots_count);
            if self.occupied.contains(slot) {
                return slot;
            }
        }
    }

    /// Brings near what [`Self::pick`] will choose once one number was drawn, as far as that can
    /// be told now: a system call leaves little of a table in the processor's caches.
    #[inline]
    pub(super) fn fetch_ahead(&self, numbers: &Numbers) {
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

    /// Whether a slot is occupied.
    #[inline]
    pub(super) fn contains(&self, slot: u32) -> bool {
        self.occupied.contains(slot)
    }

    /// The first occupied slot from `slot` on, and from the first slot on behind the last; one
    /// must be occupied.
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

    /// Makes the file of an occupied slot larger.
    pub(super) fn grow(&mut self, slot: u32, appended_bytes: u32) {
        self.entries[slot as usize].size_bytes += appended_bytes;
    }

    /// Takes back that a file was made larger.
    pub(super) fn shrink(&mut self, slot: u32, appended_bytes: u32) {
        self.entries[slot as usize].size_bytes -= appended_bytes;
    }

    /// Empties an occupied slot.
    pub(super) fn release(&mut self, slot: u32) {
        self.occupied.remove(slot);
        self.in_reach_count -= u32::from(slot < self.reach);
    }
}

/// The directories of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Directories {
    /// Locations, at least 1.
    pub(super) locations_count: u32,
    /// Subdirectories of each, 0 if files lie in the location itself.
    pub(super) subdirectories_count: u32,
}

impl Directories {
    /// How many there are.
    pub(super) fn count(self) -> Result<u32, StreamError> {
        let subdirectories = u64::from(self.subdirectories_count.max(1));
        let directories_count = u64::from(self.locations_count) * subdirectories;
        u32::try_from(directories_count).map_err(|_| StreamError::Directories { directories_count })
    }

    /// The subdirectory of that number, counted through all locations.
    pub(super) fn subdirectory(self, number: u32) -> Option<PoolDirectory> {
        let subdirectory_index = number.checked_rem(self.subdirectories_count)?;
        let location_index = number / self.subdirectories_count;
        (location_index < self.locations_count).then_some(PoolDirectory {
            location_index,
            subdirectory_index: Some(subdirectory_index),
        })
    }
}
