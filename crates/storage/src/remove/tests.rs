use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use rustix::fs::{mkdirat, openat};

use super::*;
use crate::lab::{LoopMount, run};

fn remove(parent: &Path, name: &str) -> (RemovalResult, Vec<u64>) {
    let open = |path: &Path| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        rustix::fs::open(path, flags, Mode::empty()).expect("a directory")
    };
    let (above, directory) = (open(parent), open(&parent.join(name)));
    let c_name = CString::new(name).expect("a name");
    let doomed = DirectoryToRemove {
        parent: above.as_fd(),
        name: &c_name,
        directory: &directory,
        path: name.into(),
    };
    let mut counts = Vec::new();
    (
        remove_directory(doomed, &mut |count| counts.push(count)),
        counts,
    )
}

fn assert_gone(parent: &Path, name: &str, count: u64) {
    let (removed, counts) = remove(parent, name);
    assert_eq!(removed, RemovalResult { count, left: None });
    assert_eq!(counts.last(), Some(&count));
    assert!(!parent.join(name).exists());
}

/// Makes a chain of directories below `top` with a file in each.
fn make_deep(top: &Path, depth: usize) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut at = rustix::fs::open(top, flags, Mode::empty()).expect("the top");
    for _ in 0..depth {
        mkdirat(&at, "d", Mode::RWXU).expect("a directory");
        let next = openat(&at, "d", flags, Mode::empty()).expect("the directory");
        let file = OFlags::WRONLY | OFlags::CREATE;
        openat(&next, "f", file, Mode::RUSR).expect("a file");
        at = next;
    }
}

#[test]
fn a_hundred_thousand_files_in_one_directory_are_removed_and_counted() {
    let directory = tempfile::tempdir().expect("a directory");
    let top = directory.path().join("files-0");
    fs::create_dir(&top).expect("the top");
    for index in 0..100_000 {
        fs::File::create(top.join(format!("{index:08}"))).expect("a file");
    }
    let (removed, counts) = remove(directory.path(), "files-0");
    assert_eq!((removed.count, removed.left), (100_001, None));
    assert!(
        counts.len() > 90 && counts.is_sorted(),
        "{} calls",
        counts.len()
    );
    assert!(!top.exists());
}

#[test]
fn links_are_removed_and_what_they_point_to_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let victim = directory.path().join("victim");
    fs::create_dir(&victim).expect("a directory");
    fs::write(victim.join("file"), "precious").expect("a file");
    let top = directory.path().join("files-0");
    fs::create_dir_all(top.join("a")).expect("directories");
    symlink(&victim, top.join("a/link")).expect("a link");
    symlink(victim.join("file"), top.join("link")).expect("a link");
    symlink("..", top.join("up")).expect("a link");
    fs::hard_link(victim.join("file"), top.join("hard")).expect("a second name");
    assert_gone(directory.path(), "files-0", 6);
    assert_eq!(
        fs::read_to_string(victim.join("file")).expect("the file still exists"),
        "precious"
    );
}

#[test]
fn a_tree_deeper_than_the_open_directories_is_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let top = directory.path().join("files-0");
    fs::create_dir(&top).expect("the top");
    // A name that a moved directory would take.
    fs::write(top.join("pgmeter-moved-0"), "").expect("a file");
    make_deep(&top, 5 * DEPTH_MAX + 3);
    let deep_count = 2 * (5 * DEPTH_MAX as u64 + 3);
    assert_gone(directory.path(), "files-0", deep_count + 2);
}

#[test]
fn entries_that_cannot_be_removed_are_counted_and_the_rest_is_removed() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: mounting needs root");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let top = directory.path().join("files-0");
    let point = top.join("a/mounted");
    fs::create_dir_all(&point).expect("directories");
    for index in 0..10 {
        fs::write(top.join(format!("a/{index}")), "").expect("a file");
        fs::write(top.join(format!("{index}")), "").expect("a file");
    }
    let outside = directory.path().join("elsewhere");
    fs::create_dir(&outside).expect("a directory");
    fs::write(outside.join("precious"), "").expect("a file");
    let to = point.to_str().expect("a plain path");
    let from = outside.to_str().expect("a plain path");
    if run(&["mount", "--bind", from, to]).is_none() {
        println!("skipped: nothing can be mounted");
        return;
    }
    let (removed, _) = remove(directory.path(), "files-0");
    let is_left = outside.join("precious").exists();
    run(&["umount", to]).expect("unmounted");
    assert!(is_left, "a mount was entered");
    let remaining = removed.left.expect("the mount point");
    assert_eq!(removed.count, 20);
    // The mount point, the directory it is in, and the tree.
    assert_eq!((remaining.count, remaining.error), (3, Errno::BUSY));
    assert_eq!(remaining.first, Path::new("files-0/a/mounted"));
    assert!(
        remaining
            .to_string()
            .ends_with("3 files and directories are left with it")
    );
    assert_gone(directory.path(), "files-0", 3);
}

#[test]
fn trees_are_removed_on_every_available_file_system() {
    for (format, options) in [
        (&["mkfs.ext4", "-q", "-F"][..], "rw"),
        (&["mkfs.xfs", "-q", "-f"], "rw"),
        (&["mkfs.btrfs", "-q", "-f"], "rw"),
    ] {
        let Some(mut device) = LoopMount::new(512) else {
            return;
        };
        if !device.make(format) {
            continue;
        }
        let Some(point) = device.mount(options) else {
            continue;
        };
        let top = point.join("files-0");
        for name in 0..20 {
            let below = top.join(format!("{name}/b"));
            fs::create_dir_all(&below).expect("directories");
            for index in 0..300 {
                fs::write(below.join(format!("{index}")), "x").expect("a file");
            }
        }
        make_deep(&top, 2 * DEPTH_MAX);
        let deep_count = 4 * DEPTH_MAX as u64;
        assert_gone(&point, "files-0", 1 + 20 * 302 + deep_count);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_tree_is_removed_and_counted(
        paths in prop::collection::btree_set("[abc](/[abc]){0,4}", 0..40)
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let top = directory.path().join("files-0");
        fs::create_dir(&top).expect("the top");
        for path in &paths {
            fs::create_dir_all(top.join(path)).expect("directories");
            fs::write(top.join(path).join("file"), "x").expect("a file");
        }
        let ancestors = |path: &String| {
            let all: Vec<_> = Path::new(path).ancestors().map(Path::to_owned).collect();
            all
        };
        let directories: std::collections::BTreeSet<_> =
            paths.iter().flat_map(ancestors).chain([PathBuf::new()]).collect();
        assert_gone(directory.path(), "files-0", (directories.len() + paths.len()) as u64);
    }
}
