use std::fs;

use engine::{OpenFlags, OpenMode};
use generate::classics::{flat_names, tree_names};
use proptest::prelude::*;
use workload::classics::{Chain, FileSync, Order};

use super::*;
use crate::tests::scratch::Directory;

const SIZE: u64 = 10_000;

fn plan(chain: Chain, file_count: u32) -> PassPlan {
    PassPlan {
        chain,
        order: Order::Reverse,
        files: 0..file_count,
        iodepth: 1,
        seed: 1,
    }
}

fn create(file_count: u32) -> PassPlan {
    let chain = Chain::Create {
        size_bytes: SIZE,
        write_bytes: 4096,
        is_empty_written: true,
        sync: FileSync::None,
        is_directory_made: true,
    };
    plan(chain, file_count)
}

fn files(directory: &Directory, names: Names) -> OwnFiles {
    let location = open_location(directory.path()).unwrap();
    let options = FileOptions::default();
    OwnFiles::new(location, directory.path(), names, options, 4096).unwrap()
}

fn carry_out(files: &mut OwnFiles, plan: &PassPlan) -> Result<(), RunError> {
    let stop = AtomicBool::new(false);
    files.carry_out(plan, &Halt::new(&stop), &mut ())
}

#[test]
fn what_was_made_goes_with_the_value_and_nothing_else() {
    let directory = Directory::new("own-drop");
    fs::write(directory.path().join("mine"), "mine").unwrap();
    fs::create_dir(directory.path().join("1")).unwrap();
    let mut made = files(&directory, tree_names(9, 3));
    carry_out(&mut made, &create(9)).unwrap();
    assert_eq!(directory.names(), ["0", "1", "2", "mine"]);
    let length = fs::metadata(directory.path().join("2/2")).unwrap().len();
    assert_eq!(length, SIZE);
    drop(made);
    assert_eq!(directory.names(), ["1", "mine"]);
}

#[test]
fn a_name_that_is_taken_ends_the_pass_and_its_file_stays() {
    let directory = Directory::new("own-taken");
    fs::write(directory.path().join("b"), "mine").unwrap();
    let mut made = files(&directory, flat_names(4));
    let error = carry_out(&mut made, &create(4)).unwrap_err();
    let path = directory.path().join("b");
    let wanted = format!("cannot create `{}`: File exists", path.display());
    assert!(error.to_string().starts_with(&wanted), "{error}");
    assert!(error.help().unwrap().contains("empty directory"));
    assert_eq!(directory.names(), ["b", "c", "d"]);
    made.remove().unwrap();
    assert_eq!(directory.names(), ["b"]);
    assert_eq!(fs::read(path).unwrap(), b"mine");
}

#[test]
fn a_name_that_is_a_link_is_taken() {
    let directory = Directory::new("own-link");
    std::os::unix::fs::symlink("elsewhere", directory.path().join("a")).unwrap();
    let mut options = FileOptions::default();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::EXCL;
    let create_flags = OpenMode::new(flags.bits().cast_signed(), 0o666);
    options.open = OpenFlags {
        create: create_flags,
        plain: true,
        ..OpenFlags::default()
    };
    let location = open_location(directory.path()).unwrap();
    let made = OwnFiles::new(location, directory.path(), flat_names(1), options, 4096);
    assert!(carry_out(&mut made.unwrap(), &create(1)).is_err());
    assert_eq!(directory.names(), ["a"]);
}

#[test]
fn a_halt_is_seen_between_files() {
    let directory = Directory::new("own-halt");
    let mut made = files(&directory, flat_names(4));
    let stop = AtomicBool::new(false);
    let halt = Halt::new(&stop);
    halt.fail();
    made.carry_out(&create(4), &halt, &mut ()).unwrap();
    assert_eq!(directory.names(), ["d"]);
}

#[test]
fn a_missing_location_is_named() {
    let error = open_location(Path::new("/nonexistent/x")).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("cannot open `/nonexistent/x`: No such"),
        "{text}"
    );
    assert!(error.help().is_some());
}

proptest! {
    #[test]
    fn a_set_gives_back_what_was_put_in(
        members in proptest::collection::btree_set(0_u32..500, 0..50),
    ) {
        let mut bits = Bits::new(500);
        for member in members.iter().rev() {
            bits.set(*member);
        }
        let mut found = Vec::new();
        while let Some(member) = bits.first() {
            found.push(member);
            bits.clear(member);
        }
        prop_assert!(members.into_iter().eq(found));
        prop_assert_eq!(Bits::new(0).first(), None);
    }
}
