//! Writes a workload's workers as managers and workers of an Iometer configuration.

use std::collections::HashMap;

use units::Bytes;

use description::iometer::{
    IdName, IometerSettings, IometerWorker, ManagerShare, Target, TargetSettings, WorkerKind,
    group_names,
};
use description::model::{self, ContentChoice, OneOrMany, Workload};

use super::document::{IcfAccessSpec, Manager};
use super::import::SECTOR_BYTES;
use super::refusal::{check_name, refuse};
use plan::Diagnostic;
use plan::TcpAddress;

/// Largest number of workers written, which is the limit of a workload.
const WORKERS_MAX: usize = 1024;

/// Managers with all workers; none if the workload does not describe workers.
pub(super) fn managers(
    workload: &Workload,
    extras: &IometerSettings,
    specs: &[IcfAccessSpec],
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Manager>, Diagnostic> {
    let tables = tables(workload)?;
    let mut export = Export {
        workload,
        extras,
        specs,
        guessed_content: false,
    };
    let mut workers = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        workers.push(export.worker(index, table)?);
    }
    if export.guessed_content {
        let message = "Iometer has no such content; data pattern 2 (full random) is written";
        let help = "write `content = \"full-random\"` for the same content in both";
        warnings.push(Diagnostic::warning("", message).help(help));
    }
    let mut managers = share(extras, &tables, workers);
    // They are in ascending order, so each insertion restores the original position.
    for network in &extras.network {
        if let Some(manager) = managers.get_mut(network.manager_index as usize) {
            // Workers may have been removed since the import.
            let position = (network.position as usize).min(manager.workers.len());
            manager.workers.insert(position, network.worker.clone());
        }
    }
    // A manager that lost all its workers since the import is gone, too.
    let mut index = 0;
    managers.retain(|manager| {
        let before = extras.managers.get(index).map_or(0, |it| it.worker_count);
        index += 1;
        before == 0 || !manager.workers.is_empty()
    });
    Ok(managers)
}

/// Worker tables, repeated by their counts. Copies have a number after their name.
fn tables(workload: &Workload) -> Result<Vec<model::Worker>, Diagnostic> {
    // This is how a configuration without workers is imported, so it is written without them again.
    let is_default = workload.worker.is_empty()
        && workload.iometer.is_some()
        && workload.workers.is_none()
        && workload.iodepth.is_none()
        && workload.targets.is_none()
        && workload.size.is_none()
        && workload.start.is_none()
        && workload.content == Some(ContentChoice::Repeating);
    if is_default {
        return Ok(Vec::new());
    }
    let one = [model::Worker::default()];
    let written = if workload.worker.is_empty() {
        &one[..]
    } else {
        &workload.worker
    };
    let counts = written
        .iter()
        .map(|table| table.count.unwrap_or(1).max(1) as usize);
    let once: usize = counts.clone().fold(0, usize::saturating_add);
    let wanted = workload.workers.map_or(once, |count| count as usize);
    if wanted > WORKERS_MAX {
        let message = format!("there are {wanted} workers, more than {WORKERS_MAX}");
        return Err(refuse(message, "use fewer workers"));
    }
    let in_turn = counts
        .enumerate()
        .flat_map(|(index, count)| std::iter::repeat_n(index, count));
    // A count may be very large, and no more than the limit are used.
    let order: Vec<usize> = in_turn.take(WORKERS_MAX).collect();
    let mut copies = vec![0_u32; written.len()];
    let mut all = Vec::new();
    for index in order.iter().copied().cycle().take(wanted) {
        copies[index] += 1;
        let mut table = written[index].clone();
        let several = table.count.unwrap_or(1) > 1 || copies[index] > 1;
        table.name = Some(match table.name {
            Some(name) if several => format!("{name} {}", copies[index]),
            Some(name) => name,
            // A worker without a name in the imported configuration gets none.
            None if workload.iometer.is_some() && !workload.worker.is_empty() => String::new(),
            None => format!("Worker {}", all.len() + 1),
        });
        all.push(table);
    }
    Ok(all)
}

/// Assigns the workers to their original managers, and to new ones for groups that the imported
/// configuration did not have.
fn share(
    extras: &IometerSettings,
    tables: &[model::Worker],
    workers: Vec<IometerWorker>,
) -> Vec<Manager> {
    // As an import names the groups.
    let names = match extras.managers.as_slice() {
        [_] => vec![None],
        several => {
            let identities = several.iter().map(|share| &share.identity);
            group_names(identities).into_iter().map(Some).collect()
        }
    };
    let mut indices: HashMap<_, _> = names.iter().zip(0..).collect();
    let empty = |share: &ManagerShare| Manager {
        identity: share.identity.clone(),
        address: share.address.clone(),
        workers: Vec::new(),
    };
    let mut managers: Vec<Manager> = extras.managers.iter().map(empty).collect();
    for (table, worker) in tables.iter().zip(workers) {
        let group = &table.group;
        let index = *indices.entry(group).or_insert(managers.len());
        if index == managers.len() {
            let last = managers.iter().map(|it| it.identity.id).max().unwrap_or(0);
            let identity = IdName {
                id: last.saturating_add(1),
                name: group.clone().unwrap_or_default(),
            };
            managers.push(Manager {
                identity,
                ..Manager::default()
            });
        }
        managers[index].workers.push(worker);
    }
    managers
}

