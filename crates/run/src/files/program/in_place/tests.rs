use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use plan::EngineKind;
use plan::program::{
    FileNames, FileSharing, FilesetPlan, FilesetSharing, Law, NamesInPlace, OnFailure,
    OpenModePlan, Pick, PickOrder, ProgramPart, ProgramPhase, RoundsEnd, STAMP_MARK,
};
use results::Status;
use storage::InPlace;

use super::*;
use crate::files::tests::plan;
use crate::session::{Finished, RunOptions};

/// Ten files of each of two workers, in three directories, made in every round.
fn program(until: RoundsEnd) -> Program {
    let absent = Pick {
        fileset: 0,
        which: FileFilter::Absent,
        order: PickOrder::Next,
        turn: FileSharing::Own,
    };
    let call = |operation, on| plan::program::Act::Call(Call::new(operation, on));
    let make = Group {
        workers: Some(2),
        body: vec![
            call(Op::Create, CallObject::Name(absent)),
            call(Op::Close, CallObject::Handle),
        ],
        failed: OnFailure::EndRun,
        ..Group::default()
    };
    Program {
        filesets: vec![FilesetPlan {
            name: "files".to_owned(),
            path: String::new(),
            copies: FilesetSharing::PerWorker,
            count: 10,
            names: FileNames::Number {
                before: "f{round}.{worker}.".to_owned(),
                digits: 0,
                after: String::new(),
            },
            tree: DirectoryTree::Blocks { each: 4 },
            size: Law::fixed(0),
            present_permille: 0,
        }],
        ways: vec![OpenModePlan::default()],
        parts: vec![ProgramPart::Rounds {
            until,
            parts: vec![ProgramPart::Phase(ProgramPhase {
                name: "make".to_owned(),
                groups: vec![make],
                ..ProgramPhase::default()
            })],
        }],
        ..Program::default()
    }
}

fn in_place(path: &Path, program: Program, options: &RunOptions) -> Finished {
    let files = Box::new(program);
    let options = RunOptions {
        in_place: Some(InPlace {
            program: "test".to_owned(),
            names: NamesInPlace::Words { count: 1 },
        }),
        ..options.clone()
    };
    let plan = plan(path, EngineKind::Psync, 2, files);
    crate::measure(crate::RunSpec::new(&plan, &mut |_| {}), &options, None)
}

fn files_below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true => found.extend(files_below(&path).iter().map(|it| format!("{name}/{it}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

#[test]
fn only_the_files_that_a_program_keeps_remain() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("mine"), "mine").unwrap();
    let done = in_place(
        scratch.path(),
        program(RoundsEnd::Times(2)),
        &RunOptions::default(),
    );
    assert!(done.error.is_none(), "{:?}", done.error);
    assert_eq!(done.record.status, Status::Complete);
    let found = files_below(scratch.path());
    assert_eq!(found.len(), 1 + 2 * 2 * 10, "{found:?}");
    assert!(found.contains(&"d0/f0.0.0".to_owned()) && found.contains(&"d2/f1.1.9".to_owned()));
}

#[test]
fn a_name_conflict_fails_the_run_and_removes_only_its_own_files() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("d1")).unwrap();
    fs::write(scratch.path().join("d1/f1.1.5"), "mine").unwrap();
    let done = in_place(
        scratch.path(),
        program(RoundsEnd::Times(9)),
        &RunOptions::default(),
    );
    let message = done.error.expect("a failure").to_string();
    let wanted = format!(
        "cannot create `{}/d1/f1.1.5`: File exists",
        scratch.path().display()
    );
    assert!(message.starts_with(&wanted), "{message}");
    assert_eq!(files_below(scratch.path()), ["d1/f1.1.5"]);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
}

#[test]
fn a_stopped_run_removes_everything_it_created() {
    let scratch = tempfile::tempdir().unwrap();
    let options = RunOptions::default();
    let stop = options.stop.clone();
    let stopping = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        stop.store(true, Ordering::Relaxed);
    });
    let done = in_place(
        scratch.path(),
        program(RoundsEnd::Times(1_000_000)),
        &options,
    );
    stopping.join().unwrap();
    assert_eq!(done.record.status, Status::Interrupted);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

/// The same in trees of a round's own, from which all is removed but what somebody put there.
fn program_with_own_rounds(until: RoundsEnd) -> Program {
    let mut program = program(until);
    program.filesets[0].path = format!("own_{STAMP_MARK}");
    program.filesets[0].names = FileNames::Low { each: 3 };
    program.filesets[0].tree = DirectoryTree::Flat;
    program
}

#[test]
fn the_directories_of_a_round_are_removed_after_it() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("mine"), "mine").unwrap();
    let program = program_with_own_rounds(RoundsEnd::Times(3));
    let done = in_place(scratch.path(), program, &RunOptions::default());
    assert!(done.error.is_none(), "{:?}", done.error);
    let created = done.record.cells[0].operations["create"].count;
    assert_eq!(
        (created, done.record.cells[0].total.errors),
        (3 * 2 * 10, 0)
    );
    assert_eq!(files_below(scratch.path()), ["mine"]);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
}

#[test]
fn the_directories_of_a_stopped_round_are_removed() {
    let scratch = tempfile::tempdir().unwrap();
    let options = RunOptions::default();
    let stop = options.stop.clone();
    let stopping = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        stop.store(true, Ordering::Relaxed);
    });
    let program = program_with_own_rounds(RoundsEnd::Times(1_000_000));
    let done = in_place(scratch.path(), program, &options);
    stopping.join().unwrap();
    assert_eq!(done.record.status, Status::Interrupted);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn a_program_that_may_touch_user_files_is_refused_among_them() {
    let assert_refused = |change: fn(&mut Program)| {
        let mut program = program(RoundsEnd::Times(1));
        change(&mut program);
        let scratch = tempfile::tempdir().unwrap();
        let done = in_place(scratch.path(), program, &RunOptions::default());
        let message = done.error.expect("a refusal").to_string();
        assert!(message.contains("among the user's files"), "{message}");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    };
    assert_refused(|program| program.ways[0].takes_existing = true);
    assert_refused(|program| program.filesets[0].path = "below".to_owned());
    assert_refused(|program| program.filesets[0].names = FileNames::Low { each: 3 });
    assert_refused(|program| {
        let unlink = Call::new(
            Op::Unlink,
            CallObject::Name(Pick {
                fileset: 0,
                which: FileFilter::Any,
                order: PickOrder::Next,
                turn: FileSharing::Own,
            }),
        );
        for phase in program.phases_mut() {
            phase.groups[0].body = vec![plan::program::Act::Call(unlink.clone())];
        }
    });
}
