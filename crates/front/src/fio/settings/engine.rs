//! I/O engines, and how they issue requests.

choices! {
    /// I/O engine.
    Engine {
        /// io_uring.
        IoUring = "io_uring",
        /// Linux native asynchronous I/O; runs on io_uring.
        Libaio = "libaio" | "aio" | "linuxaio",
        /// POSIX asynchronous I/O; runs on io_uring.
        PosixAio = "posixaio",
        /// lseek, then read or write; runs on pread and pwrite.
        Sync = "sync",
        /// pread and pwrite.
        #[default]
        Psync = "psync",
        /// readv and writev; runs on pread and pwrite.
        Vsync = "vsync",
        /// preadv and pwritev; runs on pread and pwrite.
        Pvsync = "pvsync",
        /// preadv2 and pwritev2; runs on pread and pwrite.
        Pvsync2 = "pvsync2",
        /// Memory-mapped files.
        Mmap = "mmap",
        /// Transfers nothing.
        Null = "null",
        /// Creates files.
        FileCreate = "filecreate",
        /// Calls stat on files.
        FileStat = "filestat",
        /// Deletes files.
        FileDelete = "filedelete",
        /// Creates directories.
        DirectoryCreate = "dircreate",
        /// Calls stat on directories.
        DirectoryStat = "dirstat",
        /// Deletes directories.
        DirectoryDelete = "dirdelete",
        /// Allocates the space of requests instead of transferring data.
        Falloc = "falloc",
        /// Truncates files to the offsets of writes.
        Ftruncate = "ftruncate",
        /// An engine that pgmeter refuses; its name is in [`EngineSettings::name`].
        Refused = "external",
    }
}

impl Engine {
    /// `true` if the engine creates, stats or deletes files or directories, and transfers nothing.
    #[must_use]
    pub const fn works_on_names(self) -> bool {
        matches!(
            self,
            Self::FileCreate
                | Self::FileStat
                | Self::FileDelete
                | Self::DirectoryCreate
                | Self::DirectoryStat
                | Self::DirectoryDelete
        )
    }

    /// `true` if the engine waits for each request, so that only one is in flight.
    #[must_use]
    pub const fn waits(self) -> bool {
        !matches!(
            self,
            // fio's `null` has no flag `FIO_SYNCIO`, so it has a queue depth. `Refused` is an error
            // anyway.
            Self::IoUring | Self::Libaio | Self::PosixAio | Self::Null | Self::Refused
        )
    }

    /// `true` if pgmeter submits its requests to a ring, so that each is submitted before it
    /// completes.
    #[must_use]
    pub const fn has_ring(self) -> bool {
        matches!(self, Self::IoUring | Self::Libaio | Self::PosixAio)
    }
}

choices! {
    /// Kind of memory for buffers.
    MemoryKind {
        /// Heap memory.
        #[default]
        Heap = "malloc",
        /// Shared memory.
        Shared = "shm" | "mmapshared",
        /// Anonymous mapping.
        Mapped = "mmap",
        /// Huge pages.
        Huge = "shmhuge" | "mmaphuge",
        /// GPU memory; refused.
        Gpu = "cudamalloc" | "hipmalloc",
    }
}

/// I/O engine and its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSettings {
    /// I/O engine.
    pub engine: Engine,
    /// Name of the engine as written.
    pub name: String,
    /// `true` if requests bypass the page cache (`O_DIRECT`).
    pub is_direct: bool,
    /// `true` if writes must be atomic.
    pub is_atomic: bool,
    /// Requested queue depth; see [`EngineSettings::depth`] for the effective one.
    pub iodepth: u32,
    /// Number of requests submitted with one call.
    pub batch: u32,
    /// Minimum number of completions to wait for.
    pub batch_complete_min: u32,
    /// Maximum number of completions reaped by one call; 0 for no limit.
    pub batch_complete_max: u32,
    /// Depth to which the queue drains before it is refilled; 0 for the queue depth itself.
    pub iodepth_low: u32,
    /// `true` if requests in flight must not overlap.
    pub avoids_overlap: bool,
    /// `true` if other threads submit the requests.
    pub is_offloaded: bool,
    /// Kind of memory for buffers.
    pub memory: MemoryKind,
    /// Alignment of buffers in bytes; 0 for page alignment.
    pub memory_align: u64,
    /// Memory that each worker locks, in bytes.
    pub locked_bytes: u64,
    /// `true` if completions are polled (`hipri`).
    pub is_polled: bool,
    /// `true` if a kernel thread submits the requests (`sqthread_poll`).
    pub is_submitted_by_kernel: bool,
    /// `true` if the kernel drops the cached pages after each request (`RWF_DONTCACHE`).
    pub is_uncached: bool,
    /// `true` if requests fail instead of waiting (`RWF_NOWAIT`).
    pub never_waits: bool,
    /// Number of requests of which the kernel's threads execute one (`force_async`); 0 for none.
    pub async_each: u32,
    /// `true` if buffers are registered with the ring.
    pub has_fixed_buffers: bool,
    /// `true` if files are registered with the ring.
    pub has_registered_files: bool,
    /// `true` if mapped files use huge pages.
    pub maps_huge: bool,
}

impl EngineSettings {
    /// Effective queue depth: 1 for engines that wait for each request.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        match self.engine.waits() {
            true => 1,
            false => self.iodepth,
        }
    }

    /// Resets the options of a single engine, which do not apply to another one.
    pub(in crate::fio) const fn forget_own_options(&mut self) {
        self.is_polled = false;
        self.is_submitted_by_kernel = false;
        self.is_uncached = false;
        self.never_waits = false;
        self.async_each = 0;
        self.has_fixed_buffers = false;
        self.has_registered_files = false;
        self.maps_huge = false;
    }
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            engine: Engine::default(),
            name: "psync".to_owned(),
            is_direct: false,
            is_atomic: false,
            iodepth: 1,
            batch: 1,
            batch_complete_min: 1,
            batch_complete_max: 0,
            iodepth_low: 0,
            avoids_overlap: false,
            is_offloaded: false,
            memory: MemoryKind::default(),
            memory_align: 0,
            locked_bytes: 0,
            is_polled: false,
            is_submitted_by_kernel: false,
            is_uncached: false,
            never_waits: false,
            async_each: 0,
            has_fixed_buffers: false,
            has_registered_files: false,
            maps_huge: false,
        }
    }
}
