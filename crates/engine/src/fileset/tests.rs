//! Names of the files by index, and names that are refused.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::{
    Fileset, NAME_BYTES_MAX, NameKey, NameRule, Nesting, Numbering, Spread, SubdirectoryRule, text,
};
use crate::EngineError;

fn directory(dir: &TempDir) -> OwnedFd {
    OwnedFd::from(std::fs::File::open(dir.path()).unwrap())
}

fn subdirectories(count: u32) -> Option<SubdirectoryRule> {
    Some(SubdirectoryRule {
        count,
        prefix: "s".to_owned(),
        digit_count: 0,
        ..SubdirectoryRule::default()
    })
}

fn key(index: u32) -> NameKey {
    NameKey {
        fileset: 0,
        index,
        // Not used here.
        directory: u32::MAX,
    }
}

fn name(set: &Fileset, index: u32) -> Option<String> {
    let mut buffer = [b'x'; NAME_BYTES_MAX];
    set.name(key(index), &mut buffer)?;
    Some(text(&buffer).to_owned())
}

fn directory_name(set: &Fileset, index: u32) -> Option<String> {
    let mut buffer = [b'x'; NAME_BYTES_MAX];
    set.directory_name(key(index), &mut buffer)?;
    Some(text(&buffer).to_owned())
}

fn generated(rule: NameRule, location_count: usize) -> (Vec<TempDir>, Fileset) {
    let dirs: Vec<TempDir> = (0..location_count)
        .map(|_| TempDir::new().unwrap())
        .collect();
    let locations = dirs.iter().map(directory).collect();
    (dirs, Fileset::generated(locations, rule).unwrap())
}

#[test]
fn the_default_rule_names_files_by_their_plain_number() {
    let (_dirs, set) = generated(NameRule::default(), 1);
    let names = [0, 9, 10, 12_345, u32::MAX].map(|index| name(&set, index).unwrap());
    assert_eq!(names, ["0", "9", "10", "12345", "4294967295"]);
    assert_eq!(directory_name(&set, 7).unwrap(), ".");
    assert_eq!(set.name_count(), None);
}

#[test]
fn numbers_are_zero_padded_between_prefix_and_suffix() {
    let rule = NameRule {
        prefix: "file.".to_owned(),
        suffix: ".tmp".to_owned(),
        digit_count: 6,
        ..NameRule::default()
    };
    let (_dirs, set) = generated(rule, 1);
    let names = [0, 123, 12_345_678].map(|index| name(&set, index).unwrap());
    assert_eq!(
        names,
        ["file.000000.tmp", "file.000123.tmp", "file.12345678.tmp"]
    );
}

#[test]
fn turns_cycle_through_all_subdirectories_of_all_locations() {
    let rule = NameRule {
        subdirectories: subdirectories(2),
        ..NameRule::default()
    };
    let (_dirs, set) = generated(rule, 2);
    let names: Vec<_> = (0..5).map(|index| name(&set, index).unwrap()).collect();
    assert_eq!(names, ["s0/0", "s1/1", "s0/2", "s1/3", "s0/4"]);
    let mut buffer = [0; NAME_BYTES_MAX];
    let locations: Vec<_> = (0..5)
        .map(|index| {
            set.name(key(index), &mut buffer)
                .unwrap()
                .directory
                .as_raw_fd()
        })
        .collect();
    assert_eq!(locations[0], locations[1]);
    assert_eq!(locations[2], locations[3]);
    assert_ne!(locations[0], locations[2]);
    assert_eq!(locations[0], locations[4]);
    assert_eq!(directory_name(&set, 3).unwrap(), "s1");
}

