//! Resolves the workload's own keys that apply to work on many files.

use units::Span;

use description::model::{ContentChoice, Workload, WorkloadTable};
use plan::Diagnostic;
use plan::program::Program;
use plan::{CacheMode, ContentPlan, EngineKind, RingOptions};

use super::super::Context;
use super::super::method::Method;
use super::super::resolver::Resolver;
use super::super::seeds::SEED_DEFAULT;

/// The resolved keys.
pub(super) struct FileOptions {
    pub name: String,
    pub engine: EngineKind,
    pub cache: CacheMode,
    pub iodepths: Vec<u32>,
    pub method: Method,
    pub verify: bool,
    pub content: ContentPlan,
    pub ring: RingOptions,
}

impl FileOptions {
    /// `true` if each flow of a worker is a thread. This is so if the engine has one request in
    /// flight per thread; if rounds have due times, because a thread waits for one at a time; and
    /// for recorded calls, which run one after the other.
    pub fn has_thread_per_flow(&self, program: &Program) -> bool {
        let method = &self.method;
        let has_rate = !method.curve.is_empty() || method.rates.iter().any(Option::is_some);
        self.engine.is_synchronous() || has_rate || program.has_traces()
    }

    /// Resolves every key that applies and notes it as a setting.
    pub fn resolve(
        workload: &Workload,
        table: WorkloadTable,
        context: &mut Context,
    ) -> Result<Self, Diagnostic> {
        let name = workload.name_or_default();
        let r = &mut Resolver {
            name,
            overrides: context.overrides,
            settings: &mut context.settings,
        };
        let has_pool = table.has_pool();
        let (iodepths, load) = r.load(workload);
        // A ring passes operations on names to kernel threads, which takes longer than the call.
        let engine = r.word("engine", workload.engine, EngineKind::Psync);
        // The classics open their files without `O_DIRECT`.
        let cache = r.word("cache", workload.cache, CacheMode::Buffered);
        r.optional("keep", workload.keep, |keep| keep.to_string());
        if has_pool {
            // 0 means that their number ends the transactions.
            r.shown("run_time", workload.run_time, Span(0));
        }
        if table.has_time() {
            r.optional("run_time", workload.run_time, |time| time.to_string());
        }
        if table.goes_on() {
            r.optional("ramp_time", workload.ramp_time, |time| time.to_string());
        }
        if table == WorkloadTable::Program {
            r.optional("warm", workload.warm, |warm| warm.to_string());
            r.optional("run_time", workload.run_time, |time| time.to_string());
            r.optional("size", workload.size, |size| size.to_string());
        }
        let seed_default = table
            .own_seeds()
            .map_or(SEED_DEFAULT, |seeds| seeds.default.into());
        let is_verifiable =
            has_pool || table == WorkloadTable::Program && workload.verify.is_some();
        let verify = is_verifiable && r.verify(workload.verify, engine)?;
        let content = match own_content(workload, table) {
            Some(content) => content,
            None => {
                let written = workload.content.clone();
                ContentPlan::from(&r.word("content", written, ContentChoice::Incompressible))
            }
        };
        Ok(Self {
            name: name.to_owned(),
            engine,
            cache,
            iodepths,
            method: r.method(workload, load, (engine, seed_default))?,
            verify,
            content,
            ring: match workload.batch {
                Some(_) => r.batch(workload.batch),
                None => RingOptions::default(),
            },
        })
    }
}

/// Content that does not depend on the workload's key, if any.
fn own_content(workload: &Workload, table: WorkloadTable) -> Option<ContentPlan> {
    if table.has_pool() {
        // A pool writes from a block of random characters.
        return Some(ContentPlan::PseudoRandom);
    }
    // The programs of the original script copy from `/dev/zero`.
    let program = workload.table_program(1).ok().flatten();
    program
        .is_some_and(|it| it.starts_programs())
        .then_some(ContentPlan::Zero)
}
