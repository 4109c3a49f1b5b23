//! Building blocks of the classics' programs.

use std::collections::HashMap;

use units::Bytes as Size;

use super::{FileSync, Order};
use plan::program::{
    self, Act, Call, CallObject, FileFilter, FileOperation, FileSharing, Group, Law, MovedBytes,
    Pick, ProgramPhase,
};

/// A call on the next file in this order.
pub(super) fn named(operation: FileOperation, order: program::PickOrder, turn: FileSharing) -> Act {
    let filter = match operation {
        FileOperation::Create => FileFilter::Absent,
        _ => FileFilter::Present,
    };
    let pick = Pick {
        fileset: 0,
        which: filter,
        order,
        turn,
    };
    Act::Call(Call::new(operation, CallObject::Name(pick)))
}

/// Acts that create and close a file; it is written in pieces and made durable if requested.
pub(super) fn create(
    order: program::PickOrder,
    turn: FileSharing,
    write: Option<(u64, u32)>,
    sync: FileSync,
) -> Vec<Act> {
    let opened = |operation| Call::new(operation, CallObject::Handle);
    let write = write.map(|(bytes, piece_bytes)| Call {
        bytes: MovedBytes::Law(Law::fixed(bytes)),
        piece_bytes,
        ..opened(FileOperation::Write)
    });
    let sync = match sync {
        FileSync::None => None,
        FileSync::Fsync => Some(FileOperation::Fsync),
        FileSync::Fdatasync => Some(FileOperation::Fdatasync),
    };
    let calls = write
        .into_iter()
        .chain(sync.map(opened))
        .chain([opened(FileOperation::Close)]);
    std::iter::once(named(FileOperation::Create, order, turn))
        .chain(calls.map(Act::Call))
        .collect()
}

/// A phase that repeats one transaction, counted under a label.
pub(super) fn phase(name: String, label: u8, acts: Vec<Act>) -> ProgramPhase {
    let group = Group {
        name: "workers".to_owned(),
        body: vec![Act::Transaction(label, acts)],
        ..Group::default()
    };
    ProgramPhase {
        name,
        groups: vec![group],
        ..ProgramPhase::default()
    }
}

/// Names of sizes in phases; a repeated size gets a number.
pub(super) fn size_names(sizes_bytes: &[u64]) -> Vec<String> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    let name = |size_bytes: &u64| {
        let name = match size_bytes {
            0 => "empty".to_owned(),
            bytes => Size(*bytes).to_string(),
        };
        // Stages of the same name would be added up to one phase of the record.
        let count = counts.entry(*size_bytes).or_default();
        *count += 1;
        match count {
            1 => name,
            count => format!("{name} ({count})"),
        }
    };
    sizes_bytes.iter().map(name).collect()
}

impl Order {
    pub(super) const fn to_pick_order(self) -> program::PickOrder {
        match self {
            Self::Forward => program::PickOrder::Next,
            Self::Reverse => program::PickOrder::Back,
            Self::Random => program::PickOrder::Shuffled,
        }
    }
}
