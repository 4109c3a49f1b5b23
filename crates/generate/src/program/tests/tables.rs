//! The programs of other programs' tables.

use description::classics::fs_mark::SyncMethod;
use description::classics::{CreateRemove, FsMark};
use units::Bytes as Size;

use super::*;

/// What each phase asks for, one file of each size, with two workers of whom one has none.
fn requested_files(program: &Program) -> Vec<String> {
    let phases = program.phases().into_iter();
    let calls = phases.map(|phase| {
        let makes = phase.name.starts_with("create");
        let setting = Setting {
            workers: 2,
            present: vec![u32::from(!makes)],
            ..Setting::default()
        };
        let outcome = carry_out(program, phase, &setting);
        assert!(
            outcome.is_ended && outcome.model.violations.is_empty(),
            "{}",
            phase.name
        );
        assert_eq!(outcome.done.into_values().collect::<Vec<_>>(), [(1, 0)]);
        outcome.model.log.join(", ")
    });
    calls.collect()
}

#[test]
fn each_create_remove_step_makes_the_system_calls_of_its_size() {
    let settings = CreateRemove {
        count: Some(1),
        stat: Some(true),
        ..CreateRemove::default()
    };
    let wanted = [
        "create 0/0, close 0/0",
        "stat 0/0",
        "unlink 0/0",
        "create 0/0, write 4096@0, close 0/0",
        "stat 0/0",
        "unlink 0/0",
        "create 0/0, write 16384@0, close 0/0",
        "stat 0/0",
        "unlink 0/0",
        "create 0/0, write 65536@0, close 0/0",
        "stat 0/0",
        "unlink 0/0",
    ];
    assert_eq!(
        requested_files(&settings.resolve().unwrap().program()),
        wanted
    );
}

#[test]
fn an_fs_mark_iteration_makes_the_traced_system_calls() {
    // The model has no directories that are made before each file.
    let settings = FsMark {
        files: Some(3),
        size: Some(Size(40)),
        write_size: Some(Size(16)),
        sync_method: Some(SyncMethod::SyncFirst),
        ..FsMark::default()
    };
    let program = settings.resolve(1).unwrap().program();
    let phases = program.phases().into_iter();
    let calls = phases.map(|phase| {
        let setting = Setting {
            present: vec![if phase.name == "create" { 0 } else { 3 }],
            ..Setting::default()
        };
        let outcome = carry_out(&program, phase, &setting);
        assert!(
            outcome.is_ended && outcome.model.violations.is_empty(),
            "{}: {:?}",
            phase.name,
            outcome.model.violations
        );
        outcome.model.log.join(", ")
    });
    let file = |index: u32| {
        format!("create 0/{index}, write 16@0, write 16@16, write 8@32, close 0/{index}")
    };
    let wanted = [
        [file(0), file(1), file(2)].join(", "),
        "sync 0/0".to_owned(),
        "open 0/0, fsync 0/0, close 0/0".to_owned(),
        "unlink 0/0, unlink 0/1, unlink 0/2".to_owned(),
    ];
    assert_eq!(calls.collect::<Vec<_>>(), wanted);
}
