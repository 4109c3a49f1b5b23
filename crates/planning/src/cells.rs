//! Cells of one workload: for each access specification, each run of the test type at each queue
//! depth.

use description::model::{IDLE, TestType, Workload};
use plan::{
    CacheMode, Cell, EngineKind, LinePlan, PositionRule, SpanPlan, TargetKind, Work, WorkerPlan,
};
use plan::{Diagnostic, DiagnosticCode, Severity};

use super::cluster::{PlannedWorker, check_depth, cluster};
use super::cycling::{EligibleWorker, RunShape, depths, runs};
use super::lines::{LineTarget, lines_of};
use super::memory::MemoryUse;
use super::options::ResolvedOptions;
use super::space::SECTOR_BYTES;
use super::{
    CELLS_MAX, Context, WEIGHT_MAX, network, note_targets, note_workers, plan_too_large, settings,
    space, too_many_cells, weight,
};
use plan::worker_seed;

/// Maximum number of names in a warning.
const NAMES_SHOWN: usize = 8;

/// Plans the cells of a workload with access specifications.
struct AccessPlanner<'a, 'b> {
    context: &'a mut Context<'b>,
    workload: &'a Workload,
    workload_index: usize,
    options: &'a ResolvedOptions,
    workers: Vec<PlannedWorker>,
}

/// The cells of a workload for one repetition.
pub(super) fn of_workload(
    workload: &Workload,
    workload_index: usize,
    options: &ResolvedOptions,
    context: &mut Context,
) -> Result<Vec<Cell>, Diagnostic> {
    let members = cluster(workload, &context.shares)?;
    note_workers(workload, members.len(), context)?;
    settings::note_worker_values(workload, &members, context);
    network::refuse_vi(workload, context);
    let mut layout = AccessPlanner {
        context,
        workload,
        workload_index,
        options,
        workers: members,
    };
    layout.warn_of_workers_without_target();
    let depths = layout.cycled_depths()?;
    let step_count = layout
        .workers
        .iter()
        .map(|member| member.specs.len())
        .max()
        .unwrap_or(0);
    let mut cells = Vec::new();
    for step_index in 0..step_count {
        layout.step(step_index, &depths, &mut cells)?;
    }
    network::check_keys(workload, &cells)?;
    note_targets(workload_index, workload, context);
    Ok(cells)
}

impl AccessPlanner<'_, '_> {
    /// Iometer skips workers without targets, and so does every cell.
    fn warn_of_workers_without_target(&mut self) {
        let sits_out = |member: &&PlannedWorker| {
            let has_work = member.specs.iter().any(Option::is_some);
            has_work && self.targets_of(member.index).is_empty()
        };
        let names: Vec<String> = self
            .workers
            .iter()
            .filter(sits_out)
            .map(|member| format!("`{}`", plan::printable(&member.name)))
            .collect();
        let shown = names.iter().take(NAMES_SHOWN).map(String::as_str);
        let shown = shown.collect::<Vec<_>>().join(", ");
        let message = match names.len() {
            0 => return,
            1 => format!("worker {shown} has no target, so it does nothing, as in Iometer"),
            count => {
                let more = match count.saturating_sub(NAMES_SHOWN) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(
                    "{count} workers have no target, so they do nothing, as in Iometer: \
                     {shown}{more}"
                )
            }
        };
        let help = "assign a target to each worker, or remove the worker";
        let warning = Diagnostic::warning("", message).help(help);
        self.context.warnings.push(warning);
    }

    /// The depths of test types that set them. A list of depths in the file is refused, but the
    /// option `iodepth` replaces the cycle's depths.
    fn cycled_depths(&self) -> Result<Vec<u32>, Diagnostic> {
        let options = self.options;
        let cycles = matches!(
            options.test_type,
            TestType::CycleOutstandingIos | TestType::CycleOutstandingIosAndTargets
        );
        if !cycles {
            return Ok(Vec::new());
        }
        if self.context.overrides.has("iodepth") {
            return Ok(options.iodepths.clone());
        }
        if options.iodepths.len() > 1 {
            let message = "`iodepth` is a list, but `test_type` also cycles through queue depths";
            return Err(Diagnostic::error("", message).help("take out `test_type`"));
        }
        let depths = depths(&options.steps);
        if depths.is_empty() {
            let message = format!(
                "queue depths start at {} and end at {}, so there is nothing to run",
                options.steps.iodepth.start, options.steps.iodepth_end
            );
            return Err(Diagnostic::error("", message).help("use an `end` of at least `start`"));
        }
        Ok(depths)
    }

