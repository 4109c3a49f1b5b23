//! Short forms of what fronts put into programs.

use plan::program::{
    Access, Act, Before, Bytes, Call, Copies, DirectoryNesting, DirectoryTree, Ending, FileNames,
    FileOperation, FilesetPlan, Group, Law, Measure, NestedDirectories, On, OpenSync, Order, Pick,
    Program, ProgramPart, ProgramPhase, Quota, Share, Turn, Way, Which,
};

/// Nanoseconds of a second.
pub const NS_PER_SECOND: u64 = 1_000_000_000;

/// Files of that name and a number.
pub fn fileset(name: &str, path: &str, before: &str, count: u32) -> FilesetPlan {
    FilesetPlan {
        name: name.to_owned(),
        path: path.to_owned(),
        copies: Copies::One,
        count,
        names: numbered(before, 0),
        tree: DirectoryTree::Flat,
        size: Law::fixed(0),
        present_permille: 0,
    }
}

/// Names that end in a number of so many digits at least.
pub fn numbered(before: impl Into<String>, digits: u32) -> FileNames {
    FileNames::Number {
        before: before.into(),
        digits,
        after: String::new(),
    }
}

/// Names with a number in them, from the first on.
pub fn numbered_from(first: u32, before: String, after: String) -> FileNames {
    FileNames::NumberFrom {
        first,
        before,
        digits: 0,
        after,
    }
}

/// So many files in each directory, of which so many are in another one. Each name ends in the
/// number within that, of so many digits at least.
pub fn nested(each: u32, before: &str, digits: u32, fan: u32) -> DirectoryTree {
    DirectoryTree::Nested {
        each,
        directories: NestedDirectories {
            before: before.to_owned(),
            digits,
            fan,
            nesting: DirectoryNesting::Digits,
        },
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

/// A way of opening that is called by what it is.
pub fn described(access: Access, is_direct: bool, is_synced: bool) -> Way {
    let name = match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::ReadWrite => "read and write",
    };
    let direct = if is_direct { ", direct" } else { "" };
    let (synced, sync) = match is_synced {
        true => (", synced", OpenSync::All),
        false => ("", OpenSync::No),
    };
    Way {
        name: format!("{name}{direct}{synced}"),
        access,
        is_direct,
        sync,
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

/// A call on the next name of a set.
pub fn on_next(operation: FileOperation, fileset: u8, way: u8) -> Act {
    named(operation, next(fileset, which(operation)), way)
}

/// Which names an operation is for: those that are free, where it makes what it names.
pub fn which(operation: FileOperation) -> Which {
    match operation.makes() {
        true => Which::Absent,
        false => Which::Present,
    }
}

/// A call on a name that gives it another one.
pub fn between(operation: FileOperation, from: Pick, to: Pick) -> Act {
    Act::Call(Call {
        second: Some(to),
        ..Call::new(operation, On::Name(from))
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

/// A file that is opened, what is moved, and closed; made durable before, where that is so.
pub fn on_file(open: Act, moved: Option<Act>, is_synced: bool) -> Vec<Act> {
    let sync = is_synced.then(|| opened(FileOperation::Fsync));
    let acts = [open].into_iter().chain(moved).chain(sync);
    acts.chain([opened(FileOperation::Close)]).collect()
}

/// Calls that move the whole of a file, in pieces of at most so many bytes.
pub fn moving_all(operation: FileOperation, piece_bytes: u32) -> Call {
    Call {
        bytes: Bytes::Size,
        piece_bytes,
        ..Call::new(operation, On::Handle)
    }
}

/// So many rounds for each worker.
pub fn rounds(count: u64) -> Vec<Quota> {
    vec![quota(Measure::Rounds, count, Share::Each)]
}

/// Waits so many seconds before a phase.
pub fn pause_before(phase: &mut ProgramPhase, seconds: u32) {
    if seconds > 0 {
        let ns = u64::from(seconds) * NS_PER_SECOND;
        phase.before.push(Before::Pause { ns });
    }
}

/// Gives a phase so many seconds, if any, and says what their end means.
pub fn end_after(phase: &mut ProgramPhase, seconds: u32, ending: Ending) {
    if seconds > 0 {
        phase.time_ns = Some(u64::from(seconds) * NS_PER_SECOND);
        phase.time_up = ending;
    }
}

/// So much of it, and no more.
pub fn quota(what: Measure, count: u64, of: Share) -> Quota {
    Quota { what, count, of }
}

/// A group that repeats this.
pub fn group(name: &str, body: Vec<Act>) -> Group {
    Group {
        name: name.to_owned(),
        body,
        ..Group::default()
    }
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

/// A program of phases, one after the other, with one way of opening.
pub fn in_turn(phases: impl IntoIterator<Item = ProgramPhase>) -> Program {
    Program {
        ways: vec![Way::default()],
        parts: phases.into_iter().map(ProgramPart::Phase).collect(),
        ..Program::default()
    }
}

/// The number of something in a list, to which it is added where it is not there yet.
pub fn number_of<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> u8 {
    let known = list.iter().position(|it| *it == wanted);
    let number = known.unwrap_or(list.len());
    if known.is_none() {
        list.push(wanted);
    }
    byte(number)
}

/// A number as programs have it; more than there may be are refused when the program is checked.
pub fn byte(number: usize) -> u8 {
    number.min(usize::from(u8::MAX)) as u8
}