#[test]
fn an_explicitly_given_directory_holds_any_number() {
    let rule = NameRule {
        spread: Spread::ByRequest,
        subdirectories: subdirectories(2),
        ..NameRule::default()
    };
    let (_dirs, mut set) = generated(rule, 2);
    set.make_subdirectories(0o700).unwrap();
    let name_of = |set: &Fileset, index, directory| {
        let mut buffer = [b'x'; NAME_BYTES_MAX];
        let key = NameKey {
            directory,
            ..key(index)
        };
        let location = set.name(key, &mut buffer)?.directory.as_raw_fd();
        Some((location, text(&buffer).to_owned()))
    };
    let [first, second] = [1, 3].map(|it| name_of(&set, u32::MAX, it).unwrap());
    assert_eq!(first.1, "s1/4294967295");
    assert_eq!(second.1, "s1/4294967295");
    assert_ne!(first.0, second.0);
    assert_eq!(name_of(&set, 0, 4), None);
    set.open_subdirectories().unwrap();
    assert_eq!(name_of(&set, 7, 3).unwrap().1, "7");
}

#[test]
fn blocks_fill_one_directory_after_another_and_then_end() {
    let rule = NameRule {
        spread: Spread::Blocks { each_count: 3 },
        numbering: Numbering::PerDirectory,
        subdirectories: subdirectories(2),
        ..NameRule::default()
    };
    let (_dirs, set) = generated(rule, 1);
    let names: Vec<_> = (0..7).map(|index| name(&set, index)).collect();
    let wanted = ["s0/0", "s0/1", "s0/2", "s1/0", "s1/1", "s1/2"];
    assert_eq!(names[..6], wanted.map(|name| Some(name.to_owned())));
    assert_eq!(names[6], None);
}

#[test]
fn given_names_are_placed_by_the_rule() {
    let dir = TempDir::new().unwrap();
    let rule = NameRule {
        spread: Spread::Blocks { each_count: 2 },
        subdirectories: subdirectories(2),
        ..NameRule::default()
    };
    let names = ["b", "a", "c"].map(Box::from);
    let set = Fileset::placed(directory(&dir), rule.clone(), &names).unwrap();
    let placed = [0, 1, 2, 3].map(|index| name(&set, index));
    let wanted = ["s0/b", "s0/a", "s1/c"].map(|it| Some(it.to_owned()));
    assert_eq!((&placed[..3], &placed[3]), (&wanted[..], &None));
    assert_eq!(directory_name(&set, 2).as_deref(), Some("s1"));
    for bad in ["", ".", "..", "a/b", "a\0b", "x".repeat(256).as_str()] {
        let placed = Fileset::placed(directory(&dir), rule.clone(), &[Box::from(bad)]);
        assert!(
            matches!(placed, Err(EngineError::FileName { .. })),
            "{bad:?}"
        );
    }
}

#[test]
fn number_and_directory_can_be_chosen_freely_within_turns() {
    let rule = NameRule {
        numbering: Numbering::PerDirectory,
        subdirectories: subdirectories(10),
        ..NameRule::default()
    };
    let (_dirs, set) = generated(rule, 1);
    assert_eq!(name(&set, 501 * 10 + 7).unwrap(), "s7/501");
}

#[test]
fn names_are_a_single_component_once_subdirectories_are_open() {
    let rule = NameRule {
        subdirectories: subdirectories(3),
        ..NameRule::default()
    };
    let (dirs, mut set) = generated(rule, 2);
    assert!(matches!(
        set.open_subdirectories(),
        Err(EngineError::Open { .. })
    ));
    set.make_subdirectories(0o700).unwrap();
    assert!(dirs[1].path().join("s2").is_dir());
    assert!(!set.is_flat());
    set.open_subdirectories().unwrap();
    assert!(set.is_flat());
    assert_eq!(set.directory_count(), 6);
    assert_eq!(name(&set, 5).unwrap(), "5");
    assert_eq!(directory_name(&set, 5).unwrap(), "s2");
}

#[test]
fn files_in_missing_subdirectories_have_no_names() {
    let rule = NameRule {
        subdirectories: subdirectories(3),
        ..NameRule::default()
    };
    let (dirs, mut set) = generated(rule, 1);
    let inside = |name: &str| dirs[0].path().join(name);
    std::fs::create_dir(inside("s0")).unwrap();
    std::os::unix::fs::symlink("/tmp", inside("s1")).unwrap();
    set.open_existing_subdirectories().unwrap();
    let names = [0, 1, 2].map(|index| name(&set, index));
    assert_eq!(names, [Some("0".to_owned()), None, None]);
}

