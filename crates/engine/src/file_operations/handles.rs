//! Storage for open files: in the request's slot, in registers of the slot, or by file.

use std::os::fd::OwnedFd;

use crate::Request;

/// Open files, found by a request.
pub trait Handles {
    /// The file that the request works on.
    fn get(&self, request: &Request) -> Option<&OwnedFd>;

    /// Stores the file that the request opened; [`Self::refusal`] must have returned `None`.
    fn put(&mut self, request: &Request, file: OwnedFd);

    /// Removes and returns the file that the request closes.
    fn take(&mut self, request: &Request) -> Option<OwnedFd>;

    /// Reason why the request may not open a file, as a completion's result; `None` if it may.
    fn refusal(&self, request: &Request) -> Option<i32>;

    /// `true` if the request may open and close a file without storing it.
    fn is_free(&self, request: &Request) -> bool;

    /// Closes all files.
    fn clear(&mut self);
}

/// One file per slot, from when it is opened until it is closed.
#[derive(Debug)]
pub struct SlotHandles(Box<[Option<OwnedFd>]>);

impl SlotHandles {
    pub(super) fn new(slot_count: u32) -> Self {
        Self((0..slot_count).map(|_| None).collect())
    }
}

impl Handles for SlotHandles {
    #[inline(always)]
    fn get(&self, request: &Request) -> Option<&OwnedFd> {
        self.0[request.slot as usize].as_ref()
    }

    #[inline(always)]
    fn put(&mut self, request: &Request, file: OwnedFd) {
        self.0[request.slot as usize] = Some(file);
    }

    #[inline(always)]
    fn take(&mut self, request: &Request) -> Option<OwnedFd> {
        self.0[request.slot as usize].take()
    }

    #[inline(always)]
    fn refusal(&self, request: &Request) -> Option<i32> {
        (!self.is_free(request)).then_some(-libc::EBUSY)
    }

    #[inline(always)]
    fn is_free(&self, request: &Request) -> bool {
        self.0[request.slot as usize].is_none()
    }

    fn clear(&mut self) {
        self.0.fill_with(|| None);
    }
}

/// A fixed number of files per slot, one per register; the request's `handle` selects the register.
///
/// A register holds one file, from when it is opened until it is closed; opening another fails with
/// `EBUSY`. A handle beyond the last register fails with `EBADF`.
#[derive(Debug)]
pub struct RegisterFiles {
    /// All registers of the first slot, then all of the next.
    files: Box<[Option<OwnedFd>]>,
    /// Number of registers per slot.
    count: u8,
}

impl RegisterFiles {
    pub(super) fn new(slot_count: u32, count: u8) -> Self {
        let files = (0..u64::from(slot_count) * u64::from(count)).map(|_| None);
        Self {
            files: files.collect(),
            count,
        }
    }

    /// Number of registers of all slots.
    pub(super) const fn count(&self) -> usize {
        self.files.len()
    }

    #[inline(always)]
    pub(super) fn place(&self, request: &Request) -> Option<usize> {
        let (count, handle) = (usize::from(self.count), usize::from(request.handle));
        (handle < count).then(|| request.slot as usize * count + handle)
    }
}

impl Handles for RegisterFiles {
    #[inline(always)]
    fn get(&self, request: &Request) -> Option<&OwnedFd> {
        self.files[self.place(request)?].as_ref()
    }

    #[inline(always)]
    fn put(&mut self, request: &Request, file: OwnedFd) {
        if let Some(index) = self.place(request) {
            self.files[index] = Some(file);
        }
    }

    #[inline(always)]
    fn take(&mut self, request: &Request) -> Option<OwnedFd> {
        let index = self.place(request)?;
        self.files[index].take()
    }

    #[inline(always)]
    fn refusal(&self, request: &Request) -> Option<i32> {
        match self.place(request) {
            Some(place) => self.files[place].is_some().then_some(-libc::EBUSY),
            None => Some(-libc::EBADF),
        }
    }

    /// A file that is opened and closed by the same request takes no register.
    #[inline(always)]
    fn is_free(&self, _: &Request) -> bool {
        true
    }

    fn clear(&mut self) {
        self.files.fill_with(|| None);
    }
}

/// Files that stay open, found by their index from any slot.
///
/// A table with open addressing, at least three quarters of which are empty. Closed files leave no
/// tombstones, so the table never needs rebuilding during a measurement.
#[derive(Debug)]
pub struct FileHandles {
    slots: Box<[(u32, Option<OwnedFd>)]>,
    count: usize,
    max_count: usize,
}

impl FileHandles {
    pub(super) fn new(max_count: u32) -> Self {
        let max_count = max_count as usize;
        let place_count = (4 * max_count.max(1)).next_power_of_two();
        Self {
            slots: (0..place_count).map(|_| (0, None)).collect(),
            count: 0,
            max_count,
        }
    }

