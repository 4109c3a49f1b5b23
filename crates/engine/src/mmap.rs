//! Copies from and to a shared mapping of each file.

use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};

use crate::bus_error::{self, ZeroedRange};
use crate::files::EngineFiles;
use crate::{Buffers, Completion, Engine, EngineError, Operation, Reopen, Request, Wait, pause};

/// Reads and writes by `memcpy`. Requests are executed one after another at the next `reap`.
///
/// A mapping has the size of its file when the engine was created. Reads past that size are cut off
/// as at the end of the file; writes past it are short and then fail with `EFBIG`. The kernel sends
/// `SIGBUS` for pages that it cannot serve (a truncated file, a full disk, an I/O error). The
/// operation then fails with `EIO`, whatever the cause, and the next one may succeed again. The
/// first engine of this kind catches the signal for the whole process.
#[derive(Debug)]
pub struct Mmap {
    files: EngineFiles,
    /// `None` if the file is closed.
    mappings: Vec<Option<Mapping>>,
    buffers: Buffers,
    pending: Vec<Request>,
    options: MmapOptions,
}

/// Options of the `mmap` engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MmapOptions {
    /// Map for writing too; the files must be open for it. If `false`, writes fail with `EBADF`.
    pub write: bool,
}

impl MmapOptions {
    fn protection(self) -> ProtFlags {
        match self.write {
            true => ProtFlags::READ | ProtFlags::WRITE,
            false => ProtFlags::READ,
        }
    }
}

impl Mmap {
    /// An engine on `files` with `slot_count` buffers of `buffer_bytes` each.
    ///
    /// # Errors
    /// If a file is empty or cannot be mapped, or there is not enough memory for the buffers.
    pub fn new(
        files: Vec<OwnedFd>,
        slot_count: u32,
        buffer_bytes: u32,
        options: MmapOptions,
    ) -> Result<Self, EngineError> {
        bus_error::catch();
        let files = EngineFiles::new(files);
        let mappings = files
            .iter()
            .map(|(file_index, file)| Mapping::new(file_index, file, options).map(Some))
            .collect::<Result<Vec<_>, _>>()?;
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let pending = Vec::with_capacity(buffers.slot_count() as usize);
        Ok(Self {
            files,
            mappings,
            buffers,
            pending,
            options,
        })
    }

    /// Replaces file `file_index` by another open file; the old one is unmapped and closed.
    ///
    /// # Errors
    /// If there is no such file, or the new one cannot be mapped.
    pub fn reopen(&mut self, file_index: u32, file: OwnedFd) -> Result<(), EngineError> {
        let mapping = Mapping::new(file_index, &file, self.options)?;
        self.files.replace(file_index, file)?;
        self.mappings[file_index as usize] = Some(mapping);
        Ok(())
    }

    /// Closes all files and sets one recipe per file, in order. [`Operation::Open`] opens a file by
    /// its recipe, and [`Operation::Close`] closes it. Without recipes both fail with `EOPNOTSUPP`.
    /// Opening an open file fails with `EBUSY`, and everything on a closed one with `EBADF`.
    ///
    /// # Errors
    /// If the number of recipes differs from the number of files.
    pub fn set_reopen(&mut self, recipes: Vec<Reopen>) -> Result<(), EngineError> {
        self.files.set_recipes(recipes)?;
        (0..self.files.count()).for_each(|file_index| {
            self.close(file_index);
        });
        Ok(())
    }

    /// Opens and maps a file; if mapping fails, the file is closed again.
    #[cold]
    fn open(&mut self, file_index: u32) -> i32 {
        let result = self.files.open(file_index);
        let Some(file) = self.files.get(file_index).filter(|_| result == 0) else {
            return result;
        };
        match Mapping::new(file_index, file, self.options) {
            Ok(mapping) => {
                self.mappings[file_index as usize] = Some(mapping);
                0
            }
            Err(error) => {
                self.files.close(file_index);
                -error.errno()
            }
        }
    }

    #[cold]
    fn close(&mut self, file_index: u32) -> i32 {
        let result = self.files.close(file_index);
        // Without recipes the file stays open, so its mapping must stay as well.
        if result != -libc::EOPNOTSUPP {
            self.mappings[file_index as usize] = None;
        }
        result
    }

    /// Syncs the whole mapping, whatever the requested range.
    #[cold]
    fn sync(&self, file_index: u32) -> i32 {
        let mapping = self.mappings.get(file_index as usize);
        let mapping = mapping.and_then(Option::as_ref);
        mapping.map_or(-libc::EBADF, Mapping::sync)
    }

    /// Prepares for [`Operation::Trim`], which otherwise fails with `EOPNOTSUPP`. A trim is a
    /// system call on the file; the kernel removes the pages of the range from the mapping.
    ///
    /// # Errors
    /// If the kernel does not tell the kind of a file.
    pub fn prepare_trims(&mut self) -> Result<(), EngineError> {
        self.files.prepare_trims()
    }

    fn execute(&mut self, request: Request) -> i32 {
        match request.operation {
            Operation::Trim => return self.files.trim(&request),
            Operation::Open => return self.open(request.file_index),
            Operation::Close => return self.close(request.file_index),
            Operation::SyncFileRange => return self.sync(request.file_index),
            _ => {}
        }
        let mapping = self.mappings.get(request.file_index as usize);
        let Some(mapping) = mapping.and_then(Option::as_ref) else {
            return -libc::EBADF;
        };
        let buffer = &mut self.buffers.slot(request.slot)[..request.length_bytes as usize];
        let copied = match request.operation {
            Operation::Read => mapping.read(request.offset_bytes, buffer),
            Operation::Write if !self.options.write => return -libc::EBADF,
            Operation::Write => mapping.write(request.offset_bytes, buffer),
            Operation::Fsync | Operation::Fdatasync => return mapping.sync(),
            _ => return -libc::EOPNOTSUPP,
        };
        match copied {
            FAULT => self.fail(request.file_index),
            copied => copied,
        }
    }

