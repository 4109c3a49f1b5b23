//! Converts create/remove to a program.

use super::{BetweenSteps, CreateRemoveMode, CreateRemovePlan, FileStep};
use crate::classics::Order;
use crate::classics::program::{create, named, phase, size_names};
use plan::program::{
    DirectoryTree, FileCommand, FileFilter, FileNames, FileOperation, FileSharing, FilesetPlan,
    FilesetSharing, Group, Law, OpenModePlan, PhasePreparation, Pick, Program, ProgramPart,
    ProgramPhase, Spawn,
};

/// Steps in the order of their label numbers.
const LABELS: [FileStep; 3] = [FileStep::Create, FileStep::Stat, FileStep::Remove];

impl CreateRemovePlan {
    /// The steps in order: for each size a create, a stat if requested, and a remove.
    #[must_use]
    pub fn program(&self) -> Program {
        let names = size_names(&self.sizes_bytes);
        let sizes = names.iter().zip(&self.sizes_bytes);
        let mut phases: Vec<ProgramPhase> = sizes
            .flat_map(|(name, bytes)| self.acts().map(|act| self.phase(act, name, *bytes)))
            .collect();
        // Nothing happens before the first step.
        for phase in phases.iter_mut().skip(1) {
            phase.before = self.between.before().into_iter().collect();
        }
        Program {
            labels: LABELS.map(|act| act.name().to_owned()).to_vec(),
            filesets: vec![self.files()],
            ways: vec![OpenModePlan::default()],
            parts: phases.into_iter().map(ProgramPart::Phase).collect(),
            ..Program::default()
        }
    }

    fn acts(&self) -> impl Iterator<Item = FileStep> {
        let is_done = |act: &FileStep| *act != FileStep::Stat || self.is_statted;
        LABELS.into_iter().filter(is_done)
    }

    /// Directories are named from 0: `d0`, `d1`, ...; with a single one, files are in the tree
    /// itself.
    fn files(&self) -> FilesetPlan {
        FilesetPlan {
            name: "files".to_owned(),
            path: String::new(),
            copies: FilesetSharing::One,
            count: self.file_count,
            // The file names of the original script are not known.
            names: FileNames::Number {
                before: String::new(),
                digits: 0,
                after: String::new(),
            },
            tree: match self.directory_count {
                1 => DirectoryTree::Flat,
                directories => DirectoryTree::Turns { directories },
            },
            // The size differs from phase to phase, so the calls have it.
            size: Law::fixed(0),
            present_permille: 0,
        }
    }

    fn phase(&self, act: FileStep, size_name: &str, size_bytes: u64) -> ProgramPhase {
        let name = format!("{} {size_name}", act.name());
        // The discriminants have the order of `LABELS`.
        let label = act as u8;
        let order = self.order_of(act).to_pick_order();
        if self.mode == CreateRemoveMode::Exec {
            let pick = Pick {
                fileset: 0,
                which: FileFilter::Any,
                order,
                // The leader of the workers starts all programs, so there is nothing to divide.
                turn: FileSharing::Own,
            };
            let command = command(act, size_bytes);
            let spawn = Spawn {
                label,
                pick,
                command,
            };
            return ProgramPhase {
                name,
                groups: vec![Group::of_programs("programs", spawn)],
                ..ProgramPhase::default()
            };
        }
        // As with `touch`, an empty file gets no write of 0 bytes.
        let write = (size_bytes > 0).then_some((size_bytes, self.write_bytes));
        // Slices make `count` the total for any number of workers.
        let acts = match act {
            FileStep::Create => create(order, FileSharing::Slice, write, self.sync),
            FileStep::Stat => vec![named(FileOperation::Stat, order, FileSharing::Slice)],
            FileStep::Remove => vec![named(FileOperation::Unlink, order, FileSharing::Slice)],
        };
        phase(name, label, acts)
    }

    /// Order in which a step visits files; they are always created forward.
    const fn order_of(&self, act: FileStep) -> Order {
        match act {
            FileStep::Create => Order::Forward,
            FileStep::Stat | FileStep::Remove => self.order,
        }
    }
}

/// Program that the original script starts for each file.
const fn command(act: FileStep, size_bytes: u64) -> FileCommand {
    match (act, size_bytes) {
        // The script is lost. Its published output suggests `touch` for empty files and `dd` for
        // others.
        (FileStep::Create, 0) => FileCommand::Touch,
        (FileStep::Create, bytes) => FileCommand::Fill { bytes },
        (FileStep::Stat, _) => FileCommand::Stat,
        (FileStep::Remove, _) => FileCommand::Remove,
    }
}

impl BetweenSteps {
    const fn before(self) -> Option<PhasePreparation> {
        match self {
            Self::Nothing => None,
            Self::DropCaches => Some(PhasePreparation::DropCaches),
            Self::Remount => Some(PhasePreparation::Remount),
        }
    }
}
