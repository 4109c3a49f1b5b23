//! Expected results of phases: units of work, and sizes of files.

use std::collections::{HashMap, HashSet};

use super::need::rounds_of;
use super::{
    Act, Call, FileOperation, Group, MovedBytes, Program, ProgramPart, ProgramPhase, RoundsEnd,
};

/// Files that a phase works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseFiles {
    /// Maximum number of files.
    pub count: u32,
    /// Bytes per file.
    pub bytes: u64,
}

impl Program {
    /// The files of each phase that works on a single fileset with files of equal size: the size
    /// that the last phase creating them wrote, or the size in the fileset.
    #[must_use]
    pub fn files_by_phase(&self) -> HashMap<String, PhaseFiles> {
        let mut found = HashMap::new();
        let mut seen = HashSet::new();
        let mut sizes: Vec<Option<u64>> = self.filesets.iter().map(|it| it.size.always()).collect();
        for known in self.phases() {
            let [group] = known.groups.as_slice() else {
                continue;
            };
            let sets = group.filesets();
            let (Some(number), 1) = (sets.first().copied(), sets.len()) else {
                continue;
            };
            let index = usize::from(number);
            if group.creates_files() {
                sizes[index] = self.written(group, index);
            }
            let count = self.filesets[index].count;
            // If names repeat, the first phase counts.
            if let (true, Some(bytes)) = (seen.insert(&known.name), sizes[index]) {
                found.insert(known.name.clone(), PhaseFiles { count, bytes });
            }
        }
        found
    }

    /// Bytes that a group writes to each file that it creates, if the number is always the same.
    fn written(&self, group: &Group, fileset: usize) -> Option<u64> {
        if let Some(spawn) = &group.spawn {
            return Some(spawn.command.bytes());
        }
        let calls = group.calls().into_iter();
        let writes = calls.filter(|call| call.operation == FileOperation::Write);
        let bytes = writes.map(|call: &Call| match &call.bytes {
            MovedBytes::Law(law) => law.always(),
            MovedBytes::Size => self.filesets[fileset].size.always(),
            MovedBytes::Rest | MovedBytes::SizeOf { .. } => None,
        });
        bytes.sum()
    }

    /// `true` if every phase ends when it is done with its files.
    #[must_use]
    pub fn ends_with_its_files(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.all(|part| match part {
            ProgramPart::Phase(phase) => phase.time_ns.is_none(),
            ProgramPart::Rounds { .. } => false,
        }) && self.groups().all(|group| group.quotas.is_empty())
    }

    /// `true` if no phase ends by time.
    #[must_use]
    pub fn has_no_time_limit(&self) -> bool {
        let phases = self.phases().into_iter();
        phases.filter(|phase| phase.time_ns.is_some()).count() == 0
    }

    /// `true` if one round represents many: the best round of a time budget, or the median of
    /// samples.
    #[must_use]
    pub fn has_representative_rounds(&self) -> bool {
        self.parts.iter().any(|part| match part {
            ProgramPart::Phase(_) => false,
            ProgramPart::Rounds { until, .. } => until.reports_one_round(),
        })
    }

    /// Number of transactions of a phase in which every round is one transaction, all workers
    /// together; `None` if the phase ends by time.
    #[must_use]
    pub fn transactions_of(&self, phase: &ProgramPhase) -> Option<u64> {
        if phase.time_ns.is_some() {
            return None;
        }
        let per_group = |group: &Group| {
            group.transaction()?;
            let workers = f64::from(group.worker_count());
            // Numbers of files and rounds are far below 2^53.
            Some((rounds_of(self, group)? * workers).round() as u64)
        };
        // One group without a known number makes the whole sum unknown.
        phase.groups.iter().map(per_group).sum()
    }
}

impl RoundsEnd {
    /// `true` if one round represents all.
    #[must_use]
    pub const fn reports_one_round(self) -> bool {
        matches!(self, Self::Spent { .. } | Self::Sampled { .. })
    }
}

impl ProgramPhase {
    /// Label of the transaction that the phase repeats, if its rounds consist of one transaction.
    #[must_use]
    pub fn transaction(&self) -> Option<u8> {
        match self.groups.as_slice() {
            [group] => group.transaction(),
            _ => None,
        }
    }
}

impl Group {
    /// Label of the transaction, if each round consists of one transaction.
    fn transaction(&self) -> Option<u8> {
        match (&self.spawn, self.body.as_slice()) {
            (Some(spawn), _) => Some(spawn.label),
            (None, [Act::Transaction(label, _)]) => Some(*label),
            _ => None,
        }
    }

    fn creates_files(&self) -> bool {
        let spawned = self.spawn.iter().any(|spawn| spawn.command.makes());
        let mut calls = self.calls().into_iter();
        spawned || calls.any(|call| call.operation == FileOperation::Create)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CallObject, FileFilter, Law, samples};
    use super::*;

    /// A phase that creates files of `bytes` bytes, and one that removes them.
    fn program(bytes: u64) -> Program {
        let named = |operation| {
            let pick = samples::pick(0, FileFilter::Any);
            Act::Call(samples::call(operation, CallObject::Name(pick)))
        };
        let write = Act::Call(Call {
            bytes: MovedBytes::Law(Law::fixed(bytes)),
            ..samples::call(FileOperation::Write, CallObject::Handle)
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
            ways: vec![super::super::OpenModePlan::default()],
            parts: vec![
                phase("make", 0, make),
                phase("remove", 1, vec![named(FileOperation::Unlink)]),
            ],
            ..Program::default()
        }
    }

    #[test]
    fn files_keep_the_size_they_were_created_with() {
        let program = program(300);
        for phase in ["make", "remove"] {
            let files = PhaseFiles {
                count: 50,
                bytes: 300,
            };
            assert_eq!(program.files_by_phase().get(phase), Some(&files), "{phase}");
        }
        assert_eq!(program.files_by_phase().get("read"), None);
        assert!(program.ends_with_its_files());
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
