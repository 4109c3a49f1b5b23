//! Meaning of a program's labels.

use super::{Act, FileOperation, Program};

/// Meaning of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelMeaning {
    /// A call with this operation.
    Call(FileOperation),
    /// Several acts, whose calls have their own labels.
    Composite,
    /// Any other act that takes time.
    Other,
}

impl Program {
    /// The meaning of each label, in order; `None` if nothing is counted under it.
    #[must_use]
    pub fn label_meanings(&self) -> Vec<Option<LabelMeaning>> {
        let mut meanings = vec![None; self.labels.len()];
        for group in self.groups() {
            find(&group.enter, &mut meanings);
            find(&group.body, &mut meanings);
        }
        meanings
    }
}

/// The first use of a label counts. A step that first opens a file for another call counts as that
/// call.
fn find(acts: &[Act], meanings: &mut [Option<LabelMeaning>]) {
    for act in acts {
        let found = match act {
            Act::Call(call) => call
                .label
                .map(|label| (label, LabelMeaning::Call(call.operation))),
            Act::Step(label, acts) => Some((*label, meaning_of_step(acts))),
            _ => None,
        };
        if let Some((label, meaning)) = found
            && let Some(slot) = meanings.get_mut(usize::from(label))
            && matches!(slot, None | Some(LabelMeaning::Call(FileOperation::Open)))
        {
            *slot = Some(meaning);
        }
        for acts in act.lists() {
            find(acts, meanings);
        }
    }
}

/// A step is composite if its calls have labels.
fn meaning_of_step(acts: &[Act]) -> LabelMeaning {
    match acts.first() {
        Some(Act::Call(call)) if call.label.is_none() => LabelMeaning::Call(call.operation),
        Some(Act::Think(_) | Act::Burn(_) | Act::Put { .. } | Act::Take { .. }) => {
            LabelMeaning::Other
        }
        _ => LabelMeaning::Composite,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Call, CallObject, Group, Law, ProgramPart, ProgramPhase};
    use super::*;

    #[test]
    fn the_meaning_of_a_label_is_what_it_counts() {
        let call = |operation, label| {
            Act::Call(Call {
                label,
                ..Call::new(operation, CallObject::Handle)
            })
        };
        let inner = vec![call(FileOperation::Write, Some(1))];
        let group = Group {
            enter: vec![call(FileOperation::Open, Some(0))],
            body: vec![
                call(FileOperation::Read, Some(0)),
                Act::Step(2, inner),
                Act::Step(3, vec![Act::Think(Law::fixed(1))]),
                Act::Step(4, vec![call(FileOperation::Fsync, None)]),
            ],
            ..Group::default()
        };
        let phase = ProgramPhase {
            groups: vec![group],
            ..ProgramPhase::default()
        };
        let program = Program {
            labels: ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec(),
            parts: vec![ProgramPart::Phase(phase)],
            ..Program::default()
        };
        let wanted = [
            Some(LabelMeaning::Call(FileOperation::Read)),
            Some(LabelMeaning::Call(FileOperation::Write)),
            Some(LabelMeaning::Composite),
            Some(LabelMeaning::Other),
            Some(LabelMeaning::Call(FileOperation::Fsync)),
            None,
        ];
        assert_eq!(program.label_meanings(), wanted);
    }
}
