//! A script on its way to a program.

use std::collections::{BTreeMap, BTreeSet};

use workload::Diagnostic;
use workload::program::{Access, Act, Group, Law, Program};

use crate::Difference;
use crate::acts::number_of;

use super::attributes::Attributes;
use super::script::{Entity, Read};
use crate::tokens::{Place, error};

/// What is written so far.
#[derive(Default)]
pub(super) struct Writer<'a> {
    pub composites: &'a [Entity],
    /// Its filesets are those that the script defines, then those that stand for the directories
    /// of others.
    pub program: Program,
    /// How the files of the defined filesets are opened.
    pub access: Vec<Access>,
    /// Where files are to lie in the original.
    pub paths: BTreeSet<String>,
    /// How many of the tokens may lie there before who puts has to wait.
    pub taken: BTreeMap<usize, u32>,
    /// Where tokens are put, and whether who puts has to wait.
    pub put: BTreeMap<usize, (Place, bool)>,
    /// Events of the generator in a second; 0 for none.
    pub event_rate: u64,
    /// What is done otherwise than in the original, by line.
    pub differences: Vec<Difference>,
    pub thread: Thread,
}

/// The thread that is written.
#[derive(Default)]
pub(super) struct Thread {
    pub group: Group,
    /// How often the flowops are written out, so that slots take turns; at least once.
    pub turns: u32,
    /// Which of these it is.
    pub turn: u32,
    pub act_count: usize,
    pub depth: u32,
    /// The slots that registers stand for.
    pub registers: Vec<Slot>,
    /// Where a file is open.
    pub open: BTreeSet<Slot>,
    /// What a flowop closes, so that it is opened anew each time.
    pub closed: BTreeSet<Slot>,
    /// Whose files are or were last open.
    pub filesets: BTreeMap<Slot, u8>,
    /// The last slot without a number.
    pub last: Option<Slot>,
}

/// A descriptor of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// By its number, `fd=`.
    Numbered(u8),
    /// That of a fileset, where no number is said.
    Of(u8),
    /// One of several of a fileset that take turns, `opennext`.
    Turn(u8, u8),
    /// Of calls on names, which leave nothing open.
    Named,
}

/// A flowop as it is looked at.
pub(super) struct Op<'a> {
    pub own: Attributes<'a>,
    pub label: u8,
    /// How often it is done, `iters`.
    pub times: Law,
}

impl Op<'_> {
    pub(super) fn word(&self) -> &str {
        &self.own.entity.word
    }

    pub(super) fn error(&self, message: impl Into<String>, help: &str) -> Diagnostic {
        error(self.own.entity.place, message, help)
    }

    /// Says that an attribute is not there.
    pub(super) fn lacks(&self, name: &str, help: &str) -> Diagnostic {
        self.error(format!("`{}` has no `{name}`", self.word()), help)
    }

    /// `value`, which must be there.
    pub(super) fn value(&self) -> Read<u64> {
        let value = self.own.number("value", 1 << 50)?;
        value.ok_or_else(|| self.lacks("value", "add `value=1`"))
    }

    /// What is counted under its label; nothing if nothing is done.
    pub(super) fn step(&self, acts: Vec<Act>) -> Option<Act> {
        (!acts.is_empty()).then_some(Act::Step(self.label, acts))
    }
}

impl Writer<'_> {
    pub(super) fn tell(&mut self, op: &Op<'_>, difference: Difference) {
        let difference = difference.at(op.own.entity.place.line);
        number_of(&mut self.differences, difference);
    }

    pub(super) fn differs(&mut self, op: &Op<'_>, what: &str, note: &str) {
        self.tell(op, Difference::differs(what, note));
    }
}
