//! Preconditioning: writes targets sequentially before the first cell that uses them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use engine::{Clock, OperationSet};
use plan::job::{
    BlockRule, FileOrder, JobFile, JobFiles, JobPlan, ReadWriteMix, SizeRule, StreamEnd, StreamPlan,
};
use plan::program::Program;
use plan::{
    CacheMode, Cell, CursorKind, Distribution, EngineKind, LinePlan, PositionRule, Sequence,
    SpanPlan, Work, WorkerPlan,
};
use results::{PreconditionRecord, RunEvent, Warning, WarningCode};

use crate::RunError;
use crate::cell::run_cell;
use crate::context::{CellContext, ShownStage};
use crate::files::{self, FilesContext, FilesMeasured};
use crate::measured::MeasuredCell;
use crate::parts::{Sources, parts};
use crate::session::Session;
use crate::targets::open;
use crate::worker::LaneWork;

/// Size of a write, in bytes.
///
/// Source: SNIA, "Solid State Storage Performance Test Specification", 2.0.2, 2020: workload
/// independent preconditioning.
const WRITE_BYTES: u64 = 128 << 10;
/// Writes in flight.
const IODEPTH: u32 = 32;

impl Session<'_> {
    /// Preconditions the targets of the cell that no earlier cell has preconditioned. Files of jobs
    /// are created later, see [`Self::precondition_jobs`].
    pub fn precondition(&mut self, cell: &Cell) -> Result<(), RunError> {
        let Some(times) = cell.precondition.filter(|_| cell.work.is_access()) else {
            return Ok(());
        };
        for target_index in cell.own_target_indexes() {
            if self.is_preconditioned(target_index) || self.stopped() {
                continue;
            }
            let Some(fill) = fill_cell(cell, target_index, times) else {
                continue;
            };
            let parts = self.fill_parts(&fill)?;
            self.precondition_target(&fill, parts, (target_index, times))?;
            if let Some(prepared) = self.targets.get(&target_index) {
                // Data in the page cache is not on the device yet, so evicting the file writes it.
                prepared.evict_file()?;
            }
        }
        Ok(())
    }

    /// Writes the files of a cell's jobs, after they are laid out, as often as the cell requires.
    /// Returns `true` if it wrote any, which changes the content of the page cache.
    pub(crate) fn precondition_jobs(
        &mut self,
        cell: &Cell,
        files: &JobFiles,
    ) -> Result<bool, RunError> {
        let Some(times) = cell.precondition else {
            return Ok(false);
        };
        let mut has_written = false;
        for target_index in cell.own_target_indexes() {
            if self.is_preconditioned(target_index) || self.stopped() {
                continue;
            }
            let Some(fill) = fill_of_jobs(cell, files, (target_index, times)) else {
                continue;
            };
            let parts = self.job_parts(&fill, files, &RefCell::default())?;
            self.precondition_target(&fill, parts, (target_index, times))?;
            has_written = true;
        }
        Ok(has_written)
    }

    /// Writes as much as the cell's files will occupy on each target, as often as the cell
    /// requires, to a file that is removed again.
    pub(crate) fn precondition_files(&mut self, cell: &Cell) -> Result<(), RunError> {
        let Some(times) = cell.precondition else {
            return Ok(());
        };
        for target_index in cell.own_target_indexes() {
            if self.is_preconditioned(target_index) || self.stopped() {
                continue;
            }
            let Some(fill) = fill_of_files(cell, (target_index, times)) else {
                continue;
            };
            let Some(program) = fill.program() else {
                continue;
            };
            let begin_ns = self.clock.now_ns();
            let target = self.plan.targets[target_index as usize].path.display();
            let target = target.to_string();
            let measured = self.fill_files(&fill, program, &target);
            measured.outcome?;
            let totals = measured.records.iter().flat_map(|it| it.operation("write"));
            let bytes = totals.map(|it| it.bytes).sum();
            let errors = measured.records.iter().map(|it| it.total.errors).sum();
            self.preconditioned((target_index, target), times, (bytes, errors), begin_ns);
        }
        Ok(())
    }

    fn fill_files(&mut self, fill: &Cell, program: &Program, target: &str) -> FilesMeasured {
        let total_bytes = program
            .filesets
            .iter()
            .map(|it| it.size.always().unwrap_or(0));
        let times = fill.precondition.unwrap_or(0.0);
        let total_bytes = (total_bytes.sum::<u64>() as f64 * times) as u64;
        let mut listener = progress(&mut *self.listener, target, total_bytes);
        files::measure(
            FilesContext {
                plan: self.plan,
                cell: fill,
                targets: &mut self.targets,
                clock: &self.clock,
                stop: &self.options.stop,
                // An incomplete preconditioning would change all later cells.
                skip: &AtomicBool::new(false),
                keeps_files: false,
                continued: &self.options.continued,
                agreement: None,
                listener: &mut listener,
                mismatches: (0, None),
                counters: None,
            },
            program,
        )
    }

    fn is_preconditioned(&self, target_index: u32) -> bool {
        let mut records = self.record.preconditions.iter();
        records.any(|it| it.target_index == target_index)
    }

    fn precondition_target(
        &mut self,
        fill: &Cell,
        parts: Vec<LaneWork>,
        (target_index, times): (u32, f64),
    ) -> Result<(), RunError> {
        let path = &self.plan.targets[target_index as usize].path;
        let target = path.display().to_string();
        let begin_ns = self.clock.now_ns();
        let measured = self.fill(fill, parts, &target)?;
        let lanes = measured.lanes.iter().flat_map(|lane| &lane.spans);
        let (bytes, errors) = lanes.fold((0, 0), |(bytes, errors), span| {
            let total = span.total();
            (bytes + total.bytes(), errors + total.errors())
        });
        self.preconditioned((target_index, target), times, (bytes, errors), begin_ns);
        Ok(())
    }

    /// Records the bytes written and the errors.
    fn preconditioned(
        &mut self,
        (target_index, target): (u32, String),
        times: f64,
        (bytes, errors): (u64, u64),
        begin_ns: u64,
    ) {
        if errors > 0 {
            let message = format!("{errors} writes failed while `{target}` was preconditioned");
            self.warn(Warning::of_run(WarningCode::IoErrors, message));
        }
        self.record.preconditions.push(PreconditionRecord {
            target_index,
            target,
            times,
            bytes,
            time_ns: self.clock.now_ns().saturating_sub(begin_ns),
            errors,
        });
    }

    fn fill_parts(&self, fill: &Cell) -> Result<Vec<LaneWork>, RunError> {
        let contents = self.contents(fill)?;
        let warnings = RefCell::new(BTreeMap::new());
        let open = |index: u32, operations: OperationSet| {
            open(&self.targets, fill, index, operations, &warnings)
        };
        let sources = Sources {
            seed: self.plan.seed,
            target_count: self.plan.targets.len(),
            open: &open,
            peer: &|_| None,
            contents: &contents,
        };
        parts(fill, &sources)
    }

    fn fill(
        &mut self,
        fill: &Cell,
        parts: Vec<LaneWork>,
        target: &str,
    ) -> Result<MeasuredCell, RunError> {
        let total_bytes = fill_bytes(fill);
        let mut listener = progress(&mut *self.listener, target, total_bytes);
        run_cell(
            CellContext {
                cell: fill,
                clock: &self.clock,
                stop: &self.options.stop,
                // An incomplete preconditioning would change all later cells.
                skip: None,
                continued: &self.options.continued,
                // Each process preconditions its own targets, so no common start is needed.
                agreement: None,
                shown_stage: ShownStage::default(),
                devices: None,
                status: None,
                mark: &mut |_, _| {},
                listener: &mut listener,
            },
            parts,
        )
    }
}

