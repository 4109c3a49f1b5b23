use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn tree() -> (tempfile::TempDir, Tree) {
    let directory = tempfile::tempdir().expect("a directory");
    let opened = rustix::fs::open(
        directory.path(),
        OFlags::PATH | OFlags::DIRECTORY,
        Mode::empty(),
    );
    let path = directory.path().to_owned();
    let tree = Tree::new(opened.expect("the directory"), path).expect("a tree");
    (directory, tree)
}

#[test]
fn subdirectories_are_created_with_parents_and_opened_again() {
    let (directory, tree) = tree();
    let opened = tree.make_subdirectory("a/b/c").expect("made");
    let inode = fstat(&opened).expect("a status").st_ino;
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(directory.path().join("a/b/c")).expect("it is there");
    assert_eq!((found.ino(), found.mode() & 0o777), (inode, 0o700));
    let again = tree.make_subdirectory("a/b/c").expect("found");
    assert_eq!(fstat(&again).expect("a status").st_ino, inode);
    let clone = tree.directory().try_clone().expect("a clone");
    mkdirat(&clone, "d", Mode::RWXU).expect("a directory beneath the clone");
    assert!(directory.path().join("d").is_dir());
}

#[test]
fn names_that_lead_out_of_the_tree_are_refused() {
    let (directory, tree) = tree();
    for name in [
        "", "/", "/etc", "..", ".", "a/..", "../a", "a//b", "a/", "a/./b", "a\0b", "a\n",
    ] {
        let error = tree.make_subdirectory(name).expect_err("a refusal");
        assert!(
            matches!(error, TargetError::BadTreeName { .. }),
            "{name:?}: {error}"
        );
    }
    assert_eq!(
        fs::read_dir(directory.path()).expect("a listing").count(),
        0
    );
}

#[test]
fn links_and_files_in_the_way_are_refused() {
    let (directory, tree) = tree();
    let outside = tempfile::tempdir().expect("a directory");
    symlink(outside.path(), directory.path().join("link")).expect("a link");
    fs::write(directory.path().join("file"), "").expect("a file");
    for name in ["link", "link/a", "file", "file/a"] {
        let error = tree.make_subdirectory(name).expect_err("a refusal");
        assert!(
            matches!(error, TargetError::PathTaken { .. }),
            "{name}: {error}"
        );
    }
    assert_eq!(fs::read_dir(outside.path()).expect("a listing").count(), 0);
}

#[test]
fn a_tree_reports_block_size_and_free_space() {
    let (directory, tree) = tree();
    use std::os::unix::fs::MetadataExt;
    let file = directory.path().join("file");
    fs::write(&file, "x").expect("a file");
    let found = fs::metadata(&file).expect("a status");
    assert_eq!(tree.block_bytes(), found.blksize());
    assert!(tree.free_bytes().is_some_and(|free| free > 0));
    assert!(tree.free_file_count().is_none_or(|free| free > 0));
    let names: Vec<_> = fs::read_dir(directory.path()).expect("a listing").collect();
    assert_eq!(names.len(), 1, "the probe is gone");
}
