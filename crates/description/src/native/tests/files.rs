//! Tables of file workloads: read back as written, and refused with their place.

use proptest::prelude::*;
use proptest::sample::select;

use super::{bytes, option, refusal};
use crate::classics::fs_mark::SyncMethod;
use crate::classics::postmark::PoolSharing;
use crate::classics::postmark::{Choice, Compat, Postmark, ReportForm};
use crate::classics::{CreateRemove, FileSync, FsMark, LatFs, Order};
use crate::model::{OneOrMany, Workload};
use crate::{read_toml, to_toml};
use plan::program::Fsync;

fn postmark() -> impl Strategy<Value = Postmark> {
    let numbers = (any::<Option<u32>>(), option(bytes()), any::<Option<i64>>());
    let names = option(prop::collection::vec(".{0,8}".prop_map(String::from), 0..3));
    let choice = prop_oneof![Just(Choice::Uniform), (0.1_f64..9.0).prop_map(Choice::Zipf)];
    (numbers, names, any::<Option<bool>>(), option(choice)).prop_map(
        |((number, size, bias), names, flag, choice)| Postmark {
            number,
            max_size: size,
            write_block: size,
            locations: names.map(OneOrMany::from),
            buffering: flag,
            create_bias: bias,
            compat: flag.map(|_| Compat::V1_14),
            report: flag.map(|_| ReportForm::Terse),
            fsync: flag.map(|_| Fsync::PerTransaction),
            choice,
            pool: flag.map(|_| PoolSharing::Shared),
            keep_open: number,
            ..Postmark::default()
        },
    )
}

