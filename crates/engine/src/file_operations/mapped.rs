//! Files by name whose content is read and written through a mapping.

use std::fmt;

use rustix::mm::MsyncFlags;

use super::handles::{Handles, RegisterFiles};
use super::psync::PsyncFiles;
use super::{FileEngineOptions, MappingSync, OpenHows};
use crate::bus_error;
use crate::mmap::{FAULT, Mapping};
use crate::{
    Completion, Engine, EngineError, Filesets, MmapOptions, Operation, Request, Wait, pause,
};

/// As [`PsyncFiles`] with registers, but files that are opened in a mode with
/// [`OpenMode::mapped`](crate::OpenMode::mapped) are mapped, and their reads and writes are copies.
///
/// A mapping has the size of its file when it was opened; an empty file cannot be mapped, so Open
/// fails with `EINVAL`. Its Fsync and Fdatasync are `msync` of the whole mapping. Its reads and
/// writes need an offset. Faults behave as in [`Mmap`](crate::Mmap). Created files are not mapped.
pub struct MappedFiles {
    files: PsyncFiles<RegisterFiles>,
    /// Mappings of the registers, in the order of [`RegisterFiles`].
    mappings: Box<[Option<MappedFile>]>,
    pending: Vec<Request>,
}

struct MappedFile {
    mapping: Mapping,
    options: MmapOptions,
    sync: MappingSync,
}

impl MappedFiles {
    /// An engine with the parameters of [`PsyncFiles::with_registers`].
    ///
    /// # Errors
    /// If there is not enough memory for the buffers.
    pub fn new(
        filesets: Filesets,
        slot_count: u32,
        buffer_bytes: u32,
        options: FileEngineOptions,
        register_count: u8,
    ) -> Result<Self, EngineError> {
        bus_error::catch();
        let files = PsyncFiles::with_registers(
            filesets,
            slot_count,
            buffer_bytes,
            options,
            register_count,
        )?;
        Ok(Self {
            mappings: (0..files.handles.count()).map(|_| None).collect(),
            pending: Vec::with_capacity(files.slot_count() as usize),
            files,
        })
    }

    fn execute(&mut self, request: &Request) -> i32 {
        let place = self.files.handles.place(request);
        if request.operation == Operation::Open {
            let result = self.files.execute(request);
            return match (place, result) {
                (Some(place), 0) => self.map(request, place),
                _ => result,
            };
        }
        let place = place.filter(|it| self.mappings[*it].is_some());
        let Some(place) = place else {
            return self.files.execute(request);
        };
        match request.operation {
            Operation::Read | Operation::Write => self.copy(request, place),
            Operation::Fsync | Operation::Fdatasync => {
                let mapped = self.mappings[place].as_ref();
                mapped.map_or(-libc::EBADF, |it| it.mapping.sync())
            }
            Operation::Close => {
                self.mappings[place] = None;
                self.files.execute(request)
            }
            _ => self.files.execute(request),
        }
    }

    /// Maps a file that was just opened, if its mode wants that. If mapping fails, the file is
    /// closed again.
    fn map(&mut self, request: &Request, place: usize) -> i32 {
        let modes = &self.files.options.open_modes;
        let mode = OpenHows::index(request).and_then(|index| modes.get(index));
        let Some((mode, sync)) = mode.and_then(|mode| Some((mode, mode.mapped?))) else {
            return 0;
        };
        let options = MmapOptions {
            write: mode.flags & libc::O_ACCMODE != libc::O_RDONLY,
        };
        let Some(file) = self.files.handles.get(request) else {
            return -libc::EBADF;
        };
        match Mapping::new(request.file_index, file, options) {
            Ok(mapping) => {
                self.mappings[place] = Some(MappedFile {
                    mapping,
                    options,
                    sync,
                });
                0
            }
            Err(error) => {
                drop(self.files.handles.take(request));
                -error.errno()
            }
        }
    }

    fn copy(&mut self, request: &Request, place: usize) -> i32 {
        let (Some(mapped), Some(offset)) = (&self.mappings[place], request.file_offset()) else {
            return -libc::EINVAL;
        };
        let length = request.length_bytes as usize;
        let buffer = &mut self.files.buffers.slot(request.slot)[..length];
        let copied = match request.operation {
            Operation::Read => mapped.mapping.read(offset, buffer),
            _ if !mapped.options.write => return -libc::EBADF,
            _ => mapped.mapping.write(offset, buffer),
        };
        let flags = match mapped.sync {
            _ if copied == FAULT => return self.fail(request, place),
            _ if copied < 0 || request.operation == Operation::Read => return copied,
            MappingSync::No => return copied,
            MappingSync::Async => MsyncFlags::ASYNC,
            MappingSync::Sync => MsyncFlags::SYNC,
        };
        match mapped.mapping.sync_range(offset, length, flags) {
            0 => copied,
            error => error,
        }
    }

    /// Maps a file again after a copy hit pages that the kernel could not serve.
    #[cold]
    fn fail(&mut self, request: &Request, place: usize) -> i32 {
        let replaced = bus_error::take_replaced();
        let file = self.files.handles.get(request);
        let restored = self.mappings[place]
            .as_ref()
            .zip(file)
            .is_some_and(|(it, file)| it.mapping.restore(file, replaced, it.options));
        if !restored {
            // The replacement zeros must not pass for the file's content, and system calls not for
            // copies.
            self.mappings[place] = None;
            drop(self.files.handles.take(request));
        }
        -libc::EIO
    }
}

impl fmt::Debug for MappedFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MappedFiles")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Engine for MappedFiles {
    fn slot_count(&self) -> u32 {
        self.files.slot_count()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.files.buffer(slot)
    }

    fn push(&mut self, request: Request) {
        self.pending.push(request);
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            pause(wait);
        }
        for index in 0..self.pending.len() {
            let request = self.pending[index];
            done.push(Completion {
                slot: request.slot,
                result: self.execute(&request),
            });
        }
        // Keeps its capacity: the measurement loop must not allocate.
        self.pending.clear();
        Ok(())
    }
}