#[test]
fn a_subdirectory_that_is_a_link_is_not_opened() {
    let rule = NameRule {
        subdirectories: subdirectories(1),
        ..NameRule::default()
    };
    let (dirs, mut set) = generated(rule, 1);
    std::os::unix::fs::symlink("/tmp", dirs[0].path().join("s0")).unwrap();
    assert!(set.open_subdirectories().is_err());
}

#[test]
fn a_list_keeps_its_names_and_their_directories() {
    let dir = TempDir::new().unwrap();
    std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
    let names = ["one", "a/two", "a/b/three", "a//four", "./five"].map(PathBuf::from);
    let set = Fileset::listed(directory(&dir), &names).unwrap();
    assert_eq!(set.name_count(), Some(5));
    assert_eq!(set.directory_count(), 3);
    let listed: Vec<_> = (0..6).map(|index| name(&set, index)).collect();
    let wanted = ["one", "two", "three", "four", "five"].map(|name| Some(name.to_owned()));
    assert_eq!(listed[..5], wanted);
    assert_eq!(listed[5], None);
}

#[test]
fn listed_names_that_leave_the_directory_are_refused() {
    let dir = TempDir::new().unwrap();
    std::fs::create_dir(dir.path().join("a")).unwrap();
    std::os::unix::fs::symlink("/etc", dir.path().join("link")).unwrap();
    for hostile in [
        "..",
        "../x",
        "a/../../x",
        "a/..",
        "/etc/passwd",
        "link/passwd",
    ] {
        let error = Fileset::listed(directory(&dir), &[hostile.into()]).unwrap_err();
        assert!(
            matches!(error, EngineError::NotBeneath { .. }),
            "{hostile}: {error}"
        );
    }
    for empty in ["", ".", "./"] {
        let error = Fileset::listed(directory(&dir), &[empty.into()]).unwrap_err();
        assert!(matches!(error, EngineError::FileName { .. }), "{error}");
    }
    let long = "x".repeat(256);
    let error = Fileset::listed(directory(&dir), &[long.into()]).unwrap_err();
    assert!(error.to_string().ends_with("it is longer than 255 bytes"));
}

#[test]
fn rules_with_text_that_is_invalid_in_a_name_are_refused() {
    let dir = TempDir::new().unwrap();
    let refused = |rule: NameRule| {
        Fileset::generated(vec![directory(&dir)], rule)
            .unwrap_err()
            .to_string()
    };
    let prefix = |prefix: &str| NameRule {
        prefix: prefix.to_owned(),
        ..NameRule::default()
    };
    assert_eq!(
        refused(prefix("../")),
        "`../` cannot be part of a file's name: it contains a slash or a zero byte"
    );
    assert!(refused(prefix("a\0b")).contains("zero byte"));
    assert!(refused(prefix(&"x".repeat(246))).contains("longer than 255"));
    let rule = NameRule {
        subdirectories: subdirectories(0),
        ..NameRule::default()
    };
    assert!(refused(rule).contains("0 subdirectories"));
    let error = Fileset::generated(Vec::new(), NameRule::default()).unwrap_err();
    assert!(error.to_string().contains("no directory"));
}

