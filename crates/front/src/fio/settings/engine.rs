//! How requests are made.

choices! {
    /// How requests are made.
    Engine {
        /// io_uring.
        IoUring = "io_uring",
        /// Linux' older asynchronous calls; io_uring here.
        Libaio = "libaio" | "aio" | "linuxaio",
        /// POSIX' asynchronous calls; io_uring here.
        PosixAio = "posixaio",
        /// read and write behind a seek; pread and pwrite here.
        Sync = "sync",
        /// pread and pwrite.
        #[default]
        Psync = "psync",
        /// readv and writev; pread and pwrite here.
        Vsync = "vsync",
        /// preadv and pwritev; pread and pwrite here.
        Pvsync = "pvsync",
        /// preadv2 and pwritev2; pread and pwrite here.
        Pvsync2 = "pvsync2",
        /// Memory-mapped files.
        Mmap = "mmap",
        /// Nothing is transferred.
        Null = "null",
        /// Creates files.
        FileCreate = "filecreate",
        /// Asks for the state of files.
        FileStat = "filestat",
        /// Deletes files.
        FileDelete = "filedelete",
        /// One that is refused; its name is in [`EngineSettings::name`].
        Refused = "external",
    }
}

impl Engine {
    /// Whether each request is waited for, so that there is one in flight.
    #[must_use]
    pub const fn waits(self) -> bool {
        !matches!(
            self,
            Self::IoUring | Self::Libaio | Self::PosixAio | Self::Null | Self::Refused
        )
    }
}

choices! {
    /// Memory of buffers.
    MemoryKind {
        /// Of the heap.
        #[default]
        Heap = "malloc",
        /// Shared.
        Shared = "shm" | "mmapshared",
        /// Mapped.
        Mapped = "mmap",
        /// In huge pages.
        Huge = "shmhuge" | "mmaphuge",
        /// Of a GPU; refused.
        Gpu = "cudamalloc" | "hipmalloc",
    }
}

/// How requests are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSettings {
    /// How requests are made.
    pub engine: Engine,
    /// Its name as it was written.
    pub name: String,
    /// Past the page cache.
    pub is_direct: bool,
    /// With writes that are not torn.
    pub is_atomic: bool,
    /// Requests in flight, as asked for: [`EngineSettings::depth`] says what comes of it.
    pub iodepth: u32,
    /// Requests submitted at once.
    pub batch: u32,
    /// Completions waited for at once, at least.
    pub batch_complete_min: u32,
    /// Completions taken at once, at most; 0 for as many as there are.
    pub batch_complete_max: u32,
    /// Depth to which the queue shrinks before it is filled again; 0 for the depth itself.
    pub iodepth_low: u32,
    /// Whether requests in flight must not overlap.
    pub avoids_overlap: bool,
    /// Whether other threads submit.
    pub is_offloaded: bool,
    /// Memory of buffers.
    pub memory: MemoryKind,
    /// Alignment of buffers in bytes; 0 for that of pages.
    pub memory_align: u64,
    /// Bytes locked by each worker.
    pub locked_bytes: u64,
    /// Whether completions are polled for.
    pub is_polled: bool,
    /// Whether a thread of the kernel submits.
    pub is_submitted_by_kernel: bool,
    /// Whether pages are dropped behind each request.
    pub is_uncached: bool,
    /// Whether buffers are registered.
    pub has_fixed_buffers: bool,
    /// Whether files are registered.
    pub has_registered_files: bool,
    /// Whether a mapping has huge pages.
    pub maps_huge: bool,
}

impl EngineSettings {
    /// Requests in flight: engines that wait have one.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        match self.engine.waits() {
            true => 1,
            false => self.iodepth,
        }
    }

    /// Forgets what is said of single engines.
    pub(in crate::fio) const fn forget_own_options(&mut self) {
        self.is_polled = false;
        self.has_fixed_buffers = false;
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
            has_fixed_buffers: false,
            has_registered_files: false,
            maps_huge: false,
        }
    }
}
