//! Cells of work on many files: one per queue depth.

pub(super) mod bytes;
mod checks;
mod options;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use units::Span;

use description::check::{WORKERS_MAX, program};
use description::classics::ClassicError;
use description::model::{Workload, WorkloadTable};
use plan::Diagnostic;
use plan::program::{FILES_MAX, Program};
use plan::{CacheMode, Cell, CursorKind, PositionRule, SpanPlan, Work, WorkerPlan};

use super::repetition::RepetitionMode;
use super::space::SECTOR_BYTES;
use super::{Context, WEIGHT_MAX, note_targets, note_workers, plan_too_large, weight};
use options::FileOptions;
use plan::worker_seed;

/// Planned cells of a workload of many files.
pub(super) struct FileCells {
    pub repetition_mode: RepetitionMode,
    /// Seed from which the workers' seeds are derived.
    pub seed: u64,
    /// The cells of one repetition.
    pub cells: Vec<Cell>,
}

/// The cells of a workload with this kind of table.
pub(super) fn of_workload(
    workload: &Workload,
    workload_index: usize,
    table: WorkloadTable,
    context: &mut Context,
) -> Result<FileCells, Diagnostic> {
    let options = FileOptions::resolve(workload, table, context)?;
    let targets = context.targets.of_worker(workload_index, None).to_vec();
    let FileWork {
        program,
        worker_count,
    } = files_of(workload, targets.len())?;
    let mut cells = Vec::new();
    for depth in &options.iodepths {
        // Flows that are threads take part in the work like workers.
        let threads = if options.has_thread_per_flow(&program) {
            *depth
        } else {
            1
        };
        let program = program.with_workers_multiplied(threads);
        let mut layout = ProgramPlanner {
            context,
            options: &options,
            table,
            program: &program,
            targets: &targets,
            worker_count: self::worker_count(workload, &program, targets.len())?,
            slot_count: depth / threads,
            threads,
            is_in_place: workload.built.as_ref().is_some_and(|it| it.is_in_place),
            is_checked: workload.built.as_ref().is_some_and(|it| it.is_checked),
        };
        layout.check(workload)?;
        cells.extend(layout.cells()?);
    }
    // Warnings are the same for all depths, so repeated ones are removed.
    let mut seen = BTreeSet::new();
    context.warnings.retain(|it| seen.insert(it.to_string()));
    note_workers(workload, worker_count as usize, context)?;
    settings::note(workload, table, &program, targets.len(), context)?;
    note_targets(workload_index, workload, context);
    Ok(FileCells {
        repetition_mode: options.method.repetition_mode,
        seed: options.method.seed,
        cells,
    })
}

/// Work on many files, with its number of workers.
pub(super) struct FileWork {
    pub program: Box<Program>,
    pub worker_count: u32,
}

/// The work that the table defines, which does not depend on the seed.
pub(super) fn files_of(workload: &Workload, target_count: usize) -> Result<FileWork, Diagnostic> {
    let program = Box::new(resolved(workload, target_count)?);
    let worker_count = worker_count(workload, &program, target_count)?;
    Ok(FileWork {
        program,
        worker_count,
    })
}

/// Sets the default number of workers, one per target, in groups without a number.
fn with_workers(workload: &Workload, mut program: Program, target_count: usize) -> Program {
    // A run has few targets.
    let default = workload.workers.unwrap_or(target_count.max(1) as u32);
    for phase in program.phases_mut() {
        for group in &mut phase.groups {
            group.workers.get_or_insert(default);
        }
    }
    program
}

/// The program of the workload with all defaults filled in.
fn resolved(workload: &Workload, target_count: usize) -> Result<Program, Diagnostic> {
    let diagnostic =
        |error: ClassicError| Diagnostic::error("", error.to_string()).help(error.help());
    let from_table = workload.table_program(target_count).map_err(diagnostic)?;
    let program = match from_table {
        Some(mut program) => {
            for way in &mut program.ways {
                way.is_direct |= workload.cache == Some(CacheMode::Direct);
            }
            match workload.ramp_time {
                Some(Span(ramp_ns @ 1..)) => program.with_ramp(ramp_ns),
                _ => program,
            }
        }
        None => program(workload).map_err(|flaw| flaw.diagnostic(""))?,
    };
    // Before the workers are filled in, because the reading phases need workers, too.
    let program = match workload.warm {
        Some(true) => program.with_warm_up(),
        _ => program,
    };
    let program = with_workers(workload, program, target_count);
    // After the workers are filled in, because the rounds are divided among them.
    match workload.operations {
        Some(count) => with_operations(count, &program),
        None => Ok(program),
    }
}

/// The program with `count` rounds in each phase.
///
/// # Errors
/// If the files or transactions would exceed their maximum number.
fn with_operations(count: u64, program: &Program) -> Result<Program, Diagnostic> {
    let counted = program.with_operations(count);
    let workers = u64::from(counted.workers_max().max(1));
    let pool_share = counted.pool.as_ref().map(|_| count.div_ceil(workers));
    let files = counted.filesets.iter().map(|set| u64::from(set.count));
    let (what, needed, most) = match pool_share {
        Some(transactions) => ("transactions of a worker", transactions, i32::MAX as u64),
        None => ("files", files.max().unwrap_or(0), u64::from(FILES_MAX)),
    };
    if needed > most {
        let message = format!("`operations` is {count}, which takes more {what} than {most}");
        return Err(Diagnostic::error("", message).help("use fewer operations, or a `run_time`"));
    }
    Ok(counted)
}

