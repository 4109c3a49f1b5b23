//! Where the files of a program lie, what they are called, and how they are opened.

use engine::{Fileset, NameRule, Nesting, Numbering, OpenMode, Spread, Subdirectories};
use target::Tree;
use workload::program::{
    Access, DirectoryNesting, DirectoryTree, FileNames, FilesetPlan, NestedDirectories, OpenSync,
    PADDED_WORKER_MARK, Program, ROUND_MARK, WORKER_MARK, Way,
};

use super::Owner;
use super::trees::{Trees, open_grown};
use crate::RunError;
use crate::files::field;

/// Opens the files that an owner has in that round, with their directories made where they are
/// missing.
pub(super) fn open_fileset(
    program: &Program,
    trees: &Trees,
    owner: Owner,
    round: u32,
    tree: &Tree,
) -> Result<Fileset, RunError> {
    let number = match program.filesets[owner.fileset].tree {
        DirectoryTree::DirectoriesOf { fileset } => fileset.into(),
        _ => owner.fileset,
    };
    let set = &program.filesets[number];
    let marks = Marks {
        worker: owner.worker.unwrap_or(0).to_string(),
        round: round.to_string(),
    };
    let below = match (set.path.as_str(), program.filesets.len()) {
        ("", 1) => None,
        ("", _) => Some(set.name.clone()),
        (path, _) => Some(marks.put_in(path)),
    };
    // Names that tell their worker need no directory that does.
    let worker = owner.worker.filter(|_| !set.tells_worker());
    let path = match (worker, below) {
        (None, below) => below,
        (Some(worker), None) => Some(format!("w{worker}")),
        (Some(worker), Some(below)) => Some(format!("{below}/w{worker}")),
    };
    if let Some(grown) = trees.of(program, owner.fileset) {
        return open_grown(grown, number != owner.fileset, path.as_deref(), tree);
    }
    let location = field::location(tree, path.as_deref())?;
    if let FileNames::Ways(directories) = &set.names {
        let rule = marks.nested(directories, set.count);
        return Ok(Fileset::directories(location, &rule)?);
    }
    let rule = name_rule(set, &marks);
    let has_subdirectories = rule.subdirectories.is_some();
    let mut fileset = Fileset::generated(vec![location], rule)?;
    if has_subdirectories {
        fileset.make_missing_subdirectories(field::DIRECTORY_MODE)?;
        fileset.open_subdirectories()?;
    }
    Ok(fileset)
}

/// What marks in names and paths stand for.
struct Marks {
    worker: String,
    round: String,
}

impl Marks {
    fn put_in(&self, text: &str) -> String {
        let text = text.replace(PADDED_WORKER_MARK, &format!("{:0>2}", self.worker));
        let text = text.replace(WORKER_MARK, &self.worker);
        text.replace(ROUND_MARK, &self.round)
    }

    fn nested(&self, directories: &NestedDirectories, count: u32) -> Subdirectories {
        let fan = directories.fan;
        Subdirectories {
            count,
            prefix: self.put_in(&directories.before),
            digit_count: directories.digits,
            nesting: match directories.nesting {
                DirectoryNesting::Digits => Nesting::Digits { fan },
                DirectoryNesting::Heap => Nesting::Heap { fan },
            },
        }
    }
}

fn name_rule(set: &FilesetPlan, marks: &Marks) -> NameRule {
    let (before, digits, after) = match &set.names {
        FileNames::Number {
            before,
            digits,
            after,
        }
        | FileNames::NumberFrom {
            before,
            digits,
            after,
            ..
        } => (before.as_str(), *digits, after.as_str()),
        FileNames::Ways(directories) => (directories.before.as_str(), directories.digits, ""),
    };
    let count = set.directory_count();
    let beside = || Subdirectories {
        count,
        prefix: "d".to_owned(),
        ..Subdirectories::default()
    };
    let (spread, subdirectories) = match &set.tree {
        DirectoryTree::Flat | DirectoryTree::Grown(_) | DirectoryTree::DirectoriesOf { .. } => {
            (Spread::Turns, None)
        }
        DirectoryTree::Turns { .. } => (Spread::Turns, Some(beside())),
        DirectoryTree::Blocks { each } => (Spread::Blocks { each_count: *each }, Some(beside())),
        DirectoryTree::Nested { each, directories } => (
            Spread::Blocks { each_count: *each },
            Some(marks.nested(directories, count)),
        ),
    };
    NameRule {
        prefix: marks.put_in(before),
        suffix: marks.put_in(after),
        digit_count: digits,
        first: set.names.first(),
        spread,
        numbering: Numbering::Across,
        subdirectories: subdirectories.filter(|it| it.count > 0),
    }
}

pub(super) fn open_mode(way: &Way, is_direct: bool) -> OpenMode {
    let access = match way.access {
        Access::Read => rustix::fs::OFlags::RDONLY,
        Access::Write => rustix::fs::OFlags::WRONLY,
        Access::ReadWrite => rustix::fs::OFlags::RDWR,
    };
    let sync = match way.sync {
        OpenSync::No => rustix::fs::OFlags::empty(),
        OpenSync::Data => rustix::fs::OFlags::DSYNC,
        OpenSync::All => rustix::fs::OFlags::SYNC,
    };
    let mut flags = access | sync;
    flags.set(rustix::fs::OFlags::APPEND, way.is_appending);
    flags.set(rustix::fs::OFlags::TRUNC, way.is_truncating);
    flags.set(rustix::fs::OFlags::DIRECT, way.is_direct || is_direct);
    OpenMode {
        takes_existing: way.takes_existing,
        ..OpenMode::new(flags.bits().cast_signed(), way.permissions)
    }
}
