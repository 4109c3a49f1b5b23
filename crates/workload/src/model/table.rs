//! The tables of file workloads, of which a workload has those of one kind at most.

use super::Workload;

/// A table that makes a file workload: which classic it is, or that it is a program of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
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
        self.table().is_some()
    }

    /// The table of a file workload; a checked workload has one at most.
    pub(crate) fn table(&self) -> Option<Table> {
        self.tables().first().copied()
    }
}
