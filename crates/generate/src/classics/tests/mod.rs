//! Chains of operations against short lists, names, and what every pass keeps to.

mod on_files;

use engine::{Completion, Operation, OperationSet, Request};
use proptest::prelude::*;
use workload::classics::{Chain, FileSync, Order, PassPlan, share};
use workload::program::StampedNames;

use super::{Pass, flat_names, stamped_names, tree_names};
use crate::{Flow, Generator, Step};

/// The end of a file with which all went well.
const WELL: Flow = Flow::Judged { kind: 0, errno: 0 };

fn pass(chain: Chain, files: std::ops::Range<u32>, iodepth: u32) -> Pass {
    Pass::new(&PassPlan {
        chain,
        order: Order::Forward,
        files,
        iodepth,
        seed: 1,
    })
}

fn create(size_bytes: u64, write_bytes: u32) -> Chain {
    Chain::Create {
        size_bytes,
        write_bytes,
        is_empty_written: false,
        sync: FileSync::None,
        is_directory_made: false,
    }
}

/// Runs a pass, one request of each slot at a time; says what was asked and how files ended.
fn play(
    pass: &mut Pass,
    iodepth: u32,
    mut answer: impl FnMut(&Request) -> i32,
) -> (Vec<Request>, Vec<Flow>) {
    let (mut requests, mut flows) = (Vec::new(), Vec::new());
    let mut busy: Vec<u32> = (0..iodepth).collect();
    while !busy.is_empty() {
        let mut issued = Vec::new();
        busy.retain(|slot| match pass.next(*slot, 0) {
            Step::Issue(request) => {
                issued.push(request);
                true
            }
            Step::Finished => false,
            step => panic!("{step:?}"),
        });
        for request in issued {
            assert!(pass.operations().contains(request.operation));
            let completion = Completion {
                slot: request.slot,
                result: answer(&request),
            };
            let flow = pass.complete(completion, 0);
            flows.extend((flow != Flow::Continues).then_some(flow));
            requests.push(request);
        }
        assert!(requests.len() < 1_000_000, "it does not end");
    }
    (requests, flows)
}

fn well(request: &Request) -> i32 {
    request.length_bytes as i32
}

