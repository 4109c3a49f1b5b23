//! Where the files of a program lie, what they are called, and how they are opened.

use engine::{Fileset, NameRule, Numbering, OpenMode, Spread, Subdirectories};
use target::Tree;
use workload::program::{Access, DirectoryTree, FileNames, FilesetPlan, OpenSync, Program, Way};

use super::Owner;
use crate::RunError;
use crate::files::field;

pub(super) fn open_fileset(
    program: &Program,
    owner: Owner,
    tree: &Tree,
) -> Result<Fileset, RunError> {
    let set = &program.filesets[owner.fileset];
    let below = match (set.path.as_str(), program.filesets.len()) {
        ("", 1) => None,
        ("", _) => Some(set.name.clone()),
        (path, _) => Some(path.to_owned()),
    };
    let path = match (owner.worker, below) {
        (None, below) => below,
        (Some(worker), None) => Some(format!("w{worker}")),
        (Some(worker), Some(below)) => Some(format!("{below}/w{worker}")),
    };
    let locations = vec![field::location(tree, path.as_deref())?];
    field::fileset(locations, name_rule(set), true)
}

fn name_rule(set: &FilesetPlan) -> NameRule {
    let FileNames::Number {
        before,
        digits,
        after,
    } = &set.names;
    let directories = set.tree.directory_count(set.count);
    NameRule {
        prefix: before.clone(),
        suffix: after.clone(),
        digit_count: *digits,
        spread: match set.tree {
            DirectoryTree::Flat | DirectoryTree::Turns { .. } => Spread::Turns,
            DirectoryTree::Blocks { each } => Spread::Blocks { each_count: each },
        },
        numbering: Numbering::Across,
        subdirectories: (directories > 0).then(|| Subdirectories {
            count: directories,
            prefix: "d".to_owned(),
            digit_count: 0,
        }),
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