/// Turns events of preconditioning into progress events of preparing the target.
fn progress<'l>(
    listener: &'l mut dyn FnMut(&RunEvent),
    target: &str,
    total_bytes: u64,
) -> impl FnMut(&RunEvent) + use<'l> {
    let target = format!("{target}, preconditioning");
    let mut done_bytes = 0;
    move |event| {
        if let RunEvent::Interval { interval, .. } = event {
            done_bytes += interval.operations.values().map(|it| it.bytes).sum::<u64>();
        }
        listener(&RunEvent::Prepare {
            target: target.clone(),
            // The last write may pass the total, because only whole writes are made.
            done_bytes: done_bytes.min(total_bytes),
            total_bytes,
        });
    }
}

/// Bytes that a cell of preconditioning writes.
fn fill_bytes(fill: &Cell) -> u64 {
    let jobs = fill.workers.iter().filter_map(|it| it.job.as_deref());
    let lines = fill.workers.iter().flat_map(|worker| &worker.lines);
    let line_bytes: u64 = lines.map(|line| u64::from(line.size_bytes)).sum();
    let job_bytes: u64 = jobs.map(|job| job.stream.end.bytes).sum();
    job_bytes + fill.operations.unwrap_or(0) * line_bytes
}

/// Cell with one job that writes, `times` over, all parts of files on the target that the cell's
/// jobs use, file by file. `None` if the jobs use no file there.
fn fill_of_jobs(cell: &Cell, files: &JobFiles, (target_index, times): (u32, f64)) -> Option<Cell> {
    let is_on_target = |part: &&JobFile| {
        let file = &files.files[part.file_index as usize];
        // Jobs create or extend all other files themselves.
        file.target_index == target_index && file.layout.has_size()
    };
    let mut used: BTreeMap<u32, JobFile> = BTreeMap::new();
    let jobs = || cell.own_workers().filter_map(|(_, it)| it.job.as_deref());
    for part in jobs().flat_map(|job| &job.files).filter(is_on_target) {
        let merged = used.entry(part.file_index).or_insert(*part);
        let end = |part: &JobFile| part.start_bytes.saturating_add(part.size_bytes);
        let end_bytes = end(merged).max(end(part));
        merged.start_bytes = merged.start_bytes.min(part.start_bytes);
        merged.size_bytes = end_bytes - merged.start_bytes;
    }
    let (_, worker) = cell.own_workers().find(|(_, worker)| {
        let job = worker.job.as_deref();
        job.is_some_and(|job| job.files.iter().any(|part| is_on_target(&part)))
    })?;
    let first_job = worker.job.as_deref()?;
    let smallest_bytes = used.values().map(|part| part.size_bytes).min()?;
    // A write must fit into every part.
    let block_bytes = WRITE_BYTES.min(smallest_bytes) as u32;
    let all_bytes: u64 = used.values().map(|part| part.size_bytes).sum();
    let blocks = BlockRule {
        sizes: SizeRule::Fixed { bytes: block_bytes },
        align_bytes: block_bytes,
    };
    let end = StreamEnd {
        bytes: (all_bytes as f64 * times).ceil() as u64,
        requests: None,
        loops: Some(1),
        // `times` may be above 1, and then the job writes its files several times.
        starts_over: true,
    };
    let stream = StreamPlan {
        file_order: FileOrder::Sequential,
        ..StreamPlan::sequential(ReadWriteMix::Write, blocks, end)
    };
    // Other engines need a thread for each request in flight.
    let is_deep = first_job.engine == EngineKind::IoUring;
    let job = JobPlan {
        cache: first_job.cache,
        iodepth: if is_deep { IODEPTH } else { 1 },
        files: used.into_values().collect(),
        ..JobPlan::new(first_job.engine, stream)
    };
    let span = worker.spans.first()?;
    let worker = WorkerPlan {
        worker_index: 0,
        spans: vec![SpanPlan {
            target_index,
            iodepth: job.iodepth,
            ..*span
        }],
        job: Some(Box::new(job)),
        ..worker.clone()
    };
    Some(fill_like(cell, vec![worker], cell.work.clone()))
}

