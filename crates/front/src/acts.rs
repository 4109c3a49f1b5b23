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

/// A size with a letter (`k`, `m`, `g` or `t`, 1024 each), in bytes; `unit` is that of a number
/// alone.
pub fn size(text: &str, unit: u64) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches(['k', 'm', 'g', 't']);
    let unit = match &lower[number.len()..] {
        "" => unit,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_letter_or_the_unit_of_the_option() {
        for (text, wanted) in [
            ("4k", Some(4096)),
            ("2M", Some(2 << 20)),
            ("1g", Some(1 << 30)),
            ("7", Some(7 << 20)),
            ("1kk", None),
            ("", None),
            ("-1", None),
            ("99999999999t", None),
        ] {
            assert_eq!(size(text, 1 << 20), wanted, "{text}");
        }
    }
}
