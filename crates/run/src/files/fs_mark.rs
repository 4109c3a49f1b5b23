//! fs_mark: files made, made durable and removed by many workers.
//!
//! The workers wait for each other between the stages, so that each stage has a rate of its own;
//! in the original a thread goes on alone.

use generate::ContentSource;
use generate::classics::{Pass, fs_mark_names};
use serde_json::json;
use workload::classics::fs_mark::{FsMarkPlan, Stage as Part};
use workload::classics::{Chain, PassPlan};
use workload::plan::{Cell, WorkerPlan};

use crate::RunError;
use crate::rooms::Rooms;

use super::course::{Classic, Course, Done, Grounds, Stage, Work, iodepth};
use super::field;
use super::task::{Field, FileContents, FileTask, contents};

/// The course of fs_mark.
pub(super) struct FsMark {
    cell: Cell,
    plan: FsMarkPlan,
    contents: Vec<ContentSource>,
    parts: Vec<Part>,
    iteration: u32,
    next_part: usize,
    /// Each worker's files of this iteration; none with the `null` engine.
    fields: Vec<Option<Field>>,
    /// Timed nanoseconds of this iteration so far.
    timed_ns: u64,
    sync_ns: Vec<u64>,
    /// Files a second of each iteration.
    rates: Vec<f64>,
}

impl FsMark {
    pub fn new(cell: &Cell, plan: &FsMarkPlan) -> Result<Self, RunError> {
        Ok(Self {
            contents: contents(cell)?,
            cell: cell.clone(),
            parts: plan.stages(),
            plan: plan.clone(),
            iteration: 0,
            next_part: 0,
            fields: Vec::new(),
            timed_ns: 0,
            sync_ns: Vec::new(),
            rates: Vec::new(),
        })
    }

    /// The workers' files of an iteration: random names of the second at which it begins.
    fn make_fields(&mut self, grounds: &Grounds) -> Result<(), RunError> {
        let seconds = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let mut fields = Vec::new();
        for worker in &self.cell.workers {
            let Some(tree) = grounds.of(worker) else {
                fields.push(None);
                continue;
            };
            // Another iteration must not meet files that were kept.
            let seed = generate::mix(worker.seed ^ generate::mix(u64::from(self.iteration) + 1));
            let names = fs_mark_names(&self.plan, seconds, seed);
            let options = engine::FileOptions {
                existing_directories: true,
                ..field::options(&self.cell)
            };
            fields.push(Some(field::listed(tree, None, &names, options)?));
        }
        self.fields = fields;
        Ok(())
    }

    /// Whether the next iteration would not fit one of the file systems.
    fn is_full(&self, grounds: &Grounds) -> bool {
        let trees = self.cell.workers.iter().filter_map(|it| grounds.of(it));
        let mut found = trees.filter_map(|tree| Some((tree.device().ok()?, tree.free_bytes()?)));
        let needed_bytes = self.plan.iteration_bytes();
        let mut rooms = Rooms::default();
        found.any(|(device, free_bytes)| !rooms.take(device, free_bytes, needed_bytes))
    }

    fn wants_iteration(&self, grounds: &Grounds) -> bool {
        if self.plan.until_full {
            return !grounds.trees.is_empty() && !self.is_full(grounds);
        }
        self.iteration < self.plan.iterations
    }

    fn task(&self, part: &Part, worker: &WorkerPlan) -> FileTask {
        let Part::Files {
            chain,
            order,
            file_count,
            ..
        } = *part
        else {
            unreachable!("syncing all is no work on files");
        };
        let index = worker.worker_index as usize;
        let pass = Pass::new(&PassPlan {
            chain,
            order,
            files: 0..file_count,
            iodepth: iodepth(worker),
            seed: worker.seed,
        });
        FileTask {
            requests: pass.into(),
            field: self.fields.get(index).cloned().flatten(),
            contents: FileContents::Plain(self.contents[index].clone()),
            buffer_bytes: self.plan.write_bytes.max(512),
        }
    }

    fn end_iteration(&mut self) {
        let files = u64::from(self.plan.file_count) * self.cell.workers.len() as u64;
        self.rates
            .push(files as f64 * 1e9 / self.timed_ns.max(1) as f64);
        self.iteration += 1;
        self.next_part = 0;
        self.timed_ns = 0;
    }
}

impl Course for FsMark {
    fn next(&mut self, grounds: &Grounds) -> Result<Option<Stage>, RunError> {
        if self.next_part == 0 {
            if !self.wants_iteration(grounds) {
                return Ok(None);
            }
            self.make_fields(grounds)?;
        }
        let part = self.parts[self.next_part];
        self.next_part += 1;
        let workers = self.cell.workers.iter();
        Ok(Some(match part {
            Part::SyncAll => Stage {
                phase: "sync all".to_owned(),
                transactions: None,
                time_ns: 0,
                work: Work::SyncAll,
            },
            Part::Files {
                chain, file_count, ..
            } => Stage {
                phase: chain.name().to_owned(),
                transactions: None.or_else(|| {
                    (self.plan.iterations == 1)
                        .then(|| u64::from(file_count) * self.cell.workers.len() as u64)
                }),
                time_ns: 0,
                work: Work::Tasks(workers.map(|worker| self.task(&part, worker)).collect()),
            },
        }))
    }

    fn done(&mut self, _: &str, done: Done<'_>) {
        if done.is_cut {
            // An iteration that lacks files has no rate.
            return;
        }
        let part = self
            .next_part
            .checked_sub(1)
            .and_then(|it| self.parts.get(it));
        match part {
            Some(Part::SyncAll) => {
                self.sync_ns.push(done.time_ns);
                self.timed_ns += done.time_ns;
            }
            Some(Part::Files { is_timed: true, .. }) => self.timed_ns += done.time_ns,
            _ => {}
        }
        if self.next_part == self.parts.len() {
            self.end_iteration();
        }
    }

    fn classic(&self, phase: &str) -> Option<Classic> {
        let is_first = matches!(
            self.parts.first(),
            Some(Part::Files { chain: chain @ Chain::Create { .. }, .. }) if chain.name() == phase
        );
        if !is_first {
            return None;
        }
        let mut figures = Classic::new();
        figures.insert("iterations".into(), json!(self.rates.len()));
        figures.insert("sync_method".into(), json!(self.plan.sync_method));
        figures.insert("files_per_iteration".into(), json!(self.plan.file_count));
        figures.insert("files_per_second".into(), json!(self.rates));
        figures.insert("sync_ns".into(), json!(self.sync_ns));
        Some(figures)
    }
}
