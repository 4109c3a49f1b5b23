//! Converts lat_fs to a program.

use super::{LatFsForm, LatFsPlan, WRITE_BYTES_MAX};
use crate::classics::Order;
use crate::classics::program::{create, named, phase, size_names};
use plan::program::{
    DirectoryTree, FILES_MAX, FileNames, FileOperation, FileSharing, FilesetPlan, FilesetSharing,
    Law, OpenModePlan, PIECE_BYTES_MAX, Program, ProgramPart, ProgramPhase, RoundsEnd, STAMP_MARK,
};

/// Prefix of the names of the samples' directories.
pub const SAMPLE_PREFIX: &str = "lat_fs_";

const LABELS: [&str; 2] = ["create", "remove"];

impl LatFsPlan {
    /// For each size, files are created and removed repeatedly.
    #[must_use]
    pub fn program(&self) -> Program {
        let names = size_names(&self.sizes_bytes);
        let sizes = names.iter().zip(&self.sizes_bytes);
        let parts = sizes.flat_map(|(name, bytes)| self.of_size(name, *bytes));
        Program {
            labels: LABELS.map(str::to_owned).to_vec(),
            filesets: vec![self.files()],
            ways: vec![OpenModePlan::default()],
            tokens: Vec::new(),
            attributes: Vec::new(),
            pool: None,
            lasting: None,
            logs_calls: false,
            parts: parts.collect(),
        }
    }

    fn files(&self) -> FilesetPlan {
        let (path, count, names) = match self.form {
            // lmbench 1.6 creates `a` to `z`, `aa` to `zz` and so on, in one directory.
            LatFsForm::Best { file_count, .. } => (String::new(), file_count, FileNames::Words),
            LatFsForm::Median {
                files_per_directory: each,
                ..
            } => (
                format!("{SAMPLE_PREFIX}{STAMP_MARK}"),
                // Calibration finds the number of files, so this is only its limit.
                FILES_MAX,
                FileNames::Low { each },
            ),
        };
        FilesetPlan {
            name: "files".to_owned(),
            path,
            copies: FilesetSharing::PerWorker,
            count,
            names,
            tree: DirectoryTree::Flat,
            size: Law::fixed(0),
            present_permille: 0,
        }
    }

    fn of_size(&self, name: &str, size_bytes: u64) -> Vec<ProgramPart> {
        let phases = |hidden: Option<usize>| {
            let phases = [self.creation(name, size_bytes), self.removal(name)];
            let phases = phases.into_iter().enumerate();
            let phases = phases.map(|(index, phase)| {
                ProgramPart::Phase(ProgramPhase {
                    is_hidden: hidden == Some(index),
                    ..phase
                })
            });
            phases.collect()
        };
        match self.form {
            LatFsForm::Best { budget_ns, .. } => vec![ProgramPart::Rounds {
                until: RoundsEnd::Spent {
                    // lmbench makes one pass even without a budget, but a program refuses 0.
                    ns: budget_ns.max(1),
                },
                parts: phases(None),
            }],
            // Creation is sampled first, then removal; in each, the other one runs as a hidden
            // phase.
            LatFsForm::Median {
                repetitions,
                sample_ns,
                ..
            } => [1, 0]
                .map(|hidden| ProgramPart::Rounds {
                    until: RoundsEnd::Sampled {
                        samples: repetitions,
                        least_ns: sample_ns,
                        fileset: 0,
                    },
                    parts: phases(Some(hidden)),
                })
                .into(),
        }
    }

    fn creation(&self, name: &str, size_bytes: u64) -> ProgramPhase {
        let (order, piece_bytes_max, is_empty_written) = match self.form {
            // lmbench 1.6 writes each file with one call, even an empty one. A program's calls have
            // a limit, so larger files take several.
            LatFsForm::Best { .. } => (Order::Forward, PIECE_BYTES_MAX, true),
            // lmbench 3 goes backward and writes at most 128 KiB per call.
            LatFsForm::Median { .. } => (Order::Reverse, WRITE_BYTES_MAX, false),
        };
        // At most 64 MiB.
        let piece_bytes = size_bytes.min(piece_bytes_max) as u32;
        let write = (size_bytes > 0 || is_empty_written).then_some((size_bytes, piece_bytes));
        let acts = create(order.to_pick_order(), FileSharing::Own, write, self.sync);
        phase(format!("create {name}"), 0, acts)
    }

    fn removal(&self, name: &str) -> ProgramPhase {
        let unlink = named(
            FileOperation::Unlink,
            self.order.to_pick_order(),
            FileSharing::Own,
        );
        phase(format!("remove {name}"), 1, vec![unlink])
    }
}