    /// Adds the cells in which each worker uses its specification with index `step_index`.
    fn step(
        &mut self,
        step_index: usize,
        depths: &[u32],
        cells: &mut Vec<Cell>,
    ) -> Result<(), Diagnostic> {
        let active: Vec<(usize, usize)> = (0..self.workers.len())
            .filter_map(|index| {
                let spec = self.workers[index]
                    .specs
                    .get(step_index)
                    .copied()
                    .flatten()?;
                (!self.targets_of(index).is_empty()).then_some((index, spec))
            })
            .collect();
        if active.is_empty() {
            // As in Iometer, an explicit idle of all workers is a run, which shows the CPU use at
            // rest.
            let idles = |member: &PlannedWorker| member.specs.get(step_index) == Some(&None);
            if self.workers.iter().any(idles) {
                cells.push(self.cell(1, Vec::new(), Some(IDLE.to_owned())));
            }
            return check_cell_count(cells);
        }
        let eligible: Vec<EligibleWorker> = active
            .iter()
            .map(|(index, _)| self.eligible(*index))
            .collect();
        let runs = runs(
            self.options.test_type,
            &self.options.steps,
            &eligible,
            depths,
        );
        for run in &runs {
            let iodepths = match run.iodepth {
                Some(depth) => vec![depth],
                None => self.own_depths(&active)?,
            };
            for iodepth in iodepths {
                let cell = self.run_cell(run, iodepth, &active)?;
                self.push_for_each_rate(cell, cells)?;
            }
        }
        Ok(())
    }

    /// Adds the cell once per rate, or once per part of a curve.
    fn push_for_each_rate(&mut self, cell: Cell, cells: &mut Vec<Cell>) -> Result<(), Diagnostic> {
        for cell in self.options.method.spread(cell)? {
            self.add_weight(&cell.workers)?;
            cells.push(cell);
            // Checked after each cell, so that a plan beyond the limit is never built.
            check_cell_count(cells)?;
        }
        Ok(())
    }

    fn targets_of(&self, member_index: usize) -> &[u32] {
        let table_index = self.workers[member_index].table_index;
        self.context
            .targets
            .of_worker(self.workload_index, table_index)
    }

    fn eligible(&self, member_index: usize) -> EligibleWorker {
        EligibleWorker {
            group_index: self.workers[member_index].group_index,
            cycle_index: self.workers[member_index].cycle_index,
            target_count: self.targets_of(member_index).len() as u32,
        }
    }

    /// The depths of the list; refuses a list that has no effect because every worker sets its own
    /// depth.
    fn own_depths(&self, active: &[(usize, usize)]) -> Result<Vec<u32>, Diagnostic> {
        let depths = &self.options.iodepths;
        let all_own = active
            .iter()
            .all(|(index, _)| self.workers[*index].iodepth.is_some());
        if depths.len() > 1 && all_own {
            let message = "`iodepth` is a list, but every worker has its own `iodepth`";
            return Err(Diagnostic::error("", message).help("take out the workers' `iodepth`"));
        }
        Ok(depths.clone())
    }

