//! What is written, how it comes to rest, and whether it is read back.

use plan::job::RangeSync;

use super::super::values::Pattern;

choices! {
    /// How files are opened for writing.
    SyncOpen {
        /// As they are.
        #[default]
        None = "none" | "0",
        /// With `O_SYNC`.
        Sync = "sync" | "1",
        /// With `O_DSYNC`.
        DataSync = "dsync",
    }
}

/// How what is written comes to rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Durability {
    /// fsync behind so many writes; 0 for never.
    pub fsync: u32,
    /// fdatasync behind so many writes; 0 for never.
    pub fdatasync: u32,
    /// sync_file_range behind so many writes; 0 for never.
    pub ranges: RangeSync,
    /// fsync at the end.
    pub fsync_at_end: bool,
    /// fsync when files are closed.
    pub fsync_on_close: bool,
    /// How files are opened.
    pub open: SyncOpen,
}

choices! {
    /// How fio would check content; here one stamp stands for all of them.
    Checksum {
        /// Not at all.
        #[default]
        None = "0",
        /// By a checksum in a header.
        Sum = "md5" | "crc64" | "crc32" | "crc32c-intel" | "crc32c" | "crc16" | "crc7" | "sha1"
            | "sha256" | "sha512" | "sha3-224" | "sha3-256" | "sha3-384" | "sha3-512" | "xxhash",
        /// By a header alone.
        Header = "meta",
        /// By a pattern.
        Pattern = "pattern",
        /// By a pattern behind a header.
        PatternWithHeader = "pattern_hdr",
        /// Seemingly.
        Null = "null",
    }
}

/// Whether content is read back and compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    /// How.
    pub checksum: Checksum,
    /// Its name as it was written; empty for none.
    pub name: String,
    /// Whether what was written is read back at the end.
    pub reads_back: bool,
    /// Bytes between headers; 0 for one in each block.
    pub interval_bytes: u64,
    /// Where in a block the header is.
    pub offset_bytes: u64,
    /// What is expected.
    pub pattern: Option<Pattern>,
    /// Whether the first wrong block ends the job.
    pub is_fatal: bool,
    /// Reads back behind so many writes; 0 for at the end.
    pub backlog: u64,
    /// How many at once; 0 for all.
    pub backlog_batch: u32,
}

impl Default for Verify {
    fn default() -> Self {
        Self {
            checksum: Checksum::None,
            name: String::new(),
            reads_back: true,
            interval_bytes: 0,
            offset_bytes: 0,
            pattern: None,
            is_fatal: false,
            backlog: 0,
            backlog_batch: 0,
        }
    }
}

choices! {
    /// Which blocks are written again.
    DedupeMode {
        /// The one before.
        #[default]
        Repeat = "repeat",
        /// One of some.
        WorkingSet = "working_set",
    }
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Zeros.
    pub is_zero: bool,
    /// New content for each write.
    pub is_refilled: bool,
    /// A little changed with each write.
    pub is_scrambled: bool,
    /// Repeated content.
    pub pattern: Option<Pattern>,
    /// How far it can be compressed.
    pub compress_percent: Option<u32>,
    /// The unit of that in bytes.
    pub compress_chunk: u64,
    /// Share of blocks that were written before.
    pub dedupe_percent: Option<u32>,
    /// Which ones.
    pub dedupe_mode: DedupeMode,
    /// Of which part of the file.
    pub dedupe_set_percent: u32,
    /// Whether jobs share them.
    pub is_dedupe_global: bool,
}

impl Default for Content {
    fn default() -> Self {
        Self {
            is_zero: false,
            is_refilled: false,
            is_scrambled: true,
            pattern: None,
            compress_percent: None,
            compress_chunk: 512,
            dedupe_percent: None,
            dedupe_mode: DedupeMode::Repeat,
            dedupe_set_percent: 5,
            is_dedupe_global: false,
        }
    }
}

/// Errors that do not count, by number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IgnoredErrors {
    /// Of reads.
    pub read: Vec<i32>,
    /// Of writes.
    pub write: Vec<i32>,
    /// Of verification.
    pub verify: Vec<i32>,
}

/// Which errors are borne.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorSettings {
    /// Those of reads do not end the job.
    pub bears_reads: bool,
    /// Those of writes do not end the job.
    pub bears_writes: bool,
    /// Those of verification do not end the job.
    pub bears_verify: bool,
    /// Those that do not count.
    pub ignored: IgnoredErrors,
}
