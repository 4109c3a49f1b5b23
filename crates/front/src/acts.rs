//! Short forms of what fronts put into programs.

use workload::program::{
    Act, Bytes, Call, Copies, DirectoryTree, FileNames, FileOperation, FilesetPlan, Group, Law,
    Measure, On, Order, Pick, ProgramPhase, Quota, Share, Turn, Way, Which,
};

/// Files of that name and a number.
pub fn fileset(name: &str, path: &str, before: &str, count: u32) -> FilesetPlan {
    FilesetPlan {
        name: name.to_owned(),
        path: path.to_owned(),
        copies: Copies::One,
        count,
        names: FileNames::Number {
            before: before.to_owned(),
            digits: 0,
            after: String::new(),
        },
        tree: DirectoryTree::Flat,
        size: Law::fixed(0),
        present_permille: 0,
    }
}

/// A way of opening to read and to write, where the file stands.
pub fn seeking(name: &str) -> Way {
    Way {
        name: name.to_owned(),
        seeks: true,
        ..Way::default()
    }
}

/// The next file of a set, for each worker.
pub fn next(fileset: u8, which: Which) -> Pick {
    picked(fileset, which, Order::Next)
}

/// Always this file of a set.
pub fn only(fileset: u8, which: Which, index: u32) -> Pick {
    picked(fileset, which, Order::Index(index))
}

/// A file of a set in an order.
pub fn picked(fileset: u8, which: Which, order: Order) -> Pick {
    Pick {
        fileset,
        which,
        order,
        turn: Turn::Own,
    }
}

/// A call on a name.
pub fn named(operation: FileOperation, pick: Pick, way: u8) -> Act {
    Act::Call(Call {
        way,
        ..Call::new(operation, On::Name(pick))
    })
}

/// A call on what is open.
pub fn opened(operation: FileOperation) -> Act {
    Act::Call(Call::new(operation, On::Handle))
}

/// A call that moves so many bytes, behind the last one.
pub fn moving(operation: FileOperation, bytes: u64) -> Call {
    Call {
        bytes: Bytes::Law(Law::fixed(bytes)),
        ..Call::new(operation, On::Handle)
    }
}

/// So much of it, and no more.
pub fn quota(what: Measure, count: u64, of: Share) -> Quota {
    Quota { what, count, of }
}

/// A phase of one group.
pub fn phase(name: &str, group: Group) -> ProgramPhase {
    ProgramPhase {
        name: name.to_owned(),
        groups: vec![group],
        ..ProgramPhase::default()
    }
}

/// A phase of one group of which nothing is recorded.
pub fn hidden(name: &str, group: Group) -> ProgramPhase {
    ProgramPhase {
        is_hidden: true,
        ..phase(name, group)
    }
}