fn workload() -> impl Strategy<Value = Workload> {
    let numbers = (any::<Option<u32>>(), option(bytes()), any::<Option<bool>>());
    let method = select(SyncMethod::ALL.to_vec());
    (postmark(), numbers, method, 0..4).prop_map(
        |(postmark, (number, size, flag), method, which)| {
            let order = flag.map(|_| Order::Random);
            let sizes = size.map(OneOrMany::One);
            Workload {
                postmark: (which == 0).then_some(postmark),
                create_remove: (which == 1).then(|| CreateRemove {
                    count: number,
                    sizes: sizes.clone(),
                    order,
                    sync: flag.map(|_| FileSync::Fdatasync),
                    ..CreateRemove::default()
                }),
                lat_fs: (which == 2).then(|| LatFs {
                    files: number,
                    sizes: sizes.clone(),
                    order,
                    ..LatFs::default()
                }),
                fs_mark: (which == 3).then(|| FsMark {
                    threads: number,
                    size,
                    keep: flag,
                    sync_method: Some(method),
                    ..FsMark::default()
                }),
                ..Workload::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn tables_read_back_as_written(workload in workload()) {
        let text = to_toml(&workload).unwrap();
        let read: Workload = toml::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(read, workload, "{}", text);
    }
}

#[test]
fn mistakes_in_a_table_are_reported_with_their_line() {
    assert_eq!(
        refusal("[postmark]\ntransaction = 3\n"),
        "error: unknown key `transaction`\n  --> w.toml:2:1\n   2 | transaction = 3\n\
         help: did you mean `transactions`? Number of transactions of each worker, 1 to \
         2147483647; with `run_time`, the time ends them instead"
    );
    assert_eq!(
        refusal("[postmark]\nread_bias = \"often\"\n"),
        "error: `postmark.read_bias` is `\"often\"`, not a whole number\n  --> w.toml:2:13\n   \
         2 | read_bias = \"often\"\nhelp: write a number without quotes"
    );
    assert_eq!(
        refusal("[postmark]\nchoice = \"zipf\"\n"),
        "error: `postmark.choice` is `\"zipf\"` without a value\n  --> w.toml:2:10\n   \
         2 | choice = \"zipf\"\nhelp: write `choice = { zipf = 1.2 }`"
    );
    assert_eq!(
        refusal("[fs_mark]\nsync_method = \"fsyncs\"\n"),
        "error: `fsyncs` is not a value of `fs_mark.sync_method`\n  --> w.toml:2:15\n   \
         2 | sync_method = \"fsyncs\"\nhelp: did you mean `fsync`?"
    );
}

#[test]
fn values_out_of_range_are_reported_with_their_line() {
    assert_eq!(
        refusal("[postmark]\nmin_size = 1\nread_bias = 11\n"),
        "error: `postmark.read_bias` is `11`, not -1 to 10\n  --> w.toml:3:13\n   \
         3 | read_bias = 11\nhelp: write -1 to 10"
    );
    for (line, message) in [
        (
            "number = 0",
            "`postmark.number` is `0`, not 1 to 1073741823",
        ),
        (
            "transactions = 0",
            "`postmark.transactions` is `0`, not 1 to 2147483647",
        ),
        (
            "max_size = \"2GiB\"",
            "`postmark.max_size` is `2147483648`, not 1 to 2147483647",
        ),
        (
            "min_size = 5\nmax_size = 4",
            "`postmark.max_size` is `4B`, not at least `min_size` (5B)",
        ),
        (
            "read_block = 0",
            "`postmark.read_block` is `0`, not 1 to 2147483647",
        ),
        (
            "choice = { zipf = 1 }",
            "`postmark.choice` is `{ zipf = 1 }`, not a skew from 0 to 100, such as \
             `{ zipf = 1.2 }`; 0 and 1 are none",
        ),
        (
            "locations = \"a x\"",
            "`postmark.locations` is `a x`, not `name` or `name WEIGHT` with a weight from 1 to \
             2147483647",
        ),
        (
            "locations = [\"a\", \"a/\"]",
            "`postmark.locations` is `a, a`, not each directory once",
        ),
    ] {
        let error = read_toml("w.toml", &format!("[postmark]\n{line}\n")).unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.line.is_some()),
            (message, true)
        );
    }
}

#[test]
fn setting_only_one_bound_moves_the_other() {
    let bounds = |line: &str| {
        let workload = read_toml("w.toml", &format!("[postmark]\n{line}\n")).unwrap();
        let settings = workload.postmark.unwrap().resolve(42).unwrap().settings;
        (settings.size_low_bytes, settings.size_high_bytes)
    };
    assert_eq!(bounds(""), (500, 10_000));
    assert_eq!(bounds("min_size = \"64KiB\""), (65_536, 65_536));
    assert_eq!(bounds("max_size = 100"), (100, 100));
}

#[test]
fn locations_must_be_below_the_target() {
    assert_eq!(
        refusal("[postmark]\nlocations = [\"a\", \"../b 3\"]\n"),
        "error: `postmark.locations`: `../b 3` leads out of the target\n  --> w.toml:2:13\n   \
         2 | locations = [\"a\", \"../b 3\"]\n\
         help: name the directory with `--target`, and here one within it"
    );
    for place in ["/mnt/x", "", "a/../b", "./a", "a//b", "a\\u0000"] {
        let text = format!("[postmark]\nlocations = \"{place}\"\n");
        let error = read_toml("w.toml", &text).unwrap_err();
        assert!(
            error.message.starts_with("`postmark.locations`: `"),
            "{error}"
        );
    }
    assert!(refusal("[postmark]\nlocations = [\".\", \"a\"]\n").contains("the target itself"));
    let workload = read_toml("w.toml", "[postmark]\nlocations = \"./\"\n").unwrap();
    let plan = workload.postmark.unwrap().resolve(42).unwrap();
    assert!(plan.settings.locations.is_empty());
}

fn load_error(text: &str) -> String {
    let error = crate::load("w.toml", text).unwrap_err();
    error.to_string()
}

#[test]
fn a_workload_has_either_one_table_or_access_specifications() {
    assert_eq!(
        load_error("[lat_fs]\n[postmark]\n"),
        "error: there are both `[postmark]` and `[lat_fs]`\n  --> w.toml:1:1\n   1 | [lat_fs]\n\
         help: put each into its own `[[part]]`"
    );
    assert_eq!(
        load_error("use = \"oltp\"\n[postmark]\n"),
        "error: there are both `[postmark]` and `[[access_spec]]`\n  --> w.toml\n\
         help: put each into its own `[[part]]`"
    );
}

#[test]
fn keys_that_do_not_apply_to_files_are_refused_with_their_line() {
    assert_eq!(
        load_error("size = \"1GiB\"\n[postmark]\n"),
        "error: `size` does not apply to `[postmark]`: its own keys set the sizes of its files\n  \
         --> w.toml:1:8\n   1 | size = \"1GiB\"\n\
         help: write `min_size` and `max_size` in `[postmark]`"
    );
    assert_eq!(
        load_error("run_time = 3\n[[part]]\nworkers = 2\n[part.create_remove]\n"),
        "error: `run_time` does not apply to `[create_remove]`: it ends when its work is done\n  \
         --> w.toml:2:1\n   2 | [[part]]\n\
         help: leave `run_time` out"
    );
    for key in ["ramp_time = 1", "until = \"steady\""] {
        let error = load_error(&format!("{key}\n[create_remove]\n"));
        assert!(error.contains("it ends when its work is done"), "{error}");
    }
    for key in [
        "start = 1",
        "keep = true",
        "warm = true",
        "position = \"uniform\"",
        "cursor = \"shared\"",
        "sqpoll = true",
        "iopoll = true",
        "test_type = \"cycle-workers\"",
        "cycling.workers.start = 1",
        "worker = [{ count = 2 }]",
        "verify = true",
    ] {
        let message = load_error(&format!("{key}\n[lat_fs]\n"));
        assert!(
            message.contains("does not apply to `[lat_fs]`"),
            "{message}"
        );
    }
    assert!(load_error("content = \"zero\"\n[postmark]\n").contains("does not apply"));
    let harmless = "ramp_time = 0\nwarm = false\nverify = false\nrun_time = 0\n[lat_fs]\n";
    assert!(crate::load("w.toml", harmless).is_ok());
}

#[test]
fn file_workloads_refuse_engines_caches_and_seeds_they_cannot_use() {
    for (key, message) in [
        (
            "engine = \"mmap\"",
            "the engine `mmap` cannot do the operations of `[fs_mark]`",
        ),
        (
            "cache = \"dontcache\"",
            "`dontcache` does not work with `[fs_mark]`",
        ),
    ] {
        let error = load_error(&format!("{key}\n[fs_mark]\n"));
        assert!(error.starts_with(&format!("error: {message}\n")), "{error}");
    }
    for seed in ["0", "2147483648"] {
        assert_eq!(
            load_error(&format!("seed = {seed}\n[postmark]\n")),
            format!(
                "error: `seed` is {seed}, not from 1 to 2147483647\n  --> w.toml:1:8\n   \
                 1 | seed = {seed}\nhelp: write `seed = 42`, as PostMark has it"
            )
        );
    }
}

#[test]
fn a_required_key_may_come_from_the_enclosing_pack() {
    // Alone in the part, it is complete only with what the pack says.
    let text = "[fs_mark]\nsubdirectories = 4\n[[part]]\n[part.fs_mark]\n\
                files_per_subdirectory = 2\n";
    assert!(crate::load("w.toml", text).is_ok());
    assert!(
        load_error("[fs_mark]\nfiles_per_subdirectory = 2\n").contains("needs `subdirectories`")
    );
}
