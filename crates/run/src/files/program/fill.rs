//! A phase of our own: the files that are there before the first.

use plan::program::{
    Act, Bytes, Call, Copies, DirectoryTree, FileOperation, Group, On, Order, Pick, Program,
    ProgramPhase, Turn, Which,
};

/// Bytes of one write to a file that is there before the first phase.
const FILL_BYTES: u32 = 1 << 20;

/// A phase that makes the files of a fileset that are there before the first.
pub(super) fn fill(program: &Program, fileset: usize) -> ProgramPhase {
    let call = |operation, on| Act::Call(Call::new(operation, on));
    let make = Pick {
        fileset: fileset as u8,
        which: Which::Absent,
        order: Order::Next,
        // Each worker makes its own files, and its share of those of all.
        turn: match program.filesets[fileset].copies {
            Copies::One => Turn::Shared,
            Copies::PerWorker => Turn::Own,
        },
    };
    let write = Act::Call(Call {
        bytes: Bytes::Size,
        piece_bytes: FILL_BYTES,
        ..Call::new(FileOperation::Write, On::Handle)
    });
    let of_directories = match &program.filesets[fileset].tree {
        DirectoryTree::Grown(growth) => growth.of_directories,
        _ => false,
    };
    let body = match of_directories {
        true => vec![call(FileOperation::Mkdir, On::Name(make))],
        false => vec![
            call(FileOperation::Create, On::Name(make)),
            write,
            call(FileOperation::Close, On::Handle),
        ],
    };
    let group = Group {
        name: "prepare".to_owned(),
        body,
        ..Group::default()
    };
    ProgramPhase {
        name: format!("prepare {}", program.filesets[fileset].name),
        is_hidden: true,
        groups: vec![group],
        ..ProgramPhase::default()
    }
}