/// Cell with one worker that writes, `times` over, as much as the files of `cell` occupy on the
/// target. `None` if they occupy nothing there.
fn fill_of_files(cell: &Cell, (target_index, times): (u32, f64)) -> Option<Cell> {
    // Each process fills the space of the workers that it runs, so together they fill it once.
    let own = || {
        let spans = cell.own_workers().flat_map(|(_, worker)| &worker.spans);
        spans.filter(|span| span.target_index == target_index)
    };
    let bytes = own().fold(0_u64, |sum, span| sum.saturating_add(span.size_bytes));
    let span = own().next().filter(|_| bytes > 0)?;
    let (_, worker) = cell.own_workers().next()?;
    let program = Program::filling(bytes, times, cell.cache == CacheMode::Direct);
    let worker = WorkerPlan {
        worker_index: 0,
        spans: vec![SpanPlan {
            iodepth: 1,
            ..*span
        }],
        // The file is removed afterwards, so nothing ever verifies its content.
        verify: false,
        ..worker.clone()
    };
    Some(Cell {
        precondition: Some(times),
        ..fill_like(cell, vec![worker], Work::Acts(program.into()))
    })
}

/// Cell that writes, `times` over, the part of the target that `cell` uses. `None` if it uses none.
fn fill_cell(cell: &Cell, target_index: u32, times: f64) -> Option<Cell> {
    let worker = cell.workers.iter().find(|worker| {
        worker
            .spans
            .iter()
            .any(|it| it.target_index == target_index)
    })?;
    let all = cell.workers.iter().flat_map(|worker| &worker.spans);
    let span = all
        .filter(|span| span.target_index == target_index)
        .copied()
        .reduce(around)?;
    let sector = u64::from(span.sector_bytes.max(1));
    // Direct writes must consist of whole sectors.
    let size_bytes = WRITE_BYTES.min(span.size_bytes / sector * sector);
    let writes = (span.size_bytes as f64 * times / size_bytes as f64).ceil() as u64;
    let line = LinePlan {
        size_bytes: u32::try_from(size_bytes).ok().filter(|bytes| *bytes > 0)?,
        of_size_percent: 100.0,
        read_percent: 0.0,
        random_percent: 0.0,
        delay_ns: 0,
        burst: 1,
        align_bytes: 0,
        reply_bytes: 0,
        distribution: Distribution::Uniform,
        sequence: Sequence::Forward,
    };
    let worker = WorkerPlan {
        worker_index: 0,
        lines: vec![line],
        spans: vec![SpanPlan {
            iodepth: IODEPTH,
            ..span
        }],
        position: PositionRule::Uniform,
        cursor: CursorKind::Worker,
        transactions_per_connection: None,
        network: false,
        ..worker.clone()
    };
    Some(Cell {
        operations: Some(writes),
        ..fill_like(cell, vec![worker], Work::Access)
    })
}

