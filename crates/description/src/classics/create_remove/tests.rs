//! Defaults, limits, steps and commands.

use super::*;
use crate::classics::read_stored;
use plan::program::{
    self, CallObject, FileCommand, FileOperation, FileSharing, MovedBytes, PhasePreparation,
};

fn read(text: &str) -> CreateRemove {
    toml::from_str(text).unwrap()
}

fn plan(text: &str) -> CreateRemovePlan {
    read(text).resolve().unwrap()
}

#[test]
fn the_defaults_match_the_published_page() {
    let plan = plan("");
    assert_eq!(plan.file_count, 500_000);
    assert_eq!(plan.sizes_bytes, [0, 4096, 16_384, 65_536]);
    assert_eq!((plan.directory_count, plan.write_bytes), (1, 65_536));
    assert_eq!(plan.order, Order::Forward);
    assert_eq!(
        (plan.between, plan.mode),
        (BetweenSteps::Nothing, CreateRemoveMode::Syscall)
    );
}

/// Each phase with what comes before it.
fn phases(plan: &CreateRemovePlan) -> Vec<(String, Vec<PhasePreparation>)> {
    let program = plan.program();
    program.check().unwrap();
    let phases = program.phases().into_iter();
    phases
        .map(|phase| (phase.name.clone(), phase.before.clone()))
        .collect()
}

/// The calls of a phase, each with how much it moves, in pieces of how much.
fn calls(plan: &CreateRemovePlan, phase: usize) -> Vec<(FileOperation, Option<u64>, u32)> {
    let program = plan.program();
    let group = &program.phases()[phase].groups[0];
    let calls = group.calls().into_iter();
    calls
        .map(|call| match &call.bytes {
            MovedBytes::Law(law) if call.operation.moves() => {
                (call.operation, law.always(), call.piece_bytes)
            }
            _ => (call.operation, None, 0),
        })
        .collect()
}

/// In which order a phase visits files.
fn order(plan: &CreateRemovePlan, phase: usize) -> program::PickOrder {
    let program = plan.program();
    let CallObject::Name(pick) = program.phases()[phase].groups[0].calls()[0].on.clone() else {
        panic!("the first call of a phase is on a name");
    };
    assert_eq!(pick.turn, FileSharing::Slice);
    pick.order
}

#[test]
fn each_size_is_created_and_removed_with_nothing_before_the_first_step() {
    let plan = plan("sizes = [0, \"4k\", 0]\nbetween = \"remount\"");
    let between = || vec![PhasePreparation::Remount];
    let wanted = [
        ("create empty", vec![]),
        ("remove empty", between()),
        ("create 4KiB", between()),
        ("remove 4KiB", between()),
        ("create empty (2)", between()),
        ("remove empty (2)", between()),
    ];
    assert_eq!(
        phases(&plan),
        wanted.map(|(name, it)| (name.to_owned(), it))
    );
    let by_phase = plan.program().files_by_phase();
    let files = |phase| by_phase.get(phase).map(|it| (it.count, it.bytes));
    assert_eq!(files("remove 4KiB"), Some((500_000, 4096)));
    assert_eq!(files("remove empty (2)"), Some((500_000, 0)));
}

#[test]
fn a_stat_step_runs_between_create_and_remove_like_any_other_step() {
    let plan = plan("sizes = 4096\nstat = true\norder = \"reverse\"\nbetween = \"drop-caches\"");
    let between = || vec![PhasePreparation::DropCaches];
    let wanted = [
        ("create 4KiB", vec![]),
        ("stat 4KiB", between()),
        ("remove 4KiB", between()),
    ];
    assert_eq!(
        phases(&plan),
        wanted.map(|(name, it)| (name.to_owned(), it))
    );
    assert_eq!(calls(&plan, 1), [(FileOperation::Stat, None, 0)]);
    assert_eq!(order(&plan, 1), program::PickOrder::Back);
}

#[test]
fn a_plan_of_an_earlier_version_becomes_the_same_program() {
    let stored = r#"{"kind":"create-remove","file_count":7,"sizes_bytes":[0],"write_bytes":1,
        "directory_count":3,"order":"forward","between":"nothing","mode":"exec","sync":"none"}"#;
    let earlier = read_stored(stored);
    let text = "count = 7\nsizes = 0\ndirectories = 3\nmode = \"exec\"";
    assert_eq!(earlier, plan(text).program());
}

#[test]
fn only_removal_follows_the_requested_order() {
    let text = "order = \"random\"\nsizes = 8192\nwrite_size = \"4k\"\nsync = \"fdatasync\"";
    let plan = plan(text);
    assert_eq!(order(&plan, 0), program::PickOrder::Next);
    assert_eq!(order(&plan, 1), program::PickOrder::Shuffled);
    let wanted = [
        (FileOperation::Create, None, 0),
        (FileOperation::Write, Some(8192), 4096),
        (FileOperation::Fdatasync, None, 0),
        (FileOperation::Close, None, 0),
    ];
    assert_eq!(calls(&plan, 0), wanted);
    assert_eq!(calls(&plan, 1), [(FileOperation::Unlink, None, 0)]);
}

#[test]
fn empty_files_are_not_written_to() {
    let calls = calls(&plan("sizes = 0"), 0);
    let operations: Vec<FileOperation> = calls.into_iter().map(|it| it.0).collect();
    assert_eq!(operations, [FileOperation::Create, FileOperation::Close]);
}

#[test]
fn values_outside_their_range_are_refused_with_the_allowed_range() {
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
            "`create_remove.sync` needs `mode = \"syscall\"`",
        ),
    ] {
        let error = read(text).resolve().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.help().is_empty());
    }
}

#[test]
fn unknown_keys_and_values_are_refused() {
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
fn settings_are_written_back_unchanged() {
    let text = "count = 10\nsizes = \"4KiB\"\norder = \"reverse\"\nbetween = \"drop-caches\"\n";
    assert_eq!(toml::to_string(&read(text)).unwrap(), text);
}

#[test]
fn each_kind_of_step_runs_the_command_of_the_script() {
    let plan = plan("sizes = [0, 4096]\nstat = true\nmode = \"exec\"");
    let program = plan.program();
    program.check().unwrap();
    let spawned = program.groups().map(|group| group.spawn.clone().unwrap());
    let commands: Vec<FileCommand> = spawned.map(|it| it.command).collect();
    let wanted = [
        FileCommand::Touch,
        FileCommand::Stat,
        FileCommand::Remove,
        FileCommand::Fill { bytes: 4096 },
        FileCommand::Stat,
        FileCommand::Remove,
    ];
    assert_eq!(commands, wanted);
    assert!(program.starts_programs());
    assert_eq!(program.space_needed().bytes, 500_000 * 4096);
    let files = program.files_by_phase()["remove 4KiB"];
    assert_eq!((files.count, files.bytes), (500_000, 4096));
}