    /// Maps the file again after a copy hit pages that the kernel could not serve.
    #[cold]
    fn fail(&mut self, file_index: u32) -> i32 {
        let replaced = bus_error::take_replaced();
        let mapping = &mut self.mappings[file_index as usize];
        let file = self.files.get(file_index);
        let restored = mapping
            .as_ref()
            .zip(file)
            .is_some_and(|(mapping, file)| mapping.restore(file, replaced, self.options));
        if !restored {
            // The replacement zeros must not pass for the file's content.
            *mapping = None;
        }
        -libc::EIO
    }
}

impl Engine for Mmap {
    fn slot_count(&self) -> u32 {
        self.buffers.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.pending.push(request);
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            pause(wait);
        }
        for index in 0..self.pending.len() {
            let request = self.pending[index];
            let result = self.execute(request);
            done.push(Completion {
                slot: request.slot,
                result,
            });
        }
        // Keeps its capacity: the measurement loop must not allocate.
        self.pending.clear();
        Ok(())
    }
}

/// Result of a copy if the kernel could not serve an access. No errno has this number.
// A plain number, so that results stay in a register.
pub(crate) const FAULT: i32 = i32::MIN;

/// A shared mapping of a whole file.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    size_bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, and what other processes do to the file affects
// all threads equally.
unsafe impl Send for Mapping {}

impl Mapping {
    pub(crate) fn new(
        file_index: u32,
        file: &OwnedFd,
        options: MmapOptions,
    ) -> Result<Self, EngineError> {
        // Seeking also returns the size of a block device; `fstat` does not.
        let size_bytes = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))
            .map_err(|errno| EngineError::system("lseek", errno))?;
        let size_bytes = usize::try_from(size_bytes)
            .map_err(|_| EngineError::system("mmap", rustix::io::Errno::NOMEM))?;
        if size_bytes == 0 {
            return Err(EngineError::EmptyMapping { file_index });
        }
        // SAFETY: a new mapping at an address of the kernel's choice does not affect others.
        let mapped = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                size_bytes,
                options.protection(),
                MapFlags::SHARED,
                file,
                0,
            )
        };
        let start = mapped.map_err(|errno| EngineError::system("mmap", errno))?;
        let start = NonNull::new(start.cast()).expect("the kernel never maps address 0 unasked");
        Ok(Self { start, size_bytes })
    }

    /// Address of a transfer in the mapping, and its number of bytes within the mapping.
    fn span(&self, offset_bytes: u64, length_bytes: usize) -> (*mut u8, usize) {
        let offset = usize::try_from(offset_bytes)
            .map_or(self.size_bytes, |offset| offset.min(self.size_bytes));
        let length = length_bytes.min(self.size_bytes - offset);
        (self.start.as_ptr().wrapping_add(offset), length)
    }

    pub(crate) fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> i32 {
        let (source, length) = self.span(offset_bytes, buffer.len());
        // SAFETY: the source is within the mapping and the destination within the buffer, which is
        // not part of a file mapping. Another process may change the source meanwhile; any bytes
        // are acceptable, and none are examined here. The mapping is private to this engine.
        let is_whole = unsafe { bus_error::copy(source, buffer.as_mut_ptr(), length, source) };
        if is_whole { length as i32 } else { FAULT }
    }

    pub(crate) fn write(&self, offset_bytes: u64, buffer: &[u8]) -> i32 {
        let (destination, length) = self.span(offset_bytes, buffer.len());
        if length == 0 && !buffer.is_empty() {
            return -libc::EFBIG;
        }
        let source = buffer.as_ptr();
        // SAFETY: as in `read`, in the other direction; the caller checked `write`.
        let is_whole = unsafe { bus_error::copy(source, destination, length, destination) };
        if is_whole { length as i32 } else { FAULT }
    }

    /// Maps replaced pages of the file again. Returns `true` on success.
    pub(crate) fn restore(
        &self,
        file: &OwnedFd,
        replaced: ZeroedRange,
        options: MmapOptions,
    ) -> bool {
        let offset = replaced.start - self.start.as_ptr().addr();
        // SAFETY: this value owns the pages, and no reference into them exists.
        let mapped = unsafe {
            rustix::mm::mmap(
                self.start.as_ptr().wrapping_add(offset).cast(),
                replaced.length_bytes,
                options.protection(),
                MapFlags::SHARED | MapFlags::FIXED,
                file,
                offset as u64,
            )
        };
        mapped.is_ok()
    }

    pub(crate) fn sync(&self) -> i32 {
        self.sync_range(0, self.size_bytes, MsyncFlags::SYNC)
    }

    /// Syncs the pages of a range, the part of it that is within the mapping.
    pub(crate) fn sync_range(&self, offset_bytes: u64, length: usize, flags: MsyncFlags) -> i32 {
        let (start, length) = self.span(offset_bytes, length);
        // The kernel requires the start of a page, and `start` need not be one.
        let within = start.addr() % rustix::param::page_size();
        let start = start.wrapping_sub(within).cast::<c_void>();
        // SAFETY: the range is within the mapping of this value, which starts at a page.
        match unsafe { rustix::mm::msync(start, length + within, flags) } {
            Ok(()) => 0,
            Err(errno) => -errno.raw_os_error(),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no reference into it exists.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.size_bytes) };
    }
}
