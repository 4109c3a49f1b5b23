//! Filesets, ways and tokens as they are written.

use units::{Bytes, Percent, Rate};

use super::Unsaid;
use super::laws::choice;
use super::names::Names;
use crate::check::{usual_names, usual_way};
use crate::model::{FilesetTable, GrownTable, NestedTable, TokensTable, WayTable};
use plan::program::{
    Copies, DirectoryTree, FileNames, FilesetPlan, Law, NestedDirectories, Program, Tokens, Way,
};

/// What is not what holds where nothing is written.
fn unusual<T: PartialEq>(value: T, usual: &T) -> Option<T> {
    (value != *usual).then_some(value)
}

pub(super) fn filesets(program: &Program, names: &Names) -> Result<Vec<FilesetTable>, Unsaid> {
    let sets = program.filesets.iter().zip(&names.filesets);
    sets.map(|(set, name)| fileset(set, name, names)).collect()
}

fn fileset(set: &FilesetPlan, name: &str, names: &Names) -> Result<FilesetTable, Unsaid> {
    let mut table = FilesetTable {
        name: Some(name.to_owned()),
        count: unusual(set.count, &1),
        present: (set.present_permille > 0)
            .then(|| Percent(f64::from(set.present_permille) / 10.0)),
        size: (set.size != Law::fixed(0)).then(|| choice(&set.size)),
        path: unusual(set.path.as_str(), &name).map(str::to_owned),
        copies: unusual(set.copies, &Copies::One),
        ..FilesetTable::default()
    };
    write_names(set, name, &mut table)?;
    match &set.tree {
        DirectoryTree::Flat => {}
        DirectoryTree::Turns { directories } => table.directories = Some(*directories),
        DirectoryTree::Blocks { each } => table.files_per_directory = Some(*each),
        DirectoryTree::Nested { each, directories } => {
            table.files_per_directory = Some(*each);
            table.nested = Some(nested(directories));
        }
        DirectoryTree::Grown(growth) => {
            let gamma = growth.gamma_permille;
            table.grown = Some(GrownTable {
                width: Some(choice(&growth.width)),
                gamma: (gamma > 0).then(|| f64::from(gamma) / 1000.0),
                draws_sizes: growth.is_size_of_tree.then_some(true),
                only_directories: growth.of_directories.then_some(true),
            });
        }
        DirectoryTree::DirectoriesOf { fileset } => {
            table.directories_of = names.filesets.get(usize::from(*fileset)).cloned();
        }
    }
    Ok(table)
}

fn write_names(set: &FilesetPlan, name: &str, table: &mut FilesetTable) -> Result<(), Unsaid> {
    let names = &set.names;
    match names {
        FileNames::Listed(_)
        | FileNames::Stamped(_)
        | FileNames::Words
        | FileNames::Only(_)
        | FileNames::Low { .. } => {
            let name = plan::printable(&set.name);
            return Err(Unsaid(format!("names of `{name}` follow from no rule")));
        }
        FileNames::Ways(directories) => table.paths = Some(nested(directories)),
        FileNames::Number { .. } | FileNames::NumberFrom { .. } => {
            let (before, digits, after) = names.parts();
            table.names = (*names != usual_names(name)).then(|| pattern(before, digits, after));
        }
    }
    if let FileNames::NumberFrom { first, .. } = names {
        table.first = Some(*first);
    }
    Ok(())
}

fn nested(directories: &NestedDirectories) -> NestedTable {
    NestedTable {
        names: Some(pattern(&directories.before, directories.digits, "")),
        fan: Some(directories.fan),
        nesting: Some(directories.nesting),
    }
}

fn pattern(before: &str, digits: u32, after: &str) -> String {
    match digits {
        0 => format!("{before}{{number}}{after}"),
        digits => format!("{before}{{number:{digits}}}{after}"),
    }
}

/// The ways; the first is left out where it is as if nothing were written.
pub(super) fn ways(program: &Program, names: &Names, is_direct: bool) -> Vec<WayTable> {
    let ways = program.ways.iter().zip(&names.ways).enumerate();
    let usual = usual_way(is_direct);
    let is_usual = |way: &Way, name: &str| {
        let name = name.to_owned();
        Way {
            name,
            ..way.clone()
        } == usual
    };
    let written = ways.filter(|(index, (way, name))| *index > 0 || !is_usual(way, name));
    written
        .map(|(index, (way, name))| WayTable {
            default: (index == 0).then_some(true),
            ..of_way(way, name, is_direct)
        })
        .collect()
}

fn of_way(way: &Way, name: &str, is_direct: bool) -> WayTable {
    let usual = Way::default();
    WayTable {
        name: Some(name.to_owned()),
        default: None,
        access: unusual(way.access, &usual.access),
        append: way.is_appending.then_some(true),
        truncate: way.is_truncating.then_some(true),
        direct: unusual(way.is_direct, &is_direct),
        sync: unusual(way.sync, &usual.sync),
        permissions: unusual(way.permissions, &usual.permissions).map(|it| format!("{it:03o}")),
        existing: way.takes_existing.then_some(true),
        seek: way.seeks.then_some(true),
        unit: (way.unit_bytes > 0).then(|| Bytes(way.unit_bytes.into())),
    }
}

pub(super) fn tokens(program: &Program, names: &Names) -> Vec<TokensTable> {
    let tokens = program.tokens.iter().zip(&names.tokens);
    tokens
        .map(|(tokens, name)| of_tokens(tokens, name))
        .collect()
}

fn of_tokens(tokens: &Tokens, name: &str) -> TokensTable {
    let refill = tokens.refill;
    TokensTable {
        name: Some(name.to_owned()),
        counters: unusual(tokens.counters, &1),
        start: unusual(tokens.start, &0),
        room: tokens.room,
        rate: refill.map(|it| Rate(it.per_second)),
        at_once: refill.map(|it| it.at_once),
        most: refill.map(|it| it.most),
    }
}
