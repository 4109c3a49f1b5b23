//! Internal phase that creates the files that exist before the first phase.

use plan::program::{
    Act, Call, CallObject, DirectoryTree, FileFilter, FileOperation, FileSharing, FilesetSharing,
    Group, MovedBytes, Pick, PickOrder, Program, ProgramPhase,
};

/// Size of a write to such a file, in bytes.
const FILL_BYTES: u32 = 1 << 20;

/// Phase that creates the initial files of a fileset.
pub(super) fn fill(program: &Program, fileset: usize) -> ProgramPhase {
    let call = |operation, on| Act::Call(Call::new(operation, on));
    let make = Pick {
        fileset: fileset as u8,
        which: FileFilter::Absent,
        order: PickOrder::Next,
        // Each worker creates its own files, and its share of the common files.
        turn: match program.filesets[fileset].copies {
            FilesetSharing::One => FileSharing::Shared,
            FilesetSharing::PerWorker => FileSharing::Own,
        },
    };
    let write = Act::Call(Call {
        bytes: MovedBytes::Size,
        piece_bytes: FILL_BYTES,
        ..Call::new(FileOperation::Write, CallObject::Handle)
    });
    let makes_directories = match &program.filesets[fileset].tree {
        DirectoryTree::Grown(growth) => growth.of_directories,
        _ => false,
    };
    let body = match makes_directories {
        true => vec![call(FileOperation::Mkdir, CallObject::Name(make))],
        false => vec![
            call(FileOperation::Create, CallObject::Name(make)),
            write,
            call(FileOperation::Close, CallObject::Handle),
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
