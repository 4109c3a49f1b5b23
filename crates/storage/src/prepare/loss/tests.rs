use std::fs;
use std::sync::atomic::AtomicBool;

use plan::{ContentPlan, TargetKind, TargetPlan};

use super::*;
use crate::prepare::prepare;
use crate::{FillPlan, FillWatch, Permission, admit};

const SIZE_BYTES: u64 = 1 << 16;

fn prepared(path: &Path) -> Prepared {
    let plan = TargetPlan {
        path: path.to_owned(),
        kind: TargetKind::Directory,
        size_bytes: SIZE_BYTES,
        block_bytes: 512,
    };
    let fill = FillPlan {
        content: ContentPlan::Incompressible,
        verify_block_bytes: None,
        seed: 7,
        prepare_device: false,
    };
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    let create = Permission {
        create: true,
        ..Permission::default()
    };
    let admitted = admit(path, &create).expect("admitted");
    prepare(admitted, &plan, Some(&fill), &mut watch).expect("prepared")
}

fn loss(path: PathBuf, is_replaced: bool) -> Option<LostFile> {
    Some(LostFile { path, is_replaced })
}

#[test]
fn unchanged_targets_are_not_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut prepared = prepared(directory.path());
    let _tree = prepared.make_tree().expect("a tree");
    assert_eq!(prepared.loss(), None);
    let file = tempfile::tempdir().expect("a directory");
    assert_eq!(self::prepared(&file.path().join("test")).loss(), None);
}

#[test]
fn a_removed_or_replaced_test_file_is_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    for target in [directory.path().to_owned(), directory.path().join("file")] {
        let prepared = prepared(&target);
        let test_file = prepared.path();
        let kept = directory.path().join("kept");
        fs::rename(&test_file, &kept).expect("renamed");
        assert_eq!(prepared.loss(), loss(test_file.clone(), false));
        fs::write(&test_file, [0; SIZE_BYTES as usize]).expect("another");
        assert_eq!(prepared.loss(), loss(test_file.clone(), true));
        fs::rename(&kept, &test_file).expect("renamed back");
        assert_eq!(prepared.loss(), None);
    }
}

#[test]
fn a_removed_or_replaced_directory_is_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    let target = directory.path().join("target");
    fs::create_dir(&target).expect("a target");
    let prepared = prepared(&target);
    let work = target.join(crate::manifest_location::WORK_DIRECTORY);
    fs::rename(&target, directory.path().join("elsewhere")).expect("renamed");
    assert_eq!(prepared.loss(), loss(work.clone(), false));
    fs::create_dir_all(&work).expect("another");
    let lost = prepared.loss();
    assert_eq!(lost, loss(work.clone(), true));
    let text = lost.expect("a loss").to_string();
    let wanted = format!("`{}` was replaced during the run", work.display());
    assert_eq!(text, wanted);
}

#[test]
fn a_removed_tree_is_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut prepared = prepared(directory.path());
    let tree = prepared.make_tree().expect("a tree");
    let path = tree.path().to_owned();
    fs::remove_dir_all(&path).expect("removed");
    assert_eq!(prepared.loss(), loss(path, false));
}
