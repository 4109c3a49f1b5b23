//! Resolves the workload's own keys: as written, from an option, or the documented default.

use units::{Bytes, Percent, Rate, Span};

use description::Overrides;
use description::model::defaults::{RAMP_TIME_DEFAULT, RUN_TIME_DEFAULT};
use description::model::{
    ContentChoice, Cycle, Cycling, DepthCycle, OneOrMany, Precondition, StepKind, TestType,
    UntilChoice, Workload,
};
use plan::Diagnostic;
use plan::{
    ArrivalKind, CacheMode, ContentPlan, CursorKind, CurvePart, EngineKind, OpenLoop, PositionRule,
    RingOptions, Setting, SteadyRule,
};

use super::method::Method;
use super::open_loop;
use super::resolver::Resolver;
use super::seeds::SEED_DEFAULT;

/// Default depths of a search for the best depth.
const SEARCH_DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// The resolved keys of the workload.
pub(super) struct ResolvedOptions {
    pub name: String,
    pub engine: EngineKind,
    pub cache: CacheMode,
    pub iodepths: Vec<u32>,
    pub method: Method,
    pub size: Option<u64>,
    pub start_bytes: u64,
    pub run_time_ns: u64,
    pub ramp_time_ns: u64,
    pub verify: bool,
    pub position: PositionRule,
    pub cursor: CursorKind,
    pub content: ContentPlan,
    pub ring: RingOptions,
    pub warm: bool,
    pub new_file: bool,
    pub test_type: TestType,
    pub steps: CyclingSteps,
}

/// Steps of the cycling test types, with their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CyclingSteps {
    pub workers: StepSeries,
    pub targets: StepSeries,
    pub iodepth: StepSeries,
    pub iodepth_end: u32,
}

/// A growing series of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepSeries {
    pub start: u32,
    pub step: u32,
    pub kind: StepKind,
}

impl ResolvedOptions {
    /// Resolves every key and notes it as a setting.
    pub fn resolve(
        workload: &Workload,
        overrides: &Overrides,
        settings: &mut Vec<Setting>,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let name = workload.name_or_default();
        let r = &mut Resolver {
            name,
            overrides,
            settings,
        };
        let (iodepths, load) = r.load(workload);
        let (run_time_ns, ramp_time_ns) = r.times(workload, workload.operations, warnings)?;
        let content = workload.content.clone();
        let engine = r.word("engine", workload.engine, EngineKind::IoUring);
        let options = Self {
            name: name.to_owned(),
            engine,
            cache: r.cache(workload.cache, engine)?,
            iodepths,
            size: r.size(workload.size),
            start_bytes: r.shown("start", workload.start, Bytes(0)).0,
            run_time_ns,
            ramp_time_ns,
            method: r.method(workload, load, (engine, SEED_DEFAULT))?,
            verify: r.verify(workload.verify, engine)?,
            warm: r.shown("warm", workload.warm, false),
            new_file: r.new_file(workload.new_file),
            position: r.word("position", workload.position, PositionRule::Uniform),
            cursor: r.word("cursor", workload.cursor, CursorKind::Worker),
            content: ContentPlan::from(&r.word("content", content, ContentChoice::Incompressible)),
            ring: RingOptions {
                sqpoll: r.shown("sqpoll", workload.sqpoll, false),
                iopoll: r.shown("iopoll", workload.iopoll, false),
                ..r.batch(workload.batch)
            },
            test_type: r.word("test_type", workload.test_type, TestType::Normal),
            steps: CyclingSteps::of(workload.cycling.as_ref()),
        };
        r.shown("keep", workload.keep, false);
        let transactions = workload.transactions_per_connection;
        r.optional("transactions_per_connection", transactions, |it| {
            it.to_string()
        });
        Ok(options)
    }
}

