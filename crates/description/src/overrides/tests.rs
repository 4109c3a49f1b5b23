use units::{Bytes, Span};

use super::*;
use crate::model::{CpuList, Worker};
use plan::EngineKind;

fn with(pairs: &[&str]) -> Overrides {
    let mut overrides = Overrides::new();
    for pair in pairs {
        overrides.set_pair(pair).unwrap();
    }
    overrides
}

/// The one workload with the options in place.
fn applied(overrides: &Overrides, workload: &Workload) -> Workload {
    let applied = overrides.applied(std::slice::from_ref(workload)).unwrap();
    assert!(applied.warnings.is_empty());
    applied.workloads.into_iter().next().unwrap()
}

fn refusal(pair: &str) -> String {
    Overrides::new().set_pair(pair).unwrap_err().to_string()
}

#[test]
fn values_need_neither_quotes_nor_brackets() {
    let overrides = with(&[
        "iodepth=1,4,16",
        "size=4GiB",
        "run_time=90",
        "ramp_time=500ms",
        "engine=psync",
        "name=7",
        "verify=true",
        "cpus=0-2",
        "cycling.iodepth.end=64",
        "cycling.iodepth.start=2",
    ]);
    let workload = applied(&overrides, &Workload::default());
    assert_eq!(workload.iodepth, Some(OneOrMany::Many(vec![1, 4, 16])));
    assert_eq!(workload.size, Some(Bytes(4 << 30)));
    assert_eq!(workload.run_time, Some(Span::from_secs(90)));
    assert_eq!(workload.ramp_time, Some(Span::from_millis(500)));
    assert_eq!(workload.engine, Some(EngineKind::Psync));
    assert_eq!(workload.name.as_deref(), Some("7"));
    assert_eq!(workload.verify, Some(true));
    assert_eq!(workload.cpus, Some(CpuList(vec![0, 1, 2])));
    let depth = workload.cycling.unwrap().iodepth.unwrap();
    assert_eq!((depth.start, depth.end), (Some(2), Some(64)));
    assert!(overrides.has("cycling") && !overrides.has("batch"));
}

#[test]
fn an_option_applies_to_every_worker() {
    let worker = Worker {
        iodepth: Some(3),
        seed: None,
        ..Worker::default()
    };
    let workload = Workload {
        worker: vec![worker],
        ..Workload::default()
    };
    assert_eq!(
        applied(&with(&["iodepth=8"]), &workload).worker[0].iodepth,
        None
    );
    assert_eq!(
        applied(&with(&["size=4k"]), &workload).worker[0].iodepth,
        Some(3)
    );
}

#[test]
fn an_unknown_key_suggests_the_nearest() {
    for (pair, key, said) in [
        ("iodpth=3", "iodpth", "Requests each worker keeps in flight"),
        ("cycling.iodepht.end=3", "iodepht", "Queue depths"),
    ] {
        let wanted = format!("error: unknown key `{key}`\nhelp: did you mean `iodepth`? {said}");
        assert!(refusal(pair).starts_with(&wanted), "{}", refusal(pair));
    }
}

#[test]
fn help_for_a_pair_is_written_as_a_pair() {
    for (pair, message) in [
        ("iodepth=-5", "help: write `--set iodepth=1`"),
        (
            "iodepth=",
            "`iodepth` is empty, not a whole number from 1 to 32768",
        ),
        (
            "access_spec.line.size=8k",
            "`access_spec.line.size` is in a list of tables, which `--set` cannot change",
        ),
        ("find_rate=p99", "error: `p99` is not one of p50"),
    ] {
        let refused = Overrides::new().set_pair(pair).unwrap_err().to_string();
        assert!(refused.contains(message), "{pair}: {refused}");
    }
}

