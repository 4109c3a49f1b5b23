//! File pools, one per worker: created, worked on and removed.

mod events;
mod in_targets;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::{FileEngineOptions, Fileset};
use generate::FileStamp;
use generate::pool::{
    PlayOptions, PoolMark, PoolRun, TextContent, Totals, file_options, kept_file_options,
    name_rule, stdio_buffer_bytes,
};
use plan::program::{FilePool, PoolPart, Program, ProgramPhase};
use plan::{CacheMode, Cell, EngineKind, WorkerPlan};
use results::{PhaseFigures, PoolFigures, RunEvent, Warning, WarningCode};
use storage::Tree;

use crate::RunError;
use crate::file_requests::FileRequests;
use crate::file_task::{FileContents, FileTask};
use crate::files::stages::{CellTrees, Stage, StageOutcome, StageWork, iodepth, stop_ns, unit};
use crate::open_fileset::{self, DIRECTORY_MODE, OpenFileset, direct_flag};

/// Buffer size of a stream if no file system gives one, in bytes.
const BLOCK_BYTES: u64 = 4096;
const MIB: f64 = 1_048_576.0;

/// Pools of all workers, which persist between phases.
pub(super) struct FilePools {
    /// The cell, with only the workers of this process.
    cell: Cell,
    /// Number of workers in all processes.
    worker_count: u32,
    settings: FilePool,
    /// Time after which the transactions end, in nanoseconds; `None` if their number ends them.
    time_ns: Option<u64>,
    transactions_phase: String,
    worker_pools: Vec<WorkerFilePool>,
    part: Option<PoolPart>,
    /// Time of each part so far, in nanoseconds.
    times_ns: [u64; 4],
    /// Time spent removing directories, in nanoseconds.
    directories_removed_ns: u64,
    /// Events that were not reported yet.
    unreported_events: Vec<RunEvent>,
}

/// Pool of one worker.
struct WorkerFilePool {
    /// `None` while a stage runs.
    run: Option<PoolRun>,
    contents: FileContents,
    open_fileset: Option<OpenFileset>,
    buffer_bytes: u32,
    totals: Totals,
    /// Reason why the transactions ended, which the loop does not know.
    end: Option<PoolMark>,
}

impl FilePools {
    /// Creates the pools of a program; `None` if it has no pool.
    pub fn of(cell: &Cell, program: &Program) -> Option<Self> {
        let settings = program.pool.as_deref()?;
        Some(Self {
            cell: Cell {
                workers: cell.own_workers().map(|(_, it)| it.clone()).collect(),
                ..cell.clone()
            },
            worker_count: cell.workers.len() as u32,
            settings: settings.clone(),
            time_ns: program.pool_time_ns(),
            transactions_phase: program
                .transactions_phase()
                .map_or_else(String::new, |phase| phase.name.clone()),
            worker_pools: Vec::new(),
            part: None,
            times_ns: [0; 4],
            directories_removed_ns: 0,
            unreported_events: Vec::new(),
        })
    }

    /// `true` if several workers use the same directories.
    fn is_shared(&self) -> bool {
        self.settings.is_shared && self.cell.workers.len() > 1
    }

    fn player(
        &self,
        worker: &WorkerPlan,
        cell_trees: &CellTrees,
    ) -> Result<WorkerFilePool, RunError> {
        let tree = cell_trees.of(worker);
        let index = worker.worker_index;
        let settings = FilePool {
            // The first worker has the original's random numbers, and each other worker has its
            // own.
            seed: self.settings.seed.wrapping_add(index),
            transactions: match self.cell.operations {
                Some(all) => {
                    let own = generate::share(all, self.worker_count.into(), index.into());
                    u32::try_from(own).unwrap_or(u32::MAX)
                }
                None => self.settings.transactions,
            },
            ..self.settings.clone()
        };
        let block_bytes = tree.map_or(BLOCK_BYTES, Tree::block_bytes);
        let block_bytes = i64::try_from(block_bytes).unwrap_or(0);
        let options = PlayOptions {
            slot_count: iodepth(worker),
            stdio_buffer_bytes: stdio_buffer_bytes(block_bytes),
            has_file_offsets: self.has_file_offsets(worker),
            // Verified content depends on its position in the file.
            reads_whole: self.cell.engine == EngineKind::IoUring && !worker.verify,
            kept_open_max: settings.keep_open,
            fsync: settings.fsync,
            choice: settings.choice,
            is_endless: self.time_ns.is_some(),
            makes_subdirectories: !self.is_shared(),
            unit: unit(&self.cell),
        };
        let (play, text) = PoolRun::new(&settings, &options)?;
        let longest_bytes = PoolRun::buffer_bytes(&settings, options.stdio_buffer_bytes);
        let field = tree.map(|tree| self.field(worker, &settings, &text, (tree, cell_trees)));
        let field = field.transpose()?;
        // The `null` engine writes from its buffers, as the `psync` engine does.
        let own_bytes = || text.kept_bytes();
        let kept_bytes = field
            .as_ref()
            .map_or_else(own_bytes, |it| it.options.kept_bytes());
        Ok(WorkerFilePool {
            run: Some(play),
            contents: contents(worker, text, kept_bytes > 0),
            open_fileset: field,
            buffer_bytes: longest_bytes.saturating_add(kept_bytes),
            totals: Totals::default(),
            end: None,
        })
    }