impl Resolver<'_> {
    pub fn iodepths(&mut self, written: Option<&OneOrMany<u32>>) -> Vec<u32> {
        let depths = written.map_or(&[1][..], OneOrMany::as_slice).to_vec();
        let text = depths
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",");
        self.note("iodepth", text, written.is_some());
        depths
    }

    /// Options of the ring with the batch size.
    pub fn batch(&mut self, written: Option<u32>) -> RingOptions {
        RingOptions {
            batch: self.shown("batch", written, RingOptions::default().batch),
            batch_fixed: written.is_some(),
            ..RingOptions::default()
        }
    }

    pub fn rates(&mut self, workload: &Workload) -> Vec<Option<OpenLoop>> {
        let Some(rates) = &workload.rate else {
            return vec![None];
        };
        let rates = rates.as_slice();
        let texts: Vec<String> = rates.iter().map(Rate::to_string).collect();
        self.note("rate", texts.join(","), true);
        let arrivals = self.word("arrivals", workload.arrivals, ArrivalKind::Uniform);
        let open_loop = |rate: &Rate| OpenLoop {
            per_second: rate.0,
            arrivals,
        };
        rates.iter().map(open_loop).map(Some).collect()
    }

    /// The depths, and whether depths beyond the best one are skipped.
    pub fn searched_depths(&mut self, workload: &Workload) -> (Vec<u32>, bool) {
        let is_search = workload.find_depth == Some(true);
        let mut depths = match &workload.iodepth {
            None if is_search => {
                let texts = SEARCH_DEPTHS.map(|depth| depth.to_string());
                self.note("iodepth", texts.join(","), false);
                SEARCH_DEPTHS.to_vec()
            }
            written => self.iodepths(written.as_ref()),
        };
        if workload.find_depth.is_some() {
            self.shown("find_depth", workload.find_depth, false);
        }
        if is_search {
            // The search ends after two depths without a gain, so the depths must rise.
            depths.sort_unstable();
            depths.dedup();
        }
        (depths, is_search)
    }

    pub fn curve(&mut self, workload: &Workload) -> Vec<CurvePart> {
        if let Some(limit) = workload.find_rate {
            self.shown("find_rate", workload.find_rate, limit);
            let arrivals = self.word("arrivals", workload.arrivals, ArrivalKind::Poisson);
            return open_loop::search(limit, arrivals);
        }
        if workload.curve.is_none() || !self.shown("curve", workload.curve, false) {
            return Vec::new();
        }
        open_loop::curve(self.word("arrivals", workload.arrivals, ArrivalKind::Poisson))
    }

    pub fn precondition(
        &mut self,
        written: Option<Precondition>,
        engine: EngineKind,
    ) -> Result<Option<f64>, Diagnostic> {
        if written.is_none() {
            return Ok(None);
        }
        let times = self.shown("precondition", written, Precondition(0.0)).0;
        if engine == EngineKind::Null && times > 0.0 {
            let message = "the engine `null` writes nothing that could be preconditioned";
            return Err(Diagnostic::error("", message).help("leave `precondition` out"));
        }
        Ok((times > 0.0).then_some(times))
    }

    fn new_file(&mut self, written: Option<bool>) -> bool {
        self.optional("new_file", written, |value| value.to_string())
            .unwrap_or(false)
    }

    pub fn steady(&mut self, workload: &Workload) -> Option<SteadyRule> {
        workload.until?;
        if self.word("until", workload.until, UntilChoice::Time) == UntilChoice::Time {
            return None;
        }
        let default = SteadyRule::default();
        let written = workload.steady.clone().unwrap_or_default();
        let mut count = |key, value: Option<u32>, default: usize| {
            self.shown(key, value.map(|it| it as usize), default)
        };
        let window_count = count("steady.window", written.window, default.window_count);
        // If the window is longer than the default number of rounds, there are as many rounds as
        // the window has.
        let rounds_max = default.rounds_max.max(window_count);
        let rounds_max = count("steady.rounds", written.rounds, rounds_max);
        let mut share = |key, value: Option<Percent>, default: f64| {
            self.shown(key, value, Percent(default * 100.0)).0 / 100.0
        };
        Some(SteadyRule {
            window_count,
            rounds_max,
            range_max: share("steady.range", written.range, default.range_max),
            excursion_max: share("steady.excursion", written.excursion, default.excursion_max),
        })
    }

    fn size(&mut self, written: Option<Bytes>) -> Option<u64> {
        // The default depends on the target, so it is noted together with the targets.
        if let Some(size) = written {
            self.note("size", size.to_string(), true);
        }
        written.map(|size| size.0)
    }

    pub fn cpus(&mut self, workload: &Workload) -> Vec<u32> {
        let Some(cpus) = &workload.cpus else {
            return Vec::new();
        };
        let text = cpus
            .0
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",");
        self.note("cpus", text, true);
        cpus.0.clone()
    }

    /// A memory mapping always uses the page cache.
    fn cache(
        &mut self,
        written: Option<CacheMode>,
        engine: EngineKind,
    ) -> Result<CacheMode, Diagnostic> {
        let is_mapped = engine == EngineKind::Mmap;
        if is_mapped && written.is_some_and(|mode| mode != CacheMode::Buffered) {
            let message = "the engine `mmap` always uses the page cache";
            return Err(Diagnostic::error("", message).help("add `--cache buffered`"));
        }
        let default = if is_mapped {
            CacheMode::Buffered
        } else {
            // Through the page cache, memory would be measured instead of the device.
            CacheMode::Direct
        };
        Ok(self.word("cache", written, default))
    }

    /// An engine that accesses nothing returns no data to verify.
    pub fn verify(
        &mut self,
        written: Option<bool>,
        engine: EngineKind,
    ) -> Result<bool, Diagnostic> {
        if engine == EngineKind::Null && written == Some(true) {
            let message = "the engine `null` reads nothing that could be verified";
            return Err(Diagnostic::error("", message).help("leave `verify` out"));
        }
        Ok(self.shown("verify", written, false))
    }

    fn times(
        &mut self,
        workload: &Workload,
        operations: Option<u64>,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<(u64, u64), Diagnostic> {
        let is_new = workload.new_file == Some(true);
        let is_counted = operations.is_some() || is_new;
        let default = if is_counted {
            Span(0)
        } else {
            RUN_TIME_DEFAULT
        };
        let mut written = workload.run_time;
        // In Iometer's files, a run time of 0 means until the user stops the run.
        if !is_counted && written == Some(Span(0)) {
            // A file may come from another program, but an option is meant for pgmeter.
            if self.overrides.has("run_time") {
                let message = format!("`{}` would measure for 0 s", self.name);
                let help = "give a time such as `--run-time 10s`, or a number of `--operations`";
                return Err(Diagnostic::error("", message).help(help));
            }
            written = None;
            let message = format!(
                "`{}` would run until stopped; it runs for {RUN_TIME_DEFAULT} in each cell",
                self.name
            );
            warnings.push(Diagnostic::warning("", message).help("add `--run-time` with a time"));
        }
        // A ramp would already fill the new file.
        let ramp_default = if is_new { Span(0) } else { RAMP_TIME_DEFAULT };
        let run_time = self.shown("run_time", written, default);
        let ramp_time = self.shown("ramp_time", workload.ramp_time, ramp_default);
        Ok((run_time.0, ramp_time.0))
    }
}

impl CyclingSteps {
    fn of(cycling: Option<&Cycling>) -> Self {
        let cycling = cycling.cloned().unwrap_or_default();
        let depth = cycling.iodepth.unwrap_or_default();
        let DepthCycle {
            start,
            end,
            step,
            kind,
        } = depth;
        Self {
            workers: StepSeries::of(cycling.workers),
            targets: StepSeries::of(cycling.targets),
            // Iometer's defaults; its dialog takes 0 for 1 as well.
            iodepth: StepSeries {
                start: start.unwrap_or(1).max(1),
                step: step.unwrap_or(2).max(1),
                kind: kind.unwrap_or(StepKind::Exponential),
            },
            iodepth_end: end.unwrap_or(32),
        }
    }
}

impl StepSeries {
    fn of(cycle: Option<Cycle>) -> Self {
        let Cycle { start, step, kind } = cycle.unwrap_or_default();
        Self {
            start: start.unwrap_or(1).max(1),
            step: step.unwrap_or(1).max(1),
            kind: kind.unwrap_or(StepKind::Linear),
        }
    }
}
