//! Content of writes, syncs, verification and errors.

use plan::job::{BlockCheckKind, RangeSync};

use super::super::values::BytePattern;

choices! {
    /// How files are opened for writing.
    SyncOpen {
        /// Without a sync flag.
        #[default]
        None = "none" | "0",
        /// With `O_SYNC`.
        Sync = "sync" | "1",
        /// With `O_DSYNC`.
        DataSync = "dsync",
    }
}

/// Syncs and synchronous writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Durability {
    /// Number of writes between fsync calls; 0 for none.
    pub fsync: u32,
    /// Number of writes between fdatasync calls; 0 for none.
    pub fdatasync: u32,
    /// How sync_file_range is called; a `write_count` of 0 means never.
    pub ranges: RangeSync,
    /// `true` to call fsync at the end.
    pub fsync_at_end: bool,
    /// `true` to call fsync when files are closed.
    pub fsync_on_close: bool,
    /// Sync flag with which files are opened.
    pub open: SyncOpen,
}

choices! {
    /// How content is verified.
    Checksum {
        /// No verification.
        #[default]
        None = "0",
        /// A checksum in a header.
        Sum = "md5" | "crc64" | "crc32" | "crc32c-intel" | "crc32c" | "crc16" | "crc7" | "sha1"
            | "sha256" | "sha512" | "sha3-224" | "sha3-256" | "sha3-384" | "sha3-512" | "xxhash",
        /// A header without a checksum.
        Header = "meta",
        /// A pattern.
        Pattern = "pattern",
        /// A header, followed by a pattern.
        PatternWithHeader = "pattern_hdr",
        /// Nothing is verified.
        Null = "null",
    }
}

/// Verification of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifySettings {
    /// How content is verified.
    pub checksum: Checksum,
    /// Name of the checksum as written; empty for none.
    pub name: String,
    /// `true` if written data is read back.
    pub reads_back: bool,
    /// Bytes between headers; 0 for one per block.
    pub interval_bytes: u64,
    /// Offset of the header in a block.
    pub offset_bytes: u64,
    /// Written and expected content.
    pub pattern: Option<BytePattern>,
    /// Number of bytes after which the pattern starts over; 0 for each request.
    pub pattern_interval_bytes: u32,
    /// `true` to verify what the job would write, and to write nothing.
    pub skips_writes: bool,
    /// `true` if a saved state of an earlier run limits what is verified.
    pub loads_state: bool,
    /// `true` if the first wrong block ends the job.
    pub is_fatal: bool,
    /// Number of writes before reading back; 0 for at the end only.
    pub backlog: u64,
    /// Number of blocks to read back per batch; 0 for all.
    pub backlog_batch: u32,
}

impl VerifySettings {
    /// The kind of verification; `None` if nothing is verified.
    #[must_use]
    pub fn kind(&self) -> Option<BlockCheckKind> {
        match self.checksum {
            Checksum::None | Checksum::Null => None,
            Checksum::Header => Some(BlockCheckKind::Header),
            Checksum::Pattern => Some(BlockCheckKind::Pattern),
            Checksum::PatternWithHeader => Some(BlockCheckKind::PatternHeader),
            Checksum::Sum => Some(match self.name.as_str() {
                "md5" => BlockCheckKind::Md5,
                "crc64" => BlockCheckKind::Crc64,
                "crc32" => BlockCheckKind::Crc32,
                "crc16" => BlockCheckKind::Crc16,
                "crc7" => BlockCheckKind::Crc7,
                "sha1" => BlockCheckKind::Sha1,
                "sha256" => BlockCheckKind::Sha256,
                "sha512" => BlockCheckKind::Sha512,
                "sha3-224" => BlockCheckKind::Sha3_224,
                "sha3-256" => BlockCheckKind::Sha3_256,
                "sha3-384" => BlockCheckKind::Sha3_384,
                "sha3-512" => BlockCheckKind::Sha3_512,
                "xxhash" => BlockCheckKind::Xxhash,
                // `crc32c` and `crc32c-intel`, which differ only in how fio computes them.
                _ => BlockCheckKind::Crc32c,
            }),
        }
    }
}

impl Default for VerifySettings {
    fn default() -> Self {
        Self {
            checksum: Checksum::None,
            name: String::new(),
            reads_back: true,
            interval_bytes: 0,
            offset_bytes: 0,
            pattern: None,
            pattern_interval_bytes: 0,
            skips_writes: false,
            loads_state: false,
            is_fatal: false,
            backlog: 0,
            backlog_batch: 0,
        }
    }
}

choices! {
    /// Choice of the blocks to duplicate.
    DedupeMode {
        /// The previous block.
        #[default]
        Repeat = "repeat",
        /// One block of a working set.
        WorkingSet = "working_set",
    }
}

/// Content of writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenContent {
    /// `true` to write zeros.
    pub is_zero: bool,
    /// `true` to generate new content for each write.
    pub is_refilled: bool,
    /// `true` to change the content slightly with each write.
    pub is_scrambled: bool,
    /// Pattern to repeat.
    pub pattern: Option<BytePattern>,
    /// Compressibility in percent.
    pub compress_percent: Option<u32>,
    /// Unit of compressible data in bytes.
    pub compress_chunk: u64,
    /// Share of duplicate blocks in percent.
    pub dedupe_percent: Option<u32>,
    /// Choice of the blocks to duplicate.
    pub dedupe_mode: DedupeMode,
    /// Size of the working set, in percent of the file.
    pub dedupe_set_percent: u32,
    /// `true` if jobs share the duplicate blocks.
    pub is_dedupe_global: bool,
}

impl Default for WrittenContent {
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

/// Error numbers that do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IgnoredErrors {
    /// Error numbers that do not count for reads.
    pub read: Vec<i32>,
    /// Error numbers that do not count for writes.
    pub write: Vec<i32>,
    /// For verification.
    pub verify: Vec<i32>,
}

/// Errors that do not end the job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorSettings {
    /// `true` if read errors do not end the job.
    pub tolerates_reads: bool,
    /// `true` if write errors do not end the job.
    pub tolerates_writes: bool,
    /// `true` if verification errors do not end the job.
    pub tolerates_verify: bool,
    /// Error numbers that do not count.
    pub ignored: IgnoredErrors,
}
