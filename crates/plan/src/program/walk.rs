//! Traverses the phases, groups and acts of a program.

use std::collections::BTreeSet;

use super::{
    Act, Call, CallObject, CallPosition, FileOperation, Group, MovedBytes, PIECE_BYTES_MAX, Pick,
    Program, ProgramPart, ProgramPhase,
};

/// A list of acts of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActList {
    /// Before all workers start together.
    Enter,
    /// At the start of the window.
    First,
    /// Repeated.
    Body,
    /// At the end of the window.
    Last,
    /// After the window.
    Leave,
}

impl Program {
    /// All phases in order; phases in rounds are listed once.
    #[must_use]
    pub fn phases(&self) -> Vec<&ProgramPhase> {
        let mut found = Vec::new();
        phases_of(&self.parts, &mut found);
        found
    }

    /// Mutable access to all phases.
    pub fn phases_mut(&mut self) -> Vec<&mut ProgramPhase> {
        let mut found = Vec::new();
        phases_mut_of(&mut self.parts, &mut found);
        found
    }

    /// The groups of all phases.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.phases().into_iter().flat_map(|phase| &phase.groups)
    }

    /// The name of a label; empty if the number is not used.
    #[must_use]
    pub fn label(&self, label: u8) -> &str {
        let name = self.labels.get(usize::from(label));
        name.map_or("", String::as_str)
    }

    /// Sum of the measured times and of the ramp times, if every phase has a time; else 0.
    #[must_use]
    pub fn times_ns(&self) -> (u64, u64) {
        let mut sum = (0_u64, 0_u64);
        for part in &self.parts {
            match part {
                ProgramPart::Phase(ProgramPhase {
                    time_ns: Some(time_ns),
                    ramp_ns,
                    ..
                }) => {
                    sum.0 = sum.0.saturating_add(*time_ns);
                    sum.1 = sum.1.saturating_add(*ramp_ns);
                }
                // A part that does not end by time has an unknown duration.
                _ => return (0, 0),
            }
        }
        sum
    }

    /// `true` if files may be renamed or linked.
    #[must_use]
    pub fn renames_files(&self) -> bool {
        let renames = |call: &&Call| {
            let operation = call.operation;
            matches!(
                operation,
                FileOperation::Rename | FileOperation::Link | FileOperation::Symlink
            )
        };
        let mut calls = self.groups().flat_map(Group::calls);
        self.has_traces() || calls.any(|it| renames(&it))
    }

    /// `true` if files may have holes.
    #[must_use]
    pub fn may_leave_holes(&self) -> bool {
        let leaves = |call: &&Call| match call.operation {
            FileOperation::Truncate => true,
            FileOperation::Write => !matches!(
                call.place,
                CallPosition::Here | CallPosition::Same | CallPosition::End
            ),
            _ => false,
        };
        let mut calls = self.groups().flat_map(Group::calls);
        self.has_traces() || calls.any(|it| leaves(&it))
    }

    /// `true` if it replays recorded calls.
    #[must_use]
    pub fn has_traces(&self) -> bool {
        self.groups().any(|group| group.trace.is_some())
    }

    /// Maximum number of workers that run at the same time; groups without a number count as one
    /// worker.
    #[must_use]
    pub fn workers_max(&self) -> u32 {
        let workers_of = |phase: &ProgramPhase| {
            let workers = phase.groups.iter().map(Group::worker_count);
            workers.fold(0, u32::saturating_add)
        };
        self.phases().into_iter().map(workers_of).max().unwrap_or(0)
    }
}

fn phases_of<'a>(parts: &'a [ProgramPart], found: &mut Vec<&'a ProgramPhase>) {
    for part in parts {
        match part {
            ProgramPart::Phase(phase) => found.push(phase),
            ProgramPart::Rounds { parts, .. } => phases_of(parts, found),
        }
    }
}

