use description::classics::fs_mark::{FsMarkPlan, Subdirectories};

use super::*;

fn parsed(text: &str) -> Result<FsMarkInvocation, String> {
    let words: Vec<_> = text.split_whitespace().map(Into::into).collect();
    parse(&words).map_err(|refusal| refusal.message)
}

#[test]
fn only_the_creation_of_directories_differs_from_the_table() {
    let plan = FsMark::default().resolve(1).unwrap();
    assert_eq!(parsed("-d a").unwrap().settings.resolve(1).unwrap(), {
        FsMarkPlan {
            is_directory_made: true,
            ..plan
        }
    });
}

#[test]
fn sync_methods_have_the_numbers_of_the_command_line() {
    for (number, method) in (0..).zip(SyncMethod::ALL) {
        assert_eq!(method.number(), number);
        let invocation = parsed(&format!("-d a -S {number}")).unwrap();
        assert_eq!(invocation.settings.sync_method, Some(method));
    }
}

#[test]
fn every_option_is_accepted() {
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
fn numbers_are_read_as_in_the_original_with_a_warning() {
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
        ("-d", "option `-d` needs a value"),
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
    assert!(refusal.usage.ends_with("this help\n"));
    assert!(parsed(&"-d a ".repeat(65)).is_err());
}
