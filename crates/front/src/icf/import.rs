//! Converts an Iometer configuration to a workload.

use description::iometer::{
    Assignment, DisabledSettings, IometerSettings, IometerWorker, ManagerShare, NetworkTarget,
    NetworkWorker, RecordResults, TargetSettings, WorkerCount, group_names, one_line,
};
use description::model::{self, ContentChoice, Cycle, DepthCycle, OneOrMany, TestType, Workload};

use super::document::{
    IcfAccessLine, IcfAccessSpec, IcfCycling, IcfDocument, Manager, QueueDepthCycling, TestSetup,
};
use std::collections::HashSet;

use units::{Bytes, Percent, Span};

use plan::Diagnostic;

/// Size of a "sector" in an Iometer configuration, in bytes.
///
/// Source: Iometer User's Guide 1.1.0, "Maximum Disk Size". Iometer itself uses the target's sector
/// size, which the file does not contain.
pub(super) const SECTOR_BYTES: u64 = 512;

/// Longest time that a span can hold, in whole seconds: about 584 years.
const MAX_SECONDS: u64 = u64::MAX / 1_000_000_000;

/// Converts a configuration to a workload with the given name, which is the file's stem.
///
/// Settings without meaning for pgmeter are kept in the workload's `iometer` table. The returned
/// warnings are about the file as a whole; [`super::parse`] returns those about single lines.
#[must_use]
pub fn to_workload(document: &IcfDocument, file_stem: &str) -> (Workload, Vec<Diagnostic>) {
    let mut import = Import::default();
    let mut workload = Workload {
        name: one_line(file_stem),
        // Iometer writes repeating bytes if a file names no data pattern.
        content: Some(ContentChoice::Repeating),
        ..Workload::default()
    };
    if let Some(setup) = &document.setup {
        import.setup(setup, &mut workload);
    }
    import.extras.display = document.display.clone();
    let specs = document.specs.as_deref().unwrap_or_default();
    import.specs(specs, &mut workload);
    import.managers(document.managers.as_deref().unwrap_or_default(), specs);
    import.warn_about_missing_parts(document, file_stem);
    workload.worker = import.workers;
    workload.iometer = Some(import.extras);
    (workload, import.warnings)
}

#[derive(Default)]
struct Import {
    extras: IometerSettings,
    workers: Vec<model::Worker>,
    warnings: Vec<Diagnostic>,
}

impl Import {
    fn setup(&mut self, setup: &TestSetup, workload: &mut Workload) {
        workload.title = one_line(&setup.description);
        let run_seconds = setup.run_time.total_seconds().min(MAX_SECONDS);
        workload.run_time = Some(Span::from_secs(run_seconds));
        workload.ramp_time = Some(Span::from_secs(setup.ramp_up_seconds.into()));
        workload.test_type = match setup.test_type {
            TestType::Normal => None,
            other => Some(other),
        };
        let cycling = model::Cycling {
            workers: cycle(setup.worker_cycling),
            targets: cycle(setup.disk_cycling),
            iodepth: depth_cycle(setup.queue_depth_cycling),
        };
        workload.cycling = (cycling != model::Cycling::default()).then_some(cycling);
        let extras = &mut self.extras;
        // Defaults are left out, since an export writes them again.
        extras.disk_workers = Some(setup.disk_workers).filter(|it| *it != WorkerCount::PerCpu);
        extras.network_workers =
            Some(setup.network_workers).filter(|it| *it != WorkerCount::Count(0));
        extras.record_results = Some(setup.record_results).filter(|it| *it != RecordResults::All);
    }

    fn specs(&mut self, specs: &[IcfAccessSpec], workload: &mut Workload) {
        for spec in specs {
            workload.access_spec.push(model::AccessSpec {
                name: Some(spec.name.clone()),
                line: spec.lines.iter().map(access_line).collect(),
            });
            if spec.assignment != Assignment::None {
                self.extras
                    .default_assignment
                    .insert(spec.name.clone(), spec.assignment);
            }
        }
    }

    fn managers(&mut self, managers: &[Manager], specs: &[IcfAccessSpec]) {
        let known: HashSet<String> = specs.iter().map(|spec| spec.name.to_lowercase()).collect();
        let is_known =
            |name: &str| known.contains(&name.to_lowercase()) || IcfAccessSpec::is_idle_name(name);
        let defaults = assigned_by_default(specs);
        let groups = group_names(managers.iter().map(|it| &it.identity));
        for (manager_index, manager) in managers.iter().enumerate() {
            let before = self.workers.len();
            // A single manager stands for any machine, so its workers need no group.
            let group = groups.get(manager_index).filter(|_| managers.len() > 1);
            for (position, worker) in manager.workers.iter().enumerate() {
                if worker.kind.is_network() {
                    self.extras.network.push(NetworkWorker {
                        manager_index: index(manager_index),
                        position: index(position),
                        worker: worker.clone(),
                    });
                    continue;
                }
                let assigned = match &worker.assigned {
                    // Iometer skips unknown names; `parse` has warned about them.
                    Some(names) => names
                        .iter()
                        .filter(|name| is_known(name))
                        .cloned()
                        .collect(),
                    None => defaults.clone(),
                };
                self.worker(worker, group.cloned(), assigned);
            }
            self.extras.managers.push(ManagerShare {
                identity: manager.identity.clone(),
                address: manager.address.clone(),
                worker_count: index(self.workers.len() - before),
            });
        }
        self.assign_all_if_none();
    }

    fn worker(&mut self, worker: &IometerWorker, group: Option<String>, assigned: Vec<String>) {
        let worker_index = index(self.workers.len());
        let mut native = model::Worker {
            name: one_line(&worker.name),
            group,
            access_specs: Some(assigned),
            targets: self.targets(worker, worker_index),
            ..model::Worker::default()
        };
        if let Some(settings) = &worker.settings {
            self.settings(settings, worker_index, &mut native);
        }
        self.workers.push(native);
    }

