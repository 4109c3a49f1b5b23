//! Internal phase that creates the files that exist before the first phase.

use plan::program::{
    Act, Call, Copies, DirectoryTree, FileOperation, Group, MovedBytes, On, Pick, PickOrder,
    Program, ProgramPhase, Turn, Which,
};

/// Size of a write to such a file, in bytes.
const FILL_BYTES: u32 = 1 << 20;

/// Phase that creates the initial files of a fileset.
pub(super) fn fill(program: &Program, fileset: usize) -> ProgramPhase {
    let call = |operation, on| Act::Call(Call::new(operation, on));
    let make = Pick {
        fileset: fileset as u8,
        which: Which::Absent,
        order: PickOrder::Next,
        // Each worker creates its own files, and its share of the common files.
        turn: match program.filesets[fileset].copies {
            Copies::One => Turn::Shared,
            Copies::PerWorker => Turn::Own,
        },
    };
    let write = Act::Call(Call {
        bytes: MovedBytes::Size,
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
