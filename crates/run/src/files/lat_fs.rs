//! lat_fs: a few files made and removed over and over; the best or the median time counts.

use generate::ContentSource;
use generate::classics::{Names, Pass, flat_names, tree_names};
use results::{FilesetFigures, PhaseFigures, RoundRule, ToldRound};
use workload::classics::lat_fs::{Calibration, Form, LatFsPlan, Passes};
use workload::classics::{Chain, Order, PassPlan};
use workload::plan::{Cell, WorkerPlan};

use crate::RunError;

use super::course::{Course, Done, Grounds, Stage, Work, iodepth, size_names};
use super::field;
use super::task::{Field, FileContents, FileTask, contents};

const CREATE: &str = "create";
const REMOVE: &str = "remove";

/// The course of lat_fs.
pub(super) struct LatFs {
    cell: Cell,
    plan: LatFsPlan,
    contents: Vec<ContentSource>,
    /// Which of the sizes is measured.
    size_index: usize,
    /// What is known of each size so far.
    measured: Vec<OfSize>,
    /// Passes so far of this size; every create pass lies in directories of its own.
    turn: Turn,
}

/// What comes next at a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Create,
    /// Remove what was created in so many nanoseconds.
    Remove {
        create_ns: u64,
    },
}

/// What is known of a size.
struct OfSize {
    size_bytes: u64,
    /// What phases call it.
    name: String,
    progress: Progress,
    /// Files of the last creation.
    file_count: u32,
}

enum Progress {
    Best(Passes),
    Median {
        create: Calibration,
        remove: Calibration,
    },
}

impl LatFs {
    pub fn new(cell: &Cell, plan: &LatFsPlan) -> Result<Self, RunError> {
        let names = size_names(&plan.sizes_bytes);
        let of_size = |(name, size_bytes): (String, &u64)| OfSize {
            size_bytes: *size_bytes,
            name,
            progress: Progress::new(plan.form),
            file_count: 0,
        };
        Ok(Self {
            contents: contents(cell)?,
            cell: cell.clone(),
            measured: names
                .into_iter()
                .zip(&plan.sizes_bytes)
                .map(of_size)
                .collect(),
            plan: plan.clone(),
            size_index: 0,
            turn: Turn::Create,
        })
    }

    fn names(&self, file_count: u32) -> Names {
        match self.plan.form {
            Form::Best { .. } => flat_names(file_count),
            Form::Median {
                files_per_directory,
                ..
            } => tree_names(file_count, files_per_directory),
        }
    }

    fn task(
        &self,
        (chain, order): (Chain, Order),
        names: &Names,
        worker: &WorkerPlan,
        grounds: &Grounds,
    ) -> Result<FileTask, RunError> {
        let index = worker.worker_index;
        // What is a file among few is a directory among many.
        let inside = match self.plan.form {
            Form::Best { .. } => format!("w{index}"),
            Form::Median { .. } => format!("w{index}-{}", names.files.len()),
        };
        let field: Option<Field> = match grounds.of(worker) {
            Some(tree) => {
                tree.make_subdirectory(&inside)?;
                let options = field::options(&self.cell);
                Some(field::listed(tree, Some(&inside), names, options)?)
            }
            None => None,
        };
        let pass = Pass::new(&PassPlan {
            chain,
            order,
            files: 0..names.files.len() as u32,
            iodepth: iodepth(worker),
            seed: worker.seed,
        });
        let buffer_bytes = match chain {
            Chain::Create { write_bytes, .. } => write_bytes,
            _ => 0,
        };
        Ok(FileTask {
            requests: pass.into(),
            field,
            contents: FileContents::Plain(self.contents[index as usize].clone()),
            buffer_bytes: buffer_bytes.max(512),
        })
    }

    fn phase(&self, of_size: &OfSize) -> String {
        let verb = match self.turn {
            Turn::Create => CREATE,
            Turn::Remove { .. } => REMOVE,
        };
        format!("{verb} {}", of_size.name)
    }
}

