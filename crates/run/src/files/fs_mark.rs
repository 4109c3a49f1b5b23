//! fs_mark: files made, made durable and removed by many workers.
//!
//! The workers wait for each other between the stages, so that each stage has a rate of its own;
//! in the original a thread goes on alone.

use engine::Operation;
use generate::ContentSource;
use generate::classics::{Pass, fs_mark_names};
use results::{FreeSpace, PhaseFigures, RoundFigures, WorkerTimes};
use workload::classics::fs_mark::{FsMarkPlan, Stage as Part};
use workload::classics::{Chain, PassPlan};
use workload::plan::{Cell, WorkerPlan};

use crate::RunError;
use crate::measured::MeasuredLane;
use crate::rooms::Rooms;

use super::course::{Course, Done, Grounds, Stage, Work, call_times, iodepth, times_of};
use super::field;
use super::task::{Field, FileContents, FileTask, contents};

/// What opening, syncing and closing a file once more is called.
const SYNC_ANEW: &str = Operation::Fsync.name();

/// The course of fs_mark.
pub(super) struct FsMark {
    cell: Cell,
    plan: FsMarkPlan,
    contents: Vec<ContentSource>,
    parts: Vec<Part>,
    next_part: usize,
    /// Each worker's files of this iteration; none with the `null` engine.
    fields: Vec<Option<Field>>,
    /// What this iteration came to so far.
    round: RoundFigures,
    /// The iterations that came to their end.
    rounds: Vec<RoundFigures>,
}

impl FsMark {
    pub fn new(cell: &Cell, plan: &FsMarkPlan) -> Result<Self, RunError> {
        Ok(Self {
            contents: contents(cell)?,
            cell: cell.clone(),
            parts: plan.stages(),
            plan: plan.clone(),
            next_part: 0,
            fields: Vec::new(),
            round: RoundFigures::default(),
            rounds: Vec::new(),
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
            let seed = generate::mix(worker.seed ^ generate::mix(self.rounds.len() as u64 + 1));
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
        self.rounds.len() < self.plan.iterations as usize
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

    fn begin_iteration(&mut self) {
        let worker_count = self.cell.workers.len();
        self.round = RoundFigures {
            file_count: u64::from(self.plan.file_count) * worker_count as u64,
            workers: vec![WorkerTimes::default(); worker_count],
            ..RoundFigures::default()
        };
    }

    fn end_iteration(&mut self) {
        self.rounds.push(std::mem::take(&mut self.round));
        self.next_part = 0;
    }

    /// Takes note of the space that the last iteration left.
    fn note_space(&mut self, grounds: &Grounds) {
        let space = grounds.first().and_then(|tree| {
            Some(FreeSpace {
                free_bytes: tree.free_bytes()?,
                total_bytes: tree.total_bytes()?,
            })
        });
        if let Some(round) = self.rounds.last_mut() {
            round.space = space;
        }
    }
}

/// Adds what a stage took a worker.
fn note_stage(worker: &mut WorkerTimes, chain: Chain, is_timed: bool, lane: &MeasuredLane) {
    if is_timed {
        worker.time_ns += lane.outcome.measured_ns;
    }
    for span in &lane.spans {
        if chain == Chain::Sync {
            let files = span.transactions().iter().filter_map(times_of);
            let anew = files.map(|times| (SYNC_ANEW.to_owned(), times));
            worker.calls.extend(anew);
        } else {
            worker.calls.extend(call_times(span));
        }
    }
}

impl Course for FsMark {
    fn next(&mut self, grounds: &Grounds) -> Result<Option<Stage>, RunError> {
        if self.next_part == 0 {
            self.note_space(grounds);
            if !self.wants_iteration(grounds) {
                return Ok(None);
            }
            self.make_fields(grounds)?;
            self.begin_iteration();
        }
        let part = self.parts[self.next_part];
        self.next_part += 1;
        let workers = self.cell.workers.iter();
        Ok(Some(match part {
            Part::SyncAll => Stage {
                phase: "sync all".to_owned(),
                transactions: None,
                time_ns: 0,
                ramp_ns: 0,
                is_hidden: false,
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
                ramp_ns: 0,
                is_hidden: false,
                work: Work::Tasks(workers.map(|worker| self.task(&part, worker)).collect()),
            },
        }))
    }

    fn done(&mut self, _: &str, done: Done<'_>) {
        if done.is_cut {
            // An iteration that lacks files has no rate.
            return;
        }
        let part = self.next_part.checked_sub(1);
        let round = &mut self.round;
        match part.and_then(|part| self.parts.get(part)) {
            Some(Part::SyncAll) => {
                round.sync_ns = Some(done.time_ns);
                round.time_ns += done.time_ns;
                for worker in &mut round.workers {
                    worker.time_ns += done.time_ns;
                }
            }
            Some(Part::Files {
                chain, is_timed, ..
            }) => {
                if *is_timed {
                    round.time_ns += done.time_ns;
                }
                for (worker, lane) in round.workers.iter_mut().zip(done.lanes) {
                    note_stage(worker, *chain, *is_timed, lane);
                }
            }
            None => {}
        }
        if self.next_part == self.parts.len() {
            self.end_iteration();
        }
    }

    fn figures(&self, phase: &str) -> Option<PhaseFigures> {
        let is_first = matches!(
            self.parts.first(),
            Some(Part::Files { chain: chain @ Chain::Create { .. }, .. }) if chain.name() == phase
        );
        is_first.then(|| PhaseFigures {
            rounds: self.rounds.clone(),
            ..PhaseFigures::default()
        })
    }
}