struct Export<'a> {
    workload: &'a Workload,
    extras: &'a IometerSettings,
    specs: &'a [IcfAccessSpec],
    guessed_content: bool,
}

impl Export<'_> {
    fn worker(&mut self, index: usize, table: &model::Worker) -> Result<IometerWorker, Diagnostic> {
        let name = table.name.clone().unwrap_or_default();
        Ok(IometerWorker {
            name,
            kind: WorkerKind::Disk,
            settings: self.settings(index, table)?,
            assigned: self.assigned(table)?,
            targets: self.targets(index, table)?,
        })
    }

    /// Assigned specifications: none if an imported configuration assigned none, else all by
    /// default.
    fn assigned(&self, table: &model::Worker) -> Result<Option<Vec<String>>, Diagnostic> {
        if let Some(names) = &table.access_specs {
            names
                .iter()
                .try_for_each(|name| check_name("access specification", name))?;
            return Ok(Some(names.clone()));
        }
        if self.workload.iometer.is_some() {
            return Ok(Some(Vec::new()));
        }
        Ok(Some(
            self.specs.iter().map(|spec| spec.name.clone()).collect(),
        ))
    }

    fn targets(
        &self,
        index: usize,
        table: &model::Worker,
    ) -> Result<Option<Vec<Target>>, Diagnostic> {
        let Some(names) = table.targets.as_ref().or(self.workload.targets.as_ref()) else {
            return Ok(None);
        };
        let mut targets = Vec::new();
        for name in names.as_slice() {
            if name.trim() != name || name.contains(char::is_control) {
                let message = format!("`{}` cannot be a target", plan::printable(name));
                return Err(refuse(message, "rename the target"));
            }
            if TcpAddress::is_tcp_name(name) {
                let name = plan::printable(name);
                let message = format!("`{name}` names a port, and Iometer's files have none");
                return Err(refuse(message, "keep the workload as a `.toml` file"));
            }
            targets.push(Target {
                name: name.clone(),
                kind: WorkerKind::Disk,
                manager: None,
            });
        }
        for network in &self.extras.network_targets {
            if network.worker_index as usize == index {
                let position = (network.position as usize).min(targets.len());
                targets.insert(position, network.target.clone());
            }
        }
        Ok(Some(targets))
    }

    fn settings(
        &mut self,
        index: usize,
        table: &model::Worker,
    ) -> Result<Option<TargetSettings>, Diagnostic> {
        let size = table.size.or(self.workload.size);
        let start = table.start.or(self.workload.start);
        let iodepth = table.iodepth.or(common_depth(self.workload));
        let content = table.content.as_ref().or(self.workload.content.as_ref());
        let off = self
            .extras
            .switched_off
            .iter()
            .find(|it| it.worker_index as usize == index);
        // A worker that was imported without this block is written without it again.
        let is_default = iodepth.is_none()
            && size.is_none()
            && start.is_none()
            && table.seed.is_none()
            && table.transactions_per_connection.is_none()
            && self.workload.transactions_per_connection.is_none()
            && off.is_none()
            && content == Some(&ContentChoice::Repeating);
        if is_default {
            return Ok(None);
        }
        // Iometer stores both values even while they are switched off.
        let off_seed = off.and_then(|off| off.fixed_seed);
        let off_transactions = off.and_then(|off| off.transactions_per_connection);
        let common = self.workload.transactions_per_connection;
        let transactions = table.transactions_per_connection.or(common);
        Ok(Some(TargetSettings {
            outstanding_ios: iodepth.unwrap_or(1),
            test_connection_rate: transactions.is_some(),
            transactions_per_connection: transactions.or(off_transactions).unwrap_or(1),
            use_fixed_seed: table.seed.is_some(),
            fixed_seed: table.seed.or(off_seed).unwrap_or_default(),
            max_size_sectors: sectors("size", size)?,
            starting_sector: sectors("start", start)?,
            data_pattern: self.pattern(content),
            network_interface: None,
            vi_outstanding_ios: None,
        }))
    }

    fn pattern(&mut self, content: Option<&ContentChoice>) -> u8 {
        match content {
            Some(ContentChoice::Repeating) => 0,
            Some(ContentChoice::PseudoRandom) => 1,
            Some(ContentChoice::FullRandom) => 2,
            _ => {
                // Storage can compress or deduplicate patterns 0 and 1 almost completely, unlike
                // pgmeter's default content.
                self.guessed_content = true;
                2
            }
        }
    }
}

fn sectors(key: &str, bytes: Option<Bytes>) -> Result<u64, Diagnostic> {
    let bytes = bytes.unwrap_or_default();
    if bytes.0.is_multiple_of(SECTOR_BYTES) {
        return Ok(bytes.0 / SECTOR_BYTES);
    }
    let message = format!("`{key}` is {bytes}, and Iometer counts sectors of {SECTOR_BYTES} bytes");
    Err(refuse(message, "write a multiple of 512"))
}

/// The first queue depth of the workload.
fn common_depth(workload: &Workload) -> Option<u32> {
    workload
        .iodepth
        .as_ref()
        .and_then(|depths: &OneOrMany<u32>| depths.as_slice().first().copied())
}
