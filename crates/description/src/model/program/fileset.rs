//! Filesets: which files there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Percent};

use super::names::ProgramNames;
use super::{LawChoice, NotExpressible, not_expressible};
use crate::flaw::ValueError;
use crate::model::keyed::{Keyed, keyed_deserialize};
use crate::model::keys::keys;
use plan::program::{
    DirectoryNesting, DirectoryTree, FileNames, FilesetPlan, FilesetSharing, Law,
    NestedDirectories, PADDED_WORKER_MARK, ROUND_MARK, TreeGrowth, WORKER_MARK,
};

/// A numbered set of files: how many there can be, their names and their sizes. A workload has
/// either phases, or access specifications, or a table such as `[postmark]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FilesetTable {
    /// Name by which acts refer to the fileset. Required.
    pub name: Option<String>,
    /// Number of names, 1 to 100000000. Default: 1.
    pub count: Option<u32>,
    /// Share of the files that exist before the first phase, spread evenly over their numbers, to a
    /// tenth of a percent. Default: 0.
    pub present: Option<Percent>,
    /// Size of a file: a fixed size or a law, drawn once per file. Default: 0.
    pub size: Option<LawChoice<Bytes>>,
    /// Pattern for the file names: `{number}` is the number from 0, `{number:6}` the number with at
    /// least six digits; `{worker}` and `{round}` are the numbers of the worker and of the
    /// enclosing round. Default: the fileset's name, a hyphen and the number.
    pub names: Option<String>,
    /// Number of the first file. Default: 0.
    pub first: Option<u32>,
    /// The names are nested directories, instead of `names`.
    pub paths: Option<NestedTable>,
    /// Directory below the target; empty for the target itself. Default: the fileset's name.
    pub path: Option<String>,
    /// Number of directories, 1 to 65536, over which the files are distributed in turn. Default:
    /// none, all files are in one.
    pub directories: Option<u32>,
    /// Number of consecutive files per directory, 1 to 100000000, instead of `directories`.
    /// Default: all.
    pub files_per_directory: Option<u32>,
    /// Nesting of the directories of `files_per_directory`. Default: not nested.
    pub nested: Option<NestedTable>,
    /// Directories nested at random, in the same way in every run.
    pub grown: Option<GrownTable>,
    /// The entries are the directories of this fileset, which must have `grown` ones, to be listed.
    pub directories_of: Option<String>,
    /// Whether all workers share the files (`one`) or each worker has its own copy (`per-worker`).
    /// Default: `one`.
    pub copies: Option<FilesetSharing>,
}

/// Numbered directories that are nested in each other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NestedTable {
    /// Names of the directories, ending with `{number}`. Required.
    pub names: Option<String>,
    /// Maximum number of directories in a directory, 1 to 65536. Required.
    pub fan: Option<u32>,
    /// Rule of nesting: the path of a directory is its number in base `fan` (`digits`), or
    /// directory 0 contains all others, each under its own number (`heap`). Default: `digits`.
    pub nesting: Option<DirectoryNesting>,
}

/// A random directory tree that grows until all files have a place. A directory contains either
/// files or directories.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrownTable {
    /// Number of entries in a directory: a number or a law. Required.
    pub width: Option<LawChoice<u64>>,
    /// Shape of the gamma law from which the depth is drawn, and the width if `width` is a number,
    /// to three digits. Default: the same depth and width everywhere.
    pub gamma: Option<f64>,
    /// Draw sizes with a gamma law in turn with the directories. Default: false.
    pub draws_sizes: Option<bool>,
    /// The names of the fileset are directories, too. Default: false.
    pub only_directories: Option<bool>,
}

keyed_deserialize! {
    FilesetTable, fileset_keys:
    name, count, present, size, names, first, paths, path, directories, files_per_directory,
    nested, grown, directories_of, copies,
}

keys! {
    read_fileset, write_fileset: FilesetTable => FilesetPlan {
        count => count,
        path => path,
        copies => copies,
    }
}

/// A fileset for which only the name is written.
fn default_fileset(name: &str) -> FilesetPlan {
    FilesetPlan {
        name: name.to_owned(),
        path: name.to_owned(),
        copies: FilesetSharing::One,
        count: 1,
        names: FileNames::Number {
            // The name may contain slashes, which a file name cannot.
            before: format!("{}-", name.replace('/', "-")),
            digits: 0,
            after: String::new(),
        },
        tree: DirectoryTree::Flat,
        size: Law::fixed(0),
        present_permille: 0,
    }
}

