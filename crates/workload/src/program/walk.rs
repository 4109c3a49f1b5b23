//! Through the phases, groups and acts of a program.

use std::collections::BTreeSet;

use super::{Act, Call, Group, On, Program, ProgramPart, ProgramPhase};

/// A list of acts of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActList {
    /// Before all begin.
    Enter,
    /// At the beginning.
    First,
    /// What is repeated.
    Body,
    /// At the end.
    Last,
    /// Behind the end.
    Leave,
}

impl Program {
    /// All phases in order, those of rounds once.
    #[must_use]
    pub fn phases(&self) -> Vec<&ProgramPhase> {
        let mut found = Vec::new();
        phases_of(&self.parts, &mut found);
        found
    }

    /// All phases, to change them.
    pub fn phases_mut(&mut self) -> Vec<&mut ProgramPhase> {
        let mut found = Vec::new();
        phases_mut_of(&mut self.parts, &mut found);
        found
    }

    /// The groups of all phases.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.phases().into_iter().flat_map(|phase| &phase.groups)
    }

    /// The name of a label; empty where there is none.
    #[must_use]
    pub fn label(&self, label: u8) -> &str {
        let name = self.labels.get(usize::from(label));
        name.map_or("", String::as_str)
    }

    /// How long it is measured and how long it ramps up, where every phase says so; else 0.
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
                _ => return (0, 0),
            }
        }
        sum
    }

    /// The workers that work at the same time at most; groups that do not say how many have one.
    #[must_use]
    pub fn workers_most(&self) -> u32 {
        let of_phase = |phase: &ProgramPhase| {
            let workers = phase.groups.iter().map(Group::worker_count);
            workers.fold(0, u32::saturating_add)
        };
        self.phases().into_iter().map(of_phase).max().unwrap_or(0)
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
    /// How many workers it has; one where planning has not put in how many.
    #[must_use]
    pub fn worker_count(&self) -> u32 {
        self.workers.unwrap_or(1)
    }

    /// The numbers of the filesets that its acts pick from.
    #[must_use]
    pub fn filesets(&self) -> BTreeSet<u8> {
        let calls = self.calls().into_iter();
        let picks = calls.flat_map(|call| {
            let named = match &call.on {
                On::Name(pick) => Some(pick),
                On::Handle | On::Same | On::Directory => None,
            };
            named.into_iter().chain(&call.second)
        });
        picks.map(|pick| pick.fileset).collect()
    }

    /// Its acts, in the order in which they are done.
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

    /// Its calls, wherever they stand, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<&Call> {
        let lists = self.lists().into_iter();
        lists.flat_map(|(_, acts)| calls_of(acts)).collect()
    }
}

/// The calls of acts, wherever they stand, in order.
pub(super) fn calls_of(acts: &[Act]) -> Vec<&Call> {
    let mut found = Vec::new();
    collect(acts, &mut found);
    found
}

fn collect<'a>(acts: &'a [Act], found: &mut Vec<&'a Call>) {
    for act in acts {
        match act {
            Act::Call(call) => found.push(call),
            _ => act
                .lists()
                .into_iter()
                .for_each(|acts| collect(acts, found)),
        }
    }
}

impl Act {
    /// The lists of acts within it.
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
            Self::Mix(branches) => branches.iter().map(|(_, acts)| acts.as_slice()).collect(),
        }
    }
}