fn phases_mut_of<'a>(parts: &'a mut [ProgramPart], found: &mut Vec<&'a mut ProgramPhase>) {
    for part in parts {
        match part {
            ProgramPart::Phase(phase) => found.push(phase),
            ProgramPart::Rounds { parts, .. } => phases_mut_of(parts, found),
        }
    }
}

impl Group {
    /// Number of workers; 1 if planning has not filled it in.
    #[must_use]
    pub fn worker_count(&self) -> u32 {
        self.workers.unwrap_or(1)
    }

    /// Numbers of the filesets that its acts use.
    #[must_use]
    pub fn filesets(&self) -> BTreeSet<u8> {
        let mut found = BTreeSet::new();
        for (_, acts) in self.lists() {
            visit_acts(acts, &mut |act| {
                if let Act::Walk(walk) = act {
                    found.insert(walk.fileset);
                }
            });
        }
        let spawned = self.spawn.iter().map(|spawn| &spawn.pick);
        let picks = self.picks().chain(spawned);
        found.extend(picks.map(|pick| pick.fileset));
        found
    }

    /// The names that its calls pick, in order.
    pub(super) fn picks(&self) -> impl Iterator<Item = &Pick> {
        let calls = self.calls().into_iter();
        calls.flat_map(|call| {
            let named = match &call.on {
                CallObject::Name(pick) => Some(pick),
                CallObject::Handle | CallObject::Same | CallObject::Directory => None,
            };
            named.into_iter().chain(&call.second)
        })
    }

    /// Its acts, in the order in which they run.
    #[must_use]
    pub fn lists(&self) -> [(ActList, &[Act]); 5] {
        [
            (ActList::Enter, self.enter.as_slice()),
            (ActList::First, &self.first),
            (ActList::Body, &self.body),
            (ActList::Last, &self.last),
            (ActList::Leave, &self.leave),
        ]
    }

    /// Whether any of its acts matches, at any nesting level.
    #[must_use]
    pub fn any_act(&self, is_so: &dyn Fn(&Act) -> bool) -> bool {
        let mut lists = self.lists().into_iter();
        lists.any(|(_, acts)| any_act(acts, is_so))
    }

    /// Its calls at any nesting level, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<&Call> {
        let lists = self.lists().into_iter();
        lists.flat_map(|(_, acts)| calls_of(acts)).collect()
    }
}

/// Whether any of the acts matches, at any nesting level.
pub(super) fn any_act(acts: &[Act], is_so: &dyn Fn(&Act) -> bool) -> bool {
    let mut acts = acts.iter();
    acts.any(|act| is_so(act) || act.lists().into_iter().any(|acts| any_act(acts, is_so)))
}

/// The calls in a list of acts at any nesting level, in order.
pub(super) fn calls_of(acts: &[Act]) -> Vec<&Call> {
    let mut found = Vec::new();
    visit_acts(acts, &mut |act| {
        if let Act::Call(call) = act {
            found.push(call);
        }
    });
    found
}

/// Visits all acts at any nesting level, in order.
pub(super) fn visit_acts<'a>(acts: &'a [Act], look: &mut dyn FnMut(&'a Act)) {
    for act in acts {
        look(act);
        act.lists()
            .into_iter()
            .for_each(|acts| visit_acts(acts, look));
    }
}

impl Act {
    /// The nested lists of acts.
    #[must_use]
    pub fn lists(&self) -> Vec<&[Act]> {
        match self {
            Self::Call(_)
            | Self::Think(_)
            | Self::Burn(_)
            | Self::Put { .. }
            | Self::Take { .. }
            | Self::Meet(_) => Vec::new(),
            Self::Times(_, acts) | Self::Step(_, acts) | Self::Transaction(_, acts) => {
                vec![acts]
            }
            Self::Walk(walk) => vec![&walk.each, &walk.after],
            Self::Deal(deck) => deck.choices.iter().map(Vec::as_slice).collect(),
            Self::Mix(branches) => branches.iter().map(|(_, acts)| acts.as_slice()).collect(),
        }
    }

