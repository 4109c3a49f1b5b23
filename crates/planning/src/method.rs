//! How a workload is measured, whatever its work is: at which rates, until when, how often.

use description::model::Workload;
use plan::Diagnostic;
use plan::{Cell, CurvePart, EngineKind, OpenLoop, SteadyRule};

use super::open_loop;
use super::repetition::Often;
use super::resolver::Resolver;

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

/// How jobs are measured.
pub(super) struct MethodOfJobs {
    pub method: Method,
    /// One cell for each; none for the depths that the jobs have themselves.
    pub iodepths: Vec<Option<u32>>,
}

impl Resolver<'_> {
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
        let (rates, curve) = (self.rates(workload), self.curve(workload));
        let operations = self.optional("operations", workload.operations, |it| it.to_string());
        self.optional("engine", workload.engine, |it| units::text_of(&it));
        self.optional("cache", workload.cache, |it| units::text_of(&it));
        self.optional("size", workload.size, |it| it.to_string());
        self.optional("run_time", workload.run_time, |it| it.to_string());
        self.optional("ramp_time", workload.ramp_time, |it| it.to_string());
        let method = Method {
            rates,
            curve,
            find_depth,
            operations,
            precondition: self.precondition(workload.precondition, engine)?,
            steady: self.steady(workload),
            often: Often::resolve(workload, self),
            seed: self.seed(workload),
            cpus: self.cpus(workload),
        };
        self.optional("keep", workload.keep, |it| it.to_string());
        self.optional("verify", workload.verify, |it| it.to_string());
        self.optional("warm", workload.warm, |it| it.to_string());
        self.optional("batch", workload.batch, |it| it.to_string());
        Ok(MethodOfJobs { method, iodepths })
    }
}
