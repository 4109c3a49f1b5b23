//! Measurements as `pgmeter run` makes them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use description::{Overrides, read_toml};
use plan::Plan;
use planning::plan_with;
use results::{CellRecord, RunRecord};
use run::{RunOptions, RunSpec};

/// Name of the self-test's workloads in error messages.
const FILE: &str = "selftest";

/// Reason for a missing value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MissingValue {
    /// The self-test was interrupted.
    Stopped,
    /// This machine cannot run the check.
    Unsupported(String),
    /// An error that must never occur.
    Broken(String),
}

/// Runs workloads.
pub(crate) struct Measurer {
    stop: Arc<AtomicBool>,
}

impl Measurer {
    pub fn new(stop: Arc<AtomicBool>) -> Self {
        Self { stop }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Plans and runs a workload in pgmeter's own format.
    pub fn run(&self, text: &str, target: Option<&Path>) -> Result<RunRecord, MissingValue> {
        let plan = planned(text, target)?;
        let options = RunOptions {
            stop: Arc::clone(&self.stop),
            ..RunOptions::default()
        };
        let finished = run::measure(RunSpec::new(&plan, &mut |_| {}), &options, None);
        self.record(finished)
    }

    fn record(&self, finished: run::Finished) -> Result<RunRecord, MissingValue> {
        // Checked first: an interrupted run leaves a record, too, but it covers too short a time.
        if self.is_stopped() {
            return Err(MissingValue::Stopped);
        }
        match finished.error {
            // All other errors come from the machine, such as io_uring that is disabled.
            Some(error @ run::RunError::Panicked { .. }) => {
                Err(MissingValue::Broken(error.to_string()))
            }
            Some(error) => Err(MissingValue::Unsupported(error.to_string())),
            None => Ok(finished.record),
        }
    }
}

/// The first cell of a record; an error if an operation failed in it.
pub(crate) fn first_cell(record: &RunRecord) -> Result<&CellRecord, MissingValue> {
    let nothing = || MissingValue::Broken("nothing was measured".to_owned());
    let cell = record.cells.first().ok_or_else(nothing)?;
    match cell.total.errors {
        0 => Ok(cell),
        errors => Err(MissingValue::Broken(format!("{errors} operations failed"))),
    }
}

fn planned(text: &str, target: Option<&Path>) -> Result<Plan, MissingValue> {
    let broken = |diagnostic: plan::Diagnostic| MissingValue::Broken(diagnostic.message);
    let mut overrides = Overrides::new();
    if let Some(target) = target {
        overrides.set_targets(vec![target.to_string_lossy().into_owned()]);
    }
    let workloads = [read_toml(FILE, text).map_err(broken)?];
    let facts = |wanted: &[String]| storage::system_facts(wanted, None);
    let planned = plan_with(&workloads, &overrides, facts).map_err(broken)?;
    match planned.refusals.into_iter().next() {
        Some(refusal) => Err(MissingValue::Unsupported(refusal.message)),
        None => Ok(planned.plan),
    }
}
