//! Short forms of what the classics' programs are made of.

use std::collections::HashMap;

use units::Bytes as Size;

use super::{FileSync, Order};
use plan::program::{
    self, Act, Bytes, Call, FileOperation, Group, Law, On, Pick, ProgramPhase, Turn, Which,
};

/// A call on the next file in that order.
pub(super) fn named(operation: FileOperation, order: program::Order, turn: Turn) -> Act {
    let which = match operation {
        FileOperation::Create => Which::Absent,
        _ => Which::Present,
    };
    let pick = Pick {
        fileset: 0,
        which,
        order,
        turn,
    };
    Act::Call(Call::new(operation, On::Name(pick)))
}

/// Files of that size are made and closed: written in pieces, and made durable where asked.
pub(super) fn create(
    order: program::Order,
    turn: Turn,
    write: Option<(u64, u32)>,
    sync: FileSync,
) -> Vec<Act> {
    let opened = |operation| Call::new(operation, On::Handle);
    let write = write.map(|(bytes, piece_bytes)| Call {
        bytes: Bytes::Law(Law::fixed(bytes)),
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

/// A phase in which one thing is done over and over, counted under a label.
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

/// What phases call the sizes of files; one that was there before has its turn beside it.
pub(super) fn size_names(sizes_bytes: &[u64]) -> Vec<String> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    let name = |size_bytes: &u64| {
        let name = match size_bytes {
            0 => "empty".to_owned(),
            bytes => Size(*bytes).to_string(),
        };
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
    /// As picks have it.
    pub(super) const fn of_pick(self) -> program::Order {
        match self {
            Self::Forward => program::Order::Next,
            Self::Reverse => program::Order::Back,
            Self::Random => program::Order::Shuffled,
        }
    }
}
