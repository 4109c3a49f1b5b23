//! A program that passes its checks makes no other code panic.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod any_program;

use any_program::program;
use plan::program::{PIECE_BYTES_MAX, Program};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Calls everything that reads a program; `None` if the program does not pass its checks.
fn read(program: &Program, factor: f64) -> Option<()> {
    // Refusing an invalid program must not panic either.
    let is_good = program.check().is_ok();
    let _ = program.check_depth(2);
    if !is_good {
        return None;
    }
    let _ = (program.words(), program.settings(), program.operations());
    let _ = (program.times_ns(), program.workers_max());
    let _ = (program.space_needed(), program.direct_amounts());
    assert!(program.buffer_bytes() <= PIECE_BYTES_MAX);
    assert_eq!(program.scaled(factor).check(), Ok(()));
    let json = serde_json::to_string(program).unwrap();
    assert_eq!(serde_json::from_str::<Program>(&json).unwrap(), *program);
    Some(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_program_that_passes_the_check_causes_no_panic(program in program(), factor in 0.0..2.0) {
        let _ = read(&program, factor);
    }
}

#[test]
fn many_generated_programs_pass_the_check() {
    let mut runner = TestRunner::deterministic();
    let programs = (0..500).map(|_| program().new_tree(&mut runner).unwrap().current());
    let passed = programs.filter_map(|program| read(&program, 0.1)).count();
    assert!(passed > 25, "{passed}");
}
