//! What descriptions and options say is what is planned.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use description::{Overrides, Workload, load, load_builtin, read_toml, to_toml};
use plan::Plan;
use plan::facts::SystemFacts;
use planning::plan;

/// The plan, but for where its values come from.
fn planned(workloads: &[Workload], overrides: &Overrides) -> Plan {
    let planned = plan(workloads, overrides, &SystemFacts::default())
        .unwrap()
        .plan;
    let settings = Vec::new();
    Plan {
        settings,
        ..planned
    }
}

fn assert_same_description(workloads: &[Workload], overrides: &Overrides) {
    let text = to_toml(&overrides.written(workloads).unwrap()).unwrap();
    let read = load("x.toml", &text);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(
        planned(&read, &Overrides::new()),
        planned(workloads, overrides),
        "{text}"
    );
}

fn overrides(pairs: &[&str], targets: &[&str]) -> Overrides {
    let mut overrides = Overrides::new();
    for pair in pairs {
        overrides.set_pair(pair).unwrap();
    }
    if !targets.is_empty() {
        overrides.set_targets(targets.iter().map(|it| (*it).to_owned()).collect());
    }
    overrides
}

#[test]
fn a_built_in_workload_and_a_pack_read_back_to_the_same_plan() {
    let options = overrides(&["iodepth=1,32", "size=2g", "run_time=5s"], &["/mnt/x"]);
    assert_same_description(&load_builtin("oltp").unwrap(), &options);
    assert_same_description(&load_builtin("quick").unwrap(), &options);
    let two = overrides(&[], &["/mnt/a", "/mnt/b"]);
    assert_same_description(&load_builtin("file-server").unwrap(), &two);
    let files = overrides(&["number=2000", "workers=2"], &["/mnt/x"]);
    assert_same_description(&load_builtin("postmark").unwrap(), &files);
}

#[test]
fn worker_targets_are_replaced_as_in_planning() {
    let text = "[[worker]]\ntargets = [\"a\", \"b\"]\n[[worker]]\ntargets = \"b\"\n\
                [[access_spec]]\nline = [{ size = \"4k\" }]\n";
    let mut workload = read_toml("x.toml", text).unwrap();
    workload.name = Some("x".to_owned());
    workload.source = Some("y".to_owned());
    assert_same_description(&[workload.clone()], &overrides(&[], &["/mnt/1", "/mnt/2"]));
    assert_same_description(&[workload], &overrides(&[], &["/mnt/1"]));
}

#[test]
fn an_absolute_location_becomes_the_target() {
    let text = "targets = \"/x\"\n[postmark]\nlocations = [\"a\"]\n";
    let workload = read_toml("x.toml", text).unwrap();
    for pair in [
        "location=/mnt/y z",
        "postmark.locations=/mnt/y z",
        "locations=[\"/mnt/y z\"]",
    ] {
        let overrides = overrides(&[pair], &[]);
        let plan = plan(
            std::slice::from_ref(&workload),
            &overrides,
            &Default::default(),
        )
        .unwrap()
        .plan;
        assert_eq!(plan.targets[0].path.to_str(), Some("/mnt/y z"));
        let source = |key: &str| {
            plan.settings
                .iter()
                .find(|it| it.key == key)
                .unwrap()
                .source
        };
        assert_eq!(source("targets"), plan::Source::Option);
        assert_eq!(source("postmark.locations"), plan::Source::Option);
        assert_eq!(source("postmark.number"), plan::Source::Default);
    }
}

#[test]
fn an_iometer_configuration_without_specifications_is_refused() {
    let text = "[iometer]\n[[worker]]\nname = \"Worker 1\"\n";
    let read = load("sample.toml", text).unwrap();
    let planned = plan(&read, &Overrides::new(), &Default::default());
    let refusals = planned.unwrap().refusals;
    assert_eq!(
        refusals.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "error: there is nothing to run: no worker has an access specification\n\
             help: add an `[[access_spec]]`"
        ]
    );
}
