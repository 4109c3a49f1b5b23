//! Tables of workloads of many files; a workload has tables of at most one kind.

use units::Span;

use super::defaults::RUN_TIME_DEFAULT;
use super::keyed::both;
use super::{UntilChoice, Workload};
use crate::classics::create_remove::{self, BetweenSteps};
use crate::classics::postmark;
use crate::classics::{ClassicError, FsMark, TableSetting, fs_mark, lat_fs};
use plan::program::{FILES_MAX, PhasePreparation, Program};

/// Kind of a workload of many files: a table of a classic benchmark, or its own phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkloadTable {
    /// PostMark: the table `[postmark]`.
    Postmark,
    /// Creation and removal of files: the table `[create_remove]`.
    CreateRemove,
    /// lmbench's lat_fs: the table `[lat_fs]`.
    LatFs,
    /// fs_mark: the table `[fs_mark]`.
    FsMark,
    /// `[[phase]]`, with the filesets that phases work on.
    Program,
}

/// Mutable access to the amounts of a pool of files.
#[derive(Debug)]
pub struct PoolCounts<'a> {
    /// Files created before the transactions.
    pub files: &'a mut Option<u32>,
    /// Number of transactions; `None` for the default.
    pub transactions: &'a mut Option<u32>,
    /// Default of both.
    pub default: u32,
}

/// Range of valid seeds, starting at 1.
#[derive(Debug)]
pub struct SeedRange {
    /// Default seed.
    pub default: u32,
    /// Largest seed.
    pub max: u64,
    /// Help for a seed out of range.
    pub help: &'static str,
}

impl WorkloadTable {
    /// All kinds, in the order of the reference page.
    pub const ALL: [Self; 5] = [
        Self::Postmark,
        Self::CreateRemove,
        Self::LatFs,
        Self::FsMark,
        Self::Program,
    ];

    /// Key of the workload that holds the table.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Postmark => "postmark",
            Self::CreateRemove => "create_remove",
            Self::LatFs => "lat_fs",
            Self::FsMark => "fs_mark",
            Self::Program => "phase",
        }
    }

    /// Table header in a file.
    pub const fn header(self) -> &'static str {
        match self {
            Self::Postmark => "[postmark]",
            Self::CreateRemove => "[create_remove]",
            Self::LatFs => "[lat_fs]",
            Self::FsMark => "[fs_mark]",
            Self::Program => "[[phase]]",
        }
    }

    /// `true` if the files form a pool with its own seed.
    pub const fn has_pool(self) -> bool {
        matches!(self, Self::Postmark)
    }

    /// `true` if the size of its files may be given as a multiple of the machine's memory.
    pub const fn has_memory(self) -> bool {
        !matches!(self, Self::LatFs | Self::Program)
    }

    /// `true` if the number of its files may be derived from their total size.
    pub const fn has_amount(self) -> bool {
        !matches!(self, Self::LatFs)
    }

    /// `true` if its files may be kept: removing them is not part of the work.
    pub const fn may_keep(self) -> bool {
        matches!(self, Self::FsMark | Self::Program)
    }

    /// The keys of this table that replace a workload key with this name; `None` if there are none.
    pub fn replacement_help(self, key: &str) -> Option<String> {
        let header = self.header();
        let keys = match (key, self) {
            ("size", Self::Postmark) => "`min_size` and `max_size`",
            ("size", Self::FsMark) => "`size`",
            ("size", _) => "`sizes`",
            _ => return None,
        };
        Some(format!("write {keys} in `{header}`"))
    }

    /// `true` if its work is repeated for a time.
    pub const fn has_time(self) -> bool {
        matches!(self, Self::LatFs)
    }

    /// `true` if its work can last as long as needed, so that a ramp time is possible.
    pub const fn goes_on(self) -> bool {
        matches!(self, Self::Program) || self.has_pool() || self.has_time()
    }

    /// Range of valid seeds; `None` if any seed is valid.
    pub const fn own_seeds(self) -> Option<&'static SeedRange> {
        match self {
            Self::Postmark => Some(&postmark::SEEDS),
            _ => None,
        }
    }

    /// Title in result tables; `None` if phases have their own names.
    pub const fn title(self) -> Option<&'static str> {
        match self {
            Self::Postmark => Some("postmark"),
            Self::CreateRemove => Some("create-remove"),
            Self::LatFs => Some("lat-fs"),
            Self::FsMark => Some("fs-mark"),
            Self::Program => None,
        }
    }
}

