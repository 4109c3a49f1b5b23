//! The tables of file workloads, of which a workload has those of one kind at most.

use units::Span;

use super::defaults::RUN_TIME_DEFAULT;
use super::{UntilChoice, Workload};
use crate::classics::create_remove::{self, Between};
use crate::classics::postmark;
use crate::classics::{ClassicError, FsMark, TableSetting, fs_mark, lat_fs};
use plan::program::{Before, FILES_MAX, Program};

/// A table that makes a file workload: which classic it is, or that it is a program of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// `[postmark]`
    Postmark,
    /// `[create_remove]`
    CreateRemove,
    /// `[lat_fs]`
    LatFs,
    /// `[fs_mark]`
    FsMark,
    /// `[[phase]]`, with the filesets that phases work on.
    Program,
}

/// The amounts of a pool of files.
#[derive(Debug)]
pub struct PoolCounts<'a> {
    /// Files that are made before the transactions.
    pub files: &'a mut Option<u32>,
    /// Transactions.
    pub transactions: &'a mut Option<u32>,
    /// What holds for each where it is not written.
    pub default: u32,
}

/// Seeds from 1 on.
#[derive(Debug)]
pub struct OwnSeeds {
    /// Where none is written.
    pub default: u32,
    /// The largest.
    pub most: u64,
    /// What to do about another.
    pub help: &'static str,
}

impl Table {
    /// All of them, in the order of the reference.
    pub const ALL: [Self; 5] = [
        Self::Postmark,
        Self::CreateRemove,
        Self::LatFs,
        Self::FsMark,
        Self::Program,
    ];

