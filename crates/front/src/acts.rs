//! Short constructors for the parts of the programs that fronts build.

use plan::program::{
    Access, Act, AmountScope, Call, CallObject, DirectoryNesting, DirectoryTree, FileFilter,
    FileNames, FileOperation, FileSharing, FilesetPlan, FilesetSharing, Group, Law, Measure,
    MovedBytes, NestedDirectories, OpenModePlan, OpenSync, PhaseEndAction, PhasePreparation, Pick,
    PickOrder, Program, ProgramPart, ProgramPhase, Quota,
};

/// Nanoseconds of a second.
pub const NS_PER_SECOND: u64 = 1_000_000_000;

/// A flat fileset of empty files named `before` and a number from 0. No file exists at the start.
pub fn fileset(name: &str, path: &str, before: &str, count: u32) -> FilesetPlan {
    FilesetPlan {
        name: name.to_owned(),
        path: path.to_owned(),
        copies: FilesetSharing::One,
        count,
        names: numbered(before, 0),
        tree: DirectoryTree::Flat,
        size: Law::fixed(0),
        present_permille: 0,
    }
}

/// Names that end in a number, padded with zeros to at least `digits` digits.
pub fn numbered(before: impl Into<String>, digits: u32) -> FileNames {
    FileNames::Number {
        before: before.into(),
        digits,
        after: String::new(),
    }
}

/// Names that contain a number, counted from `first` and not padded.
pub fn numbered_from(first: u32, before: String, after: String) -> FileNames {
    FileNames::NumberFrom {
        first,
        before,
        digits: 0,
        after,
    }
}

/// Nested directories with at most `each` files and `fan` subdirectories per directory. Each name
/// is `before` and the directory's number in its parent, padded to at least `digits` digits.
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

/// A way of opening for reading and writing at the file's own position.
pub fn seeking(name: &str) -> OpenModePlan {
    OpenModePlan {
        name: name.to_owned(),
        seeks: true,
        ..OpenModePlan::default()
    }
}

/// A way of opening whose name describes it, such as `read, direct`.
pub fn described(access: Access, is_direct: bool, is_synced: bool) -> OpenModePlan {
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
    // `number_of` finds a way again only if its name is equal, too, so the name follows from the
    // options alone.
    OpenModePlan {
        name: format!("{name}{direct}{synced}"),
        access,
        is_direct,
        sync,
        ..OpenModePlan::default()
    }
}

/// The next file of a set; each worker goes through all files.
pub fn next(fileset: u8, filter: FileFilter) -> Pick {
    picked(fileset, filter, PickOrder::Next)
}

/// Always this file of a set.
pub fn only(fileset: u8, filter: FileFilter, index: u32) -> Pick {
    picked(fileset, filter, PickOrder::Index(index))
}

/// A file of a set, picked in the given order; each worker goes through all files.
pub fn picked(fileset: u8, filter: FileFilter, order: PickOrder) -> Pick {
    Pick {
        fileset,
        which: filter,
        order,
        turn: FileSharing::Own,
    }
}

/// A call on a name.
pub fn named(operation: FileOperation, pick: Pick, mode: u8) -> Act {
    Act::Call(Call {
        way: mode,
        ..Call::new(operation, CallObject::Name(pick))
    })
}

/// A call on the next name of a set, as [`next`] picks it.
pub fn on_next(operation: FileOperation, fileset: u8, mode: u8) -> Act {
    named(operation, next(fileset, which(operation)), mode)
}

/// Names an operation applies to: absent ones if it creates the file, else present ones.
pub fn which(operation: FileOperation) -> FileFilter {
    match operation.makes() {
        true => FileFilter::Absent,
        false => FileFilter::Present,
    }
}

/// A call that gives a file another name.
pub fn between(operation: FileOperation, from: Pick, to: Pick) -> Act {
    Act::Call(Call {
        second: Some(to),
        ..Call::new(operation, CallObject::Name(from))
    })
}

/// A call on the open file.
pub fn opened(operation: FileOperation) -> Act {
    Act::Call(Call::new(operation, CallObject::Handle))
}

/// A call that moves this many bytes, starting where the previous call ended.
pub fn moving(operation: FileOperation, bytes: u64) -> Call {
    Call {
        bytes: MovedBytes::Law(Law::fixed(bytes)),
        ..Call::new(operation, CallObject::Handle)
    }
}

/// Opens a file, does `moved` if there is any, syncs if `is_synced`, and closes.
pub fn on_file(open: Act, moved: Option<Act>, is_synced: bool) -> Vec<Act> {
    let sync = is_synced.then(|| opened(FileOperation::Fsync));
    let acts = [open].into_iter().chain(moved).chain(sync);
    acts.chain([opened(FileOperation::Close)]).collect()
}

/// Calls that move the whole of a file, in pieces of at most `piece_bytes`.
pub fn moving_all(operation: FileOperation, piece_bytes: u32) -> Call {
    Call {
        bytes: MovedBytes::Size,
        piece_bytes,
        ..Call::new(operation, CallObject::Handle)
    }
}

/// Ends after this many rounds of each worker.
pub fn rounds(count: u64) -> Vec<Quota> {
    vec![quota(Measure::Rounds, count, AmountScope::Each)]
}

/// Adds a pause of this many nanoseconds before the phase unless it is 0.
pub fn pause_before(phase: &mut ProgramPhase, ns: u64) {
    if ns > 0 {
        phase.before.push(PhasePreparation::Pause { ns });
    }
}

/// Limits a phase to this many seconds unless that is 0; `ending` says what workers do then.
pub fn end_after(phase: &mut ProgramPhase, seconds: u32, ending: PhaseEndAction) {
    if seconds > 0 {
        phase.time_ns = Some(u64::from(seconds) * NS_PER_SECOND);
        phase.time_up = ending;
    }
}

/// Ends after `count` of `what`, counted for `of`.
pub fn quota(measure: Measure, count: u64, of: AmountScope) -> Quota {
    Quota {
        what: measure,
        count,
        of,
    }
}

/// A group that repeats the body.
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

/// A phase of one group that records nothing.
pub fn hidden(name: &str, group: Group) -> ProgramPhase {
    ProgramPhase {
        is_hidden: true,
        ..phase(name, group)
    }
}

/// A program of phases that run one after the other, with one way of opening.
pub fn in_turn(phases: impl IntoIterator<Item = ProgramPhase>) -> Program {
    Program {
        ways: vec![OpenModePlan::default()],
        parts: phases.into_iter().map(ProgramPart::Phase).collect(),
        ..Program::default()
    }
}

/// Index of an element in a list; the element is added if the list does not contain it.
pub fn number_of<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> u8 {
    let known = list.iter().position(|it| *it == wanted);
    let number = known.unwrap_or(list.len());
    if known.is_none() {
        list.push(wanted);
    }
    byte(number)
}

/// An index in the type that programs use. Larger values become 255; the check of the program
/// rejects such long lists.
pub fn byte(number: usize) -> u8 {
    number.min(usize::from(u8::MAX)) as u8
}
