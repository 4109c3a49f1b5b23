//! State of a fileset's files while a program runs: existence, users and sizes.

use std::alloc::{Layout, handle_alloc_error};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use plan::program::FileFilter;
use zerocopy::FromZeros;

/// The file exists.
const PRESENT: u16 = 1 << 15;
/// A call that creates, removes or renames the file is in progress.
const CHANGING: u16 = 1 << 14;
/// Number of users, which have the file open or a call in progress: the lower bits.
const USERS: u16 = CHANGING - 1;

/// Claim of a call on its file while it is in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileClaim {
    /// The file must stay as it is.
    Shared,
    /// No other call may use the file.
    Exclusive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimResult {
    Claimed,
    /// The file qualifies, but another worker uses it.
    Busy,
    /// The file does not qualify.
    Ineligible,
}

/// State of each file in a fileset, for all workers on it.
#[derive(Debug)]
pub struct FileStates {
    /// `true` if several threads use it.
    is_shared: bool,
    states: Box<[AtomicU16]>,
    /// Size of each file in bytes.
    sizes: Box<[AtomicU64]>,
    /// Intended size of each file; `None` if a law determines it.
    wanted_sizes: Option<Arc<[u64]>>,
    present_count: AtomicU32,
    /// Next position for workers that go around together: for any file, existing ones, and missing
    /// ones.
    rotors: [AtomicU32; 3],
}

impl FileStates {
    /// States of `count` files, none of which exists. Only one thread at a time may use them unless
    /// `is_shared`.
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

    /// As [`FileStates::new`], with one file per intended size.
    #[must_use]
    pub fn with_sizes(sizes: Arc<[u64]>, is_shared: bool) -> Self {
        Self {
            wanted_sizes: Some(sizes.clone()),
            ..Self::new(sizes.len() as u32, is_shared)
        }
    }

    pub(super) const fn intended_sizes(&self) -> Option<&Arc<[u64]>> {
        self.wanted_sizes.as_ref()
    }