    /// `true` if requests contain file offsets, which the original program does not use.
    fn has_file_offsets(&self, worker: &WorkerPlan) -> bool {
        worker.verify || self.cell.engine == EngineKind::IoUring
    }

    fn field(
        &self,
        worker: &WorkerPlan,
        settings: &FilePool,
        text: &TextContent,
        (tree, grounds): (&Tree, &CellTrees),
    ) -> Result<OpenFileset, RunError> {
        let locations = match settings.is_in_targets() {
            true => in_targets::locations(settings, grounds)?,
            false => self.locations(worker, settings, tree)?,
        };
        let prefix = match self.is_shared() {
            true => format!("w{}-", worker.worker_index),
            false => String::new(),
        };
        let mut fileset = Fileset::generated(locations, name_rule(settings, &prefix))?;
        if self.is_shared() {
            // Workers are prepared in order, so the shared directories exist for the other workers.
            if worker.worker_index == 0 {
                fileset.make_subdirectories(DIRECTORY_MODE)?;
            }
            fileset.open_subdirectories()?;
        }
        Ok(OpenFileset::of(
            Arc::new(fileset),
            self.options(worker, text),
        ))
    }

    /// Opens a worker's locations, and creates them below its target.
    fn locations(
        &self,
        worker: &WorkerPlan,
        settings: &FilePool,
        tree: &Tree,
    ) -> Result<Vec<OwnedFd>, RunError> {
        let own = format!("w{}", worker.worker_index);
        let is_apart = !self.is_shared() && self.cell.workers.len() > 1;
        let base = is_apart.then_some(own.as_str());
        let names = settings
            .locations
            .iter()
            .map(|location| String::from_utf8_lossy(&location.directory).into_owned());
        let mut locations = Vec::new();
        for name in names {
            let path = base.map_or_else(|| name.clone(), |base| format!("{base}/{name}"));
            locations.push(open_fileset::location(tree, Some(&path))?);
        }
        if locations.is_empty() {
            locations.push(open_fileset::location(tree, base)?);
        }
        Ok(locations)
    }

    /// Fails, before any file is created, if there are more directories and files than can be open.
    fn make_room(&self) -> Result<(), RunError> {
        let locations = self.settings.locations.len().max(1) as u64;
        let per_worker = locations * u64::from(self.settings.subdirectories_count());
        let directories = per_worker.saturating_mul(self.cell.workers.len() as u64);
        // Each worker has its own descriptor table; the directories of all workers count in each.
        let count = directories.saturating_add(self.settings.keep_open.into());
        Ok(engine::make_room_for_open(count)?)
    }

    /// Opens the subdirectories that each worker has made, so that no part of a file's path can be
    /// replaced by a link.
    fn open_subdirectories(&mut self) -> Result<(), RunError> {
        // Some originals open no directories, and may have more than can be open at the same time.
        if self.settings.is_in_targets() && self.make_room().is_err() {
            return Ok(());
        }
        for player in &mut self.worker_pools {
            if let Some(field) = &mut player.open_fileset {
                let fileset = Arc::get_mut(&mut field.fileset)
                    .expect("between stages, only the pool holds a worker's files");
                fileset.open_existing_subdirectories()?;
            }
        }
        Ok(())
    }

