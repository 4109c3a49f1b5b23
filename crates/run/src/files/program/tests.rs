use plan::EngineKind;
use plan::program::{
    Act, Call, CallObject, DirectoryNesting, DirectoryTree, FileFilter, FileNames, FileOperation,
    FileSharing, FilesetPlan, FilesetSharing, Group, Law, MovedBytes, NestedDirectories,
    OpenModePlan, Pick, PickOrder, Program, ProgramPart, ProgramPhase, RoundsEnd,
};

use crate::files::tests::{plan, record_of};

fn call(operation: FileOperation, on: CallObject) -> Act {
    Act::Call(Call::new(operation, on))
}

fn name(filter: FileFilter) -> CallObject {
    CallObject::Name(Pick {
        fileset: 0,
        which: filter,
        order: PickOrder::Next,
        turn: FileSharing::Own,
    })
}

/// Ten files of 100 bytes for each of two workers, made, then removed.
fn program() -> Program {
    let phase = |name: &str, group: Group| {
        ProgramPart::Phase(ProgramPhase {
            name: name.to_owned(),
            groups: vec![group],
            ..ProgramPhase::default()
        })
    };
    let write = Act::Call(Call {
        bytes: MovedBytes::Size,
        ..Call::new(FileOperation::Write, CallObject::Handle)
    });
    let make = Group {
        workers: Some(2),
        body: vec![
            call(FileOperation::Create, name(FileFilter::Absent)),
            write,
            call(FileOperation::Close, CallObject::Handle),
        ],
        ..Group::default()
    };
    let remove = Group {
        workers: Some(1),
        body: vec![call(FileOperation::Unlink, name(FileFilter::Present))],
        ..Group::default()
    };
    Program {
        labels: Vec::new(),
        filesets: vec![FilesetPlan {
            name: "files".to_owned(),
            path: String::new(),
            copies: FilesetSharing::PerWorker,
            count: 10,
            names: FileNames::Number {
                before: String::new(),
                digits: 0,
                after: String::new(),
            },
            tree: DirectoryTree::Flat,
            size: Law::fixed(100),
            present_permille: 0,
        }],
        ways: vec![OpenModePlan::default()],
        tokens: Vec::new(),
        parts: vec![ProgramPart::Rounds {
            until: RoundsEnd::Times(1),
            parts: vec![phase("make", make), phase("remove", remove)],
        }],
        ..Program::default()
    }
}

#[test]
fn a_round_records_times_and_amounts_of_each_worker() {
    for engine in [EngineKind::Psync, EngineKind::Null] {
        let scratch = tempfile::tempdir().unwrap();
        let files = Box::new(program());
        let record = record_of(&plan(scratch.path(), engine, 2, files));
        let [make, remove] = &record.cells[..] else {
            panic!("{:?}", record.cells.len());
        };
        let rounds = &make.phase_figures.as_ref().unwrap().rounds;
        let [round] = &rounds[..] else {
            panic!("{rounds:?}");
        };
        assert_eq!(round.workers.len(), 2);
        for worker in &round.workers {
            let window = worker.window.unwrap();
            let counts = (window.rounds, window.calls, window.written_bytes);
            assert_eq!(counts, (11, 30, 1000), "{engine:?}");
            let stamps = [
                window.begin_ns,
                window.body_ns,
                window.body_end_ns,
                window.end_ns,
            ];
            assert!(stamps.is_sorted() && stamps[0] < stamps[3], "{stamps:?}");
            assert_eq!(worker.of("create").count, 10);
        }
        let first = round.workers.iter().filter_map(|it| it.window);
        assert_eq!(first.map(|it| it.begin_ns).min(), Some(0));
        let removal = remove.phase_figures.as_ref().unwrap();
        assert_eq!(removal.rounds[0].workers.len(), 1);
    }
}

/// The same in the directories of a tree; the program creates the tree before and removes it after,
/// twice.
fn in_a_tree(mut program: Program) -> Program {
    let nested = NestedDirectories {
        before: "t.".to_owned(),
        digits: 0,
        fan: 2,
        nesting: DirectoryNesting::Heap,
    };
    let files = &mut program.filesets[0];
    files.path = "r{round}".to_owned();
    files.names = FileNames::Number {
        before: "f.{worker}.".to_owned(),
        digits: 0,
        after: String::new(),
    };
    files.tree = DirectoryTree::Nested {
        each: 4,
        directories: nested.clone(),
    };
    program.filesets.push(FilesetPlan {
        name: "tree".to_owned(),
        copies: FilesetSharing::One,
        count: 3,
        names: FileNames::Ways(nested),
        tree: DirectoryTree::Flat,
        size: Law::fixed(0),
        ..program.filesets[0].clone()
    });
    let [ProgramPart::Rounds { until, parts }] = &mut program.parts[..] else {
        panic!("{:?}", program.parts);
    };
    *until = RoundsEnd::Times(2);
    let ProgramPart::Phase(remove) = &mut parts[1] else {
        panic!("{parts:?}");
    };
    remove.groups[0].workers = Some(2);
    let (mkdir, rmdir) = (FileOperation::Mkdir, FileOperation::Rmdir);
    parts.insert(
        0,
        of_tree("plant", mkdir, FileFilter::Absent, PickOrder::Next),
    );
    parts.push(of_tree("fell", rmdir, FileFilter::Present, PickOrder::Back));
    program
}

fn of_tree(
    name: &str,
    operation: FileOperation,
    filter: FileFilter,
    order: PickOrder,
) -> ProgramPart {
    let pick = Pick {
        fileset: 1,
        which: filter,
        order,
        turn: FileSharing::Own,
    };
    ProgramPart::Phase(ProgramPhase {
        name: name.to_owned(),
        groups: vec![Group {
            workers: Some(1),
            body: vec![call(operation, CallObject::Name(pick))],
            ..Group::default()
        }],
        ..ProgramPhase::default()
    })
}

#[test]
fn names_contain_worker_and_round_and_programs_create_their_trees() {
    let scratch = tempfile::tempdir().unwrap();
    let files = Box::new(in_a_tree(program()));
    let record = record_of(&plan(scratch.path(), EngineKind::Psync, 2, files));
    let counts = record.cells.iter().map(|cell| {
        let calls = cell.operations.iter();
        let done: u64 = calls.map(|(_, figures)| figures.count).sum();
        (cell.phase.name().to_owned(), done, cell.total.errors)
    });
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [
            ("plant".to_owned(), 6, 0),
            ("make".to_owned(), 120, 0),
            ("remove".to_owned(), 40, 0),
            ("fell".to_owned(), 6, 0),
        ]
    );
}