proptest! {
    #[test]
    fn no_two_indexes_have_the_same_name(
        location_count in 1_usize..4,
        subdirectory_count in 0_u32..5,
        each_count in 1_u32..9,
        blocks: bool,
        within: bool,
        digit_count in 0_u32..12,
    ) {
        let rule = NameRule {
            prefix: "p".to_owned(),
            digit_count,
            spread: if blocks { Spread::Blocks { each_count } } else { Spread::RoundRobin },
            numbering: if within { Numbering::PerDirectory } else { Numbering::Global },
            subdirectories: subdirectories(subdirectory_count).filter(|it| it.count > 0),
            ..NameRule::default()
        };
        let (_dirs, set) = generated(rule, location_count);
        let mut seen = std::collections::BTreeSet::new();
        for index in 0..200 {
            let mut buffer = [0; NAME_BYTES_MAX];
            let Some(at) = set.name(key(index), &mut buffer) else {
                prop_assert!(blocks && index >= each_count * set.directory_count());
                continue;
            };
            prop_assert!(seen.insert((at.directory.as_raw_fd(), text(&buffer).to_owned())));
        }
    }

    #[test]
    fn numbers_are_written_as_the_standard_library_formats_them(
        number: u32,
        bits in 0_u32..32,
        digit_count in 0_u32..12,
    ) {
        let rule = NameRule {
            prefix: "p".to_owned(),
            suffix: ".s".to_owned(),
            digit_count,
            ..NameRule::default()
        };
        let number = number >> bits;
        let (_dirs, set) = generated(rule, 1);
        let width = digit_count as usize;
        prop_assert_eq!(name(&set, number).unwrap(), format!("p{number:0width$}.s"));
    }
}

#[test]
fn nested_directories_are_named_by_their_path() {
    let paths = |nesting, count| {
        let rule = SubdirectoryRule {
            count,
            prefix: "t.".to_owned(),
            digit_count: 0,
            nesting,
        };
        (0..count)
            .map(|index| String::from_utf8(rule.name(index)).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        paths(Nesting::Heap { fan: 2 }, 5),
        ["t.0", "t.0/t.1", "t.0/t.2", "t.0/t.1/t.3", "t.0/t.1/t.4"]
    );
    assert_eq!(
        paths(Nesting::Heap { fan: 1 }, 3),
        ["t.0", "t.0/t.1", "t.0/t.1/t.2"]
    );
    let digits = paths(Nesting::Digits { fan: 10 }, 112);
    assert_eq!([&digits[9], &digits[10]], ["t.9", "t.1/t.0"]);
    assert_eq!(digits[111], "t.1/t.1/t.1");
}

#[test]
fn files_are_placed_in_nested_directories_by_number() {
    let rule = NameRule {
        prefix: "f".to_owned(),
        first: 1,
        spread: Spread::Blocks { each_count: 2 },
        subdirectories: Some(SubdirectoryRule {
            count: 3,
            prefix: "t.".to_owned(),
            digit_count: 0,
            nesting: Nesting::Heap { fan: 2 },
        }),
        ..NameRule::default()
    };
    let (dirs, mut set) = generated(rule, 1);
    set.make_missing_subdirectories(0o700).unwrap();
    set.make_missing_subdirectories(0o700).unwrap();
    assert!(dirs[0].path().join("t.0/t.2").is_dir());
    let names = [0, 1, 4].map(|index| name(&set, index).unwrap());
    assert_eq!(names, ["t.0/f1", "t.0/t.1/f2", "t.0/t.2/f5"]);
    assert_eq!(directory_name(&set, 1).unwrap(), "t.0/t.1");
    set.open_subdirectories().unwrap();
    assert_eq!(name(&set, 4).unwrap(), "f5");
    assert_eq!(name(&set, 5), None);
}

#[test]
fn directories_that_would_contain_themselves_are_refused() {
    for nesting in [Nesting::Digits { fan: 1 }, Nesting::Heap { fan: 0 }] {
        let rule = SubdirectoryRule {
            count: 2,
            nesting,
            ..SubdirectoryRule::default()
        };
        let dir = TempDir::new().unwrap();
        let refused = Fileset::directories(directory(&dir), &rule);
        assert!(matches!(refused, Err(EngineError::FileName { .. })));
    }
    let deep = SubdirectoryRule {
        count: 100,
        prefix: "long-name-".to_owned(),
        nesting: Nesting::Heap { fan: 1 },
        ..SubdirectoryRule::default()
    };
    let dir = TempDir::new().unwrap();
    assert!(Fileset::directories(directory(&dir), &deep).is_err());
}
