//! Defaults, limits, steps and commands.

use std::ffi::OsStr;

use super::*;

fn read(text: &str) -> CreateRemove {
    toml::from_str(text).unwrap()
}

fn plan(text: &str) -> CreateRemovePlan {
    read(text).resolve().unwrap()
}

#[test]
fn the_defaults_are_those_of_the_published_page() {
    let plan = plan("");
    assert_eq!(plan.file_count, 500_000);
    assert_eq!(plan.sizes_bytes, [0, 4096, 16_384, 65_536]);
    assert_eq!((plan.directory_count, plan.write_bytes), (1, 65_536));
    assert_eq!(plan.order, Order::Forward);
    assert_eq!((plan.between, plan.mode), (Between::Nothing, Mode::Syscall));
}

#[test]
fn every_size_is_created_and_removed_and_nothing_follows_the_last_step() {
    let plan = plan("sizes = [0, \"4k\"]\nbetween = \"remount\"");
    let step = |act, size_bytes, then| Step {
        act,
        size_bytes,
        then,
    };
    let wanted = [
        step(Act::Create, 0, Between::Remount),
        step(Act::Remove, 0, Between::Remount),
        step(Act::Create, 4096, Between::Remount),
        step(Act::Remove, 4096, Between::Nothing),
    ];
    assert_eq!(plan.steps(), wanted);
}

#[test]
fn a_stat_step_stands_between_the_two_and_is_left_like_any_other() {
    let plan = plan("sizes = 4096\nstat = true\norder = \"reverse\"\nbetween = \"drop-caches\"");
    let steps = plan.steps();
    let acts: Vec<_> = steps.iter().map(|it| (it.act, it.then)).collect();
    let wanted = [
        (Act::Create, Between::DropCaches),
        (Act::Stat, Between::DropCaches),
        (Act::Remove, Between::Nothing),
    ];
    assert_eq!(acts, wanted);
    assert_eq!(plan.chain(&steps[1]), Chain::Stat);
    assert_eq!(plan.order(&steps[1]), Order::Reverse);
    assert_eq!(steps[1].payload_bytes(10), 0);
}

#[test]
fn a_plan_of_an_earlier_version_has_no_stat_step() {
    let mut value = serde_json::to_value(plan("count = 7")).unwrap();
    assert!(
        value
            .as_object_mut()
            .unwrap()
            .remove("is_statted")
            .is_some()
    );
    let earlier: CreateRemovePlan = serde_json::from_value(value).unwrap();
    assert_eq!(earlier, plan("count = 7"));
}

#[test]
fn only_removal_follows_the_order_asked_for() {
    let plan = plan("order = \"random\"\nsizes = 8192\nwrite_size = \"4k\"");
    let [create, remove] = plan.steps()[..] else {
        panic!("one size makes two steps");
    };
    assert_eq!(plan.order(&create), Order::Forward);
    assert_eq!(plan.order(&remove), Order::Random);
    assert_eq!(plan.chain(&remove), Chain::Remove);
    let wanted = Chain::Create {
        size_bytes: 8192,
        write_bytes: 4096,
        is_empty_written: false,
        sync: FileSync::None,
        is_directory_made: false,
    };
    assert_eq!(plan.chain(&create), wanted);
    assert_eq!(create.payload_bytes(1000), 8_192_000);
    assert_eq!(remove.payload_bytes(1000), 0);
}

#[test]
fn values_outside_their_range_are_refused_with_what_they_may_be() {
    for (text, message) in [
        (
            "count = 0",
            "`create_remove.count` is `0`, not 1 to 100000000",
        ),
        ("sizes = []", "`create_remove.sizes` is empty"),
        (
            "sizes = \"2t\"",
            "`create_remove.sizes` is `2199023255552`, not 0 to 1099511627776",
        ),
        (
            "write_size = 0",
            "`create_remove.write_size` is `0`, not 1 to 67108864",
        ),
        (
            "directories = 65537",
            "`create_remove.directories` is `65537`, not 1 to 65536",
        ),
        (
            "mode = \"exec\"\nsync = \"fsync\"",
            "`create_remove.sync` has no effect without `mode = \"syscall\"`",
        ),
    ] {
        let error = read(text).resolve().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.help().is_empty());
    }
}

#[test]
fn unknown_keys_and_words_are_refused() {
    for text in [
        "counts = 1",
        "order = \"sideways\"",
        "between = \"unmount\"",
        "mode = 1",
        "count = -1",
    ] {
        assert!(toml::from_str::<CreateRemove>(text).is_err(), "{text}");
    }
}

#[test]
fn settings_come_back_as_they_were_written() {
    let text = "count = 10\nsizes = \"4KiB\"\norder = \"reverse\"\nbetween = \"drop-caches\"\n";
    assert_eq!(toml::to_string(&read(text)).unwrap(), text);
}

#[test]
fn each_kind_of_step_starts_the_program_of_the_script() {
    let line = |act, size_bytes| {
        let step = Step {
            act,
            size_bytes,
            then: Between::Nothing,
        };
        let exec = Exec::of(&step);
        assert_eq!(exec.baseline.program, "true");
        assert!(exec.baseline.arguments(OsStr::new("d/7")).is_empty());
        let mut words = vec![exec.each.program.to_owned()];
        for word in exec.each.arguments(OsStr::new("d/7")) {
            words.push(word.into_string().unwrap());
        }
        words.join(" ")
    };
    assert_eq!(line(Act::Create, 0), "touch d/7");
    assert_eq!(
        line(Act::Create, 4096),
        "dd if=/dev/zero of=d/7 bs=4096 count=1"
    );
    assert_eq!(line(Act::Remove, 4096), "rm d/7");
    assert_eq!(line(Act::Remove, 0), "rm d/7");
    assert_eq!(line(Act::Stat, 4096), "stat d/7");
}