impl Workload {
    /// The kinds of tables that are written.
    pub(crate) fn tables(&self) -> Vec<WorkloadTable> {
        let is_written = |table: &WorkloadTable| match table {
            WorkloadTable::Postmark => self.postmark.is_some(),
            WorkloadTable::CreateRemove => self.create_remove.is_some(),
            WorkloadTable::LatFs => self.lat_fs.is_some(),
            WorkloadTable::FsMark => self.fs_mark.is_some(),
            WorkloadTable::Program => self.has_program(),
        };
        WorkloadTable::ALL.into_iter().filter(is_written).collect()
    }

    /// `true` if any table of a program is written.
    fn has_program(&self) -> bool {
        let is_empty = self.fileset.is_empty()
            && self.way.is_empty()
            && self.tokens.is_empty()
            && self.built.is_none();
        !(is_empty && self.phase.is_empty() && self.rounds.is_empty())
    }

    /// `true` if it works on many files, which need directories.
    #[must_use]
    pub fn needs_directory(&self) -> bool {
        self.table().is_some() || self.has_jobs()
    }

    /// `true` if the workload defines its jobs itself or takes them from a job file.
    #[must_use]
    pub fn has_jobs(&self) -> bool {
        self.jobs.is_some() || !self.job.is_empty()
    }

