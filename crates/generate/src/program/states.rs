//! What is known of the files of a fileset while a program runs: which exist, who uses them, how
//! long they are.

use std::alloc::{Layout, handle_alloc_error};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use plan::program::Which;
use zerocopy::FromZeros;

/// The file exists.
const PRESENT: u16 = 1 << 15;
/// A call that makes, removes or renames it is on its way.
const HELD: u16 = 1 << 14;
/// How many have it open or on their way: the bits below.
const USES: u16 = HELD - 1;

/// What a call does to a file while it is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It must stay as it is.
    Use,
    /// Nobody else may have it.
    Alone,
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claimed {
    Yes,
    /// It qualifies, and somebody else has it.
    Busy,
    /// It does not qualify.
    No,
}

/// What is known of each file of a fileset, by all who work on it.
#[derive(Debug)]
pub struct FileStates {
    /// Whether several threads work on it.
    is_shared: bool,
    states: Box<[AtomicU16]>,
    /// Bytes of each file.
    sizes: Box<[AtomicU64]>,
    /// Bytes that each file is to have, where no law says it.
    wanted_sizes: Option<Arc<[u64]>>,
    present_count: AtomicU32,
    /// Where those who go around together look next: for any file, present ones, absent ones.
    rotors: [AtomicU32; 3],
}

impl FileStates {
    /// So many files, none of which exists. One thread at a time may work on them unless they are
    /// shared.
    #[must_use]
    pub fn new(count: u32, is_shared: bool) -> Self {
        Self {
            is_shared,
            states: zeros(count),
            sizes: zeros(count),
            wanted_sizes: None,
            present_count: AtomicU32::new(0),
            rotors: [const { AtomicU32::new(0) }; 3],
        }
    }

    /// As [`FileStates::new`], one file for each of the sizes that they are to have.
    #[must_use]
    pub fn with_sizes(sizes: Arc<[u64]>, is_shared: bool) -> Self {
        Self {
            wanted_sizes: Some(sizes.clone()),
            ..Self::new(sizes.len() as u32, is_shared)
        }
    }

    pub(super) const fn wanted_sizes(&self) -> Option<&Arc<[u64]>> {
        self.wanted_sizes.as_ref()
    }

