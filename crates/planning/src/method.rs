//! How a workload is measured, whatever its work is: at which rates, until when, how often.

use description::model::{Seed, Workload};
use plan::Diagnostic;
use plan::{Cell, CurvePart, EngineKind, OpenLoop, SteadyRule};

use super::open_loop;
use super::repetition::Often;
use super::resolver::Resolver;
use super::seeds::SEED_DEFAULT;

/// What the workload's keys say about measuring it.
pub(super) struct Method {
    /// One cell for each; a single none where there is no rate.
    pub rates: Vec<Option<OpenLoop>>,
    /// The parts of a response-time curve or of a search for a rate; none where there is none.
    pub curve: Vec<CurvePart>,
    /// Whether depths beyond the peak are left out.
    pub find_depth: bool,
    pub operations: Option<u64>,
    /// How many times targets are written before they are measured.
    pub precondition: Option<f64>,
    /// Rounds until they are steady; none where a cell is measured once.
    pub steady: Option<SteadyRule>,
    pub often: Often,
    pub seed: u64,
    pub cpus: Vec<u32>,
}

impl Method {
    /// The cell, measured in this way.
    pub fn applied_to(&self, cell: Cell) -> Cell {
        Cell {
            operations: self.operations,
            find_depth: self.find_depth,
            steady: self.steady,
            precondition: self.precondition,
            ..cell
        }
    }

    /// The cell once for each rate, or for each part of a curve.
    ///
    /// # Errors
    /// Work that cannot have a rate.
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

/// Keys of the method that say how many requests there are, and when.
pub(super) struct Load {
    /// One cell for each; a single none where there is no rate.
    rates: Vec<Option<OpenLoop>>,
    curve: Vec<CurvePart>,
    find_depth: bool,
    operations: Option<u64>,
}

/// How jobs are measured.
pub(super) struct MethodOfJobs {
    pub method: Method,
    /// One cell for each; none for the depths that the jobs have themselves.
    pub iodepths: Vec<Option<u32>>,
}

impl Resolver<'_> {
    /// The queue depths, and the load at each of them.
    pub fn load(&mut self, workload: &Workload) -> (Vec<u32>, Load) {
        let (iodepths, find_depth) = self.searched_depths(workload);
        (iodepths, self.load_at(workload, find_depth))
    }

    fn load_at(&mut self, workload: &Workload, find_depth: bool) -> Load {
        Load {
            rates: self.rates(workload),
            curve: self.curve(workload),
            find_depth,
            operations: self.optional("operations", workload.operations, |it| it.to_string()),
        }
    }

    /// The method, with its other keys.
    ///
    /// # Errors
    /// Preconditioning what the engine does not touch.
    pub fn method(
        &mut self,
        workload: &Workload,
        load: Load,
        (engine, seed_default): (EngineKind, u64),
    ) -> Result<Method, Diagnostic> {
        Ok(Method {
            rates: load.rates,
            curve: load.curve,
            find_depth: load.find_depth,
            operations: load.operations,
            precondition: self.precondition(workload.precondition, engine)?,
            steady: self.steady(workload),
            often: Often::resolve(workload, self),
            seed: self.shown("seed", workload.seed, Seed(seed_default)).0,
            cpus: self.cpus(workload),
        })
    }

    /// How the jobs of a workload are measured, which have these depths themselves.
    ///
    /// # Errors
    /// Preconditioning what the engine does not touch.
    pub fn method_of_jobs(
        &mut self,
        workload: &Workload,
        (own_depths, engine): (&[String], EngineKind),
    ) -> Result<MethodOfJobs, Diagnostic> {
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
        let load = self.load_at(workload, find_depth);
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
        Ok(MethodOfJobs { method, iodepths })
    }
}
