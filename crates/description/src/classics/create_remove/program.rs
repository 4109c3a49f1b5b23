//! Create/remove as a program.

use super::{Act, Between, CreateRemovePlan, Mode};
use crate::classics::Order;
use crate::classics::program::{create, named, phase, size_names};
use plan::program::{
    Before, Copies, DirectoryTree, FileCommand, FileNames, FileOperation, FilesetPlan, Group, Law,
    Pick, Program, ProgramPart, ProgramPhase, Spawn, Turn, Way, Which,
};

/// What is counted, by the numbers of acts.
const LABELS: [Act; 3] = [Act::Create, Act::Stat, Act::Remove];

impl CreateRemovePlan {
    /// The steps in their order: for each size a create, a stat if asked for, and a remove.
    #[must_use]
    pub fn program(&self) -> Program {
        let names = size_names(&self.sizes_bytes);
        let sizes = names.iter().zip(&self.sizes_bytes);
        let mut phases: Vec<ProgramPhase> = sizes
            .flat_map(|(name, bytes)| self.acts().map(|act| self.phase(act, name, *bytes)))
            .collect();
        // Nothing comes before the first step.
        for phase in phases.iter_mut().skip(1) {
            phase.before = self.between.before().into_iter().collect();
        }
        Program {
            labels: LABELS.map(|act| act.name().to_owned()).to_vec(),
            filesets: vec![self.files()],
            ways: vec![Way::default()],
            parts: phases.into_iter().map(ProgramPart::Phase).collect(),
            ..Program::default()
        }
    }

    fn acts(&self) -> impl Iterator<Item = Act> {
        let is_done = |act: &Act| *act != Act::Stat || self.is_statted;
        LABELS.into_iter().filter(is_done)
    }

    /// Directories count from 0: `d0`, `d1`, ...; with one, files lie in the tree itself.
    fn files(&self) -> FilesetPlan {
        FilesetPlan {
            name: "files".to_owned(),
            path: String::new(),
            copies: Copies::One,
            count: self.file_count,
            names: FileNames::Number {
                before: String::new(),
                digits: 0,
                after: String::new(),
            },
            tree: match self.directory_count {
                1 => DirectoryTree::Flat,
                directories => DirectoryTree::Turns { directories },
            },
            size: Law::fixed(0),
            present_permille: 0,
        }
    }

    fn phase(&self, act: Act, size_name: &str, size_bytes: u64) -> ProgramPhase {
        let name = format!("{} {size_name}", act.name());
        let label = act as u8;
        let order = self.order_of(act).of_pick();
        if self.mode == Mode::Exec {
            let pick = Pick {
                fileset: 0,
                which: Which::Any,
                order,
                turn: Turn::Own,
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
        let write = (size_bytes > 0).then_some((size_bytes, self.write_bytes));
        let acts = match act {
            Act::Create => create(order, Turn::Slice, write, self.sync),
            Act::Stat => vec![named(FileOperation::Stat, order, Turn::Slice)],
            Act::Remove => vec![named(FileOperation::Unlink, order, Turn::Slice)],
        };
        phase(name, label, acts)
    }

    /// In which order a step visits files; they are always created forward.
    const fn order_of(&self, act: Act) -> Order {
        match act {
            Act::Create => Order::Forward,
            Act::Stat | Act::Remove => self.order,
        }
    }
}

/// What the original script starts for each file.
const fn command(act: Act, size_bytes: u64) -> FileCommand {
    match (act, size_bytes) {
        (Act::Create, 0) => FileCommand::Touch,
        (Act::Create, bytes) => FileCommand::Fill { bytes },
        (Act::Stat, _) => FileCommand::Stat,
        (Act::Remove, _) => FileCommand::Remove,
    }
}

impl Between {
    const fn before(self) -> Option<Before> {
        match self {
            Self::Nothing => None,
            Self::DropCaches => Some(Before::DropCaches),
            Self::Remount => Some(Before::Remount),
        }
    }
}
