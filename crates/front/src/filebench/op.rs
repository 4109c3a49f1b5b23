//! What a thread's flowops have in common, and one of them as it is looked at.

use workload::Diagnostic;
use workload::program::{Act, Law, Way};

use crate::{Difference, DifferenceKind};

use super::page::Place;
use super::script::{Composite, Flowop};
use super::sets::Sets;
use super::values::Scope;
use super::waited::Waited;

/// Bytes of a request where nothing says how many.
pub(super) const PIECE_BYTES: u32 = 1 << 20;
/// Bytes of the largest request.
pub(super) const PIECE_BYTES_MAX: u64 = 16 << 20;

/// What all threads of a script share.
pub(super) struct Common<'a> {
    pub composites: &'a [Composite],
    pub sets: Sets,
    pub ways: Vec<Way>,
    pub labels: Vec<String>,
    /// What threads wait for.
    pub waited: Waited,
    /// Events of the generator in a second; 0 for none.
    pub event_rate: u64,
    /// What is done otherwise than in the original, by line.
    pub differences: Vec<Difference>,
}

impl Common<'_> {
    /// The number of a label.
    pub(super) fn label(&mut self, name: &str) -> u8 {
        let known = self.labels.iter().position(|it| it == name);
        let index = known.unwrap_or_else(|| {
            self.labels.push(name.to_owned());
            self.labels.len() - 1
        });
        // More than there may be are refused when the program is checked.
        index.min(usize::from(u8::MAX)) as u8
    }

    pub(super) fn way(&mut self, wanted: Way) -> u8 {
        let is_same = |it: &Way| {
            (it.access, it.is_direct, it.sync) == (wanted.access, wanted.is_direct, wanted.sync)
        };
        let known = self.ways.iter().position(is_same);
        let index = known.unwrap_or_else(|| {
            self.ways.push(wanted);
            self.ways.len() - 1
        });
        // There are twelve.
        index as u8
    }

    pub(super) fn differs(&mut self, place: Place, what: &str, kind: DifferenceKind, note: &str) {
        let difference = Difference::new(kind, what, note).at(place.line);
        if !self.differences.contains(&difference) {
            self.differences.push(difference);
        }
    }
}

/// A flowop as it is looked at.
pub(super) struct Op<'a> {
    pub flowop: &'a Flowop,
    pub scope: Scope<'a>,
    pub label: u8,
    /// How often it is done, `iters`.
    pub times: Law,
}

impl Op<'_> {
    pub(super) fn repeated(&self, acts: Vec<Act>) -> Vec<Act> {
        match self.times.always() {
            _ if acts.is_empty() => acts,
            Some(1) => acts,
            _ => vec![Act::Times(self.times.clone(), acts)],
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Diagnostic> {
        self.scope.flag(&self.flowop.attributes, name)
    }

    pub(super) fn number(&self, name: &str, most: u64) -> Result<Option<u64>, Diagnostic> {
        let all = &self.flowop.attributes;
        match all.get(name) {
            Some(_) => self.scope.number(all, name, 0, most).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn amount(&self, name: &str) -> Result<Option<Law>, Diagnostic> {
        let amount = self.scope.amount(&self.flowop.attributes, name)?;
        Ok(amount.map(|it| it.law))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Diagnostic> {
        self.scope.text(&self.flowop.attributes, name)
    }

    /// `value`, which must be there.
    pub(super) fn value(&self) -> Result<u64, Diagnostic> {
        let value = self.number("value", 1 << 50)?;
        value.ok_or_else(|| {
            let message = format!("`{}` has no `value`", self.kind());
            self.error(message).help("add `value=1`")
        })
    }

    /// Bytes in one go, which must be more than 0.
    pub(super) fn io_size(&self) -> Result<Law, Diagnostic> {
        let law = self.amount("iosize")?.filter(|law| law.always() != Some(0));
        law.ok_or_else(|| {
            let message = format!("`{}` has no `iosize`", self.kind());
            self.error(message).help("add `iosize=8k`")
        })
    }

    /// Bytes of the pieces of a whole file.
    pub(super) fn piece_bytes(&self) -> Result<u32, Diagnostic> {
        let most = self.amount("iosize")?.and_then(|law| law.largest());
        let most = most.filter(|bytes| *bytes > 0 && *bytes <= PIECE_BYTES_MAX);
        // Not above 16 MiB.
        Ok(most.map_or(PIECE_BYTES, |bytes| bytes as u32))
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.scope.error(self.flowop.place, message)
    }

    pub(super) const fn place(&self) -> Place {
        self.flowop.place
    }

    pub(super) fn kind(&self) -> &str {
        &self.flowop.kind
    }
}