    /// The key of the workload that holds it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Postmark => "postmark",
            Self::CreateRemove => "create_remove",
            Self::LatFs => "lat_fs",
            Self::FsMark => "fs_mark",
            Self::Program => "phase",
        }
    }

    /// As it stands in a file.
    pub const fn header(self) -> &'static str {
        match self {
            Self::Postmark => "[postmark]",
            Self::CreateRemove => "[create_remove]",
            Self::LatFs => "[lat_fs]",
            Self::FsMark => "[fs_mark]",
            Self::Program => "[[phase]]",
        }
    }

    /// Whether files are those of a pool, which lives by a seed of its own.
    pub const fn has_pool(self) -> bool {
        matches!(self, Self::Postmark)
    }

    /// Whether its files may be as large as a multiple of the machine's memory.
    pub const fn has_memory(self) -> bool {
        !matches!(self, Self::LatFs | Self::Program)
    }

    /// Whether the number of its files may follow from how large they are in all.
    pub const fn has_amount(self) -> bool {
        !matches!(self, Self::LatFs)
    }

    /// Whether its files may stay: they are not removed as a part of the work.
    pub const fn may_keep(self) -> bool {
        matches!(self, Self::FsMark | Self::Program)
    }

    /// Where is written what the workload's key of that name says elsewhere.
    pub fn instead_of(self, key: &str) -> Option<String> {
        let header = self.header();
        let keys = match (key, self) {
            ("size", Self::Postmark) => "`min_size` and `max_size`",
            ("size", Self::FsMark) => "`size`",
            ("size", _) => "`sizes`",
            _ => return None,
        };
        Some(format!("write {keys} in `{header}`"))
    }

    /// Whether its work is done again and again for a time.
    pub const fn has_time(self) -> bool {
        matches!(self, Self::LatFs)
    }

    /// Whether its work can go on for as long as is wanted, so that its beginning can be left out.
    pub const fn goes_on(self) -> bool {
        matches!(self, Self::Program) || self.has_pool() || self.has_time()
    }

    /// The seeds of a table that does not take any; none where any will do.
    pub const fn own_seeds(self) -> Option<&'static OwnSeeds> {
        match self {
            Self::Postmark => Some(&postmark::SEEDS),
            _ => None,
        }
    }

    /// What stands for it in tables of results; none for what has its own name.
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
    /// The tables that are written.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let is_written = |table: &Table| match table {
            Table::Postmark => self.postmark.is_some(),
            Table::CreateRemove => self.create_remove.is_some(),
            Table::LatFs => self.lat_fs.is_some(),
            Table::FsMark => self.fs_mark.is_some(),
            Table::Program => self.has_program(),
        };
        Table::ALL.into_iter().filter(is_written).collect()
    }

    /// Whether any table of a program is written.
    fn has_program(&self) -> bool {
        let is_empty = self.fileset.is_empty()
            && self.way.is_empty()
            && self.tokens.is_empty()
            && self.built.is_none();
        !(is_empty && self.phase.is_empty() && self.rounds.is_empty())
    }

    /// Whether it works on many files, which needs directories to make them in.
    #[must_use]
    pub fn needs_directory(&self) -> bool {
        self.table().is_some() || self.has_jobs()
    }

    /// Whether it has jobs.
    #[must_use]
    pub fn has_jobs(&self) -> bool {
        self.jobs.is_some() || !self.job.is_empty()
    }

    /// The program that another program's table stands for on so many targets; none where there
    /// is no such table.
    ///
    /// # Errors
    /// A value that it cannot have.
    pub fn table_program(&self, target_count: usize) -> Result<Option<Program>, ClassicError> {
        if let Some(table) = &self.lat_fs {
            return Ok(Some(table.lasting(self.run_time).resolve()?.program()));
        }
        if let Some(table) = self.table_of_threads() {
            return Ok(Some(table.resolve(target_count as u32)?.program()));
        }
        match (&self.create_remove, &self.postmark) {
            (Some(table), _) => Ok(Some(table.resolve()?.program())),
            (None, Some(table)) => {
                let seed = self.seed.map(|seed| seed.0);
                // A checked seed fits.
                let seed = seed.map_or(postmark::SEEDS.default, |seed| seed as u32);
                let is_steady = self.until == Some(UntilChoice::Steady);
                let default = is_steady.then_some(RUN_TIME_DEFAULT);
                let time_ns = self.run_time.or(default).map(|time| time.0);
                let time_ns = time_ns.filter(|ns| *ns > 0);
                Ok(Some(table.resolve(seed)?.program(time_ns)))
            }
            (None, None) => Ok(None),
        }
    }

    /// The table whose threads are the workers, with the workload's `workers` and `keep`.
    fn table_of_threads(&self) -> Option<FsMark> {
        let table = self.fs_mark.clone()?;
        Some(FsMark {
            threads: self.workers.or(table.threads),
            keep: self.keep.or(table.keep),
            ..table
        })
    }

    /// The number of transactions that a table says.
    pub fn transaction_count(&self) -> Option<u32> {
        self.postmark.as_ref().and_then(|it| it.transactions)
    }

    /// What the keys of such a table come to on so many targets.
    ///
    /// # Errors
    /// A value that it cannot have.
    pub fn table_settings(&self, target_count: usize) -> Result<Vec<TableSetting>, ClassicError> {
        if let Some(table) = &self.postmark {
            return table.settings();
        }
        if let Some(table) = self.table_of_threads() {
            return table.settings(target_count as u32);
        }
        match (&self.create_remove, &self.lat_fs) {
            (Some(table), _) => table.settings(),
            (None, Some(table)) => table.settings(),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// What direct I/O moves by such a table, with the keys that set it; nothing where the program
    /// says it all.
    ///
    /// # Errors
    /// A value that it cannot have.
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

    /// The number of files that a table says, of each size or worker.
    #[must_use]
    pub fn file_count(&self) -> Option<u32> {
        self.create_remove.as_ref().and_then(|it| it.count)
    }

    /// The most files that the table can say.
    pub fn files_most(&self) -> u32 {
        match self.fs_mark {
            Some(_) => fs_mark::FILES_MAX,
            None => FILES_MAX,
        }
    }

    /// The same, to change it, and what holds where none is written; none where the table has no
    /// such key.
    pub fn file_count_mut(&mut self) -> Option<(&mut Option<u32>, u32)> {
        if let Some(table) = &mut self.fs_mark {
            return Some((&mut table.files, fs_mark::FILES_DEFAULT));
        }
        let table = self.create_remove.as_mut();
        table.map(|it| (&mut it.count, create_remove::FILES))
    }

    /// How many files a pool has and how many transactions are on it, to change them; none where
    /// the table has no pool.
    pub fn pool_counts_mut(&mut self) -> Option<PoolCounts<'_>> {
        self.postmark.as_mut().map(|table| PoolCounts {
            files: &mut table.number,
            transactions: &mut table.transactions,
            default: postmark::COUNT_DEFAULT,
        })
    }

    /// The time that the rounds of a table go on for, to change it, and what holds where none is
    /// written; none where the table has no such key.
    pub fn budget_mut(&mut self) -> Option<(&mut Option<Span>, Span)> {
        let table = self.lat_fs.as_mut();
        table.map(|it| (&mut it.budget, lat_fs::BUDGET))
    }

    /// Has the steps of a table that has such a key begin behind this.
    pub fn begin_steps_behind(&mut self, before: Before) {
        let between = match before {
            Before::Remount => Between::Remount,
            Before::DropCaches => Between::DropCaches,
            Before::Sync | Before::Pause { .. } => return,
        };
        if let Some(table) = &mut self.create_remove {
            table.between = Some(between);
        }
    }

    /// The table of a file workload; a checked workload has one at most.
    pub fn table(&self) -> Option<Table> {
        self.tables().first().copied()
    }
}