impl FilesetTable {
    /// The fileset, resolved with the names of the workload.
    pub(super) fn fileset(&self, names: &ProgramNames) -> Result<FilesetPlan, ValueError> {
        let usual = default_fileset(self.name.as_deref().unwrap_or_default());
        let mut set = read_fileset(self, usual);
        set.tree = self.tree(names)?;
        set.present_permille = self.permille()?;
        self.read_names(&mut set.names)?;
        if let Some(size) = &self.size {
            set.size = size.law("size")?;
        }
        Ok(set)
    }

    pub(super) fn of(
        set: &FilesetPlan,
        name: &str,
        names: &ProgramNames,
    ) -> Result<Self, NotExpressible> {
        let usual = default_fileset(name);
        let mut table = Self {
            name: Some(name.to_owned()),
            present: (set.present_permille > 0)
                .then(|| Percent(f64::from(set.present_permille) / 10.0)),
            size: (set.size != usual.size).then(|| (&set.size).into()),
            ..Self::default()
        };
        write_fileset(set, &usual, &mut table);
        match &set.names {
            FileNames::Ways(directories) => table.paths = Some(NestedTable::of(directories)),
            own @ (FileNames::Number { .. } | FileNames::NumberFrom { .. }) => {
                let (before, digits, after) = own.parts();
                let is_usual = usual.names.parts() == own.parts();
                table.names = (!is_usual).then(|| pattern(before, digits, after));
            }
            _ => {
                let name = plan::printable(&set.name);
                return not_expressible(format!("names of `{name}` are arbitrary"));
            }
        }
        if let FileNames::NumberFrom { first, .. } = set.names {
            table.first = Some(first);
        }
        match &set.tree {
            DirectoryTree::Flat => {}
            DirectoryTree::Turns { directories } => table.directories = Some(*directories),
            DirectoryTree::Blocks { each } => table.files_per_directory = Some(*each),
            DirectoryTree::Nested { each, directories } => {
                table.files_per_directory = Some(*each);
                table.nested = Some(NestedTable::of(directories));
            }
            DirectoryTree::Grown(growth) => table.grown = Some(GrownTable::of(growth)),
            DirectoryTree::DirectoriesOf { fileset } => {
                table.directories_of = names.filesets.get(usize::from(*fileset)).cloned();
            }
        }
        Ok(table)
    }

    fn read_names(&self, names: &mut FileNames) -> Result<(), ValueError> {
        if let Some(paths) = &self.paths {
            let written = self.written();
            let mut idle = ["names", "first"].into_iter();
            if let Some(key) = idle.find(|key| written.contains(key)) {
                let message = format!("`{key}` does not apply together with `paths`");
                return Err(ValueError::leave_out(key, message));
            }
            *names = FileNames::Ways(paths.directories("paths")?);
            return Ok(());
        }
        if let Some(pattern) = &self.names {
            *names = file_names("names", pattern)?;
        }
        if let Some(first) = self.first {
            let (before, digits, after) = names.parts();
            *names = FileNames::NumberFrom {
                first,
                before: before.to_owned(),
                digits,
                after: after.to_owned(),
            };
        }
        Ok(())
    }

    fn permille(&self) -> Result<u32, ValueError> {
        let tenths = self.present.map_or(0.0, |present| present.0 * 10.0);
        // In binary, 33.3 times 10 is not exactly 333.
        if (tenths - tenths.round()).abs() < 1e-6 {
            // A percentage is at most 100.
            return Ok(tenths.round() as u32);
        }
        let message = format!("`present` is {} %, not a tenth of a percent", tenths / 10.0);
        let help = format!("write `present = {}`", tenths.round() / 10.0);
        Err(ValueError::new("present", message, help))
    }

    /// The directory tree of the fileset; at most one key may define it.
    fn tree(&self, names: &ProgramNames) -> Result<DirectoryTree, ValueError> {
        let written = self.written();
        let trees = [
            "directories",
            "files_per_directory",
            "grown",
            "directories_of",
        ];
        let mut trees = trees.into_iter().filter(|key| written.contains(key));
        if let (Some(first), Some(second)) = (trees.next(), trees.next()) {
            let message = format!("`{first}` and `{second}` both set the directory of a file");
            return Err(ValueError::new(second, message, "leave one of them out"));
        }
        if self.nested.is_some() && self.files_per_directory.is_none() {
            let message = "`nested` needs `files_per_directory`";
            return Err(ValueError::new(
                "nested",
                message,
                "add `files_per_directory`",
            ));
        }
        if let Some(directories) = self.directories {
            return Ok(DirectoryTree::Turns { directories });
        }
        if let Some(growth) = &self.grown {
            return growth.growth().map(DirectoryTree::Grown);
        }
        if let Some(name) = &self.directories_of {
            let fileset = names.grown_fileset(name);
            return fileset.map(|fileset| DirectoryTree::DirectoriesOf { fileset });
        }
        Ok(match (self.files_per_directory, &self.nested) {
            (Some(each), Some(directories)) => DirectoryTree::Nested {
                each,
                directories: directories.directories("nested")?,
            },
            (Some(each), None) => DirectoryTree::Blocks { each },
            (None, _) => DirectoryTree::Flat,
        })
    }
}