/// One word a request: operation, file, and the bytes of a write with their place.
fn words(requests: &[Request]) -> String {
    let word = |request: &Request| match request.operation {
        Operation::Write => format!(
            "write{}@{}+{}",
            request.file_index, request.offset_bytes, request.length_bytes
        ),
        operation => format!("{}{}", operation.name(), request.file_index),
    };
    requests.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn played(chain: Chain, files: std::ops::Range<u32>) -> String {
    let mut pass = pass(chain, files, 1);
    let (requests, flows) = play(&mut pass, 1, well);
    assert!(flows.iter().all(|flow| *flow == WELL));
    assert_eq!(pass.failed_count(), 0);
    words(&requests)
}

#[test]
fn a_file_is_created_written_to_its_end_and_closed() {
    assert_eq!(played(create(0, 4), 0..2), "create0 close0 create1 close1");
    assert_eq!(
        played(create(10, 4), 5..6),
        "create5 write5@0+4 write5@4+4 write5@8+2 close5"
    );
    assert_eq!(played(create(8, 8), 0..1), "create0 write0@0+8 close0");
}

#[test]
fn directories_empty_writes_and_syncs_have_their_place() {
    let chain = |size_bytes, sync| Chain::Create {
        size_bytes,
        write_bytes: 16,
        is_empty_written: true,
        sync,
        is_directory_made: true,
    };
    assert_eq!(
        played(chain(0, FileSync::Fsync), 0..1),
        "mkdir0 create0 write0@0+0 fsync0 close0"
    );
    assert_eq!(
        played(chain(3, FileSync::Fdatasync), 0..1),
        "mkdir0 create0 write0@0+3 fdatasync0 close0"
    );
}

#[test]
fn the_other_chains_are_short() {
    assert_eq!(played(Chain::Remove, 3..5), "unlink3 unlink4");
    assert_eq!(played(Chain::Stat, 3..5), "stat3 stat4");
    assert_eq!(played(Chain::Sync, 3..4), "open3 fsync3 close3");
    assert_eq!(played(Chain::Sync, 3..3), "");
}

#[test]
fn slots_work_on_files_of_their_own() {
    let mut pass = pass(create(4, 4), 0..3, 2);
    let (requests, _) = play(&mut pass, 2, well);
    assert_eq!(
        words(&requests),
        "create0 create1 write0@0+4 write1@0+4 close0 close1 create2 write2@0+4 close2"
    );
    assert_eq!(requests[1].slot, 1);
}

#[test]
fn a_short_write_is_followed_by_the_rest() {
    let mut pass = pass(create(10, 8), 0..1, 1);
    let (requests, flows) = play(&mut pass, 1, |request| well(request).min(3));
    let wanted = "create0 write0@0+8 write0@3+7 write0@6+4 write0@9+1 close0";
    assert_eq!(words(&requests), wanted);
    assert_eq!(flows, [WELL]);
}

/// What is asked of one file when an operation fails, and that the file has failed so.
fn failed(chain: Chain, failing: Operation, result: i32) -> String {
    let mut pass = pass(chain, 0..1, 1);
    let answer = |request: &Request| match request.operation == failing {
        true => result,
        false => well(request),
    };
    let (requests, flows) = play(&mut pass, 1, answer);
    let errno = if result < 0 { result } else { -5 };
    assert_eq!(flows, [Flow::Judged { kind: 0, errno }]);
    assert_eq!(pass.failed_count(), 1);
    words(&requests)
}

#[test]
fn a_file_that_fails_is_closed_if_it_is_open_and_has_failed_by_its_error() {
    let chain = Chain::Create {
        size_bytes: 8,
        write_bytes: 4,
        is_empty_written: false,
        sync: FileSync::Fsync,
        is_directory_made: false,
    };
    assert_eq!(failed(chain, Operation::Create, -1), "create0");
    assert_eq!(failed(chain, Operation::Create, -17), "create0");
    let full = "create0 write0@0+4 close0";
    assert_eq!(failed(chain, Operation::Write, -28), full);
    assert_eq!(failed(chain, Operation::Write, 0), full);
    let whole = "create0 write0@0+4 write0@4+4 fsync0 close0";
    assert_eq!(failed(chain, Operation::Fsync, -5), whole);
    assert_eq!(failed(chain, Operation::Close, -5), whole);
    assert_eq!(failed(Chain::Sync, Operation::Open, -2), "open0");
    assert_eq!(
        failed(Chain::Sync, Operation::Fsync, -5),
        "open0 fsync0 close0"
    );
    assert_eq!(failed(Chain::Remove, Operation::Unlink, -2), "unlink0");
}

#[test]
fn a_directory_that_is_there_is_no_failure() {
    let chain = Chain::Create {
        size_bytes: 0,
        write_bytes: 1,
        is_empty_written: false,
        sync: FileSync::None,
        is_directory_made: true,
    };
    let mut pass = pass(chain, 0..1, 1);
    let (requests, flows) = play(&mut pass, 1, |request| match request.operation {
        Operation::Mkdir => -17,
        _ => 0,
    });
    assert_eq!(words(&requests), "mkdir0 create0 close0");
    assert_eq!(flows, [WELL]);
}

#[test]
fn only_what_may_come_is_counted() {
    let set = |chain| pass(chain, 0..1, 1).operations();
    let created = OperationSet::EMPTY
        .with(Operation::Create)
        .with(Operation::Close);
    assert_eq!(set(create(0, 1)), created);
    assert_eq!(set(create(1, 1)), created.with(Operation::Write));
    assert_eq!(
        set(Chain::Remove),
        OperationSet::EMPTY.with(Operation::Unlink)
    );
}

proptest! {
    #[test]
    fn every_file_is_created_and_removed_exactly_once(
        file_count in 0_u32..300,
        worker_count in 1_u32..5,
        iodepth in 1_u32..9,
        seed: u64,
        order in prop_oneof![Just(Order::Forward), Just(Order::Reverse), Just(Order::Random)],
    ) {
        for (chain, counted) in [
            (create(5, 2), Operation::Create),
            (Chain::Remove, Operation::Unlink),
        ] {
            let mut touched = vec![0; file_count as usize];
            for worker_index in 0..worker_count {
                let mut pass = Pass::new(&PassPlan {
                    chain,
                    order,
                    files: share(file_count, worker_index, worker_count),
                    iodepth,
                    seed,
                });
                for request in play(&mut pass, iodepth, well).0 {
                    touched[request.file_index as usize] +=
                        u32::from(request.operation == counted);
                }
            }
            prop_assert!(touched.iter().all(|times| *times == 1));
        }
    }

    #[test]
    fn whatever_is_answered_a_pass_ends_and_every_file_has_its_end(
        size_bytes in 0_u64..50,
        write_bytes in 0_u32..20,
        iodepth in 1_u32..5,
        answers in proptest::collection::vec(-40_i32..40, 1..50),
    ) {
        let chain = Chain::Create {
            size_bytes,
            write_bytes,
            is_empty_written: true,
            sync: FileSync::Fsync,
            is_directory_made: true,
        };
        let mut pass = pass(chain, 0..20, iodepth);
        let mut answers = answers.into_iter().cycle();
        let (_, flows) = play(&mut pass, iodepth, |_| answers.next().unwrap());
        prop_assert_eq!(flows.len(), 20);
        let failed = flows.iter().filter(|flow| **flow != WELL).count();
        prop_assert_eq!(failed as u64, pass.failed_count());
    }

    #[test]
    fn trees_hold_every_file_in_directories_that_come_first(
        file_count in 0_u32..3000,
        each_count in 0_u32..30,
    ) {
        let names = tree_names(file_count, each_count);
        prop_assert_eq!(names.files.len(), file_count as usize);
        let mut entries = std::collections::BTreeMap::new();
        entries.insert(std::path::PathBuf::new(), 0_u32);
        for (path, is_directory) in names
            .directories
            .iter()
            .map(|path| (path, true))
            .chain(names.files.iter().map(|path| (path, false)))
        {
            let parent = entries.get_mut(path.parent().unwrap());
            prop_assert!(parent.is_some(), "{} comes too early", path.display());
            *parent.unwrap() += 1;
            if is_directory {
                prop_assert_eq!(entries.insert(path.clone(), 0), None);
            }
        }
        prop_assert!(entries.values().all(|count| *count <= each_count.max(2)));
        prop_assert!(file_count == 0 || entries.values().all(|count| *count > 0));
    }
}

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
fn trees_are_as_low_as_their_directories_allow() {
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
fn subdirectories_begin_with_that_of_the_second_and_are_taken_in_turn() {
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
    let of_seed = |seed| stamped_names(&NAMES, 5000, 1, seed);
    let names = of_seed(7);
    assert_eq!(names, of_seed(7));
    assert_ne!(names, of_seed(8));
    let mut files = names.files;
    files.sort();
    files.dedup();
    assert_eq!(files.len(), 5000);
}