    fn run_cell(
        &mut self,
        run: &RunShape,
        iodepth: u32,
        active: &[(usize, usize)],
    ) -> Result<Cell, Diagnostic> {
        let mut workers = Vec::new();
        for ((member_index, spec_index), target_count) in active.iter().zip(&run.target_counts) {
            if *target_count == 0 {
                continue;
            }
            let member = self.workers[*member_index].clone();
            let depth = match run.iodepth {
                Some(depth) => depth,
                None => member.iodepth.unwrap_or(iodepth),
            };
            let targets = self.targets_of(*member_index)[..*target_count as usize].to_vec();
            check_depth(&member.name, depth, targets.len())?;
            let spec = &self.workload.access_spec[*spec_index];
            let lines = lines_of(spec);
            let name = spec
                .name
                .as_deref()
                .unwrap_or(&self.options.name)
                .to_owned();
            let is_network = network::is_network(&member.name, &targets, self.context)?;
            let spans = if is_network {
                network::check_lines(&lines, &name, self.context)?;
                network::spans(depth, &targets)
            } else {
                let spans = self.spans(&member, depth, &targets)?;
                self.check_lines(&lines, &spans)?;
                spans
            };
            let index = workers.len() as u32;
            let worker = self.worker(&member, index, name, lines, spans);
            workers.push(WorkerPlan {
                network: is_network,
                ..worker
            });
        }
        self.check_memory(&workers)?;
        let first = workers.first().map(|it| it.access_spec.clone());
        let common = first.filter(|name| workers.iter().all(|worker| worker.access_spec == *name));
        let spans = workers.iter().flat_map(|worker| &worker.spans);
        // Workers may have different depths, but a report has one number for the cell.
        let reported = spans.map(|span| span.iodepth).max().unwrap_or(iodepth);
        let mut cell = self.cell(reported, workers, common);
        network::check_cell(&cell, self.options)?;
        if network::is_network_cell(&cell) {
            // Sockets have no direct I/O, so `direct` in a record would be wrong.
            cell.cache = CacheMode::Buffered;
        }
        if cell.new_file {
            self.end_when_full(&mut cell)?;
        }
        Ok(cell)
    }

    /// Limits the operations of a cell that starts with an empty file: it ends when the file has
    /// its size.
    fn end_when_full(&self, cell: &mut Cell) -> Result<(), Diagnostic> {
        let mut fitting = 0;
        for worker in &cell.workers {
            // The check of `new_file` allows one worker with one line, which writes in sequence.
            let length = worker
                .lines
                .first()
                .map_or(1, |line| line.size_bytes.max(1));
            for span in &worker.spans {
                let target = &self.context.targets.entries[span.target_index as usize].facts;
                if target.kind == TargetKind::Device {
                    let path = &target.path;
                    let message = format!("`{path}` is a device, which cannot be a new file");
                    return Err(Diagnostic::error("", message).help("leave `new_file` out"));
                }
                fitting += span.size_bytes / u64::from(length);
            }
        }
        // More operations would write past the size of the file.
        cell.operations = Some(
            cell.operations
                .map_or(fitting, |requested| requested.min(fitting)),
        );
        Ok(())
    }

    fn cell(&self, iodepth: u32, workers: Vec<WorkerPlan>, access_spec: Option<String>) -> Cell {
        let options = self.options;
        let engine = (options.engine, options.cache);
        Cell {
            access_spec,
            iodepth,
            run_time_ns: options.run_time_ns,
            ramp_time_ns: options.ramp_time_ns,
            ring: options.ring,
            warm: options.warm,
            new_file: options.new_file,
            ..options
                .method
                .cell(&options.name, engine, Work::Access, workers)
        }
    }

    fn worker(
        &self,
        member: &PlannedWorker,
        worker_index: u32,
        access_spec: String,
        lines: Vec<LinePlan>,
        spans: Vec<SpanPlan>,
    ) -> WorkerPlan {
        let options = self.options;
        let derived = |seed: u64| worker_seed(seed, member.index as u32);
        let seed = match member.seed {
            // In Iometer, all workers with the same fixed seed have the same random numbers.
            Some(seed) if options.position == PositionRule::Iometer => seed,
            Some(seed) => derived(seed),
            None => derived(options.method.seed),
        };
        let cpus = &options.method.cpus;
        WorkerPlan {
            worker_index,
            rank: member.rank,
            name: member.name.clone(),
            access_spec,
            lines,
            spans,
            seed,
            position: options.position,
            cursor: options.cursor,
            content: member.content.unwrap_or(options.content),
            verify: options.verify,
            transactions_per_connection: member.transactions_per_connection,
            network: false,
            // By the place among all workers, so that a worker has the same CPU in every cell.
            cpu: (!cpus.is_empty()).then(|| cpus[member.index % cpus.len()]),
            job: None,
        }
    }

