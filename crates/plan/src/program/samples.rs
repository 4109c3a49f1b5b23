//! Programs for tests.

use super::*;

/// A pick in the order of the numbers, with each worker going through all files.
pub fn pick(fileset: u8, filter: FileFilter) -> Pick {
    Pick {
        fileset,
        which: filter,
        order: PickOrder::Next,
        turn: FileSharing::Own,
    }
}

pub fn call(operation: FileOperation, on: CallObject) -> Call {
    Call::new(operation, on)
}

pub fn open(pick: Pick) -> Act {
    Act::Call(call(FileOperation::Open, CallObject::Name(pick)))
}

pub fn close() -> Act {
    Act::Call(call(FileOperation::Close, CallObject::Handle))
}

pub fn on_handle(operation: FileOperation) -> Act {
    Act::Call(call(operation, CallObject::Handle))
}

/// A law of the sizes of mails.
pub fn mail_size() -> Law {
    Law {
        most: 20 << 20,
        ..Law::of(Shape::LogNormal {
            median: 9216.0,
            spread: 1.6,
        })
    }
}

pub fn fileset(name: &str, count: u32) -> FilesetPlan {
    FilesetPlan {
        name: name.to_owned(),
        path: name.to_owned(),
        copies: FilesetSharing::One,
        count,
        names: FileNames::Number {
            before: format!("{name}-"),
            digits: 0,
            after: String::new(),
        },
        tree: DirectoryTree::Flat,
        size: Law::fixed(0),
        present_permille: 0,
    }
}

/// A phase with one group that repeats these acts.
pub fn phase(name: &str, body: Vec<Act>) -> ProgramPhase {
    ProgramPhase {
        name: name.to_owned(),
        groups: vec![Group {
            name: name.to_owned(),
            workers: Some(1),
            body,
            ..Group::default()
        }],
        ..ProgramPhase::default()
    }
}

/// A program with 4 workers that write mails in `tmp`, sync them and rename them to `mail`.
pub fn deliveries() -> Program {
    let around = |fileset: u8, which: FileFilter| Pick {
        order: PickOrder::Around,
        turn: FileSharing::Shared,
        ..pick(fileset, which)
    };
    let write = Call {
        bytes: MovedBytes::Law(mail_size()),
        piece_bytes: 64 << 10,
        ..call(FileOperation::Write, CallObject::Handle)
    };
    let rename = Call {
        second: Some(around(1, FileFilter::Absent)),
        ..call(FileOperation::Rename, CallObject::Same)
    };
    let create = call(
        FileOperation::Create,
        CallObject::Name(around(0, FileFilter::Absent)),
    );
    let body = vec![Act::Transaction(
        0,
        vec![
            Act::Call(create),
            Act::Call(write),
            on_handle(FileOperation::Fsync),
            close(),
            Act::Call(rename),
            Act::Call(call(FileOperation::Fsync, CallObject::Directory)),
        ],
    )];
    let mut phase = phase("serve", body);
    phase.groups[0].name = "delivery".to_owned();
    phase.groups[0].workers = Some(4);
    phase.time_ns = Some(120_000_000_000);
    phase.ramp_ns = 0;
    let mut mail = fileset("mail", 2000);
    mail.size = mail_size();
    mail.present_permille = 500;
    mail.tree = DirectoryTree::Turns { directories: 256 };
    Program {
        labels: vec!["deliver".to_owned()],
        filesets: vec![fileset("tmp", 1000), mail],
        ways: vec![OpenModePlan::default()],
        tokens: Vec::new(),
        parts: vec![ProgramPart::Phase(phase)],
        ..Program::default()
    }
}
