//! The phases of one run.

use workload::program::{
    Act, Bytes, Call, Copies, DirectoryTree, FileNames, FileOperation, FilesetPlan, Group, Law, On,
    Order, Pick, Program, ProgramPart, ProgramPhase, Turn, Until, Way, Which,
};

use super::options::Options;

const FILES: u8 = 0;

pub(super) fn program(options: &Options) -> Program {
    let mut program = Program {
        ways: vec![Way::default()],
        filesets: vec![fileset(options)],
        ..Program::default()
    };
    let parts = files(options, &mut program.labels);
    program.parts = vec![ProgramPart::Rounds {
        until: Until::Times(options.iterations),
        parts,
    }];
    program
}

fn fileset(options: &Options) -> FilesetPlan {
    FilesetPlan {
        name: "files".to_owned(),
        path: String::new(),
        copies: Copies::PerWorker,
        count: options.items,
        names: FileNames::Number {
            before: "file.mdtest.".to_owned(),
            digits: 0,
            after: String::new(),
        },
        tree: DirectoryTree::Flat,
        size: Law::fixed(options.write_bytes),
        present_permille: 0,
    }
}

fn files(options: &Options, labels: &mut Vec<String>) -> Vec<ProgramPart> {
    let call = Call::new;
    let close = || call(FileOperation::Close, On::Handle);
    let moved = |operation, bytes| Call {
        bytes: Bytes::Law(Law::fixed(bytes)),
        ..call(operation, On::Handle)
    };
    let mut create = vec![call(FileOperation::Create, name(Which::Absent))];
    if options.write_bytes > 0 {
        create.push(moved(FileOperation::Write, options.write_bytes));
    }
    if options.is_synced {
        create.push(call(FileOperation::Fsync, On::Handle));
    }
    create.push(close());
    let mut read = vec![call(FileOperation::Open, name(Which::Present))];
    if options.read_bytes > 0 {
        read.push(moved(FileOperation::Read, options.read_bytes));
    }
    read.push(close());
    let phases = &options.phases;
    [
        (phases.create, "file create", create),
        (
            phases.stat,
            "file stat",
            vec![call(FileOperation::Stat, name(Which::Present))],
        ),
        (phases.read, "file read", read),
        (
            phases.remove,
            "file remove",
            vec![call(FileOperation::Unlink, name(Which::Present))],
        ),
    ]
    .into_iter()
    .filter(|(is_asked, ..)| *is_asked)
    .map(|(_, name, calls)| phase(name, calls, labels))
    .collect()
}

fn name(which: Which) -> On {
    On::Name(Pick {
        fileset: FILES,
        which,
        order: Order::Next,
        turn: Turn::Own,
    })
}

fn phase(name: &str, calls: Vec<Call>, labels: &mut Vec<String>) -> ProgramPart {
    let label = labels.len() as u8;
    labels.push(name.to_owned());
    let acts = calls.into_iter().map(Act::Call).collect();
    ProgramPart::Phase(ProgramPhase {
        name: name.to_owned(),
        groups: vec![Group {
            name: "ranks".to_owned(),
            body: vec![Act::Transaction(label, acts)],
            ..Group::default()
        }],
        ..ProgramPhase::default()
    })
}
