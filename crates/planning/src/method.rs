//! Measurement method of a workload, for any kind of work: rates, end of cells, repetitions.

use description::model::{Seed, Workload};
use plan::{
    CacheMode, Cell, CurvePart, Diagnostic, EngineKind, OpenLoop, SteadyRule, Work, WorkerPlan,
};

use super::open_loop;
use super::repetition::RepetitionMode;
use super::resolver::Resolver;
use super::seeds::SEED_DEFAULT;

/// Keys of the workload that define its measurement.
pub(super) struct Method {
    /// One cell per rate; a single `None` for a closed loop.
    pub rates: Vec<Option<OpenLoop>>,
    /// Parts of a response-time curve or of a search for a rate; empty for neither.
    pub curve: Vec<CurvePart>,
    /// `true` to skip depths beyond the best one.
    pub find_depth: bool,
    pub operations: Option<u64>,
    /// Number of times that targets are written before they are measured.
    pub precondition: Option<f64>,
    /// Rounds until they are steady; `None` for a single measurement.
    pub steady: Option<SteadyRule>,
    pub repetition_mode: RepetitionMode,
    pub seed: u64,
    pub cpus: Vec<u32>,
}

impl Method {
    /// A cell of any kind of work with these settings; see [`Cell::new`] for the others.
    pub fn cell(
        &self,
        workload: &str,
        engine: (EngineKind, CacheMode),
        work: Work,
        workers: Vec<WorkerPlan>,
    ) -> Cell {
        Cell {
            operations: self.operations,
            find_depth: self.find_depth,
            // A cell without workers never becomes steady.
            steady: self.steady.filter(|_| !workers.is_empty()),
            precondition: self.precondition,
            ..Cell::new(workload, engine, work, workers)
        }
    }

    /// Copies the cell for each rate, or for each part of a curve.
    ///
    /// # Errors
    /// If the work cannot have a rate.
    pub fn spread(&self, cell: Cell) -> Result<Vec<Cell>, Diagnostic> {
        if !self.curve.is_empty() || self.rates.iter().any(Option::is_some) {
            open_loop::check(&cell)?;
        }
        if !self.curve.is_empty() {
            let curve = self.curve.iter().copied().map(Some);
            return Ok(curve
                .map(|curve| Cell {
                    curve,
                    ..cell.clone()
                })
                .collect());
        }
        let rates = self.rates.iter().copied();
        Ok(rates
            .map(|rate| Cell {
                rate,
                ..cell.clone()
            })
            .collect())
    }
}

/// Keys that define the number and the rate of requests.
pub(super) struct LoadMethod {
    /// One cell per rate; a single `None` for a closed loop.
    rates: Vec<Option<OpenLoop>>,
    curve: Vec<CurvePart>,
    find_depth: bool,
    operations: Option<u64>,
}

/// Measurement method of jobs.
pub(super) struct JobMethod {
    pub method: Method,
    /// One cell per depth; `None` for the jobs' own depths.
    pub iodepths: Vec<Option<u32>>,
}

impl Resolver<'_> {
    /// The queue depths, and the load at each of them.
    pub fn load(&mut self, workload: &Workload) -> (Vec<u32>, LoadMethod) {
        let (iodepths, find_depth) = self.searched_depths(workload);
        (iodepths, self.load_method(workload, find_depth))
    }

    fn load_method(&mut self, workload: &Workload, find_depth: bool) -> LoadMethod {
        LoadMethod {
            rates: self.rates(workload),
            curve: self.curve(workload),
            find_depth,
            operations: self.optional("operations", workload.operations, |it| it.to_string()),
        }
    }

    /// The complete method.
    ///
    /// # Errors
    /// If targets are to be preconditioned that the engine does not access.
    pub fn method(
        &mut self,
        workload: &Workload,
        load: LoadMethod,
        (engine, seed_default): (EngineKind, u64),
    ) -> Result<Method, Diagnostic> {
        Ok(Method {
            rates: load.rates,
            curve: load.curve,
            find_depth: load.find_depth,
            operations: load.operations,
            precondition: self.precondition(workload.precondition, engine)?,
            steady: self.steady(workload),
            repetition_mode: RepetitionMode::resolve(workload, self),
            seed: self.shown("seed", workload.seed, Seed(seed_default)).0,
            cpus: self.cpus(workload),
        })
    }

    /// The method of a workload's jobs; `own_depths` are the jobs' own depths.
    ///
    /// # Errors
    /// If targets are to be preconditioned that the engine does not access.
    pub fn method_of_jobs(
        &mut self,
        workload: &Workload,
        (own_depths, engine): (&[String], EngineKind),
    ) -> Result<JobMethod, Diagnostic> {
        let is_search = workload.find_depth == Some(true);
        let (iodepths, find_depth) = match is_search || workload.iodepth.is_some() {
            true => {
                let (depths, is_search) = self.searched_depths(workload);
                (depths.into_iter().map(Some).collect(), is_search)
            }
            false => {
                self.note("iodepth", own_depths.join(","), true);
                (vec![None], false)
            }
        };
        let load = self.load_method(workload, find_depth);
        self.optional("engine", workload.engine, |it| units::text_of(&it));
        self.optional("cache", workload.cache, |it| units::text_of(&it));
        self.optional("size", workload.size, |it| it.to_string());
        self.optional("run_time", workload.run_time, |it| it.to_string());
        self.optional("ramp_time", workload.ramp_time, |it| it.to_string());
        let method = self.method(workload, load, (engine, SEED_DEFAULT))?;
        self.optional("keep", workload.keep, |it| it.to_string());
        self.optional("verify", workload.verify, |it| it.to_string());
        self.optional("warm", workload.warm, |it| it.to_string());
        self.optional("batch", workload.batch, |it| it.to_string());
        Ok(JobMethod { method, iodepths })
    }
}
