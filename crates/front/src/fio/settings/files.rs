//! Names, layout and removal of files.

use super::super::values::RandomDistribution;

choices! {
    /// How space is allocated before files are written.
    Fallocate {
        /// With fallocate(2), if the file system supports it.
        #[default]
        Native = "native",
        /// No allocation.
        None = "none" | "0",
        /// With posix_fallocate(3).
        Posix = "posix" | "1",
        /// Without changing the file size.
        Keep = "keep",
        /// By setting the file size only.
        Truncate = "truncate",
    }
}

choices! {
    /// Advice to the kernel about the access pattern.
    ReadAdvice {
        /// The actual pattern of the job.
        #[default]
        AsIs = "1",
        /// No advice.
        None = "0",
        /// Random access.
        Random = "random",
        /// Sequential access.
        Sequential = "sequential",
        /// Data is accessed only once.
        NoReuse = "noreuse",
    }
}

/// Order in which files are used.
#[derive(Debug, Clone, PartialEq)]
pub enum JobFileOrder {
    /// The files in turn.
    RoundRobin,
    /// The next file when the current one is finished.
    Sequential,
    /// Drawn from a distribution.
    Drawn(RandomDistribution),
}

/// Names, layout and removal of files.
///
/// Names are as written and must be checked before they are used as paths.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSettings {
    /// Names of files that all clones share; empty if each clone has its own files.
    pub names: Vec<String>,
    /// Directories, which clones take in turn; empty for the current directory.
    pub directories: Vec<String>,
    /// Pattern for generated names; empty for `$jobname.$jobnum.$filenum`.
    pub format: String,
    /// Number of files of each clone; the first ones of `names`.
    pub count: u32,
    /// Number of files open at a time; 0 for all.
    pub open_count: u32,
    /// Order in which files are used.
    pub order: JobFileOrder,
    /// Number of requests to one file before the next.
    pub requests_per_turn: u32,
    /// How space is allocated.
    pub fallocate: Fallocate,
    /// Advice to the kernel.
    pub advice: ReadAdvice,
    /// `true` if the jobs lay out their files one after another.
    pub serializes_layout: bool,
    /// `true` if the layout ends with fsync.
    pub syncs_layout: bool,
    /// `true` if files are created when they are opened.
    pub creates_on_open: bool,
    /// `true` if the job only lays out its files.
    pub is_layout_only: bool,
    /// `true` if missing files are created.
    pub creates_missing: bool,
    /// `true` if files are laid out before they are written to.
    pub overwrites: bool,
    /// `true` if files are read into the page cache before the run.
    pub pre_reads: bool,
    /// `true` if files are dropped from the page cache before the run.
    pub drops_cache: bool,
    /// `true` if files are removed at the end.
    pub removes_at_end: bool,
    /// `true` if files are removed after each loop.
    pub removes_each_loop: bool,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            directories: Vec::new(),
            format: String::new(),
            count: 1,
            open_count: 0,
            order: JobFileOrder::RoundRobin,
            requests_per_turn: 1,
            fallocate: Fallocate::default(),
            advice: ReadAdvice::default(),
            serializes_layout: true,
            syncs_layout: true,
            creates_on_open: false,
            is_layout_only: false,
            creates_missing: true,
            overwrites: false,
            pre_reads: false,
            drops_cache: true,
            removes_at_end: false,
            removes_each_loop: false,
        }
    }
}
