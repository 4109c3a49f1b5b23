//! Locations, names and open modes of a program's files.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use engine::{
    Fileset, MappingSync, NameRule, Nesting, Numbering, OpenMode, Spread, SubdirectoryRule,
};
use generate::names::{RelativeNames, flat_names, hashed_names, tree_names};
use plan::program::{
    Access, DirectoryNesting, DirectoryTree, FileNames, FilesetPlan, HashedNames, MappedSync,
    NestedDirectories, OpenModePlan, OpenSync, PADDED_WORKER_MARK, Program, ROUND_MARK, STAMP_MARK,
    WORKER_MARK,
};
use rustix::fs::Mode;
use rustix::io::Errno;
use storage::Tree;

use super::stamped::{RoundNameSource, open_stamped};
use super::trees::{GrownTrees, open_grown};
use crate::RunError;
use crate::open_fileset;

/// Maximum number of names tried for a new directory.
// A random name is hardly ever taken, so more attempts would fail for the same reason.
const ATTEMPTS: u64 = 100;

/// Owner of a fileset's files: one worker, or all workers on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileOwner {
    pub fileset: usize,
    pub worker: Option<u32>,
    pub target: Option<u32>,
}

/// Opens the files of an owner in a round, and creates missing directories. Calls `was_made` for
/// each directory made for files.
pub(super) fn open(
    program: &Program,
    trees: &GrownTrees,
    (owner, round): (FileOwner, &RoundNameSource),
    tree: &Tree,
    was_made: &mut dyn FnMut(&str),
) -> Result<Fileset, RunError> {
    let number = match program.filesets[owner.fileset].tree {
        DirectoryTree::DirectoriesOf { fileset } => fileset.into(),
        _ => owner.fileset,
    };
    let set = &program.filesets[number];
    if set.has_directory_per_round() {
        return open_own_round(set, round.seed_of(owner.worker), tree, was_made);
    }
    let marks = MarkValues::of(owner, round.number);
    let at = FileOwner {
        fileset: number,
        ..owner
    };
    let path = path_below(program, at, tree, &marks);
    if let Some(grown) = trees.of(program, owner.fileset) {
        return open_grown(grown, number != owner.fileset, path.as_deref(), tree);
    }
    if let FileNames::Stamped(names) = &set.names {
        let stamp = (round.seconds, round.seed_of(owner.worker));
        return open_stamped(names, set.count, stamp, tree, was_made);
    }
    let location = open_fileset::location(tree, path.as_deref())?;
    if let FileNames::Ways(directories) = &set.names {
        let rule = marks.nested(directories, set.count);
        return Ok(Fileset::directories(location, &rule)?);
    }
    if let Some(names) = listed_names(set, &marks) {
        let path = PathBuf::from(path.unwrap_or_default());
        for directory in &names.directories {
            tree.make_subdirectory(&path.join(directory).to_string_lossy())?;
        }
        return Ok(Fileset::listed(location, &names.files)?);
    }
    let rule = name_rule(set, &marks);
    let has_subdirectories = rule.subdirectories.is_some();
    let mut fileset = match &set.names {
        FileNames::Listed(files) if files.names.len() < set.count as usize => {
            return Err(missing_names_error(&set.name));
        }
        FileNames::Listed(files) => Fileset::placed(location, rule, &files.names)?,
        _ => Fileset::generated(vec![location], rule)?,
    };
    if has_subdirectories {
        // A command that only finds files creates nothing.
        if !tree.is_found() {
            fileset.make_missing(open_fileset::directory_mode(tree), was_made)?;
        }
        fileset.open_subdirectories()?;
    }
    Ok(fileset)
}

/// Creates files in their own new directory, under a name that is free.
fn open_own_round(
    set: &FilesetPlan,
    seed: u64,
    tree: &Tree,
    was_made: &mut dyn FnMut(&str),
) -> Result<Fileset, RunError> {
    let mut make = |name: &Path, mode: u32| {
        rustix::fs::mkdirat(tree.directory(), name, Mode::from_raw_mode(mode))?;
        was_made(&name.to_string_lossy());
        Ok(())
    };
    let failed = |name: &Path, errno| RunError::file("make", &tree.path().join(name), errno);
    let mut attempt = 0;
    let own = loop {
        // Half of the mixed bits are as random as all of them.
        let stamp = generate::mix(seed ^ attempt) as u32;
        let own = PathBuf::from(set.path.replace(STAMP_MARK, &format!("{stamp:08x}")));
        attempt += 1;
        match make(&own, 0o700) {
            Ok(()) => break own,
            Err(Errno::EXIST) if attempt < ATTEMPTS => {}
            Err(errno) => return Err(failed(&own, errno)),
        }
    };
    let names = listed_names(set, &MarkValues::default()).unwrap_or_default();
    for directory in names.directories.iter().map(|name| own.join(name)) {
        make(&directory, open_fileset::directory_mode(tree))
            .map_err(|errno| failed(&directory, errno))?;
    }
    let files: Vec<PathBuf> = names.files.iter().map(|name| own.join(name)).collect();
    Ok(Fileset::listed(
        open_fileset::location(tree, None)?,
        &files,
    )?)
}

/// Names that need a list; `None` for names that follow a rule.
fn listed_names(set: &FilesetPlan, marks: &MarkValues) -> Option<RelativeNames> {
    match &set.names {
        FileNames::Words => Some(flat_names(set.count)),
        FileNames::Only(name) => Some(RelativeNames {
            files: vec![marks.substitute(name).into()],
            ..RelativeNames::default()
        }),
        FileNames::Low { each } => Some(tree_names(set.count, *each)),
        FileNames::Hashed(names) => {
            let names = HashedNames {
                before: marks.substitute(&names.before),
                after: marks.substitute(&names.after),
                ..names.clone()
            };
            Some(hashed_names(&names, set.count))
        }
        _ => None,
    }
}

