//! Names and making of files.

use super::super::values::Distribution;

choices! {
    /// How room is allotted before files are written.
    Fallocate {
        /// By the kernel's own means, if it has any.
        #[default]
        Native = "native",
        /// Not at all.
        None = "none" | "0",
        /// By posix_fallocate.
        Posix = "posix" | "1",
        /// Without changing the size.
        Keep = "keep",
        /// By setting the size.
        Truncate = "truncate",
    }
}

choices! {
    /// What the kernel is told of the order.
    ReadAdvice {
        /// The order that the job has.
        #[default]
        AsIs = "1",
        /// Nothing.
        None = "0",
        /// That it is random.
        Random = "random",
        /// That it is sequential.
        Sequential = "sequential",
        /// That nothing is used again.
        NoReuse = "noreuse",
    }
}

/// Which file is next.
#[derive(Debug, Clone, PartialEq)]
pub enum FileOrder {
    /// One after the other.
    RoundRobin,
    /// The next one when one is done.
    Sequential,
    /// Drawn by a distribution.
    Drawn(Distribution),
}

/// Names and making of files.
///
/// Names are as they were written: whoever makes paths of them has to check them.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSettings {
    /// Names that all clones share; empty where each has files of its own.
    pub names: Vec<String>,
    /// Directories, which clones take in turn; empty for the current one.
    pub directories: Vec<String>,
    /// What names are made from; empty for `$jobname.$jobnum.$filenum`.
    pub format: String,
    /// Files of each clone; of `names`, the first so many.
    pub count: u32,
    /// Files open at a time; 0 for all.
    pub open_count: u32,
    /// Which file is next.
    pub order: FileOrder,
    /// Requests to one file before the next.
    pub requests_per_turn: u32,
    /// How room is allotted.
    pub fallocate: Fallocate,
    /// What the kernel is told.
    pub advice: ReadAdvice,
    /// Whether files are laid out one job after the other.
    pub is_laid_out_in_turn: bool,
    /// Whether a layout ends with fsync.
    pub syncs_layout: bool,
    /// Whether files are made when they are opened.
    pub is_made_on_open: bool,
    /// Whether nothing is done but the layout.
    pub is_layout_only: bool,
    /// Whether missing files are made.
    pub makes_missing: bool,
    /// Whether files are laid out before they are written to.
    pub overwrites: bool,
    /// Whether files are read before the run.
    pub reads_before: bool,
    /// Whether files leave the cache before the run.
    pub leaves_cache: bool,
    /// Whether files are removed at the end.
    pub removes_at_end: bool,
    /// Whether files are removed behind each loop.
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
            order: FileOrder::RoundRobin,
            requests_per_turn: 1,
            fallocate: Fallocate::default(),
            advice: ReadAdvice::default(),
            is_laid_out_in_turn: true,
            syncs_layout: true,
            is_made_on_open: false,
            is_layout_only: false,
            makes_missing: true,
            overwrites: false,
            reads_before: false,
            leaves_cache: true,
            removes_at_end: false,
            removes_each_loop: false,
        }
    }
}