impl Progress {
    fn new(form: Form) -> Self {
        match form {
            Form::Best {
                file_count,
                budget_ns,
            } => Self::Best(Passes::new(file_count, budget_ns)),
            Form::Median {
                repetitions,
                sample_ns,
                ..
            } => Self::Median {
                create: Calibration::new(repetitions, sample_ns),
                remove: Calibration::new(repetitions, sample_ns),
            },
        }
    }

    /// Files of the next pass; none when the size is done.
    fn next_count(&self, form: Form) -> Option<u32> {
        match (self, form) {
            (Self::Best(passes), Form::Best { file_count, .. }) => {
                passes.wants_more().then_some(file_count)
            }
            // Creation is calibrated first, then removal; the other one is done beside.
            (Self::Median { create, remove }, _) => {
                create.next_count().or_else(|| remove.next_count())
            }
            (Self::Best(_), _) => None,
        }
    }

    /// The pass that is told of, and its files; none before the first one.
    fn told(&self, is_create: bool) -> Option<(u32, ToldRound)> {
        match self {
            Self::Best(passes) => {
                let best = passes.best()?;
                let told = ToldRound {
                    rule: RoundRule::Best,
                    time_ns: match is_create {
                        true => best.create_ns,
                        false => best.remove_ns,
                    },
                    round_count: passes.count(),
                };
                Some((best.file_count, told))
            }
            Self::Median { create, remove } => {
                let samples = if is_create { create } else { remove };
                let sample = samples.median()?;
                let told = ToldRound {
                    rule: RoundRule::Median,
                    time_ns: sample.time_ns,
                    round_count: samples.samples().len() as u64,
                };
                Some((sample.file_count, told))
            }
        }
    }

    fn add(&mut self, create_ns: u64, remove_ns: u64) {
        match self {
            Self::Best(passes) => passes.add(create_ns, remove_ns),
            Self::Median { create, remove } => {
                if create.next_count().is_some() {
                    create.add(create_ns);
                } else {
                    remove.add(remove_ns);
                }
            }
        }
    }
}

impl Course for LatFs {
    fn next(&mut self, grounds: &Grounds) -> Result<Option<Stage>, RunError> {
        let Some(of_size) = self.measured.get(self.size_index) else {
            return Ok(None);
        };
        let size_bytes = of_size.size_bytes;
        let (chain, order, file_count) = match self.turn {
            Turn::Create => match of_size.progress.next_count(self.plan.form) {
                Some(count) => (
                    self.plan.create(size_bytes),
                    self.plan.create_order(),
                    count,
                ),
                None => {
                    self.size_index += 1;
                    return self.next(grounds);
                }
            },
            Turn::Remove { .. } => (Chain::Remove, self.plan.order, of_size.file_count),
        };
        let names = self.names(file_count);
        let tasks = self
            .cell
            .workers
            .iter()
            .map(|worker| self.task((chain, order), &names, worker, grounds));
        let work = Work::Tasks(tasks.collect::<Result<_, _>>()?);
        let phase = self.phase(&self.measured[self.size_index]);
        self.measured[self.size_index].file_count = file_count;
        Ok(Some(Stage {
            phase,
            transactions: None,
            time_ns: 0,
            ramp_ns: 0,
            is_hidden: false,
            work,
        }))
    }

    fn done(&mut self, _: &str, done: Done<'_>) {
        if done.is_cut {
            // It would win as the shortest.
            return;
        }
        match self.turn {
            Turn::Create => {
                self.turn = Turn::Remove {
                    create_ns: done.time_ns,
                };
            }
            Turn::Remove { create_ns } => {
                self.turn = Turn::Create;
                let of_size = &mut self.measured[self.size_index];
                of_size.progress.add(create_ns, done.time_ns);
            }
        }
    }

    fn figures(&self, phase: &str) -> Option<PhaseFigures> {
        let (verb, size) = phase.split_once(' ')?;
        let of_size = self.measured.iter().find(|it| it.name == size)?;
        let (file_count, told_round) = of_size.progress.told(verb == CREATE)?;
        Some(PhaseFigures {
            told_round: Some(told_round),
            filesets: vec![FilesetFigures {
                file_count: file_count.into(),
                file_bytes: of_size.size_bytes,
            }],
            ..PhaseFigures::default()
        })
    }
}
