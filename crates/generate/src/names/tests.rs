//! Names by number, and names of a time.

use plan::program::{HashedNames, StampedNames};

use super::{flat_names, hashed_names, stamped_names, tree_names};

#[test]
fn a_thousand_flat_names_go_from_a_to_all() {
    let names = flat_names(1000);
    assert!(names.directories.is_empty());
    let name = |index: usize| names.files[index].to_str().unwrap();
    let shown = [0, 25, 26, 27, 51, 52, 701, 702, 999].map(name);
    let wanted = ["a", "z", "aa", "ab", "az", "ba", "zz", "aaa", "all"];
    assert_eq!(shown, wanted);
    let mut sorted = names.files.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), 1000);
}

#[test]
fn trees_are_as_shallow_as_their_directories_allow() {
    let shown = |paths: &[std::path::PathBuf]| {
        let paths = paths.iter().map(|path| path.to_str().unwrap());
        paths.collect::<Vec<_>>().join(" ")
    };
    let flat = tree_names(3, 3);
    assert_eq!(shown(&flat.files), "0 1 2");
    assert!(flat.directories.is_empty());
    let tree = tree_names(4, 3);
    assert_eq!(shown(&tree.directories), "0 1");
    assert_eq!(shown(&tree.files), "0/0 0/1 0/2 1/0");
    let high = tree_names(10, 3);
    assert_eq!(shown(&high.directories), "0 0/0 0/1 0/2 1 1/0");
    assert_eq!(high.files.last().unwrap().to_str(), Some("1/0/0"));
}

/// The paths are those of the program that places files in this way.
#[test]
fn a_hash_of_the_number_selects_the_directory() {
    let names = HashedNames {
        first: 1,
        before: "f_".to_owned(),
        after: "_x".to_owned(),
        factor: 900_593,
        each: 5,
        fan: 3,
        directory_before: "h_".to_owned(),
    };
    let hashed = hashed_names(&names, 100);
    let path = |number: usize| hashed.files[number - 1].to_str().unwrap();
    let shown = [1, 2, 7, 50, 99, 100].map(path);
    assert_eq!(
        shown,
        [
            "h_001/h_000/h_000/f_1_x",
            "h_001/h_001/f_2_x",
            "h_000/h_002/f_7_x",
            "h_000/h_002/f_50_x",
            "f_99_x",
            "f_100_x",
        ]
    );
    assert_eq!(hashed.directories.len(), 14);
    for directory in &hashed.directories {
        let place = |it| hashed.directories.iter().position(|other| other == it);
        let parent = directory.parent().unwrap();
        assert!(parent.as_os_str().is_empty() || place(parent) < place(directory));
    }
    let mut used: Vec<_> = hashed.files.iter().filter_map(|it| it.parent()).collect();
    used.sort();
    used.dedup();
    used.retain(|it| !it.as_os_str().is_empty());
    assert!(
        used.iter()
            .all(|it| hashed.directories.iter().any(|own| own == it))
    );
}

const NAMES: StampedNames = StampedNames {
    length: 40,
    random_length: 24,
    directories: 0,
    each: None,
};

/// The first name with each random character masked, as at a second that was recorded.
fn masked(length: u32, random_length: u32) -> String {
    let stamped = StampedNames {
        length,
        random_length,
        ..NAMES
    };
    let names = stamped_names(&stamped, 1, 0x6b01_14d2, 7);
    let name = names.files[0].to_str().unwrap();
    let (time, random) = name.split_at(name.len() - random_length as usize);
    let is_random = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit();
    assert!(random.bytes().all(is_random));
    format!("{time}{}", "?".repeat(random.len()))
}

#[test]
fn names_are_the_end_of_the_time_tildes_and_random_characters() {
    assert_eq!(masked(40, 24), "6b0114d2~~~~~~~~????????????????????????");
    assert_eq!(masked(10, 5), "114d2?????");
    assert_eq!(masked(20, 0), "6b0114d2~~~~~~~~~~~~");
    assert_eq!(masked(7, 3), "14d2???");
    assert_eq!(masked(5, 6), "??????");
    assert_eq!(masked(0, 0), "0");
}

#[test]
fn subdirectories_start_at_the_current_second_and_are_used_in_turn() {
    let used = |count: u32, directories: u32, each: Option<u32>, second| {
        let stamped = StampedNames {
            directories,
            each,
            ..NAMES
        };
        let names = stamped_names(&stamped, count, second, 7);
        let parent = |file: &std::path::PathBuf| {
            let parent = file.parent().unwrap().to_str().unwrap();
            parent.to_owned()
        };
        let used: Vec<String> = names.files.iter().map(parent).collect();
        for directory in &used {
            let is_made = names.directories.contains(&directory.into());
            assert_eq!(is_made, directories > 0);
        }
        used.join(" ")
    };
    assert_eq!(used(3, 10, Some(1), 8), "08 09 00");
    assert_eq!(used(5, 4, Some(2), 3), "03 03 00 00 01");
    assert_eq!(used(2, 4, Some(0), 2), "02 02");
    assert_eq!(used(2, 300, None, 1_795_232_978), "116 116");
    assert_eq!(used(2, 0, None, 3), " ");
}

#[test]
fn names_of_a_worker_do_not_repeat_and_follow_from_the_seed() {
    let seeded = |seed| stamped_names(&NAMES, 5000, 1, seed);
    let names = seeded(7);
    assert_eq!(names, seeded(7));
    assert_ne!(names, seeded(8));
    let mut files = names.files;
    files.sort();
    files.dedup();
    assert_eq!(files.len(), 5000);
}