    /// File options as in the original program. Writes come from the text itself, unless requests
    /// contain file offsets instead of positions in the text.
    fn options(&self, worker: &WorkerPlan, text: &TextContent) -> FileEngineOptions {
        let file_options = match self.settings.keep_open {
            0 => file_options,
            _ => kept_file_options,
        };
        let options = file_options(&self.settings, self.has_file_offsets(worker));
        let direct = match self.cell.cache {
            CacheMode::Direct => direct_flag(),
            _ => 0,
        };
        FileEngineOptions {
            open: options.open.with(direct),
            content_bytes: match self.has_file_offsets(worker) {
                true => 0,
                // With the text in its buffers, a worker makes no copy per write and takes 6 % less
                // user time.
                false => text.kept_bytes(),
            },
            ..options
        }
    }

    fn prepare(&mut self, cell_trees: &CellTrees) -> Result<(), RunError> {
        if !cell_trees.trees.is_empty() && !self.settings.is_in_targets() {
            self.make_room()?;
        }
        let workers = self.cell.workers.iter();
        let players = workers.map(|worker| self.player(worker, cell_trees));
        self.worker_pools = players.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Operations of a part, summed over all workers; `None` if the number is not known.
    fn expected(&self, part: PoolPart) -> Option<u64> {
        let workers = self.worker_pools.len() as u64;
        let settings = &self.settings;
        match part {
            PoolPart::MakeDirectories => None,
            PoolPart::Fill => Some(u64::from(settings.number) * workers),
            PoolPart::Transact if self.time_ns.is_some() => None,
            PoolPart::Transact => {
                // A transaction is a read or append and a create or delete. Either can be off.
                let halves = [settings.read_bias.is_some(), settings.create_bias.is_some()];
                let halves = halves.into_iter().filter(|is_done| *is_done).count() as u64;
                let planned = u64::from(settings.transactions) * workers;
                Some(self.cell.operations.unwrap_or(planned) * halves)
            }
            PoolPart::Empty => {
                let remaining = |totals: &Totals| totals.created_count - totals.deleted_count;
                Some(
                    self.worker_pools
                        .iter()
                        .map(|it| remaining(&it.totals))
                        .sum(),
                )
            }
        }
    }

    /// Stage of a part; `None` if there is nothing to do.
    ///
    /// # Errors
    /// There is not enough memory, too many files would be open, or a directory is not usable.
    pub fn stage(
        &mut self,
        phase: &ProgramPhase,
        part: PoolPart,
        cell_trees: &CellTrees,
    ) -> Result<Option<Stage>, RunError> {
        let tasks = self.begin((part, phase.ramp_ns), cell_trees)?;
        Ok(tasks.map(|tasks| Stage {
            phase: phase.name.clone(),
            transactions: self.expected(part),
            time_ns: stop_ns(phase),
            rate_workers: (part == PoolPart::Transact).then_some(self.worker_count),
            is_until_steady: part == PoolPart::Transact && self.cell.steady.is_some(),
            ramp_ns: phase.ramp_ns,
            is_hidden: phase.is_hidden,
            work: StageWork::Tasks(tasks),
        }))
    }

    fn begin(
        &mut self,
        (part, ramp_ns): (PoolPart, u64),
        grounds: &CellTrees,
    ) -> Result<Option<Vec<FileTask>>, RunError> {
        match self.part {
            None if self.worker_pools.is_empty() => self.prepare(grounds)?,
            Some(PoolPart::MakeDirectories) => self.open_subdirectories()?,
            _ => {}
        }
        // Shared directories already exist by now.
        if part == PoolPart::MakeDirectories && self.is_shared() {
            return Ok(None);
        }
        // Due requests may be done after that time, and rounds continue until they are steady.
        let is_ended = self.cell.rate.is_some() || self.cell.steady.is_some();
        let time_ns = self
            .time_ns
            .filter(|_| part == PoolPart::Transact && !is_ended);
        let mut tasks = Vec::new();
        for player in &mut self.worker_pools {
            let Some(mut play) = player.run.take() else {
                return Ok(None);
            };
            play.begin_next_phase();
            if let Some(time_ns) = time_ns {
                play.stop_after(time_ns.saturating_add(ramp_ns));
            }
            tasks.push(FileTask {
                requests: FileRequests::Pool(Box::new(play)),
                open_fileset: player.open_fileset.clone(),
                contents: player.contents.clone(),
                buffer_bytes: player.buffer_bytes,
                logs_calls: false,
            });
        }
        self.part = Some(part);
        self.report_begin(part);
        Ok(Some(tasks))
    }

    /// Stores the results of a part, and takes back the workers' streams.
    pub fn done(&mut self, done: StageOutcome<'_>) {
        if let Some(part) = self.part {
            self.times_ns[part as usize] = done.total_ns;
        }
        let (is_cut, lanes) = (done.is_cut, done.lanes);
        for (player, requests) in self.worker_pools.iter_mut().zip(done.requests) {
            if let FileRequests::Pool(play) = requests {
                player.totals = *play.totals();
                player.end = play.end();
                player.run = Some(*play);
            }
        }
        self.note_removal(lanes);
        if !is_cut {
            self.report_end();
        }
    }

    fn plays(&self) -> impl Iterator<Item = &PoolRun> {
        self.worker_pools
            .iter()
            .filter_map(|player| player.run.as_ref())
    }

    fn totals(&self) -> Totals {
        let mut all = Totals::default();
        for player in &self.worker_pools {
            all.merge(&player.totals);
        }
        all
    }

    /// Results of all pools so far; `None` unless the phase is that of their transactions.
    pub fn figures(&self, phase: &str) -> Option<PhaseFigures> {
        (phase == self.transactions_phase).then(|| PhaseFigures {
            pool: Some(self.sum()),
            ..PhaseFigures::default()
        })
    }

    fn sum(&self) -> PoolFigures {
        let totals = self.totals();
        let time_ns = |part: PoolPart| self.times_ns[part as usize];
        PoolFigures {
            transactions_count: totals.transactions_count,
            transactions_per_second: None,
            created_count: totals.created_count,
            created_before_count: totals.created_before_count,
            read_count: totals.read_count,
            appended_count: totals.appended_count,
            deleted_count: totals.deleted_count,
            deleted_after_count: totals.deleted_after_count,
            read_bytes: totals.read_bytes,
            written_bytes: totals.written_bytes,
            read_bytes_float: totals.read_bytes_float.into(),
            written_bytes_float: totals.written_bytes_float.into(),
            taken_count: self.plays().map(PoolRun::taken_count).sum(),
            creation_ns: time_ns(PoolPart::MakeDirectories) + time_ns(PoolPart::Fill),
            directories_made_ns: time_ns(PoolPart::MakeDirectories),
            transactions_ns: time_ns(PoolPart::Transact),
            deletion_ns: time_ns(PoolPart::Empty),
            directories_removed_ns: self.directories_removed_ns,
        }
        .with_rate()
    }

    /// Warnings about the results.
    pub fn warnings(&self) -> Vec<Warning> {
        let index = self.cell.index;
        let mut warnings = Vec::new();
        let depleted = self
            .worker_pools
            .iter()
            .filter(|it| it.end == Some(PoolMark::OutOfFiles));
        let depleted: Vec<u64> = depleted.map(|it| it.totals.transactions_count).collect();
        if let Some(first) = depleted.first() {
            let message = format!("out of files: a pool was empty after {first} transactions");
            warnings.push(Warning::of_cell(WarningCode::PoolDepleted, index, message));
        }
        let totals = self.totals();
        for (what, exact, float) in [
            ("read", totals.read_bytes, totals.read_bytes_float),
            ("written", totals.written_bytes, totals.written_bytes_float),
        ] {
            let (exact, float) = (exact as f64 / MIB, f64::from(float) / MIB);
            if (exact - float).abs() > 0.005 * exact.max(1.0) / 5.0 {
                let message = format!(
                    "the original itself would report {float:.2} MiB {what}, because it adds up \
                     in 32-bit floats; the exact value is {exact:.2} MiB"
                );
                warnings.push(Warning::of_cell(WarningCode::ClassicFigure, index, message));
            }
        }
        warnings
    }
}

/// The original's text, or content that reads can verify.
fn contents(worker: &WorkerPlan, text: TextContent, is_kept: bool) -> FileContents {
    match (worker.verify, is_kept) {
        (true, _) => FileContents::Stamp(FileStamp::new(worker.seed)),
        (false, true) => FileContents::BufferedText(text),
        (false, false) => FileContents::Text(text),
    }
}

#[cfg(test)]
mod tests;
