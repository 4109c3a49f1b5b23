//! Create/remove: half a million files made, then removed, size by size.

use std::path::PathBuf;

use engine::{NameRule, Subdirectories};
use generate::ContentSource;
use generate::classics::Pass;
use results::{FilesetFigures, PhaseFigures, StepFigures};
use workload::classics::create_remove::{Between, CreateRemovePlan, Exec, Mode, Step};
use workload::classics::{PassPlan, share};
use workload::plan::{Cell, WorkerPlan};
use workload::program::Before;

use crate::RunError;
use crate::exec::Executed;

use super::course::{Course, Done, Grounds, Stage, Work, iodepth, size_names};
use super::field;
use super::task::{Field, FileContents, FileTask, contents};

/// What the programs that do nothing are called as a step.
const BASELINE: &str = "baseline";

/// The course of create/remove.
pub(super) struct CreateRemove {
    cell: Cell,
    plan: CreateRemovePlan,
    steps: Vec<Step>,
    /// What phases call each size.
    size_names: Vec<String>,
    next_step: usize,
    contents: Vec<ContentSource>,
    figures: Vec<(String, PhaseFigures)>,
}

/// Programs that do a step, one a file.
pub(super) struct Programs {
    pub exec: Exec,
    pub directory: PathBuf,
    /// The files in their order, relative to the directory.
    pub names: Vec<PathBuf>,
}

/// What programs took.
#[derive(Clone)]
pub(super) struct ProgramTimes {
    pub executed: Executed,
    /// Of as many starts of a program that does nothing, or fewer.
    pub baseline: Executed,
}

impl ProgramTimes {
    /// The step, and the programs that did nothing.
    fn steps(&self, label: &str) -> Vec<StepFigures> {
        let step = |label: &str, of: &Executed| StepFigures {
            label: label.to_owned(),
            count: of.done_count,
            errors: of.failed_count,
            time_ns: of.real_ns,
            user_ns: of.user_ns,
            system_ns: of.system_ns,
        };
        vec![step(label, &self.executed), step(BASELINE, &self.baseline)]
    }
}

impl CreateRemove {
    pub fn new(cell: &Cell, plan: &CreateRemovePlan) -> Result<Self, RunError> {
        Ok(Self {
            contents: contents(cell)?,
            cell: cell.clone(),
            steps: plan.steps(),
            size_names: size_names(&plan.sizes_bytes),
            plan: plan.clone(),
            next_step: 0,
            figures: Vec::new(),
        })
    }

    /// Every size has as many steps.
    fn phase(&self, step_index: usize) -> String {
        let per_size = self.steps.len() / self.size_names.len().max(1);
        let size = &self.size_names[step_index / per_size.max(1)];
        format!("{} {size}", self.steps[step_index].act.name())
    }

    /// Directories count from 0: `d0`, `d1`, ...; with one, files lie in the tree itself.
    fn rule(&self) -> NameRule {
        let count = self.plan.directory_count;
        NameRule {
            subdirectories: (count > 1).then(|| Subdirectories {
                count,
                prefix: "d".to_owned(),
                digit_count: 0,
                ..Subdirectories::default()
            }),
            ..NameRule::default()
        }
    }

    fn field(&self, grounds: &Grounds) -> Result<Option<Field>, RunError> {
        let Some(tree) = grounds.first() else {
            return Ok(None);
        };
        let is_first = self.next_step == 0;
        let locations = vec![field::location(tree, None)?];
        let options = field::options(&self.cell);
        field::ruled(locations, self.rule(), is_first, options).map(Some)
    }

    fn task(&self, step: &Step, worker: &WorkerPlan, field: Option<Field>) -> FileTask {
        let index = worker.worker_index;
        let worker_count = self.cell.workers.len() as u32;
        let pass = Pass::new(&PassPlan {
            chain: self.plan.chain(step),
            order: self.plan.order(step),
            files: share(self.plan.file_count, index, worker_count),
            iodepth: iodepth(worker),
            seed: worker.seed,
        });
        FileTask {
            requests: pass.into(),
            field,
            contents: FileContents::Plain(self.contents[index as usize].clone()),
            buffer_bytes: self.plan.write_bytes.max(512),
        }
    }

    fn work(&self, step: &Step, grounds: &Grounds) -> Result<Work, RunError> {
        let field = self.field(grounds)?;
        if let (Mode::Exec, Some(tree)) = (self.plan.mode, grounds.first()) {
            return Ok(Work::Exec(Programs {
                exec: Exec::of(step),
                directory: tree.path().to_owned(),
                names: self.names(step),
            }));
        }
        let workers = self.cell.workers.iter();
        let tasks = workers.map(|worker| self.task(step, worker, field.clone()));
        Ok(Work::Tasks(tasks.collect()))
    }

    fn names(&self, step: &Step) -> Vec<PathBuf> {
        let count = self.plan.directory_count.max(1);
        let order = generate::classics::file_order(
            0..self.plan.file_count,
            self.plan.order(step),
            self.cell.workers.first().map_or(0, |worker| worker.seed),
        );
        let name = |index: u32| match count {
            1 => PathBuf::from(index.to_string()),
            _ => PathBuf::from(format!("d{}/{index}", index % count)),
        };
        order.map(name).collect()
    }
}

impl Course for CreateRemove {
    fn before(&self) -> Vec<Before> {
        let last = self.next_step.checked_sub(1);
        let last = last.and_then(|last| self.steps.get(last));
        match last.map_or(Between::Nothing, |it| it.then) {
            Between::Nothing => Vec::new(),
            Between::DropCaches => vec![Before::DropCaches],
            Between::Remount => vec![Before::Remount],
        }
    }

    fn next(&mut self, grounds: &Grounds) -> Result<Option<Stage>, RunError> {
        let Some(step) = self.steps.get(self.next_step).copied() else {
            return Ok(None);
        };
        let work = self.work(&step, grounds)?;
        let phase = self.phase(self.next_step);
        self.next_step += 1;
        Ok(Some(Stage {
            phase,
            transactions: Some(u64::from(self.plan.file_count)),
            time_ns: 0,
            ramp_ns: 0,
            is_hidden: false,
            work,
        }))
    }

    fn done(&mut self, phase: &str, done: Done<'_>) {
        let Some(step) = self
            .next_step
            .checked_sub(1)
            .and_then(|it| self.steps.get(it))
        else {
            return;
        };
        let label = step.act.name();
        let steps = match done.programs {
            Some(programs) => programs.steps(label),
            None => vec![StepFigures {
                label: label.to_owned(),
                count: done.effort.count,
                errors: done.effort.errors,
                time_ns: done.time_ns,
                user_ns: done.effort.user_ns,
                system_ns: done.effort.system_ns,
            }],
        };
        let figures = PhaseFigures {
            steps,
            filesets: vec![FilesetFigures {
                file_count: self.plan.file_count.into(),
                file_bytes: step.size_bytes,
            }],
            ..PhaseFigures::default()
        };
        self.figures.push((phase.to_owned(), figures));
    }

    fn figures(&self, phase: &str) -> Option<PhaseFigures> {
        let mut known = self.figures.iter();
        known
            .find(|(name, _)| name == phase)
            .map(|(_, it)| it.clone())
    }
}