fn missing_names_error(fileset: &str) -> RunError {
    RunError::File {
        verb: "open the files of",
        path: fileset.into(),
        source: std::io::Error::other("a stored plan does not contain their names"),
    }
}

/// Directory of a set's files below the tree; `None` for the tree itself.
fn path_below(
    program: &Program,
    owner: FileOwner,
    tree: &Tree,
    marks: &MarkValues,
) -> Option<String> {
    // The tree itself is the directory that the user chose.
    if tree.is_in_place() {
        return None;
    }
    let set = &program.filesets[owner.fileset];
    let below = match (set.path.as_str(), program.filesets.len()) {
        ("", 1) => None,
        // Several sets may contain files of the same name.
        ("", _) => Some(set.name.clone()),
        (path, _) => Some(marks.substitute(path)),
    };
    // Names that contain the worker need no directory per worker.
    let worker = owner.worker.filter(|_| !set.names_depend_on_worker());
    match (worker, below) {
        (None, below) => below,
        (Some(worker), None) => Some(format!("w{worker}")),
        (Some(worker), Some(below)) => Some(format!("{below}/w{worker}")),
    }
}

/// Paths that programs run on: files of an owner's set, relative to the tree.
pub(super) fn paths_of(
    program: &Program,
    owner: FileOwner,
    tree: &Tree,
    files: impl Iterator<Item = u32> + 'static,
) -> impl Iterator<Item = PathBuf> + 'static {
    let set = &program.filesets[owner.fileset];
    let marks = MarkValues::of(owner, 0);
    let below = path_below(program, owner, tree, &marks).map(PathBuf::from);
    let below = below.unwrap_or_default();
    let rule = name_rule(set, &marks);
    files.map_while(move |index| Some(below.join(rule.path(index)?)))
}

/// Values of the marks in names and paths.
#[derive(Default)]
struct MarkValues {
    worker: String,
    round: String,
}

impl MarkValues {
    fn of(owner: FileOwner, round: u32) -> Self {
        Self {
            worker: owner.worker.unwrap_or(0).to_string(),
            round: round.to_string(),
        }
    }

    fn substitute(&self, text: &str) -> String {
        let text = text.replace(PADDED_WORKER_MARK, &format!("{:0>2}", self.worker));
        let text = text.replace(WORKER_MARK, &self.worker);
        text.replace(ROUND_MARK, &self.round)
    }

    fn nested(&self, directories: &NestedDirectories, count: u32) -> SubdirectoryRule {
        let fan = directories.fan;
        SubdirectoryRule {
            count,
            prefix: self.substitute(&directories.before),
            digit_count: directories.digits,
            nesting: match directories.nesting {
                DirectoryNesting::Digits => Nesting::Digits { fan },
                DirectoryNesting::Heap => Nesting::Heap { fan },
            },
        }
    }
}

fn name_rule(set: &FilesetPlan, marks: &MarkValues) -> NameRule {
    let (before, digits, after) = set.names.parts();
    let count = set.directory_count();
    let rule = || SubdirectoryRule {
        count,
        prefix: "d".to_owned(),
        ..SubdirectoryRule::default()
    };
    let (spread, subdirectories) = match &set.tree {
        DirectoryTree::Flat | DirectoryTree::Grown(_) | DirectoryTree::DirectoriesOf { .. } => {
            (Spread::RoundRobin, None)
        }
        DirectoryTree::Turns { .. } => (Spread::RoundRobin, Some(rule())),
        DirectoryTree::Blocks { each } => (Spread::Blocks { each_count: *each }, Some(rule())),
        DirectoryTree::Nested { each, directories } => (
            Spread::Blocks { each_count: *each },
            Some(marks.nested(directories, count)),
        ),
    };
    NameRule {
        prefix: marks.substitute(before),
        suffix: marks.substitute(after),
        digit_count: digits,
        first: set.names.first(),
        spread,
        numbering: Numbering::Global,
        subdirectories: subdirectories.filter(|it| it.count > 0),
    }
}

/// Names of the extended attributes of a program, as the engine takes them.
pub(super) fn attribute_names(program: &Program) -> Vec<CString> {
    let names = program.attributes.iter();
    // The check of the program refuses names with a zero byte.
    names
        .filter_map(|name| CString::new(name.as_str()).ok())
        .collect()
}

pub(super) fn open_mode(mode: &OpenModePlan, is_direct: bool, is_checked: bool) -> OpenMode {
    let access = match mode.access {
        Access::Read => rustix::fs::OFlags::RDONLY,
        Access::Write => rustix::fs::OFlags::WRONLY,
        Access::ReadWrite => rustix::fs::OFlags::RDWR,
    };
    let sync = match mode.sync {
        OpenSync::No => rustix::fs::OFlags::empty(),
        OpenSync::Data => rustix::fs::OFlags::DSYNC,
        OpenSync::All => rustix::fs::OFlags::SYNC,
    };
    let mut flags = access | sync;
    // Verified content depends on its offset, which the kernel ignores with `O_APPEND`.
    flags.set(rustix::fs::OFlags::APPEND, mode.is_appending && !is_checked);
    flags.set(rustix::fs::OFlags::TRUNC, mode.is_truncating);
    flags.set(rustix::fs::OFlags::DIRECT, mode.is_direct || is_direct);
    OpenMode {
        takes_existing: mode.takes_existing,
        mapped: mode.mapped.map(|it| match it {
            MappedSync::No => MappingSync::No,
            MappedSync::Async => MappingSync::Async,
            MappedSync::Sync => MappingSync::Sync,
        }),
        ..OpenMode::new(flags.bits().cast_signed(), mode.permissions)
    }
}