#[test]
fn a_value_out_of_range_is_refused_at_once() {
    assert_eq!(
        refusal("iodepth=100000"),
        "error: `iodepth` is 100000, not from 1 to 32768\n\
         help: spread the requests over several workers"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_the_expected_type() {
    assert_eq!(
        refusal("verify=maybe"),
        "error: `verify` is `maybe`, not `true` or `false`\nhelp: write `true` or `false`"
    );
    assert_eq!(
        refusal("size=4q"),
        "error: `size`: `4q` is not a size\n\
         help: write a size such as `4k`, `1.5GiB`, `4kB` or `512`"
    );
}

#[test]
fn a_value_cannot_inject_other_keys() {
    for pair in [
        "iodepth=1\nverify=true",
        "a b=1",
        "=1",
        "x",
        "a..b=1",
        "\"name\"=x",
    ] {
        assert!(Overrides::new().set_pair(pair).is_err(), "{pair}");
    }
    // A text with a line break is a text, which a name may not be.
    assert!(Overrides::new().set_pair("name=a\nverify=true").is_err());
}

fn files(text: &str) -> Workload {
    let loaded = crate::load("w.toml", text);
    loaded.unwrap().remove(0)
}

fn leads_to(pairs: &[&str], text: &str) -> String {
    let workload = applied(&with(pairs), &files(text));
    let text = crate::to_toml(&Workload {
        name: None,
        source: None,
        ..workload
    })
    .unwrap();
    text.lines()
        .skip(1)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

fn useless(pairs: &[&str], text: &str) -> String {
    let error = with(pairs).applied(&[files(text)]).err().unwrap();
    error.to_string()
}

#[test]
fn values_that_are_valid_only_together_may_come_in_any_order() {
    // Sizes go from 500 to 10,000 bytes by default.
    let pairs = ["postmark.min_size=20k", "postmark.max_size=40k", "number=7"];
    let above = "[postmark]; number = 7; min_size = \"20KiB\"; max_size = \"40KiB\"";
    for order in [[0, 1, 2], [1, 0, 2], [0, 2, 1], [2, 1, 0]] {
        let pairs = order.map(|index| pairs[index]);
        assert_eq!(leads_to(&pairs, "[postmark]\n"), above, "{pairs:?}");
    }
    let pairs = ["max_size=100", "min_size=50"];
    let below = "[postmark]; min_size = \"50B\"; max_size = \"100B\"";
    assert_eq!(leads_to(&pairs, "[postmark]\n"), below);
}

#[test]
fn a_table_key_applies_to_the_table_that_the_workload_has() {
    assert_eq!(
        leads_to(
            &["number=9999", "transactions=5000000"],
            "[postmark]\nnumber = 5\n"
        ),
        "[postmark]; number = 9999; transactions = 5000000"
    );
    assert_eq!(
        leads_to(&["postmark.number=9"], "[postmark]\n"),
        "[postmark]; number = 9"
    );
    assert_eq!(
        leads_to(&["postmark.number=9", "number=8", "seed=7"], "[postmark]\n"),
        "seed = 7; [postmark]; number = 8"
    );
    assert_eq!(
        leads_to(&["sizes=0,4KiB", "order=reverse"], "[lat_fs]\n"),
        "[lat_fs]; sizes = [\"0B\", \"4KiB\"]; order = \"reverse\""
    );
    for (pair, table, written) in [
        ("compat=3", "lat_fs", "compat = \"3\""),
        ("compat=1.14", "postmark", "compat = \"1.14\""),
        (
            "choice.zipf=1.2",
            "postmark",
            "[postmark.choice]; zipf = 1.2",
        ),
        (
            "choice={ zipf = 1.2 }",
            "postmark",
            "[postmark.choice]; zipf = 1.2",
        ),
        ("pool=shared", "postmark", "pool = \"shared\""),
        ("threads=4", "fs_mark", "threads = 4"),
        ("mode=exec", "create_remove", "mode = \"exec\""),
        (
            "locations=a,b 3",
            "postmark",
            "locations = [\"a\", \"b 3\"]",
        ),
    ] {
        let result = leads_to(&[pair], &format!("[{table}]\n"));
        assert!(result.ends_with(written), "{result}");
    }
}

#[test]
fn workload_keys_take_precedence_over_table_keys_except_size() {
    assert_eq!(
        leads_to(&["repetitions=3"], "[lat_fs]\n"),
        "repetitions = 3; [lat_fs]"
    );
    assert_eq!(
        leads_to(&["size=4k"], "[fs_mark]\n"),
        "[fs_mark]; size = \"4KiB\""
    );
    assert_eq!(
        leads_to(&["size=500 10000"], "[postmark]\n"),
        "[postmark]; min_size = \"500B\"; max_size = \"10000B\""
    );
    assert_eq!(
        leads_to(&["size=4k", "read=4096", "write=1k"], "[postmark]\n"),
        "[postmark]; min_size = \"4KiB\"; max_size = \"4KiB\"; read_block = \"4KiB\"; \
         write_block = \"1KiB\""
    );
    assert_eq!(
        leads_to(&["size=4k"], "[lat_fs]\n"),
        "[lat_fs]; sizes = \"4KiB\""
    );
    assert_eq!(
        useless(&["size=1 2"], "use = \"oltp\"\n"),
        "error: `size`: `1 2` is not a size\n\
         help: write a size such as `4k`, `1.5GiB`, `4kB` or `512`"
    );
}

#[test]
fn an_option_that_no_workload_uses_is_refused() {
    assert_eq!(
        useless(&["number=3"], "use = \"oltp\"\n"),
        "error: `number` is a key of `[postmark]`, which `oltp` does not use\n\
         help: leave `number` out, or run a workload that has it"
    );
    assert_eq!(
        useless(&["count=3"], "[postmark]\n"),
        "error: `count` is not a key of `[postmark]`, which `w` uses\n\
         help: leave `count` out, or use a key of `[postmark]`; `pgmeter keys postmark` lists them"
    );
    assert_eq!(
        useless(&["files=3", "files=4"], "[create_remove]\n"),
        "error: `files` is not a key of `[create_remove]`, which `w` uses\n\
         help: leave `files` out, or use a key of `[create_remove]`: `between`, `count`, \
         `directories`, `mode`, `order`, `sizes`, `stat`, `sync`, `write_size` or `size`"
    );
    assert_eq!(
        useless(&["lat_fs.order=random"], "[create_remove]\n"),
        "error: `lat_fs.order` is a key of `[lat_fs]`, which `w` does not have\n\
         help: leave `lat_fs.order` out, or run a workload that has it"
    );
    assert_eq!(
        useless(&["order=random", "start=3"], "[lat_fs]\n"),
        "error: `start` does not apply to `[lat_fs]`: files are used from their first byte on\n\
         help: leave `start` out"
    );
    assert_eq!(
        useless(&["compat=1.53"], "[lat_fs]\n"),
        "error: `1.53` is not a value of `lat_fs.compat`\nhelp: the values are `1.6` or `3`"
    );
}

#[test]
fn an_option_that_only_some_workloads_use_is_a_warning() {
    let workloads = [
        files("use = \"oltp\"\n"),
        files("[postmark]\n"),
        files("[create_remove]\n"),
    ];
    let warnings = |pair: &str| {
        let applied = with(&[pair, pair]).applied(&workloads).unwrap();
        applied
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        warnings("run_time=5"),
        [
            "warning: `run_time` does not apply to `[create_remove]`: it ends when its work is \
             done\nhelp: leave `run_time` out"
        ]
    );
    assert_eq!(warnings("number=5").len(), 2);
    assert_eq!(warnings("postmark.number=5"), [""; 0]);
    assert_eq!(warnings("size=4k"), [""; 0]);
    assert_eq!(warnings("seed=4"), [""; 0]);
}

#[test]
fn an_absolute_location_becomes_the_target() {
    let workload = files("targets = \"/x\"\n[postmark]\nlocations = [\"a\"]\n");
    for pair in [
        "location=/mnt/y z",
        "postmark.locations=/mnt/y z",
        "locations=[\"/mnt/y z\"]",
    ] {
        let overrides = with(&[pair]);
        assert_eq!(overrides.targets_of(&workload), ["/mnt/y z"]);
        assert!(overrides.targets_of(&files("[lat_fs]\n")).is_empty());
    }
    assert_eq!(with(&["location=/y 3"]).targets_of(&workload), ["/y"]);
    assert!(
        with(&["location=/y", "location=b"])
            .targets_of(&workload)
            .is_empty()
    );
    assert!(refusal("locations=/y,/z").contains("several targets"));
    assert!(refusal("location=../y").contains("leads out of the target"));
    let mut both = with(&["location=/y"]);
    both.set_targets(vec!["/z".to_owned()]);
    assert_eq!(
        both.applied(&[workload]).err().unwrap().to_string(),
        "error: `/z` and the location `/y` are both targets\nhelp: name one of them"
    );
}

#[test]
fn mistakes_in_table_keys_are_reported_immediately() {
    for (pair, near, said) in [
        (
            "transaction=3",
            "transactions",
            "Number of transactions of each worker",
        ),
        (
            "postmark.numbr=3",
            "number",
            "Number of files that each worker creates",
        ),
    ] {
        let wanted = format!("help: did you mean `{near}`? {said}");
        assert!(refusal(pair).contains(&wanted), "{}", refusal(pair));
    }
    assert_eq!(
        refusal("number=many"),
        "error: `postmark.number` is `many`, not a whole number from 1 to 1073741823\n\
         help: write a number"
    );
    assert_eq!(
        refusal("number=0"),
        "error: `postmark.number` is `0`, not 1 to 1073741823\nhelp: write 1 to 1073741823"
    );
    assert!(refusal("size=x y").contains("is not a size"));
}

#[test]
fn a_key_that_matters_only_while_reading_a_file_is_not_an_option() {
    let error = refusal("use=randread-4k");
    assert!(
        error.contains("`use` cannot be set by an option"),
        "{error}"
    );
}

/// The names of the workloads into which `workload` is made by the options.
fn names(overrides: &Overrides, workload: &Workload) -> Vec<String> {
    let applied = overrides.applied(std::slice::from_ref(workload)).unwrap();
    let names = applied.workloads.iter();
    names.map(|it| it.name_or_default().to_owned()).collect()
}

fn named(name: &str) -> Workload {
    Workload {
        name: Some(name.to_owned()),
        ..Workload::default()
    }
}

#[test]
fn several_values_make_one_workload_per_combination() {
    let overrides = with(&["workers=1,2", "iodepth=1,8", "engine=psync, io_uring"]);
    assert_eq!(
        names(&overrides, &named("a")),
        [
            "a, engine=psync",
            "a, engine=io_uring",
            "a, engine=psync",
            "a, engine=io_uring",
        ]
    );
    let applied = overrides.applied(&[named("a")]).unwrap().workloads;
    assert_eq!(applied[3].workers, Some(2));
    assert_eq!(applied[3].engine, Some(EngineKind::IoUring));
    // Depths are cells of one workload.
    assert_eq!(applied[3].iodepth, Some(OneOrMany::Many(vec![1, 8])));
    assert_eq!(applied[3].pack.as_deref(), Some("a"));
    let varied = applied[3].varied.as_ref().unwrap();
    let settings = varied.settings.iter();
    let settings: Vec<_> = settings
        .map(|it| (it.key.as_str(), it.value.as_str()))
        .collect();
    assert_eq!(settings, [("workers", "2"), ("engine", "io_uring")]);
    assert!(overrides.has("workers") && overrides.has("engine"));
}

#[test]
fn a_written_file_keeps_the_combinations_for_the_table_of_results() {
    let overrides = with(&["workers=1,2", "size=1m,4m"]);
    let workloads = crate::load_builtin("randread-4k").unwrap();
    let applied = overrides.applied(&workloads).unwrap().workloads;
    let text = crate::to_toml(&overrides.written(&workloads).unwrap()).unwrap();
    let again = crate::load("x.toml", &text).unwrap();
    let variants = |workloads: &[Workload]| -> Vec<_> {
        workloads.iter().map(|it| it.varied.clone()).collect()
    };
    assert_eq!(variants(&again), variants(&applied));
    assert!(variants(&again).iter().all(Option::is_some));

    // An option with one value leaves nothing that varies in it.
    let keys = |pair: &str| -> Vec<Vec<String>> {
        let applied = with(&[pair]).applied(&again).unwrap().workloads;
        let settings = applied
            .iter()
            .map(|it| it.varied.as_ref().map(|it| &it.settings));
        let keys = settings.map(|it| it.into_iter().flatten().map(|it| it.key.clone()).collect());
        keys.collect()
    };
    assert_eq!(keys("total_size=8m"), vec![["workers"]; 4]);
    assert_eq!(keys("run_time=1s"), vec![["workers", "size"]; 4]);
}

#[test]
fn sizes_are_measured_one_by_one_also_where_a_range_is_possible() {
    let postmark = crate::load_builtin("postmark").unwrap();
    let ranges = |pair: &str| -> Vec<_> {
        let applied = with(&[pair]).applied(&postmark).unwrap().workloads;
        let tables = applied.into_iter().filter_map(|it| it.postmark);
        tables.map(|it| (it.min_size, it.max_size)).collect()
    };
    let each = [ranges("size=1k"), ranges("size=4k")].concat();
    assert_eq!(each.len(), 2);
    assert_eq!(ranges("size=1k,4k"), each);
    assert_eq!(ranges("size=1k 4k"), [(each[0].0, each[1].1)]);
}

#[test]
fn a_variant_without_or_with_repeated_settings_is_refused() {
    for (settings, wanted) in [
        ("", "`settings` is empty"),
        (
            "{ key = \"bs\", value = \"4k\" }, { key = \"bs\", value = \"8k\" }",
            "`settings` has two values for `bs`",
        ),
    ] {
        let text = format!("varied = {{ of = \"a\", settings = [{settings}] }}\n");
        let error = crate::load("x.toml", &text).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn the_last_option_for_a_key_wins_with_all_its_values() {
    let last = |pairs: &[&str]| names(&with(pairs), &named("a"));
    assert_eq!(last(&["batch=1,2", "batch=3"]), ["a"]);
    assert_eq!(
        last(&["batch=3", "batch=1,2"]),
        ["a, batch=1", "a, batch=2"]
    );
    assert_eq!(
        last(&["batch=1,2", "batch=4,8"]),
        ["a, batch=4", "a, batch=8"]
    );
}

#[test]
fn several_amounts_of_data_are_not_replaced_silently() {
    for (varied, other) in [
        ("total_size=1g,2g", "size"),
        ("total_size=1g,2g", "times_memory"),
        ("times_memory=1x,2x", "total_size"),
    ] {
        let value = if other == "times_memory" { "1x" } else { "4g" };
        let mut overrides = with(&[varied]);
        let error = overrides.set(other, value).unwrap_err();
        let (key, _) = varied.split_once('=').unwrap();
        let wanted = format!("`{other}` replaces `{key}`, which has several values");
        assert_eq!(error.message, wanted);
    }
    // The other way round, the later amount counts.
    let overrides = with(&["size=4g", "total_size=1g,2g"]);
    let wanted = ["a, total_size=1g", "a, total_size=2g"];
    assert_eq!(names(&overrides, &named("a")), wanted);
}

#[test]
fn table_keys_also_take_several_values() {
    let workloads = crate::load_builtin("postmark").unwrap();
    let overrides = with(&["transactions=1000,2000"]);
    let applied = overrides.applied(&workloads).unwrap().workloads;
    let counts = applied
        .iter()
        .map(|it| it.postmark.as_ref().unwrap().transactions);
    assert_eq!(counts.collect::<Vec<_>>(), [Some(1000), Some(2000)]);
}

#[test]
fn a_workload_without_the_key_is_not_multiplied() {
    let mut workloads = crate::load_builtin("postmark").unwrap();
    workloads.push(named("a"));
    let overrides = with(&["transactions=1000,2000"]);
    let applied = overrides.applied(&workloads).unwrap();
    let names = applied.workloads.iter().map(Workload::name_or_default);
    let wanted = [
        "postmark, transactions=1000",
        "postmark, transactions=2000",
        "a",
    ];
    assert_eq!(names.collect::<Vec<_>>(), wanted);
    assert_eq!(applied.warnings.len(), 1);
}

#[test]
fn mistakes_in_a_list_of_values_name_the_value() {
    assert!(
        refusal("workers=1,x").contains("`x`"),
        "{}",
        refusal("workers=1,x")
    );
    assert!(refusal("workers=2,2").contains("`2` is given twice for `workers`"));
    assert!(
        refusal("workers=a,b").contains("a,b"),
        "{}",
        refusal("workers=a,b")
    );
    let many: Vec<String> = (1..=40).map(|it| it.to_string()).collect();
    let many = many.join(",");
    let overrides = with(&[&format!("workers={many}"), &format!("batch={many}")]);
    let error = overrides.applied(&[named("a")]).err().unwrap();
    assert!(
        error.message.contains("1600 combinations"),
        "{}",
        error.message
    );
}

#[test]
fn several_values_are_written_as_a_pack() {
    let overrides = with(&["workers=1,2"]);
    let written = overrides.written(&[named("a")]).unwrap();
    assert_eq!(written.name.as_deref(), Some("a"));
    let workers = written.part.iter().map(|part| part.workers);
    assert_eq!(workers.collect::<Vec<_>>(), [Some(1), Some(2)]);
}