/// The requested number of workers, or one per target.
fn worker_count(
    workload: &Workload,
    program: &Program,
    target_count: usize,
) -> Result<u32, Diagnostic> {
    let count = program.workers_max();
    if count > WORKERS_MAX {
        let message = format!("there are {count} workers, more than {WORKERS_MAX}");
        let help = match workload.iodepth {
            Some(_) => "use a smaller `iodepth`, as each flow counts as a worker, or fewer workers",
            None => "use fewer targets",
        };
        return Err(Diagnostic::error("", message).help(help));
    }
    if (count as usize) < target_count && !is_in_targets(program) {
        let message = format!(
            "`{}` has {target_count} targets and works on one with each of {count} workers",
            workload.name_or_default()
        );
        let help = format!("add `--workers {target_count}`");
        return Err(Diagnostic::error("", message).help(help));
    }
    Ok(count)
}

/// Whether one worker works in all targets.
fn is_in_targets(program: &Program) -> bool {
    program.pool.iter().any(|pool| pool.is_in_targets())
}

/// Plans the cells of a workload of many files.
struct ProgramPlanner<'a, 'b> {
    context: &'a mut Context<'b>,
    options: &'a FileOptions,
    table: WorkloadTable,
    program: &'a Program,
    /// Each worker has one of them, in turn; a pool with locations in targets has all.
    targets: &'a [u32],
    /// Number of workers, including the threads of each.
    worker_count: u32,
    /// Number of flows per thread.
    slot_count: u32,
    /// Number of threads per worker.
    threads: u32,
    is_in_place: bool,
    is_checked: bool,
}

impl ProgramPlanner<'_, '_> {
    fn cells(&mut self) -> Result<Vec<Cell>, Diagnostic> {
        let cells = self.options.method.spread(self.cell())?;
        // The original programs do not check the space among a user's files, either.
        if !self.is_in_place {
            self.take_space(&cells);
        }
        self.context.weight += cells.iter().map(|it| weight(&it.workers)).sum::<usize>();
        match self.context.weight > WEIGHT_MAX {
            true => Err(plan_too_large()),
            false => Ok(cells),
        }
    }

    /// Cells run one after the other, so the cell that takes the most space counts.
    fn take_space(&mut self, cells: &[Cell]) {
        let workers = u64::from(self.worker_count.max(1));
        let space = self.program.space_needed();
        let most_bytes = space.max_bytes.div_ceil(workers);
        let firm_bytes = space.firm_bytes.div_ceil(workers);
        for target_index in self.targets {
            let spans = cells.first().into_iter().flat_map(|cell| &cell.workers);
            let spans = spans.flat_map(|worker| &worker.spans);
            let count = spans
                .filter(|span| span.target_index == *target_index)
                .count();
            let [needed, most_bytes] =
                [firm_bytes, most_bytes].map(|bytes| bytes.saturating_mul(count as u64));
            let entry = &mut self.context.targets.entries[*target_index as usize];
            entry.files_bytes = entry.files_bytes.max(needed);
            entry.files_max_bytes = entry.files_max_bytes.max(most_bytes);
        }
    }

    /// Title in tables: the classic, or the workload if it has its own phases.
    fn title(&self) -> String {
        let name = self.options.name.as_str();
        self.table.title().unwrap_or(name).to_owned()
    }

    fn cell(&self) -> Cell {
        let options = self.options;
        let (run_time_ns, ramp_time_ns) = match self.table {
            WorkloadTable::Program => self.program.times_ns(),
            _ => (
                self.program.pool_time_ns().unwrap_or(0),
                self.program.transactions_phase().map_or(0, |it| it.ramp_ns),
            ),
        };
        let workers = 0..self.worker_count;
        let workers = workers.map(|index| self.worker(index)).collect();
        let engine = (options.engine, options.cache);
        let work = Work::Acts(Arc::new(self.program.clone()));
        Cell {
            access_spec: Some(self.title()),
            run_time_ns,
            ramp_time_ns,
            ring: options.ring,
            // One of the two is 1, so this is the requested depth.
            iodepth: self.slot_count * self.threads,
            ..options.method.cell(&options.name, engine, work, workers)
        }
    }

    fn span(&self, target_index: u32) -> SpanPlan {
        SpanPlan {
            target_index,
            iodepth: self.slot_count,
            start_bytes: 0,
            size_bytes: bytes::peak_bytes(self.program, self.worker_count),
            sector_bytes: SECTOR_BYTES,
        }
    }

    fn worker(&self, worker_index: u32) -> WorkerPlan {
        let options = self.options;
        // A pool follows PostMark's random numbers, so its first worker has exactly the seed.
        let seed = match self.table.has_pool() {
            true => options.method.seed + u64::from(worker_index),
            false => worker_seed(options.method.seed, worker_index),
        };
        let cpus = &options.method.cpus;
        WorkerPlan {
            worker_index,
            rank: 0,
            name: format!("worker {}", worker_index + 1),
            access_spec: self.title(),
            lines: Vec::new(),
            spans: match is_in_targets(self.program) {
                true => self.targets.iter().map(|it| self.span(*it)).collect(),
                false => {
                    let own = self.targets[worker_index as usize % self.targets.len()];
                    vec![self.span(own)]
                }
            },
            seed,
            position: PositionRule::Uniform,
            cursor: CursorKind::Worker,
            content: options.content,
            verify: options.verify || self.is_checked,
            transactions_per_connection: None,
            network: false,
            cpu: (!cpus.is_empty()).then(|| cpus[worker_index as usize % cpus.len()]),
            job: None,
        }
    }
}
