//! A worker process: carries out the leader's orders and removes its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use plan::{Cell, Plan};
use results::{CellRecord, IntervalRecord, RunEvent};
use run::{Member, RunOptions};
use sha2::{Digest, Sha256};

use crate::leader_links::MessageSender;
use crate::message::{FailureMessage, LeaderMessage, MemberMessage, MemberOptions, PROTOCOL};
use crate::order_inbox::OrderInbox;
use crate::work_dir::{WorkDirs, of_rank, of_target};

/// A worker process with its queue of orders.
pub struct ClusterWorker {
    order_inbox: Arc<OrderInbox>,
    orders: Receiver<LeaderMessage>,
    rank: u32,
}

impl ClusterWorker {
    /// Creates a worker that reports to `to`; `stop` ends it from outside.
    #[must_use]
    pub fn new(to: MessageSender, stop: Arc<AtomicBool>) -> Self {
        let (desk, orders) = OrderInbox::new(to, stop);
        desk.watch_leader();
        Self {
            order_inbox: desk,
            orders,
            rank: 0,
        }
    }

    /// Receiver of the leader's messages.
    #[must_use]
    pub fn inbox(&self) -> Arc<OrderInbox> {
        Arc::clone(&self.order_inbox)
    }

    /// Carries out orders until the leader has no more.
    pub fn work(mut self) {
        loop {
            match self.order_inbox.next(&self.orders) {
                LeaderMessage::Hello { rank, .. } => {
                    self.rank = rank;
                    self.order_inbox.send(&hello());
                }
                LeaderMessage::Probe {
                    targets,
                    default_target,
                    create,
                    reads_only,
                } => {
                    let reply = probed(&targets, default_target.as_deref(), create, reads_only);
                    self.order_inbox
                        .send(&reply.unwrap_or_else(MemberMessage::Failed));
                }
                LeaderMessage::Plan { plan, options } => {
                    self.order_inbox
                        .send(&MemberMessage::Planned { hash: hash(&plan) });
                    if self.run_plan(&plan, &options) {
                        return;
                    }
                }
                // Without a plan there is nothing to remove, but the leader waits for the answer.
                LeaderMessage::Clean | LeaderMessage::Vacate => {
                    self.order_inbox
                        .send(&MemberMessage::Cleaned { left: Vec::new() });
                }
                LeaderMessage::Bye => return,
                _ => {}
            }
        }
    }

    /// Carries out a plan; `true` if no orders follow.
    fn run_plan(&self, plan: &Plan, options: &MemberOptions) -> bool {
        let mut work_dirs = WorkDirs::default();
        let mut places: Vec<Option<String>> = vec![None; plan.targets.len()];
        // The list has one entry per rank, so its last entry belongs to this rank.
        let used = plan.targets_by_rank(self.rank + 1).pop();
        let own = (plan, &used.unwrap_or_default());
        loop {
            match self.order_inbox.next(&self.orders) {
                LeaderMessage::Ground {
                    places: known,
                    makes,
                } => {
                    let found = work_dirs.look(own, &options.run, &known, makes);
                    self.order_inbox.send(&match found {
                        Ok(found) => {
                            places.clone_from(&found);
                            MemberMessage::Grounded { places: found }
                        }
                        Err(failed) => MemberMessage::Failed(failed),
                    });
                }
                LeaderMessage::Prepare => match of_rank(own, self.rank, &places) {
                    Ok(own) => {
                        let is_over = self.measure_cells((plan, &own.plan), &work_dirs, options);
                        own.leave();
                        if is_over {
                            work_dirs.release_when_unused();
                            return true;
                        }
                    }
                    Err(failed) => self.order_inbox.send(&MemberMessage::Failed(failed)),
                },
                LeaderMessage::Clean => self
                    .order_inbox
                    .send(&MemberMessage::Cleaned { left: Vec::new() }),
                LeaderMessage::Vacate => {
                    let left = work_dirs.release();
                    self.order_inbox.send(&MemberMessage::Cleaned { left });
                    return false;
                }
                LeaderMessage::Bye => {
                    work_dirs.release_when_unused();
                    return true;
                }
                _ => {}
            }
        }
    }