    fn spans(
        &mut self,
        member: &PlannedWorker,
        iodepth: u32,
        targets: &[u32],
    ) -> Result<Vec<SpanPlan>, Diagnostic> {
        let start = member.start_bytes.unwrap_or(self.options.start_bytes);
        let size = member.size.or(self.options.size);
        let is_limited = self.options.new_file && self.options.run_time_ns > 0;
        let span = |target_index: &u32| {
            let (start_bytes, size_bytes) =
                space::span(self.context, *target_index, start, size, is_limited)?;
            // Offsets below the unit of direct I/O would fail with EINVAL (open(2)).
            let sector_bytes = SECTOR_BYTES.max(self.direct_unit(*target_index).unwrap_or(0));
            Ok(SpanPlan {
                target_index: *target_index,
                iodepth,
                start_bytes,
                size_bytes,
                sector_bytes,
            })
        };
        targets.iter().map(span).collect()
    }

    /// The unit of direct I/O on the target; `None` if I/O is buffered or accesses no target.
    fn direct_unit(&self, target_index: u32) -> Option<u32> {
        let entry = &self.context.targets.entries[target_index as usize];
        let is_direct = self.options.cache == CacheMode::Direct
            && self.options.engine != EngineKind::Null
            && entry.facts.kind != TargetKind::Null;
        is_direct.then(|| entry.facts.direct_unit())
    }

    fn check_lines(&mut self, lines: &[LinePlan], spans: &[SpanPlan]) -> Result<(), Diagnostic> {
        for span in spans {
            let entry = &self.context.targets.entries[span.target_index as usize];
            let direct_unit = self.direct_unit(span.target_index);
            let target = LineTarget {
                path: &entry.facts.path,
                span: *span,
                direct_unit,
                fixed_bytes: entry.facts.fixed_bytes(),
            };
            for line in lines {
                target.fits(line)?;
                target.check_stride(line)?;
                match target.unaligned(line) {
                    Some(error) if entry.is_known => return Err(error),
                    // The unit of a target that was not examined is a guess, so it only causes a
                    // warning.
                    Some(error) => {
                        let warning = Diagnostic {
                            severity: Severity::Warning,
                            ..error
                        };
                        self.context.warnings.push(warning);
                    }
                    None => {}
                }
            }
            let raised = span.sector_bytes > SECTOR_BYTES
                && self.options.position == PositionRule::Uniform
                && lines.iter().any(|line| line.align_bytes == 0);
            if raised {
                let message = format!(
                    "an alignment of 0 means {} bytes on `{}`, not {SECTOR_BYTES}",
                    span.sector_bytes, entry.facts.path
                );
                let warning = Diagnostic::warning("", message)
                    .code(DiagnosticCode::AlignmentRaised)
                    .help("write an `align` to have the same on every device");
                self.context.warnings.push(warning);
            }
        }
        Ok(())
    }

    fn add_weight(&mut self, workers: &[WorkerPlan]) -> Result<(), Diagnostic> {
        self.context.weight += weight(workers);
        if self.context.weight > WEIGHT_MAX {
            Err(plan_too_large())
        } else {
            Ok(())
        }
    }

    fn check_memory(&self, workers: &[WorkerPlan]) -> Result<(), Diagnostic> {
        let buffers = MemoryUse {
            name: "the buffers of a cell",
            help: "use a smaller `--iodepth`",
            workers: workers.iter().map(|it| (it.rank, buffer_bytes(it))),
        };
        buffers.fits(self.context.facts)
    }
}

fn check_cell_count(cells: &[Cell]) -> Result<(), Diagnostic> {
    if cells.len() > CELLS_MAX {
        Err(too_many_cells(cells.len()))
    } else {
        Ok(())
    }
}

/// Size of the buffers in bytes: one of the largest request size for each request in flight.
fn buffer_bytes(worker: &WorkerPlan) -> u64 {
    let sizes = worker
        .lines
        .iter()
        .map(|line| line.size_bytes.max(line.reply_bytes));
    let depth: u64 = worker
        .spans
        .iter()
        .map(|span| u64::from(span.iodepth))
        .sum();
    u64::from(sizes.max().unwrap_or(0)).saturating_mul(depth)
}
