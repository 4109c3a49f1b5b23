use std::path::Path;

use plan::program::{FileNames, FilesetSharing, Law};

use super::*;

fn growth(width: u64) -> TreeGrowth {
    TreeGrowth {
        width: Law::fixed(width),
        gamma_permille: 1500,
        is_size_of_tree: true,
        of_directories: false,
    }
}

fn fileset(name: &str, count: u32, size: Law, growth: TreeGrowth) -> FilesetPlan {
    FilesetPlan {
        name: name.to_owned(),
        path: name.to_owned(),
        copies: FilesetSharing::One,
        count,
        names: FileNames::Number {
            before: String::new(),
            digits: 8,
            after: String::new(),
        },
        tree: DirectoryTree::Grown(growth),
        size,
        present_permille: 1000,
    }
}

fn gamma(mean: f64) -> Law {
    Law::of(Shape::Gamma { mean, shape: 1.5 })
}

fn trees(filesets: Vec<FilesetPlan>) -> Vec<GrownTree> {
    let program = Program {
        filesets,
        ..Program::default()
    };
    let trees = grown_trees(&program).unwrap();
    trees.into_iter().flatten().collect()
}

fn bytes(tree: &GrownTree) -> u64 {
    tree.sizes.iter().sum()
}

/// Megabytes of 2^20 bytes, as filebench prints them.
fn megabytes(tree: &GrownTree) -> String {
    format!("{:.3}", bytes(tree) as f64 / f64::from(1 << 20))
}

#[test]
fn a_flat_mail_spool_has_the_size_that_filebench_prints() {
    let tree = &trees(vec![fileset(
        "mail",
        1000,
        gamma(16384.0),
        growth(1_000_000),
    )])[0];
    assert_eq!(tree.directory_count(), 2);
    assert_eq!(tree.sizes[..4], [2096, 7949, 6380, 26471]);
    assert_eq!(tree.entries().next().unwrap(), "00000001/00000001");
    assert_eq!(megabytes(tree), "14.959");
}

#[test]
fn the_last_defined_fileset_is_grown_first() {
    let filesets = vec![
        fileset("big", 1000, gamma(16384.0), growth(20)),
        fileset("log", 1, gamma(16384.0), growth(20)),
    ];
    let trees = trees(filesets);
    assert_eq!((bytes(&trees[1]), trees[1].directory_count()), (2096, 2));
    assert_eq!(trees[0].directory_count(), 57);
    assert_eq!(megabytes(&trees[0]), "14.760");
}

#[test]
fn directories_are_listed_before_their_contents() {
    let tree = &trees(vec![fileset("files", 300, Law::fixed(1), growth(4))])[0];
    let directories: Vec<String> = tree.directories().collect();
    for (index, directory) in directories.iter().enumerate() {
        if let Some((above, _)) = directory.rsplit_once('/') {
            assert!(directories[..index].iter().any(|it| it == above));
        }
    }
    assert_eq!(tree.entries().count(), 300);
    for entry in tree.entries() {
        let (directory, name) = entry.rsplit_once('/').unwrap();
        assert!(directories.iter().any(|it| it == directory) && name.len() == 8);
    }
    assert_eq!(tree.path_in_each_directory().next().unwrap(), "00000001");
}

#[test]
fn widths_too_small_for_a_tree_still_terminate() {
    for width in [0, 1, 2] {
        let tree = &trees(vec![fileset("files", 50, Law::fixed(3), growth(width))])[0];
        assert_eq!((tree.entries().count(), bytes(tree)), (50, 150));
    }
    let flat = TreeGrowth {
        gamma_permille: 0,
        ..growth(1000)
    };
    let tree = &trees(vec![fileset("files", 1000, Law::fixed(3), flat)])[0];
    assert_eq!(tree.directory_count(), 2);
}

/// Lines of a captured tree, after the first `skipped` lines.
fn golden(name: &str, skipped: usize) -> Option<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/filebench");
    let text = std::fs::read_to_string(folder.join("golden").join(name)).ok()?;
    Some(text.lines().skip(skipped).map(str::to_owned).collect())
}

fn listed(tree: &GrownTree) -> Vec<String> {
    let named = tree.entries().zip(&*tree.sizes);
    named.map(|(way, size)| format!("/{way} {size}")).collect()
}

#[test]
fn trees_match_those_of_filebench() {
    let leaves = TreeGrowth {
        of_directories: true,
        ..growth(10)
    };
    let two = trees(vec![
        fileset("fs1", 1000, gamma(16384.0), growth(20)),
        fileset("fs2", 300, Law::fixed(4096), leaves),
    ]);
    let files = trees(vec![fileset("files", 10_000, gamma(131_072.0), growth(20))]);
    let (Some(files_golden), Some(fs1), Some(mut fs2)) = (
        golden("fileserver.model_tree", 1),
        golden("two_filesets_fs1.tree", 0),
        golden("two_filesets_fs2.leafdirs", 0),
    ) else {
        println!("skipped: there is no folder shared/samples/filebench");
        return;
    };
    assert_eq!(listed(&files[0]), files_golden);
    let mut paths = listed(&two[0]);
    paths.sort();
    assert_eq!(paths, fs1);
    let mut directories: Vec<String> = two[1].directories().chain(two[1].entries()).collect();
    directories.iter_mut().for_each(|path| path.insert(0, '/'));
    directories.sort();
    fs2.sort();
    assert_eq!(directories, fs2);
}