    /// The program of a classic table for this number of targets; `None` if there is no such table.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn table_program(&self, target_count: usize) -> Result<Option<Program>, ClassicError> {
        if let Some(table) = &self.lat_fs {
            return Ok(Some(table.lasting(self.run_time).resolve()?.program()));
        }
        if let Some(table) = self.fs_mark_with_workers() {
            return Ok(Some(table.resolve(target_count as u32)?.program()));
        }
        match (&self.create_remove, &self.postmark) {
            (Some(table), _) => Ok(Some(table.resolve()?.program())),
            (None, Some(table)) => {
                let seed = self.seed.map(|seed| seed.0);
                // The seed was checked to fit.
                let seed = seed.map_or(postmark::SEEDS.default, |seed| seed as u32);
                // Rounds that are compared must have a length, so the transactions get a time.
                let is_steady = self.until == Some(UntilChoice::Steady);
                let default = is_steady.then_some(RUN_TIME_DEFAULT);
                let time_ns = self.run_time.or(default).map(|time| time.0);
                let time_ns = time_ns.filter(|ns| *ns > 0);
                Ok(Some(table.resolve(seed)?.program(time_ns)))
            }
            (None, None) => Ok(None),
        }
    }

    /// The fs_mark table, whose threads are the workers, with the workload's `workers` and `keep`.
    fn fs_mark_with_workers(&self) -> Option<FsMark> {
        let table = self.fs_mark.clone()?;
        Some(FsMark {
            // Options set the workload's keys, so these come before the table's.
            threads: self.workers.or(table.threads),
            keep: self.keep.or(table.keep),
            ..table
        })
    }

    /// The number of transactions in the table, if written.
    pub fn transaction_count(&self) -> Option<u32> {
        self.postmark.as_ref().and_then(|it| it.transactions)
    }

    /// The resolved settings of a classic table for this number of targets.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn table_settings(&self, target_count: usize) -> Result<Vec<TableSetting>, ClassicError> {
        if let Some(table) = &self.postmark {
            return table.settings();
        }
        if let Some(table) = self.fs_mark_with_workers() {
            return table.settings(target_count as u32);
        }
        match (&self.create_remove, &self.lat_fs) {
            (Some(table), _) => table.settings(),
            (None, Some(table)) => table.settings(),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Amounts in bytes that direct I/O must be able to transfer, with the keys that set them;
    /// empty if the program determines them.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn table_amounts(&self) -> Result<Vec<(&'static str, u64)>, ClassicError> {
        if let Some(table) = &self.fs_mark {
            return table.amounts();
        }
        match (&self.create_remove, &self.lat_fs) {
            (Some(table), _) => table.amounts(),
            (None, Some(table)) => table.amounts(),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Merges the tables with the tables of a base workload, key by key; keys of this workload take
    /// precedence.
    pub(crate) fn fill_tables_from(&mut self, low: &mut Self) {
        self.postmark = both(low.postmark.take(), self.postmark.take(), |low, high| {
            high.over(low)
        });
        let steps = (low.create_remove.take(), self.create_remove.take());
        self.create_remove = both(steps.0, steps.1, |low, high| high.over(low));
        self.lat_fs = both(low.lat_fs.take(), self.lat_fs.take(), |low, high| {
            high.over(low)
        });
        self.fs_mark = both(low.fs_mark.take(), self.fs_mark.take(), |low, high| {
            high.over(low)
        });
    }

    /// The number of files written in the table: per size, per worker or per pool.
    pub(crate) fn file_count(&self) -> Option<u32> {
        let postmark = self.postmark.as_ref().and_then(|it| it.number);
        let fs_mark = self.fs_mark.as_ref().and_then(|it| it.files);
        let create_remove = self.create_remove.as_ref().and_then(|it| it.count);
        postmark.or(fs_mark).or(create_remove)
    }

    /// The largest number of files that the table accepts.
    pub fn file_count_max(&self) -> u32 {
        match self.fs_mark {
            Some(_) => fs_mark::FILES_MAX,
            None => FILES_MAX,
        }
    }

    /// Mutable access to the number of files, with its default; `None` if the table has no such
    /// key.
    pub fn file_count_mut(&mut self) -> Option<(&mut Option<u32>, u32)> {
        if let Some(table) = &mut self.fs_mark {
            return Some((&mut table.files, fs_mark::FILES_DEFAULT));
        }
        let table = self.create_remove.as_mut();
        table.map(|it| (&mut it.count, create_remove::FILES_DEFAULT))
    }

    /// Mutable access to the numbers of files and transactions of a pool; `None` if the table has
    /// no pool.
    pub fn pool_counts_mut(&mut self) -> Option<PoolCounts<'_>> {
        self.postmark.as_mut().map(|table| PoolCounts {
            files: &mut table.number,
            transactions: &mut table.transactions,
            default: postmark::COUNT_DEFAULT,
        })
    }

    /// Mutable access to the time budget of a table's rounds, with its default; `None` if the table
    /// has no such key.
    pub fn budget_mut(&mut self) -> Option<(&mut Option<Span>, Span)> {
        let table = self.lat_fs.as_mut();
        table.map(|it| (&mut it.budget, lat_fs::BUDGET_DEFAULT))
    }

    /// Sets what happens between the steps of a table that has such a key.
    pub fn set_before_each_step(&mut self, before: PhasePreparation) {
        let between = match before {
            PhasePreparation::Remount => BetweenSteps::Remount,
            PhasePreparation::DropCaches => BetweenSteps::DropCaches,
            PhasePreparation::Sync
            | PhasePreparation::Pause { .. }
            | PhasePreparation::Semaphore { .. }
            | PhasePreparation::Prompt { .. } => return,
        };
        if let Some(table) = &mut self.create_remove {
            table.between = Some(between);
        }
    }

    /// The kind of workload of many files; a checked workload has at most one.
    pub fn table(&self) -> Option<WorkloadTable> {
        self.tables().first().copied()
    }
}