/// Creates a cell that prepares for this process's part of another cell.
fn fill_like(cell: &Cell, workers: Vec<WorkerPlan>, work: Work) -> Cell {
    let own = |worker: WorkerPlan| WorkerPlan {
        rank: cell.rank.unwrap_or(0),
        ..worker
    };
    let workers = workers.into_iter().map(own).collect();
    Cell {
        index: cell.index,
        first_index: cell.first_index,
        workload_index: cell.workload_index,
        access_spec: cell.access_spec.clone(),
        repetition: cell.repetition,
        ring: cell.ring,
        rank: cell.rank,
        ..Cell::new(&cell.workload, (cell.engine, cell.cache), work, workers)
    }
}

/// Span that covers both.
fn around(one: SpanPlan, other: SpanPlan) -> SpanPlan {
    let end = |span: &SpanPlan| span.start_bytes.saturating_add(span.size_bytes);
    let start_bytes = one.start_bytes.min(other.start_bytes);
    SpanPlan {
        start_bytes,
        size_bytes: end(&one).max(end(&other)) - start_bytes,
        sector_bytes: one.sector_bytes.max(other.sector_bytes),
        ..one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{cell, worker};

    fn written(size_bytes: u64, times: f64) -> (u32, u64) {
        let mut plan = cell(4, vec![worker(0, 4, Vec::new())]);
        plan.workers[0].spans[0].size_bytes = size_bytes;
        let fill = fill_cell(&plan, 0, times).unwrap();
        (
            fill.workers[0].lines[0].size_bytes,
            fill.operations.unwrap(),
        )
    }

    #[test]
    fn a_span_is_written_the_requested_number_of_times() {
        const K128: u32 = 128 << 10;
        assert_eq!(written(1 << 30, 2.0), (K128, 16_384));
        assert_eq!(written(1 << 30, 1.5), (K128, 12_288));
        // A remainder takes one more write.
        assert_eq!(written((1 << 20) + 512, 1.0), (K128, 9));
        assert_eq!(written(5000, 2.0), (4608, 3));
    }

    #[test]
    fn the_spans_of_all_workers_become_one() {
        let mut plan = cell(4, (0..2).map(|it| worker(it, 4, Vec::new())).collect());
        plan.workers[0].spans[0].start_bytes = 4096;
        plan.workers[0].spans[0].size_bytes = 8192;
        plan.workers[1].spans[0].start_bytes = 1 << 20;
        plan.workers[1].spans[0].size_bytes = 1 << 20;
        let fill = fill_cell(&plan, 0, 1.0).unwrap();
        let span = fill.workers[0].spans[0];
        assert_eq!(
            (span.start_bytes, span.size_bytes),
            (4096, (2 << 20) - 4096)
        );
        assert_eq!((span.iodepth, fill.workers.len()), (32, 1));
        assert_eq!(fill_cell(&plan, 7, 1.0), None);
    }

    #[test]
    fn each_process_writes_its_own_files() {
        let mut plan = cell(4, (0..2).map(|it| worker(it, 4, Vec::new())).collect());
        plan.workers[1].rank = 1;
        for rank in [0, 1] {
            plan.rank = Some(rank);
            let fill = fill_cell(&plan, 0, 1.0).unwrap();
            assert_eq!(fill.own_workers().count(), 1, "{rank}");
        }
    }
}