    fn targets(&mut self, worker: &IometerWorker, worker_index: u32) -> Option<OneOrMany<String>> {
        let mut names = Vec::new();
        for (position, target) in worker.targets.as_ref()?.iter().enumerate() {
            if target.kind.is_network() {
                let slot = (worker_index, index(position));
                self.extras.network_targets.push(NetworkTarget {
                    worker_index: slot.0,
                    position: slot.1,
                    target: target.clone(),
                });
                let message = format!(
                    "network target `{}` of disk worker `{}` is left out",
                    plan::printable(&target.name),
                    plan::printable(&worker.name)
                );
                self.warn(message, "remove the target");
            } else {
                names.push(target.name.clone());
            }
        }
        Some(OneOrMany::from(names))
    }

    fn settings(&mut self, settings: &TargetSettings, index: u32, native: &mut model::Worker) {
        native.iodepth = Some(settings.outstanding_ios);
        native.size = self.sectors(settings.max_size_sectors, "maximum size");
        native.start = self.sectors(settings.starting_sector, "starting sector");
        native.content = match settings.data_pattern {
            0 => None,
            1 => Some(ContentChoice::PseudoRandom),
            _ => Some(ContentChoice::FullRandom),
        };
        let mut off = DisabledSettings {
            worker_index: index,
            transactions_per_connection: None,
            fixed_seed: None,
        };
        if settings.test_connection_rate {
            native.transactions_per_connection = Some(settings.transactions_per_connection);
        } else if settings.transactions_per_connection != 1 {
            // Iometer keeps this number while the test is off, so it is written back.
            off.transactions_per_connection = Some(settings.transactions_per_connection);
        }
        if settings.use_fixed_seed {
            native.seed = Some(settings.fixed_seed);
        } else if settings.fixed_seed.0 != 0 {
            off.fixed_seed = Some(settings.fixed_seed);
        }
        if off.transactions_per_connection.is_some() || off.fixed_seed.is_some() {
            self.extras.switched_off.push(off);
        }
    }

    /// Converts sectors to bytes; `None` for 0 (the whole disk), and for more than the largest
    /// file.
    fn sectors(&mut self, sectors: u64, name: &str) -> Option<Bytes> {
        let bytes = sectors
            .checked_mul(SECTOR_BYTES)
            .filter(|it| i64::try_from(*it).is_ok());
        if bytes.is_none() {
            let message = format!("{name} of {sectors} sectors is beyond any disk, 0 is used");
            self.warn(message, "write 0 for the whole disk");
        }
        bytes.filter(|bytes| *bytes > 0).map(Bytes)
    }

    /// Runs all specifications if the file assigns none, since it is a collection of
    /// specifications.
    fn assign_all_if_none(&mut self) {
        let mut assigned = self.workers.iter().flat_map(|worker| &worker.access_specs);
        if assigned.all(Vec::is_empty) {
            for worker in &mut self.workers {
                worker.access_specs = None;
            }
        }
    }

    fn warn_about_missing_parts(&mut self, document: &IcfDocument, stem: &str) {
        let stem = plan::printable(stem);
        let specs = document.specs.as_ref().map_or(0, Vec::len);
        if specs == 0 {
            let message = format!("`{stem}` has no access specifications, so nothing is run");
            self.warn(message, "add an access specification");
        } else if self.workers.is_empty() && self.extras.network.is_empty() {
            let message = format!("`{stem}` has no workers; one runs all {specs} specifications");
            self.warn(message, "add workers to choose other specifications");
        } else if self
            .workers
            .iter()
            .any(|worker| worker.access_specs.is_none())
        {
            let message = format!(
                "`{stem}` assigns no access specification to any worker; all run all {specs}"
            );
            self.warn(message, "assign access specifications to choose others");
        }
    }

    fn warn(&mut self, message: String, help: &str) {
        self.warnings
            .push(Diagnostic::warning("", message).help(help));
    }
}

/// An index in 32 bits, which suffices: a file of at most 16 MiB has shorter lists.
fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Specifications of a disk worker without a saved list.
fn assigned_by_default(specs: &[IcfAccessSpec]) -> Vec<String> {
    let given =
        |spec: &&IcfAccessSpec| matches!(spec.assignment, Assignment::All | Assignment::Disk);
    specs
        .iter()
        .filter(given)
        .map(|spec| spec.name.clone())
        .collect()
}

fn access_line(line: &IcfAccessLine) -> model::AccessLine {
    let bytes = |value: u32| (value != 0).then(|| Bytes(value.into()));
    let percent = |value: u8| Some(Percent(value.into()));
    model::AccessLine {
        size: Some(Bytes(line.size.into())),
        of_size: percent(line.of_size),
        read: percent(line.reads),
        random: percent(line.random),
        delay: (line.delay_ms != 0).then(|| Span::from_millis(line.delay_ms.into())),
        burst: (line.burst != 1).then_some(line.burst),
        align: bytes(line.align),
        reply: bytes(line.reply),
        distribution: None,
        sequence: None,
    }
}

fn cycle(cycling: IcfCycling) -> Option<Cycle> {
    (cycling != IcfCycling::default()).then_some(Cycle {
        start: Some(cycling.start),
        step: Some(cycling.step),
        kind: Some(cycling.step_type),
    })
}

fn depth_cycle(cycling: QueueDepthCycling) -> Option<DepthCycle> {
    (cycling != QueueDepthCycling::default()).then_some(DepthCycle {
        start: Some(cycling.start),
        end: Some(cycling.end),
        step: Some(cycling.step),
        kind: Some(cycling.step_type),
    })
}
