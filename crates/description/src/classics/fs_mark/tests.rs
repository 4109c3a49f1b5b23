//! Settings, stages and command lines.

use std::ffi::OsString;
use std::path::PathBuf;

use super::*;
use ::plan::program::{FileOperation, On, Order, ProgramPhase};

fn resolve(text: &str, directory_count: u32) -> Result<FsMarkPlan, ClassicError> {
    let settings = toml::from_str::<FsMark>(text).unwrap();
    settings.resolve(directory_count)
}

fn parsed(text: &str) -> Result<Invocation, String> {
    let words: Vec<_> = text.split_whitespace().map(Into::into).collect();
    parse(&words).map_err(|refusal| refusal.to_string())
}

#[test]
fn the_defaults_are_those_of_version_3_3() {
    let plan = resolve("", 1).unwrap();
    assert_eq!((plan.thread_count, plan.file_count), (1, 1000));
    assert_eq!((plan.size_bytes, plan.write_bytes), (51_200, 16_384));
    assert_eq!((plan.name_length, plan.random_length), (40, 24));
    assert_eq!(plan.sync_method, SyncMethod::Fsync);
    assert_eq!(plan.subdirectories, Subdirectories::None);
    assert_eq!((plan.iterations, plan.is_kept), (1, false));
    assert_eq!(plan.iteration_bytes(), 51_200_000);
    assert_eq!(plan.writes_per_file(), 4);
    assert_eq!(parsed("-d a").unwrap().settings.resolve(1).unwrap(), {
        FsMarkPlan {
            is_directory_made: true,
            ..plan
        }
    });
}

#[test]
fn threads_are_at_least_one_a_directory_and_a_multiple_of_them() {
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
        let On::Name(pick) = &calls[0].on else {
            assert!(has(FileOperation::Sync), "{phase:?}");
            return 's';
        };
        let is_once = !group.quotas.is_empty();
        match (calls[0].operation, &pick.order) {
            (FileOperation::Create, Order::Next) if has(FileOperation::Fsync) => 'C',
            (FileOperation::Create, Order::Next) => 'c',
            (FileOperation::Open, Order::Index(0)) if is_once => '1',
            (FileOperation::Open, Order::Next) if !is_once => 'f',
            (FileOperation::Open, Order::Back) if !is_once => 'r',
            (FileOperation::Unlink, Order::Next) => 'u',
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
fn the_numbers_of_the_methods_are_those_of_the_command_line() {
    for (number, method) in (0..).zip(SyncMethod::ALL) {
        assert_eq!(method.number(), number);
        let invocation = parsed(&format!("-d a -S {number}")).unwrap();
        assert_eq!(invocation.settings.sync_method, Some(method));
    }
}

#[test]
fn every_option_is_taken() {
    let text = "-v -d a -d b -n 500 -s 100 -w 10 -t 4 -D 16 -N 10 -S 4 -L 3 -p 30 -r 8 -l log";
    let invocation = parsed(text).unwrap();
    assert!(invocation.is_verbose && invocation.warnings.is_empty());
    assert_eq!(invocation.directories, ["a", "b"].map(PathBuf::from));
    assert_eq!(invocation.log_file, PathBuf::from("log"));
    let plan = invocation.settings.resolve(2).unwrap();
    let wanted = FsMarkPlan {
        thread_count: 4,
        file_count: 500,
        size_bytes: 100,
        write_bytes: 10,
        sync_method: SyncMethod::SyncPostReverse,
        subdirectories: Subdirectories::RoundRobin {
            count: 16,
            each_count: 10,
        },
        name_length: 30,
        random_length: 8,
        iterations: 3,
        is_kept: true,
        until_full: false,
        is_directory_made: true,
    };
    assert_eq!(plan, wanted);
    let filling = parsed("-d a -F").unwrap().settings.resolve(1).unwrap();
    assert!(filling.until_full && filling.is_kept);
}

#[test]
fn numbers_are_read_as_the_original_reads_them_and_that_is_said() {
    let invocation = parsed("-d a -s 1k -S x extra -t 0 -L 0").unwrap();
    let plan = invocation.settings.resolve(1).unwrap();
    assert_eq!(plan.size_bytes, 1);
    assert_eq!(plan.sync_method, SyncMethod::None);
    assert_eq!((plan.thread_count, plan.iterations), (1, 1));
    assert_eq!(
        invocation.warnings,
        [
            "`-s 1k` is taken as `1`, as fs_mark does",
            "`-S x` is taken as `0`, as fs_mark does",
            "`extra` is not an option and is ignored",
        ]
    );
}

#[test]
fn bad_command_lines_say_what_is_wrong() {
    for (text, message) in [
        ("", "there is no directory: `-d` is missing"),
        ("-h", ""),
        ("-x", "there is no option `-x`"),
        ("-d", "option `-d` lacks its value"),
        ("-d a -n 0", "`-n` is `0`, not 1 to 1000000"),
        ("-d a -n abc", "`-n` is `0`, not 1 to 1000000"),
        ("-d a -w 0", "`-w` is `0`, not 1 to 1048576"),
        ("-d a -s -5", "`-s` is `-5`, not 0 to 2147483647"),
        ("-d a -S 7", "`-S` is `7`, not 0 to 6"),
        ("-d a -D 1", "`-D` is `1`, not 2 to 65536"),
        ("-d a -p 129", "`-p` is `129`, not 0 to 128"),
        (
            "-d a -N 5",
            "`fs_mark.files_per_subdirectory` needs `subdirectories`",
        ),
        (
            "-d a -d b -t 3",
            "`fs_mark.threads` is `3`, not a multiple of `2`, the number of directories, up to 64",
        ),
    ] {
        assert_eq!(parsed(text).unwrap_err(), message, "{text}");
    }
    let refusal = parse(&["-h".into()]).unwrap_err();
    assert_eq!(refusal.exit_code, 1);
    assert!(refusal.usage.ends_with("this text\n"));
    assert!(parsed(&"-d a ".repeat(65)).is_err());
}

#[test]
fn what_a_program_came_from_is_known_again() {
    for options in [
        "-d a",
        "-d a -S 0 -k -L 3",
        "-d a -S 2 -D 4 -N 2",
        "-d a -S 3 -D 4 -N 0 -t 2",
        "-d a -S 4 -D 7 -F",
        "-d a -S 5 -p 10 -r 20",
        "-d a -S 6 -n 3 -s 0 -w 1",
    ] {
        let words: Vec<OsString> = options.split(' ').map(Into::into).collect();
        let plan = parse(&words).unwrap().settings.resolve(1).unwrap();
        for program in [plan.program(), plan.program_of_threads()] {
            assert_eq!(program.check(), Ok(()), "{options}");
            let mut known = FsMarkPlan::of_program(&program).unwrap();
            if plan.until_full {
                known.iterations = plan.iterations;
            }
            assert_eq!(known, plan, "{options}");
        }
    }
}
