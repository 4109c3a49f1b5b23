//! Reads files once before the program starts.

use super::{
    Act, AmountScope, Call, CallObject, FileFilter, FileOperation, FileSharing, FilesetPlan,
    FilesetSharing, Group, Measure, MovedBytes, Pick, PickOrder, Program, ProgramPart,
    ProgramPhase, Quota,
};

/// Bytes per read.
const READ_BYTES: u32 = 128 << 10;

impl Program {
    /// The program, preceded by phases that read all existing files once, which brings them into
    /// the page cache as far as they fit.
    #[must_use]
    pub fn with_warm_up(&self) -> Self {
        let mut warmed = self.clone();
        let sets = (0..).zip(&self.filesets);
        let read = sets.filter(|(_, set)| set.present_permille > 0);
        let phases = read.map(|(number, set)| ProgramPart::Phase(warm_up_phase(number, set)));
        warmed.parts.splice(0..0, phases);
        warmed
    }
}

fn warm_up_phase(fileset: u8, set: &FilesetPlan) -> ProgramPhase {
    let pick = Pick {
        fileset,
        which: FileFilter::Present,
        order: PickOrder::Around,
        // Together, the workers read a shared file only once.
        turn: match set.copies {
            FilesetSharing::One => FileSharing::Shared,
            FilesetSharing::PerWorker => FileSharing::Own,
        },
    };
    let read = Call {
        bytes: MovedBytes::Rest,
        piece_bytes: READ_BYTES,
        ..Call::new(FileOperation::Read, CallObject::Handle)
    };
    let body = vec![
        Act::Call(Call::new(FileOperation::Open, CallObject::Name(pick))),
        Act::Call(read),
        Act::Call(Call::new(FileOperation::Close, CallObject::Handle)),
    ];
    ProgramPhase {
        name: format!("warm {}", set.name),
        is_hidden: true,
        groups: vec![Group {
            name: "readers".to_owned(),
            body,
            quotas: vec![Quota {
                what: Measure::Rounds,
                count: set.present_count().into(),
                of: match set.copies {
                    FilesetSharing::One => AmountScope::Group,
                    FilesetSharing::PerWorker => AmountScope::Each,
                },
            }],
            ..Group::default()
        }],
        ..ProgramPhase::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;

    #[test]
    fn warming_reads_existing_files_once_before_all_phases() {
        let program = samples::deliveries();
        let warmed = program.with_warm_up();
        warmed.check().unwrap();
        let existing = program.filesets.iter().filter(|it| it.present_permille > 0);
        let counts: Vec<u64> = existing.map(|it| it.present_count().into()).collect();
        let phases = warmed.phases();
        let hidden = phases.iter().filter(|it| it.is_hidden);
        let read: Vec<u64> = hidden.map(|it| it.groups[0].quotas[0].count).collect();
        assert!(!counts.is_empty());
        assert_eq!(read, counts);
        assert_eq!(warmed.parts[counts.len()..], program.parts[..]);
    }
}
