//! What phases come to when all goes well: whole pieces of work, and files of a known size.

use std::collections::{HashMap, HashSet};

use super::need::rounds_of;
use super::{Act, Bytes, Call, FileOperation, Group, Program, ProgramPart, ProgramPhase, Until};

/// The files that a phase works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilesDone {
    /// How many there may be.
    pub count: u32,
    /// Bytes of each.
    pub bytes: u64,
}

impl Program {
    /// The files of each phase that works on one set of them, all of the same size: what the phase
    /// that made them last wrote, or what they are to have.
    #[must_use]
    pub fn files_by_phase(&self) -> HashMap<String, FilesDone> {
        let mut found = HashMap::new();
        let mut seen = HashSet::new();
        let mut made: Vec<Option<u64>> = self.filesets.iter().map(|it| it.size.always()).collect();
        for known in self.phases() {
            let [group] = known.groups.as_slice() else {
                continue;
            };
            let sets = group.filesets();
            let (Some(number), 1) = (sets.first().copied(), sets.len()) else {
                continue;
            };
            let index = usize::from(number);
            if group.makes_files() {
                made[index] = self.written(group, index);
            }
            let count = self.filesets[index].count;
            // The first phase of a name decides.
            if let (true, Some(bytes)) = (seen.insert(&known.name), made[index]) {
                found.insert(known.name.clone(), FilesDone { count, bytes });
            }
        }
        found
    }

    /// Bytes that a group writes to each file that it makes, where they are always as many.
    fn written(&self, group: &Group, fileset: usize) -> Option<u64> {
        if let Some(spawn) = &group.spawn {
            return Some(spawn.command.bytes());
        }
        let calls = group.calls().into_iter();
        let writes = calls.filter(|call| call.operation == FileOperation::Write);
        let bytes = writes.map(|call: &Call| match &call.bytes {
            Bytes::Law(law) => law.always(),
            Bytes::Size => self.filesets[fileset].size.always(),
            Bytes::Rest | Bytes::SizeOf { .. } => None,
        });
        bytes.sum()
    }

    /// Whether all phases are over when their files are done.
    #[must_use]
    pub fn ends_by_files(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.all(|part| match part {
            ProgramPart::Phase(phase) => phase.time_ns.is_none(),
            ProgramPart::Rounds { .. } => false,
        }) && self.groups().all(|group| group.quotas.is_empty())
    }

    /// Whether no phase is ended by time.
    #[must_use]
    pub fn has_no_times(&self) -> bool {
        let phases = self.phases().into_iter();
        phases.filter(|phase| phase.time_ns.is_some()).count() == 0
    }

    /// Whether one round stands for many: the best of those that a time was spent on, or the
    /// median of samples.
    #[must_use]
    pub fn has_told_rounds(&self) -> bool {
        self.parts.iter().any(|part| match part {
            ProgramPart::Phase(_) => false,
            ProgramPart::Rounds { until, .. } => until.tells_one(),
        })
    }

    /// The transactions of a phase in which every round is one, all workers together; none where
    /// time ends it.
    #[must_use]
    pub fn transactions_of(&self, phase: &ProgramPhase) -> Option<u64> {
        if phase.time_ns.is_some() {
            return None;
        }
        let of_group = |group: &Group| {
            group.transaction()?;
            let workers = f64::from(group.worker_count());
            // Counts of files and rounds are far below 2^53.
            Some((rounds_of(self, group)? * workers).round() as u64)
        };
        phase.groups.iter().map(of_group).sum()
    }
}

impl Until {
    /// Whether one round stands for all.
    #[must_use]
    pub const fn tells_one(self) -> bool {
        matches!(self, Self::Spent { .. } | Self::Sampled { .. })
    }
}

impl ProgramPhase {
    /// The number of the label of what it does over and over, where it is one thing.
    #[must_use]
    pub fn transaction(&self) -> Option<u8> {
        match self.groups.as_slice() {
            [group] => group.transaction(),
            _ => None,
        }
    }
}

impl Group {
    /// The number of the label of the transaction that each round is.
    fn transaction(&self) -> Option<u8> {
        match (&self.spawn, self.body.as_slice()) {
            (Some(spawn), _) => Some(spawn.label),
            (None, [Act::Transaction(label, _)]) => Some(*label),
            _ => None,
        }
    }

    fn makes_files(&self) -> bool {
        let spawned = self.spawn.iter().any(|spawn| spawn.command.makes());
        let mut calls = self.calls().into_iter();
        spawned || calls.any(|call| call.operation == FileOperation::Create)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Law, On, Which, samples};
    use super::*;

    /// A phase that makes files of so many bytes, and one that removes them.
    fn program(bytes: u64) -> Program {
        let named = |operation| {
            let pick = samples::pick(0, Which::Any);
            Act::Call(samples::call(operation, On::Name(pick)))
        };
        let write = Act::Call(Call {
            bytes: Bytes::Law(Law::fixed(bytes)),
            ..samples::call(FileOperation::Write, On::Handle)
        });
        let make = vec![named(FileOperation::Create), write, samples::close()];
        let phase = |name: &str, label: u8, acts: Vec<Act>| {
            let group = Group {
                name: "workers".to_owned(),
                workers: Some(2),
                body: vec![Act::Transaction(label, acts)],
                ..Group::default()
            };
            ProgramPart::Phase(ProgramPhase {
                name: name.to_owned(),
                groups: vec![group],
                ..ProgramPhase::default()
            })
        };
        Program {
            labels: vec!["make".to_owned(), "remove".to_owned()],
            filesets: vec![samples::fileset("files", 50)],
            ways: vec![super::super::Way::default()],
            parts: vec![
                phase("make", 0, make),
                phase("remove", 1, vec![named(FileOperation::Unlink)]),
            ],
            ..Program::default()
        }
    }

    #[test]
    fn files_have_the_size_that_they_were_made_with() {
        let program = program(300);
        for phase in ["make", "remove"] {
            let files = FilesDone {
                count: 50,
                bytes: 300,
            };
            assert_eq!(program.files_by_phase().get(phase), Some(&files), "{phase}");
        }
        assert_eq!(program.files_by_phase().get("read"), None);
        assert!(program.ends_by_files());
    }

    #[test]
    fn each_round_that_is_a_transaction_counts() {
        let mut program = program(300);
        let counts = |program: &Program| {
            let phases = program.phases().into_iter();
            phases
                .map(|phase| (phase.transaction(), program.transactions_of(phase)))
                .collect::<Vec<_>>()
        };
        // Each of two workers goes through all of them.
        assert_eq!(
            counts(&program),
            [(Some(0), Some(100)), (Some(1), Some(100))]
        );
        program.phases_mut()[0].time_ns = Some(1);
        program.phases_mut()[1].groups[0]
            .body
            .push(samples::close());
        assert_eq!(counts(&program), [(Some(0), None), (None, None)]);
    }
}