    /// Preferred place of a file: the upper bits of its index times 2^32 divided by the golden
    /// ratio, which spreads consecutive numbers (Knuth, The Art of Computer Programming 3, 6.4).
    #[inline]
    fn home(&self, file_index: u32) -> usize {
        const GOLDEN_RATIO: u32 = 0x9E37_79B9;
        let bits = self.slots.len().trailing_zeros();
        (u64::from(file_index.wrapping_mul(GOLDEN_RATIO)) << bits >> 32) as usize
    }

    #[inline]
    fn next_index(&self, index: usize) -> usize {
        (index + 1) & (self.slots.len() - 1)
    }

    /// Number of places from one to another, forward with wraparound.
    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.slots.len() - 1)
    }

    /// Place of the file, or as an error the empty place where it belongs.
    #[inline]
    fn find(&self, file_index: u32) -> Result<usize, usize> {
        let mut index = self.home(file_index);
        // Ends, because the table always has empty places.
        loop {
            match &self.slots[index] {
                (_, None) => return Err(index),
                (other, Some(_)) if *other == file_index => return Ok(index),
                _ => index = self.next_index(index),
            }
        }
    }
}

impl Handles for FileHandles {
    #[inline]
    fn get(&self, request: &Request) -> Option<&OwnedFd> {
        let index = self.find(request.file_index).ok()?;
        self.slots[index].1.as_ref()
    }

    #[inline]
    fn put(&mut self, request: &Request, file: OwnedFd) {
        if let Err(place) = self.find(request.file_index) {
            self.slots[place] = (request.file_index, Some(file));
            self.count += 1;
        }
    }

    #[inline]
    fn take(&mut self, request: &Request) -> Option<OwnedFd> {
        let mut hole = self.find(request.file_index).ok()?;
        let file = self.slots[hole].1.take();
        self.count -= 1;
        // Files that were displaced by this place move up.
        let mut index = self.next_index(hole);
        while self.slots[index].1.is_some() {
            let home = self.home(self.slots[index].0);
            // Moving is allowed only if the hole is not before the file's preferred place.
            if self.distance(home, index) >= self.distance(hole, index) {
                self.slots.swap(hole, index);
                hole = index;
            }
            index = self.next_index(index);
        }
        file
    }

    #[inline]
    fn refusal(&self, request: &Request) -> Option<i32> {
        if self.count == self.max_count {
            // The same answer as from the kernel at its own limit.
            return Some(-libc::EMFILE);
        }
        self.find(request.file_index).ok().map(|_| -libc::EBUSY)
    }

    #[inline]
    fn is_free(&self, _: &Request) -> bool {
        true
    }

    fn clear(&mut self) {
        self.slots.fill_with(|| (0, None));
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::os::fd::AsRawFd;

    use proptest::prelude::*;

    use super::*;
    use crate::Operation;

    fn request(file_index: u32) -> Request {
        Request {
            operation: Operation::Open,
            file_index,
            ..Request::EMPTY
        }
    }

    fn file() -> OwnedFd {
        std::fs::File::open("/dev/null").unwrap().into()
    }

    proptest! {
        #[test]
        fn file_handles_behave_like_a_map(
            // Few numbers with few bits meet in the same places.
            steps in proptest::collection::vec((any::<bool>(), 0_u32..24, any::<bool>()), 0..300),
            max_count in 1_u32..9,
        ) {
            let (mut handles, mut model) = (FileHandles::new(max_count), HashMap::new());
            for (opens, number, is_far) in steps {
                // The second of these has its home with the first.
                let request = request(if is_far { number ^ (number << 27) } else { number });
                let index = request.file_index;
                if !opens {
                    let taken = handles.take(&request).map(|file| file.as_raw_fd());
                    prop_assert_eq!(taken, model.remove(&index));
                    continue;
                }
                let is_full = model.len() == max_count as usize;
                let refusal = match (is_full, model.contains_key(&index)) {
                    (true, _) => Some(-libc::EMFILE),
                    (false, true) => Some(-libc::EBUSY),
                    (false, false) => None,
                };
                prop_assert_eq!(handles.refusal(&request), refusal);
                if refusal.is_none() {
                    let file = file();
                    model.insert(index, file.as_raw_fd());
                    handles.put(&request, file);
                }
                for (index, descriptor) in &model {
                    let found = handles.get(&super::tests::request(*index)).unwrap();
                    prop_assert_eq!(found.as_raw_fd(), *descriptor);
                }
                prop_assert_eq!(handles.count, model.len());
            }
        }
    }

    #[test]
    fn all_handles_can_be_closed() {
        let mut handles = FileHandles::new(3);
        for number in [1, 2, 3] {
            handles.put(&request(number), file());
        }
        assert_eq!(handles.refusal(&request(4)), Some(-libc::EMFILE));
        handles.clear();
        assert_eq!(handles.refusal(&request(1)), None);
        assert!(handles.get(&request(1)).is_none());
    }
}
