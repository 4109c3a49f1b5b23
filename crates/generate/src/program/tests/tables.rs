//! The programs of other programs' tables.

use workload::classics::CreateRemove;

use super::*;

/// What each phase asks for, one file of each size, with two workers of whom one has none.
fn asked(program: &Program) -> Vec<String> {
    let phases = program.phases().into_iter();
    let asked = phases.map(|phase| {
        let makes = phase.name.starts_with("create");
        let setting = Setting {
            workers: 2,
            present: vec![u32::from(!makes)],
            ..Setting::default()
        };
        let seen = carry_out(program, phase, &setting);
        assert!(
            seen.is_ended && seen.model.wrong.is_empty(),
            "{}",
            phase.name
        );
        assert_eq!(seen.done.into_values().collect::<Vec<_>>(), [(1, 0)]);
        seen.model.log.join(", ")
    });
    asked.collect()
}

#[test]
fn a_step_of_create_remove_asks_for_the_system_calls_of_its_size() {
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
    assert_eq!(asked(&settings.resolve().unwrap().program()), wanted);
}