    /// Number of names.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.states.len() as u32
    }

    /// Number of existing files.
    #[must_use]
    pub fn present_count(&self) -> u32 {
        self.present_count.load(Ordering::Relaxed)
    }

    /// The existing files.
    pub fn present(&self) -> impl Iterator<Item = u32> {
        let states = (0..).zip(&self.states);
        let present = states.filter(|(_, state)| state.load(Ordering::Relaxed) & PRESENT != 0);
        present.map(|(file, _)| file)
    }

    /// Total size of all existing files in bytes.
    #[must_use]
    pub fn present_bytes(&self) -> u64 {
        let files = self.states.iter().zip(&self.sizes);
        let present = files.filter(|(state, _)| state.load(Ordering::Relaxed) & PRESENT != 0);
        present.fold(0, |sum, (_, size)| {
            sum.saturating_add(size.load(Ordering::Relaxed))
        })
    }

    /// Records that another process created a file of at least `bytes` bytes. Only while no worker
    /// runs here.
    pub fn record_creation(&self, file: u32, bytes: u64) {
        if (file as usize) < self.states.len() {
            if !self.is_present(file) {
                self.mark_present(file, false);
                self.set_size(file, 0);
            }
            self.reach(file, bytes);
        }
    }

    /// Records that another process removed a file. Only while no worker runs here.
    pub fn record_removal(&self, file: u32) {
        if (file as usize) < self.states.len() {
            self.mark_absent(file);
        }
    }

    /// Size of a file in bytes, as far as it is known.
    #[must_use]
    pub fn bytes_of(&self, file: u32) -> u64 {
        self.size(file)
    }

    /// `true` if the file exists.
    #[inline]
    pub(super) fn is_present(&self, file: u32) -> bool {
        self.states[file as usize].load(Ordering::Relaxed) & PRESENT != 0
    }

    /// Drops all claims, after all workers have ended.
    pub fn release_all(&self) {
        for state in &self.states {
            // The next phase works on the same files, so their existence stays known.
            state.fetch_and(PRESENT, Ordering::Relaxed);
        }
        for rotor in &self.rotors {
            rotor.store(0, Ordering::Relaxed);
        }
    }

    /// `true` if no file qualifies, whether it is in use or not.
    pub(super) fn has_no_candidate(&self, filter: FileFilter) -> bool {
        match filter {
            FileFilter::Any => self.states.is_empty(),
            FileFilter::Present => self.present_count() == 0,
            FileFilter::Absent => self.present_count() >= self.count(),
        }
    }

    /// Next position for workers that go around together.
    #[inline]
    pub(super) fn rotor(&self, filter: FileFilter) -> u32 {
        self.rotors[filter as usize].load(Ordering::Relaxed)
    }

    /// Moves the shared position to the file after this one. If two workers do so at the same time,
    /// both look at the same place, and the second finds the file in use.
    #[inline]
    pub(super) fn advance_rotor(&self, filter: FileFilter, file: u32) {
        self.rotors[filter as usize].store(file + 1, Ordering::Relaxed);
    }

    /// Claims a file if it qualifies.
    #[inline]
    pub(super) fn claim(&self, file: u32, filter: FileFilter, claim: FileClaim) -> ClaimResult {
        let cell = &self.states[file as usize];
        let mut state = cell.load(Ordering::Relaxed);
        loop {
            let qualifies = match filter {
                FileFilter::Any => true,
                FileFilter::Present => state & PRESENT != 0,
                FileFilter::Absent => state & PRESENT == 0,
            };
            if !qualifies {
                return ClaimResult::Ineligible;
            }
            let claimed = match claim {
                // The number of users must not run into the flag above it.
                FileClaim::Shared if state & CHANGING == 0 && state & USERS < USERS => state + 1,
                FileClaim::Exclusive if state & (CHANGING | USERS) == 0 => state | CHANGING,
                _ => return ClaimResult::Busy,
            };
            if !self.is_shared {
                cell.store(claimed, Ordering::Relaxed);
                return ClaimResult::Claimed;
            }
            // Acquire, paired with `change`: the claim sees everything that the previous user did.
            match cell.compare_exchange_weak(state, claimed, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return ClaimResult::Claimed,
                Err(current) => state = current,
            }
        }
    }

    /// Releases a claim without changing the file.
    #[inline]
    pub(super) fn release(&self, file: u32, claim: FileClaim) {
        self.change(file, |state| match claim {
            FileClaim::Shared => state - 1,
            FileClaim::Exclusive => state & !CHANGING,
        });
    }

    /// Changes a state and returns the previous one. Without other threads, no atomic instruction
    /// is needed.
    #[inline]
    fn change(&self, file: u32, to: impl Fn(u16) -> u16) -> u16 {
        let cell = &self.states[file as usize];
        let mut before = cell.load(Ordering::Relaxed);
        if !self.is_shared {
            cell.store(to(before), Ordering::Relaxed);
            return before;
        }
        while let Err(current) =
            cell.compare_exchange_weak(before, to(before), Ordering::Release, Ordering::Relaxed)
        {
            before = current;
        }
        before
    }

    #[inline]
    fn count_present(&self, change: i32) {
        if self.is_shared {
            // Adding a negative number wraps around to a subtraction.
            self.present_count
                .fetch_add(change.cast_unsigned(), Ordering::Relaxed);
        } else {
            let count = self.present_count.load(Ordering::Relaxed);
            let count = count.wrapping_add_signed(change);
            self.present_count.store(count, Ordering::Relaxed);
        }
    }

    /// Records that a claimed file exists now. It stays in use if it was opened.
    #[inline]
    pub(super) fn mark_present(&self, file: u32, is_open: bool) {
        // The claim ends here; an open file keeps one user.
        let before = self.change(file, |_| PRESENT | u16::from(is_open));
        if before & PRESENT == 0 {
            self.count_present(1);
        }
    }

    /// Records that a file in use exists now; all of its users keep it.
    #[inline]
    pub(super) fn mark_present_in_use(&self, file: u32) {
        let before = self.change(file, |state| PRESENT | state);
        if before & PRESENT == 0 {
            self.count_present(1);
        }
    }

    /// Records that a claimed file is gone.
    #[inline]
    pub(super) fn mark_absent(&self, file: u32) {
        let before = self.change(file, |state| state & !(PRESENT | CHANGING));
        if before & PRESENT != 0 {
            self.count_present(-1);
        }
    }

    /// Size of a file in bytes.
    #[inline]
    pub(super) fn size(&self, file: u32) -> u64 {
        self.sizes[file as usize].load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn set_size(&self, file: u32, bytes: u64) {
        let size = &self.sizes[file as usize];
        // Memory that is never written is not allocated, so empty files need none.
        if size.load(Ordering::Relaxed) != bytes {
            size.store(bytes, Ordering::Relaxed);
        }
    }

    /// Records that the file reaches at least this size.
    #[inline]
    pub(super) fn reach(&self, file: u32, end_bytes: u64) {
        let size = &self.sizes[file as usize];
        if self.is_shared {
            size.fetch_max(end_bytes, Ordering::Relaxed);
        } else if size.load(Ordering::Relaxed) < end_bytes {
            size.store(end_bytes, Ordering::Relaxed);
        }
    }

    /// Records that the file has grown at its end.
    #[inline]
    pub(super) fn append(&self, file: u32, bytes: u64) {
        self.sizes[file as usize].fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Zeroed memory from the system, not touched yet.
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
    fn a_file_in_use_cannot_be_claimed_exclusively() {
        let states = FileStates::new(2, true);
        assert_eq!(
            states.claim(0, FileFilter::Present, FileClaim::Shared),
            ClaimResult::Ineligible
        );
        assert_eq!(
            states.claim(0, FileFilter::Absent, FileClaim::Exclusive),
            ClaimResult::Claimed
        );
        assert_eq!(
            states.claim(0, FileFilter::Absent, FileClaim::Exclusive),
            ClaimResult::Busy
        );
        states.mark_present(0, true);
        assert_eq!(states.present_count(), 1);
        assert_eq!(
            states.claim(0, FileFilter::Present, FileClaim::Shared),
            ClaimResult::Claimed
        );
        assert_eq!(
            states.claim(0, FileFilter::Present, FileClaim::Exclusive),
            ClaimResult::Busy
        );
        states.release(0, FileClaim::Shared);
        states.release(0, FileClaim::Shared);
        assert_eq!(
            states.claim(0, FileFilter::Present, FileClaim::Exclusive),
            ClaimResult::Claimed
        );
        states.mark_absent(0);
        assert_eq!(states.present_count(), 0);
        assert!(
            states.has_no_candidate(FileFilter::Present)
                && !states.has_no_candidate(FileFilter::Absent)
        );
    }

    #[test]
    fn sizes_follow_the_writes() {
        let states = FileStates::new(1, false);
        states.mark_present(0, true);
        states.reach(0, 100);
        states.reach(0, 50);
        states.append(0, 10);
        assert_eq!((states.size(0), states.present_bytes()), (110, 110));
        states.set_size(0, 7);
        states.mark_absent(0);
        assert_eq!((states.size(0), states.present_bytes()), (7, 0));
    }

    #[test]
    fn files_left_open_can_be_claimed_again_in_the_next_phase() {
        let states = FileStates::new(1, false);
        states.claim(0, FileFilter::Any, FileClaim::Exclusive);
        states.mark_present(0, true);
        states.release_all();
        assert_eq!(
            states.claim(0, FileFilter::Present, FileClaim::Exclusive),
            ClaimResult::Claimed
        );
    }
}
