//! Settings and stages.

use super::*;
use ::plan::program::{CallObject, FileOperation, PickOrder, ProgramPhase};

fn resolve(text: &str, directory_count: u32) -> Result<FsMarkPlan, ClassicError> {
    let settings = toml::from_str::<FsMark>(text).unwrap();
    settings.resolve(directory_count)
}

#[test]
fn the_defaults_match_version_3_3() {
    let plan = resolve("", 1).unwrap();
    assert_eq!((plan.thread_count, plan.file_count), (1, 1000));
    assert_eq!((plan.size_bytes, plan.write_bytes), (51_200, 16_384));
    assert_eq!((plan.name_length, plan.random_length), (40, 24));
    assert_eq!(plan.sync_method, SyncMethod::Fsync);
    assert_eq!(plan.subdirectories, Subdirectories::None);
    assert_eq!((plan.iterations, plan.is_kept), (1, false));
    assert_eq!(plan.iteration_bytes(), 51_200_000);
    assert_eq!(plan.writes_per_file(), 4);
}

#[test]
fn the_thread_count_is_a_multiple_of_the_directory_count() {
    assert_eq!(resolve("", 3).unwrap().thread_count, 3);
    assert_eq!(resolve("threads = 6", 3).unwrap().thread_count, 6);
    assert_eq!(resolve("threads = 2", 3).unwrap().thread_count, 3);
    let error = resolve("threads = 3", 2).unwrap_err().to_string();
    let wanted = "`fs_mark.threads` is `3`, not a multiple of `2`, the number of directories, \
                  up to 64";
    assert_eq!(error, wanted);
    assert!(resolve("", 65).is_err());
}

#[test]
fn values_outside_their_range_are_refused() {
    for text in [
        "threads = 0",
        "threads = 65",
        "files = 0",
        "files = 1000001",
        "size = \"2g\"",
        "write_size = 0",
        "write_size = \"2m\"",
        "subdirectories = 1",
        "files_per_subdirectory = 5",
        "name_length = 129",
        "random_length = 129",
    ] {
        let error = resolve(text, 1).unwrap_err();
        assert!(error.to_string().starts_with("`fs_mark."), "{error}");
    }
    assert!(toml::from_str::<FsMark>("sync_method = \"often\"").is_err());
    assert!(toml::from_str::<FsMark>("sync_method = 1").is_err());
}

/// A letter for each phase of a round: c and C create (without and with fsync), s syncs all, f and
/// r open and sync forward and in reverse, 1 only the first, u removes.
fn stages(text: &str) -> String {
    let plan = resolve(&format!("files = 10\n{text}"), 1).unwrap();
    let program = plan.program();
    let letter = |phase: &&ProgramPhase| {
        let group = &phase.groups[0];
        let calls = group.calls();
        let has = |operation| calls.iter().any(|call| call.operation == operation);
        let CallObject::Name(pick) = &calls[0].on else {
            assert!(has(FileOperation::Sync), "{phase:?}");
            return 's';
        };
        let is_once = !group.quotas.is_empty();
        match (calls[0].operation, &pick.order) {
            (FileOperation::Create, PickOrder::Next) if has(FileOperation::Fsync) => 'C',
            (FileOperation::Create, PickOrder::Next) => 'c',
            (FileOperation::Open, PickOrder::Index(0)) if is_once => '1',
            (FileOperation::Open, PickOrder::Next) if !is_once => 'f',
            (FileOperation::Open, PickOrder::Back) if !is_once => 'r',
            (FileOperation::Unlink, PickOrder::Next) => 'u',
            other => panic!("{other:?}"),
        }
    };
    program.phases().iter().map(letter).collect()
}

#[test]
fn each_method_syncs_where_the_original_does() {
    let all: Vec<_> = [
        "none",
        "fsync",
        "sync-first",
        "post-reverse",
        "sync-post-reverse",
        "post",
        "sync-post",
    ]
    .map(|name| stages(&format!("sync_method = \"{name}\"")))
    .into();
    assert_eq!(all, ["cu", "Cu", "cs1u", "cru", "csru", "cfu", "csfu"]);
    assert_eq!(stages("loops = 1"), "C");
    assert_eq!(stages("until_full = true"), "C");
    assert_eq!(stages("loops = 2\nkeep = false"), "Cu");
}

#[test]
fn the_settings_can_be_recovered_from_the_program() {
    for options in [
        "",
        "sync_method = \"none\"\nkeep = true\nloops = 3",
        "sync_method = \"sync-first\"\nsubdirectories = 4\nfiles_per_subdirectory = 2",
        "sync_method = \"post-reverse\"\nsubdirectories = 4\nfiles_per_subdirectory = 0\n\
         threads = 2",
        "sync_method = \"sync-post-reverse\"\nsubdirectories = 7\nuntil_full = true",
        "sync_method = \"post\"\nname_length = 10\nrandom_length = 20",
        "sync_method = \"sync-post\"\nfiles = 3\nsize = 0\nwrite_size = 1",
    ] {
        let options = format!("mkdir_every_file = true\n{options}");
        let plan = resolve(&options, 1).unwrap();
        for program in [plan.program(), plan.program_of_threads()] {
            assert_eq!(program.check(), Ok(()), "{options}");
            let mut recovered = FsMarkPlan::of_program(&program).unwrap();
            if plan.until_full {
                recovered.iterations = plan.iterations;
            }
            assert_eq!(recovered, plan, "{options}");
        }
    }
}
