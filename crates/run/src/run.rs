//! One run: measured by this process or by others, and stored while it is in progress.

use plan::Plan;
use results::{RunEvent, Warning};
use store::{Store, StoreError};

use crate::RunError;
use crate::cluster::Cluster;
use crate::drive::drive;
use crate::preflight::{try_engines, try_streams};
use crate::record_writer::RecordWriter;
use crate::session::{Finished, RunOptions, Session};

/// One run: its plan, and the receivers of its events and its record.
pub struct RunSpec<'a> {
    /// Plan of the run.
    pub plan: &'a Plan,
    /// Warnings from before the run, for the record.
    pub warnings: Vec<Warning>,
    /// The workload and its options as a workload file, for the record.
    pub workload_file: Option<String>,
    /// Results store, or the reason why it cannot be opened; `None` if the run is not stored.
    pub store: Option<Result<Store, StoreError>>,
    /// Receives the events.
    pub listener: &'a mut dyn FnMut(&RunEvent),
}

impl<'a> RunSpec<'a> {
    /// Creates a run that is not stored.
    pub fn new(plan: &'a Plan, listener: &'a mut dyn FnMut(&RunEvent)) -> Self {
        Self {
            plan,
            warnings: Vec::new(),
            workload_file: None,
            store: None,
            listener,
        }
    }
}

/// Runs a plan to its end, or until the stop flag is set, and stores the run. With `cluster`, its
/// processes measure instead of this one.
pub fn measure(
    spec: RunSpec<'_>,
    options: &RunOptions,
    cluster: Option<&mut dyn Cluster>,
) -> Finished {
    let RunSpec {
        plan,
        mut warnings,
        workload_file,
        store,
        listener,
    } = spec;
    let mut writer = RecordWriter::new(store);
    warnings.extend(writer.warnings());
    let mut listen = |event: &RunEvent| {
        writer.on_event(event);
        listener(event);
    };
    let mut session = Session::new(plan, options, &mut listen);
    session.record.workload_file = workload_file;
    if let Some(cluster) = cluster {
        session.set_cluster(cluster);
    }
    let finished = run_to_end(session, warnings);
    writer.finish(finished)
}

fn run_to_end(mut session: Session<'_>, warnings: Vec<Warning>) -> Finished {
    if let Err(error) = begin(&mut session, warnings) {
        return session.end_early(Some(error));
    }
    let mut sessions = [session];
    let mut driven = drive(&mut sessions);
    let [mut session] = sessions;
    session.conclude(driven.conclusions.pop().unwrap_or_default());
    session.finish(driven.outcomes.pop().unwrap_or(Ok(())))
}

/// Prepares the targets.
fn begin(session: &mut Session<'_>, warnings: Vec<Warning>) -> Result<(), RunError> {
    let (plan, run) = (session.plan, session.record.id.clone());
    // This process measures nothing, so it needs no engine and no target.
    if session.cluster.is_some() {
        session.start(warnings);
        let prepared = session.with_cluster(|cluster, watch| cluster.prepare(plan, &run, watch));
        return prepared.unwrap_or(Ok(()));
    }
    // All checks come before the first write, so a run that cannot start leaves no files.
    try_streams(plan)?;
    try_engines(plan)?;
    session.connect_peers()?;
    let admitted = session.admit_all()?;
    session.start(warnings);
    session.prepare_all(admitted)
}