impl NestedTable {
    fn directories(&self, key: &'static str) -> Result<NestedDirectories, ValueError> {
        let (Some(pattern), Some(fan)) = (&self.names, self.fan) else {
            let help = format!("write `{key} = {{ names = \"d{{number}}\", fan = 10 }}`");
            return Err(ValueError::new(key, format!("`{key}` is incomplete"), help));
        };
        match file_names(key, pattern)? {
            FileNames::Number {
                before,
                digits,
                after,
            } if after.is_empty() => Ok(NestedDirectories {
                before,
                digits,
                fan,
                nesting: self.nesting.unwrap_or(DirectoryNesting::Digits),
            }),
            _ => {
                let message = format!("names of `{key}` do not end with the number");
                Err(ValueError::new(key, message, "put `{number}` at their end"))
            }
        }
    }

    fn of(directories: &NestedDirectories) -> Self {
        Self {
            names: Some(pattern(&directories.before, directories.digits, "")),
            fan: Some(directories.fan),
            nesting: Some(directories.nesting),
        }
    }
}

impl GrownTable {
    fn growth(&self) -> Result<TreeGrowth, ValueError> {
        let Some(width) = &self.width else {
            let message = "`grown` has no `width`";
            return Err(ValueError::new(
                "grown",
                message,
                "write `grown = { width = 20 }`",
            ));
        };
        let thousandths = self.gamma.map(|gamma| gamma * 1000.0);
        if thousandths.is_some_and(|it| !(1.0..=1e9).contains(&it)) {
            let message = "`gamma` is not a number from 0.001 to 1000000";
            return Err(ValueError::new("grown", message, "write `gamma = 1.5`"));
        }
        Ok(TreeGrowth {
            width: width.law("grown")?,
            gamma_permille: thousandths.unwrap_or(0.0).round() as u32,
            is_size_of_tree: self.draws_sizes.unwrap_or(false),
            of_directories: self.only_directories.unwrap_or(false),
        })
    }

    fn of(growth: &TreeGrowth) -> Self {
        let gamma = growth.gamma_permille;
        Self {
            width: Some((&growth.width).into()),
            gamma: (gamma > 0).then(|| f64::from(gamma) / 1000.0),
            draws_sizes: growth.is_size_of_tree.then_some(true),
            only_directories: growth.of_directories.then_some(true),
        }
    }
}

/// Start of the placeholder for a file's number.
const NUMBER_MARK: &str = "{number";

/// Parses `before{number}after`, or `{number:6}` for at least that many digits.
fn file_names(key: &'static str, pattern: &str) -> Result<FileNames, ValueError> {
    let invalid = |problem: &str| {
        let message = format!("the names `{}` have {problem}", plan::printable(pattern));
        ValueError::new(
            key,
            message,
            "write, for example, `msg-{number}` or `msg-{number:6}`",
        )
    };
    let Some((before, rest)) = pattern.split_once(NUMBER_MARK) else {
        return Err(invalid("no `{number}`"));
    };
    let Some((digits, after)) = rest.split_once('}') else {
        return Err(invalid("a brace that is not closed"));
    };
    let digits = match digits.strip_prefix(':') {
        None if digits.is_empty() => Some(0),
        None => None,
        // The largest number of 64 bits has 20 digits.
        Some(count) => count.parse().ok().filter(|count| (1..=20).contains(count)),
    };
    let Some(digits) = digits else {
        return Err(invalid("no number of 1 to 20 digits"));
    };
    if [before, after].iter().any(|text| has_brace(text)) {
        return Err(invalid("more than one number"));
    }
    Ok(FileNames::Number {
        before: before.to_owned(),
        digits,
        after: after.to_owned(),
    })
}

fn pattern(before: &str, digits: u32, after: &str) -> String {
    match digits {
        0 => format!("{before}{{number}}{after}"),
        digits => format!("{before}{{number:{digits}}}{after}"),
    }
}

/// Whether a brace does not belong to a known placeholder.
fn has_brace(text: &str) -> bool {
    let marks = [WORKER_MARK, PADDED_WORKER_MARK, ROUND_MARK];
    let bare = marks
        .iter()
        .fold(text.to_owned(), |text, mark| text.replace(mark, ""));
    bare.contains(['{', '}'])
}
