use workload::plan::{EngineKind, FilePlan};
use workload::program::{
    Act, Bytes, Call, Copies, DirectoryTree, FileNames, FileOperation, FilesetPlan, Group, Law, On,
    Order, Pick, Program, ProgramPart, ProgramPhase, Turn, Until, Way, Which,
};

use crate::files::tests::{plan, record_of};

fn call(operation: FileOperation, on: On) -> Act {
    Act::Call(Call::new(operation, on))
}

fn name(which: Which) -> On {
    On::Name(Pick {
        fileset: 0,
        which,
        order: Order::Next,
        turn: Turn::Own,
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
        bytes: Bytes::Size,
        ..Call::new(FileOperation::Write, On::Handle)
    });
    let make = Group {
        workers: Some(2),
        body: vec![
            call(FileOperation::Create, name(Which::Absent)),
            write,
            call(FileOperation::Close, On::Handle),
        ],
        ..Group::default()
    };
    let remove = Group {
        workers: Some(1),
        body: vec![call(FileOperation::Unlink, name(Which::Present))],
        ..Group::default()
    };
    Program {
        labels: Vec::new(),
        filesets: vec![FilesetPlan {
            name: "files".to_owned(),
            path: String::new(),
            copies: Copies::PerWorker,
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
        ways: vec![Way::default()],
        parts: vec![ProgramPart::Rounds {
            until: Until::Times(1),
            parts: vec![phase("make", make), phase("remove", remove)],
        }],
    }
}

#[test]
fn a_round_tells_when_each_worker_did_what_and_how_much() {
    for engine in [EngineKind::Psync, EngineKind::Null] {
        let scratch = tempfile::tempdir().unwrap();
        let files = FilePlan::Program(Box::new(program()));
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
            let seen = (window.rounds, window.calls, window.written_bytes);
            assert_eq!(seen, (11, 30, 1000), "{engine:?}");
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
        let of_remove = remove.phase_figures.as_ref().unwrap();
        assert_eq!(of_remove.rounds[0].workers.len(), 1);
    }
}