    /// Measures cell by cell; `true` if no orders follow.
    fn measure_cells(
        &self,
        (plan, own): (&Plan, &Plan),
        grounds: &WorkDirs,
        options: &MemberOptions,
    ) -> bool {
        let inbox = &self.order_inbox;
        let run_options = RunOptions {
            overwrite_devices: options.overwrite_devices.clone(),
            create: options.create,
            sink_token_file: options.sink_token_file.clone(),
            stop: inbox.stop_flag(),
            skip: inbox.skip_flag(),
            agreement: Some(Arc::clone(inbox) as Arc<dyn run::PeerAgreement>),
            ..RunOptions::default()
        };
        let mut relay = |event: &RunEvent| {
            if let Some(event) = event_for_leader(event) {
                let event = Box::new(event);
                inbox.send(&MemberMessage::Event { event });
            }
        };
        let mut member = match Member::begin(own, &run_options, &mut relay) {
            Ok(member) => member,
            Err(error) => {
                inbox.send(&MemberMessage::Failed(of_run(&error)));
                return false;
            }
        };
        inbox.set_clock(member.clock());
        let paths: Vec<PathBuf> = own
            .targets
            .iter()
            .map(|target| target.path.clone())
            .collect();
        let environment = Box::new(storage::environment(&paths));
        inbox.send(&MemberMessage::Prepared { environment });
        loop {
            match inbox.next(&self.orders) {
                LeaderMessage::Cell { cell, like } => {
                    grounds.remove_files_before(cell.index);
                    let cell = whole(*cell, plan, like, self.rank);
                    let (records, outcome) = member.measure(&cell);
                    let targets = member.preconditioned();
                    if !targets.is_empty() {
                        inbox.send(&MemberMessage::Preconditioned { targets });
                    }
                    // A process that was ordered to stop has not failed.
                    let failed = outcome.as_ref().err();
                    let failed = failed.filter(|it| !matches!(it, run::RunError::Stopped));
                    let failure = failed.map(of_run);
                    let records = with_planned_targets(records, plan, own);
                    inbox.send(&MemberMessage::Measured { records, failure });
                }
                LeaderMessage::Clean => {
                    let _ = member.finish();
                    inbox.send(&MemberMessage::Cleaned { left: Vec::new() });
                    return false;
                }
                LeaderMessage::Bye => {
                    let _ = member.finish();
                    return true;
                }
                _ => {}
            }
        }
    }
}

/// Parts of an event that the leader uses; `None` if it uses none.
fn event_for_leader(event: &RunEvent) -> Option<RunEvent> {
    match event {
        RunEvent::Prepare { .. }
        | RunEvent::Cleanup { .. }
        | RunEvent::Progress { .. }
        | RunEvent::Round { .. }
        | RunEvent::Warning { .. } => Some(event.clone()),
        RunEvent::Interval { cell, interval } => Some(RunEvent::Interval {
            cell: *cell,
            // The cell's records contain the results by worker and by target.
            interval: IntervalRecord {
                workers: Vec::new(),
                targets: Vec::new(),
                ..interval.clone()
            },
        }),
        _ => None,
    }
}

/// Completes a cell with the workers and work of the plan's cell with index `like`.
fn whole(mut cell: Cell, plan: &Plan, like: usize, rank: u32) -> Cell {
    if let Some(planned) = plan.cells.get(like) {
        cell.workers.clone_from(&planned.workers);
        cell.work.clone_from(&planned.work);
    }
    cell.rank = Some(rank);
    cell
}

/// Replaces this process's directories in records with the targets of the plan.
fn with_planned_targets(mut records: Vec<CellRecord>, plan: &Plan, own: &Plan) -> Vec<CellRecord> {
    for record in &mut records {
        for (target, own) in plan.targets.iter().zip(&own.targets) {
            let (path, own) = (target.path.to_string_lossy(), own.path.to_string_lossy());
            record.target = record.target.replace(&*own, &path);
            let workers = record.worker_figures.iter_mut();
            let worker_targets = workers.flat_map(|worker| &mut worker.targets);
            for figures in worker_targets.chain(&mut record.target_figures) {
                if figures.target == own {
                    figures.target = path.to_string();
                }
            }
        }
    }
    records
}

fn hello() -> MemberMessage {
    MemberMessage::Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host_name(),
        environment: Box::new(storage::environment(&[])),
    }
}

/// Host name of this machine.
pub(crate) fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

fn probed(
    targets: &[String],
    default_target: Option<&str>,
    create: bool,
    reads_only: bool,
) -> Result<MemberMessage, FailureMessage> {
    let permission = storage::Permission {
        create,
        read_only: reads_only,
        ..storage::Permission::default()
    };
    for path in targets {
        // A target that this host would reject later must fail before anything is planned.
        storage::admit(Path::new(path), &permission).map_err(of_target)?;
    }
    let facts = storage::system_facts(targets, default_target);
    Ok(MemberMessage::Facts { facts })
}

/// Hash that shows whether two processes have the same plan.
pub(crate) fn hash(plan: &Plan) -> String {
    let text = serde_json::to_vec(plan).unwrap_or_default();
    let digest = Sha256::digest(&text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_run(error: &run::RunError) -> FailureMessage {
    FailureMessage {
        message: error.to_string(),
        help: error.help(),
    }
}

/// `true` if the run is to end.
pub(crate) fn is_stopped(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}
