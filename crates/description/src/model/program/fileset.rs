//! Which files there are, and how they are opened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Percent};

use super::LawChoice;
use plan::program::{Access, Copies, DirectoryNesting, OpenSync};

/// Files by number: how many there may be, what they are called, how large they are. A workload
/// has phases, or access specifications, or a table such as `[postmark]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FilesetTable {
    /// Name by which acts call it. Must be written.
    pub name: Option<String>,
    /// How many names there are, 1 to 100000000. Default: 1.
    pub count: Option<u32>,
    /// Share of the files that are there before the first phase, evenly over their numbers, to a
    /// tenth of a percent. Default: 0.
    pub present: Option<Percent>,
    /// Bytes of a file: a size or a law, drawn for each file once and for all. Default: 0.
    pub size: Option<LawChoice<Bytes>>,
    /// Names of the files: `{number}` stands for the number, from 0, and `{number:6}` for one of
    /// at least six digits; `{worker}` and `{round}` for those of the worker and of the round
    /// around. Default: the fileset's name, a hyphen and the number.
    pub names: Option<String>,
    /// Number of the first file. Default: 0.
    pub first: Option<u32>,
    /// In place of `names`: these are directories in each other.
    pub paths: Option<NestedTable>,
    /// Its directory below the target; empty for the target's own. Default: the fileset's name.
    pub path: Option<String>,
    /// Directories that the files are dealt to in turn, 1 to 65536. Default: none, all files are
    /// in one.
    pub directories: Option<u32>,
    /// Files in a row in each directory, 1 to 100000000, in place of `directories`. Default: all.
    pub files_per_directory: Option<u32>,
    /// Which of the directories of `files_per_directory` are in which. Default: none is in
    /// another.
    pub nested: Option<NestedTable>,
    /// Directories in each other as chance says, which is the same in every run.
    pub grown: Option<GrownTable>,
    /// In place of files: the directories of this fileset, which has `grown` ones, to be listed.
    pub directories_of: Option<String>,
    /// Who has it: all workers together (`one`), or each worker for itself (`per-worker`).
    /// Default: `one`.
    pub copies: Option<Copies>,
}

/// Directories that are in each other, by their numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NestedTable {
    /// Names of the directories, which end with `{number}`. Must be written.
    pub names: Option<String>,
    /// Directories in a directory, at most, 1 to 65536. Must be written.
    pub fan: Option<u32>,
    /// Which are in which: the way to a directory is its number in the base of `fan` (`digits`),
    /// or directory 0 has all others in it, each under its own number (`heap`). Default: `digits`.
    pub nesting: Option<DirectoryNesting>,
}

/// Directories that grow by chance until all files have a place; a directory has either files in
/// it or directories.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrownTable {
    /// How much is in a directory: a number or a law. Must be written.
    pub width: Option<LawChoice<u64>>,
    /// Shape of the gamma laws by which the depth, and a `width` that is a number, are drawn, to
    /// three digits. Default: they are the same everywhere.
    pub gamma: Option<f64>,
    /// Whether sizes by a gamma law are drawn in turn with the directories. Default: false.
    pub draws_sizes: Option<bool>,
    /// Whether the names of the fileset are directories, too. Default: false.
    pub only_directories: Option<bool>,
}

/// A way in which `open` and `create` open files; without any, to read and to write.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WayTable {
    /// Name by which acts call it. Must be written.
    pub name: Option<String>,
    /// Whether it is that of acts which name none; the first alone can be. Default: false.
    pub default: Option<bool>,
    /// What a file is opened for: `read`, `write` or `read-write`. Default: `read-write`.
    pub access: Option<Access>,
    /// Whether every write goes to the end of the file. Default: false.
    pub append: Option<bool>,
    /// Whether the file is emptied when it is opened. Default: false.
    pub truncate: Option<bool>,
    /// Whether the page cache is passed by. Default: as the workload's `cache`.
    pub direct: Option<bool>,
    /// Whether a write is durable when it returns: `no`, `data` or `all`, which is with the
    /// metadata. Default: `no`.
    pub sync: Option<OpenSync>,
    /// Permissions of a file that is made, three octal digits. Default: `600`.
    pub permissions: Option<String>,
    /// Whether `create` also opens a file that is there already, as it is or emptied with
    /// `truncate`. Default: false, it fails.
    pub existing: Option<bool>,
    /// Whether files are read and written by `read` and `write`, with `lseek` before where that is
    /// not where the last one ended, in place of `pread` and `pwrite`. Needs `engine = "psync"`.
    /// Default: false.
    pub seek: Option<bool>,
    /// Bytes of each system call: a request is read or written in so many of them as it takes,
    /// one behind the other, and is measured as a whole. Needs `engine = "psync"`. Default: the
    /// request's.
    pub unit: Option<Bytes>,
}
