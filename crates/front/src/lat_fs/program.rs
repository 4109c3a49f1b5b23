//! The program for a file size: as in the table, but with the original's open flags and errors.

use description::classics::lat_fs::LatFsPlan;
use plan::program::{
    Access, FileFilter, FileOperation, Group, OnFailure, OpenModePlan, PickOrder, Program,
    ProgramPart, ProgramPhase, RoundsEnd,
};

use crate::acts::{named, picked};

/// The program for files of one size. It ends at the first call that fails.
pub fn of_size(plan: &LatFsPlan, size_bytes: u64, warm_up_us: u32) -> Program {
    let one_size = LatFsPlan {
        sizes_bytes: vec![size_bytes],
        ..plan.clone()
    };
    let mut program = one_size.program();
    // The original opens with creat: only for writing, truncated, mode 0666.
    program.ways = vec![OpenModePlan {
        access: Access::Write,
        is_truncating: true,
        permissions: 0o666,
        // The original calls `write`, not `pwrite`.
        seeks: true,
        ..OpenModePlan::default()
    }];
    if warm_up_us > 0 {
        let warm_up = warm_up(&program, u64::from(warm_up_us) * 1000);
        let parts = program.parts.into_iter();
        program.parts = parts.flat_map(|part| [warm_up.clone(), part]).collect();
    }
    for phase in program.phases_mut() {
        for group in &mut phase.groups {
            group.failed = OnFailure::EndRun;
        }
    }
    program
}

/// Creates and removes files one by one for this time.
fn warm_up(program: &Program, time_ns: u64) -> ProgramPart {
    let phases = program.phases().into_iter();
    let first = phases.flat_map(|phase| &phase.groups).next();
    let unlink = picked(0, FileFilter::Present, PickOrder::Next);
    let mut body = first.map(|group| group.body.clone()).unwrap_or_default();
    body.push(named(FileOperation::Unlink, unlink, 0));
    let group = Group {
        name: "workers".to_owned(),
        body,
        ..Group::default()
    };
    ProgramPart::Rounds {
        until: RoundsEnd::Times(1),
        parts: vec![ProgramPart::Phase(ProgramPhase {
            name: "warm up".to_owned(),
            is_hidden: true,
            time_ns: Some(time_ns),
            groups: vec![group],
            ..ProgramPhase::default()
        })],
    }
}
