//! Directories in each other, as they are written.

use super::super::Flaw;
use super::laws::law_under;
use super::patterns::file_names;
use crate::model::{FilesetTable, GrownTable, NestedTable, Workload};
use plan::program::{DirectoryNesting, DirectoryTree, FileNames, NestedDirectories, TreeGrowth};

/// Which directory a file of the set is in; what says so is written once.
pub(super) fn tree(table: &FilesetTable, workload: &Workload) -> Result<DirectoryTree, Flaw> {
    let written = [
        ("directories", table.directories.is_some()),
        ("files_per_directory", table.files_per_directory.is_some()),
        ("grown", table.grown.is_some()),
        ("directories_of", table.directories_of.is_some()),
    ];
    let mut written = written.iter().filter(|(_, is_written)| *is_written);
    if let (Some((first, _)), Some((second, _))) = (written.next(), written.next()) {
        let message = format!("`{first}` and `{second}` both say which directory a file is in");
        return Err(Flaw::new(second, message, "leave one of them out"));
    }
    if table.nested.is_some() && table.files_per_directory.is_none() {
        let message = "`nested` needs `files_per_directory`";
        return Err(Flaw::new("nested", message, "add `files_per_directory`"));
    }
    if let Some(directories) = table.directories {
        return Ok(DirectoryTree::Turns { directories });
    }
    if let Some(growth) = &table.grown {
        return growth_of(growth).map(DirectoryTree::Grown);
    }
    if let Some(name) = &table.directories_of {
        return directories_of(name, workload);
    }
    Ok(match (table.files_per_directory, &table.nested) {
        (Some(each), Some(directories)) => DirectoryTree::Nested {
            each,
            directories: nested("nested", directories)?,
        },
        (Some(each), None) => DirectoryTree::Blocks { each },
        (None, _) => DirectoryTree::Flat,
    })
}

fn directories_of(name: &str, workload: &Workload) -> Result<DirectoryTree, Flaw> {
    let mut sets = workload.fileset.iter();
    let index = sets.position(|it| it.name.as_deref() == Some(name));
    match index.map(u8::try_from) {
        Some(Ok(fileset)) => Ok(DirectoryTree::DirectoriesOf { fileset }),
        _ => {
            let message = format!("there is no fileset `{}`", plan::printable(name));
            let help = "name a fileset whose directories are `grown`";
            Err(Flaw::new("directories_of", message, help))
        }
    }
}

pub(super) fn nested(key: &'static str, table: &NestedTable) -> Result<NestedDirectories, Flaw> {
    let (Some(pattern), Some(fan)) = (&table.names, table.fan) else {
        let message = format!("`{key}` says too little");
        let help = format!("write `{key} = {{ names = \"d{{number}}\", fan = 10 }}`");
        return Err(Flaw::new(key, message, help));
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
            nesting: table.nesting.unwrap_or(DirectoryNesting::Digits),
        }),
        _ => {
            let message = format!("names of `{key}` do not end with the number");
            Err(Flaw::new(key, message, "put `{number}` at their end"))
        }
    }
}

fn growth_of(table: &GrownTable) -> Result<TreeGrowth, Flaw> {
    let Some(width) = &table.width else {
        let message = "`grown` does not say how much is in a directory";
        return Err(Flaw::new(
            "grown",
            message,
            "write `grown = { width = 20 }`",
        ));
    };
    let thousandths = table.gamma.unwrap_or(0.0) * 1000.0;
    if !(0.0..=1e9).contains(&thousandths) {
        let message = "`gamma` is not a number from 0.001 to 1000000";
        return Err(Flaw::new("grown", message, "write `gamma = 1.5`"));
    }
    Ok(TreeGrowth {
        width: law_under("grown", width)?,
        gamma_permille: thousandths.round() as u32,
        is_size_of_tree: table.draws_sizes.unwrap_or(false),
        of_directories: table.only_directories.unwrap_or(false),
    })
}