    /// Mutable access to the nested lists of acts.
    pub(super) fn lists_mut(&mut self) -> Vec<&mut Vec<Self>> {
        match self {
            Self::Call(_)
            | Self::Think(_)
            | Self::Burn(_)
            | Self::Put { .. }
            | Self::Take { .. }
            | Self::Meet(_) => Vec::new(),
            Self::Times(_, acts) | Self::Step(_, acts) | Self::Transaction(_, acts) => {
                vec![acts]
            }
            Self::Walk(walk) => vec![&mut walk.each, &mut walk.after],
            Self::Deal(deck) => deck.choices.iter_mut().collect(),
            Self::Mix(branches) => branches.iter_mut().map(|(_, acts)| acts).collect(),
        }
    }

    /// Mean number of times that each nested list of acts runs, in their order.
    pub(super) fn frequencies(&self, program: &Program) -> Vec<f64> {
        match self {
            Self::Times(law, _) => vec![law.mean()],
            Self::Walk(walk) => {
                let fileset = program.filesets.get(usize::from(walk.fileset));
                let counts = fileset.map(|it| [it.count, it.directory_count().max(1)]);
                counts.unwrap_or_default().map(f64::from).to_vec()
            }
            Self::Deal(deck) => {
                let mut counts = vec![0.0; deck.choices.len()];
                for card in &*deck.cards {
                    counts[usize::from(card.choice)] += 1.0 / deck.cards.len() as f64;
                }
                counts
            }
            Self::Mix(branches) => {
                let sum: f64 = branches.iter().map(|(share, _)| f64::from(*share)).sum();
                let share = |(share, _): &(u32, _)| f64::from(*share) / sum.max(1.0);
                branches.iter().map(share).collect()
            }
            _ => vec![1.0],
        }
    }
}

/// Assumed request size in bytes if a call does not determine it.
const ASSUMED_REQUEST_BYTES: u32 = 1 << 20;

impl Call {
    /// Size of the call's largest request in bytes.
    #[must_use]
    pub fn request_bytes(&self) -> u32 {
        let most = match (&self.bytes, self.piece_bytes) {
            (_, piece @ 1..) => piece,
            (MovedBytes::Law(law), 0) => {
                let largest = law.largest().unwrap_or(ASSUMED_REQUEST_BYTES.into());
                u32::try_from(largest).unwrap_or(u32::MAX)
            }
            (MovedBytes::Rest | MovedBytes::Size | MovedBytes::SizeOf { .. }, 0) => {
                ASSUMED_REQUEST_BYTES
            }
        };
        most.clamp(1, PIECE_BYTES_MAX as u32)
    }
}

impl Program {
    /// Size of the largest request of any call in bytes.
    #[must_use]
    pub fn request_bytes_max(&self) -> u32 {
        let calls = self.groups().flat_map(Group::calls);
        let moves = [FileOperation::Read, FileOperation::Write];
        let moving = calls.filter(|call| moves.contains(&call.operation));
        moving.map(Call::request_bytes).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Band, Law, Shape};

    #[test]
    fn request_sizes_may_reach_the_checked_maximum() {
        let of = |bytes, piece_bytes| {
            let call = Call {
                bytes: MovedBytes::Law(bytes),
                piece_bytes,
                ..Call::new(FileOperation::Write, CallObject::Handle)
            };
            call.request_bytes()
        };
        assert_eq!(of(Law::fixed(1 << 30), 32 << 20), 32 << 20);
        for bytes in [32 << 20, PIECE_BYTES_MAX] {
            assert_eq!(of(Law::fixed(bytes), 0), bytes as u32);
        }
        let band = |low, high| Band {
            low,
            high,
            weight: 1,
        };
        let bands = vec![band(1, 4096), band(4096, 8 << 20)];
        assert_eq!(of(Law::of(Shape::Table(bands)), 0), 8 << 20);
    }
}