    /// How many names there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.states.len() as u32
    }

    /// How many files exist.
    #[must_use]
    pub fn present_count(&self) -> u32 {
        self.present_count.load(Ordering::Relaxed)
    }

    /// The files that exist.
    pub fn present(&self) -> impl Iterator<Item = u32> {
        let states = (0..).zip(&self.states);
        let present = states.filter(|(_, state)| state.load(Ordering::Relaxed) & PRESENT != 0);
        present.map(|(file, _)| file)
    }

    /// Bytes of all files that exist.
    #[must_use]
    pub fn present_bytes(&self) -> u64 {
        let each = self.states.iter().zip(&self.sizes);
        let present = each.filter(|(state, _)| state.load(Ordering::Relaxed) & PRESENT != 0);
        present.fold(0, |sum, (_, size)| {
            sum.saturating_add(size.load(Ordering::Relaxed))
        })
    }

    /// Takes note that a file of so many bytes at least exists, which somebody elsewhere made while
    /// nobody works here.
    pub fn note_made(&self, file: u32, bytes: u64) {
        if (file as usize) < self.states.len() {
            if !self.is_present(file) {
                self.appear(file, false);
                self.set_size(file, 0);
            }
            self.reach(file, bytes);
        }
    }

    /// Takes note that a file is gone, which somebody elsewhere removed while nobody works here.
    pub fn note_removed(&self, file: u32) {
        if (file as usize) < self.states.len() {
            self.vanish(file);
        }
    }

    /// Bytes of a file, as far as is known.
    #[must_use]
    pub fn bytes_of(&self, file: u32) -> u64 {
        self.size(file)
    }

    /// Whether a file exists.
    #[inline]
    pub(super) fn is_present(&self, file: u32) -> bool {
        self.states[file as usize].load(Ordering::Relaxed) & PRESENT != 0
    }

    /// Forgets who has what, once nobody works any more.
    pub fn release_all(&self) {
        for state in &self.states {
            state.fetch_and(PRESENT, Ordering::Relaxed);
        }
        for rotor in &self.rotors {
            rotor.store(0, Ordering::Relaxed);
        }
    }

    /// Whether no file qualifies, whoever has it.
    pub(super) fn has_none(&self, which: Which) -> bool {
        match which {
            Which::Any => self.states.is_empty(),
            Which::Present => self.present_count() == 0,
            Which::Absent => self.present_count() >= self.count(),
        }
    }

    /// Where those who go around together look next.
    #[inline]
    pub(super) fn rotor(&self, which: Which) -> u32 {
        self.rotors[which as usize].load(Ordering::Relaxed)
    }

    /// They look behind this file next. Two who do so at once look at the same place, where the
    /// second finds the first's file taken.
    #[inline]
    pub(super) fn turn_on(&self, which: Which, file: u32) {
        self.rotors[which as usize].store(file + 1, Ordering::Relaxed);
    }

    /// Claims a file where it qualifies.
    #[inline]
    pub(super) fn claim(&self, file: u32, which: Which, claim: Claim) -> Claimed {
        let cell = &self.states[file as usize];
        let mut state = cell.load(Ordering::Relaxed);
        loop {
            let qualifies = match which {
                Which::Any => true,
                Which::Present => state & PRESENT != 0,
                Which::Absent => state & PRESENT == 0,
            };
            if !qualifies {
                return Claimed::No;
            }
            let claimed = match claim {
                Claim::Use if state & HELD == 0 && state & USES < USES => state + 1,
                Claim::Alone if state & (HELD | USES) == 0 => state | HELD,
                _ => return Claimed::Busy,
            };
            if !self.is_shared {
                cell.store(claimed, Ordering::Relaxed);
                return Claimed::Yes;
            }
            match cell.compare_exchange_weak(state, claimed, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Claimed::Yes,
                Err(seen) => state = seen,
            }
        }
    }

    /// Gives back what was claimed; nothing has changed.
    #[inline]
    pub(super) fn release(&self, file: u32, claim: Claim) {
        self.change(file, |state| match claim {
            Claim::Use => state - 1,
            Claim::Alone => state & !HELD,
        });
    }

    /// Changes a state and returns what it was. A thread that is alone needs no locked bus.
    #[inline]
    fn change(&self, file: u32, to: impl Fn(u16) -> u16) -> u16 {
        let cell = &self.states[file as usize];
        let mut before = cell.load(Ordering::Relaxed);
        if !self.is_shared {
            cell.store(to(before), Ordering::Relaxed);
            return before;
        }
        while let Err(seen) =
            cell.compare_exchange_weak(before, to(before), Ordering::Release, Ordering::Relaxed)
        {
            before = seen;
        }
        before
    }

    #[inline]
    fn count_present(&self, change: i32) {
        if self.is_shared {
            // Adding a negative number wraps to subtracting it.
            self.present_count
                .fetch_add(change.cast_unsigned(), Ordering::Relaxed);
        } else {
            let count = self.present_count.load(Ordering::Relaxed);
            let count = count.wrapping_add_signed(change);
            self.present_count.store(count, Ordering::Relaxed);
        }
    }

    /// The file that was held exists now, as long as is known; it stays in use where it was opened.
    #[inline]
    pub(super) fn appear(&self, file: u32, is_open: bool) {
        let before = self.change(file, |_| PRESENT | u16::from(is_open));
        if before & PRESENT == 0 {
            self.count_present(1);
        }
    }

    /// The file that was in use exists now, and stays in use by all who have it.
    #[inline]
    pub(super) fn appear_in_use(&self, file: u32) {
        let before = self.change(file, |state| PRESENT | state);
        if before & PRESENT == 0 {
            self.count_present(1);
        }
    }

    /// The file that was held is gone.
    #[inline]
    pub(super) fn vanish(&self, file: u32) {
        let before = self.change(file, |state| state & !(PRESENT | HELD));
        if before & PRESENT != 0 {
            self.count_present(-1);
        }
    }

    /// Bytes of a file.
    #[inline]
    pub(super) fn size(&self, file: u32) -> u64 {
        self.sizes[file as usize].load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn set_size(&self, file: u32, bytes: u64) {
        let size = &self.sizes[file as usize];
        // Memory that nobody writes to is not taken: empty files need none.
        if size.load(Ordering::Relaxed) != bytes {
            size.store(bytes, Ordering::Relaxed);
        }
    }

    /// The file reaches at least so far.
    #[inline]
    pub(super) fn reach(&self, file: u32, end_bytes: u64) {
        let size = &self.sizes[file as usize];
        if self.is_shared {
            size.fetch_max(end_bytes, Ordering::Relaxed);
        } else if size.load(Ordering::Relaxed) < end_bytes {
            size.store(end_bytes, Ordering::Relaxed);
        }
    }

    /// The file has grown at its end.
    #[inline]
    pub(super) fn append(&self, file: u32, bytes: u64) {
        self.sizes[file as usize].fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Memory from the system that is not touched yet.
fn zeros<T: FromZeros>(count: u32) -> Box<[T]> {
    match <[T]>::new_box_zeroed_with_elems(count as usize) {
        Ok(zeros) => zeros,
        Err(_) => handle_alloc_error(Layout::new::<T>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_used_cannot_be_had_alone() {
        let states = FileStates::new(2, true);
        assert_eq!(states.claim(0, Which::Present, Claim::Use), Claimed::No);
        assert_eq!(states.claim(0, Which::Absent, Claim::Alone), Claimed::Yes);
        assert_eq!(states.claim(0, Which::Absent, Claim::Alone), Claimed::Busy);
        states.appear(0, true);
        assert_eq!(states.present_count(), 1);
        assert_eq!(states.claim(0, Which::Present, Claim::Use), Claimed::Yes);
        assert_eq!(states.claim(0, Which::Present, Claim::Alone), Claimed::Busy);
        states.release(0, Claim::Use);
        states.release(0, Claim::Use);
        assert_eq!(states.claim(0, Which::Present, Claim::Alone), Claimed::Yes);
        states.vanish(0);
        assert_eq!(states.present_count(), 0);
        assert!(states.has_none(Which::Present) && !states.has_none(Which::Absent));
    }

    #[test]
    fn sizes_follow_what_is_written() {
        let states = FileStates::new(1, false);
        states.appear(0, true);
        states.reach(0, 100);
        states.reach(0, 50);
        states.append(0, 10);
        assert_eq!((states.size(0), states.present_bytes()), (110, 110));
        states.set_size(0, 7);
        states.vanish(0);
        assert_eq!((states.size(0), states.present_bytes()), (7, 0));
    }

    #[test]
    fn what_somebody_left_open_is_free_again_in_the_next_phase() {
        let states = FileStates::new(1, false);
        states.claim(0, Which::Any, Claim::Alone);
        states.appear(0, true);
        states.release_all();
        assert_eq!(states.claim(0, Which::Present, Claim::Alone), Claimed::Yes);
    }
}
