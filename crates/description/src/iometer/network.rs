//! Converts the network workers of an Iometer configuration to workers whose targets are sinks.

use super::{
    Assignment, IdName, IometerSettings, ManagerShare, NetworkWorker, Target, TargetSettings,
    WorkerKind, group_names,
};
use crate::model::{OneOrMany, Worker, Workload};
use plan::TcpAddress;
use plan::{Diagnostic, printable};

/// The workload with its TCP network workers appended to its other workers, and warnings about
/// them. VI workers stay in the `[iometer]` table, because they cannot run.
pub fn with_network_workers(workload: &Workload) -> (Workload, Vec<Diagnostic>) {
    let mut workload = workload.clone();
    let Some(extras) = &mut workload.iometer else {
        return (workload, Vec::new());
    };
    // If they stayed in the table, reading the written workload would add them a second time.
    let network = std::mem::take(&mut extras.network);
    let (tcp, other) = network
        .into_iter()
        .partition(|it| it.worker.kind == WorkerKind::NetworkTcp);
    extras.network = other;
    let tcp: Vec<NetworkWorker> = tcp;
    let mut own_names = Vec::new();
    let managers = extras.managers.iter().map(|it| &it.identity);
    // The test types count workers by manager, so a single manager needs no group.
    let groups = Some(group_names(managers)).filter(|it| it.len() > 1);
    let all_specs = workload.access_spec.iter().filter_map(|it| it.name.clone());
    let all_specs: Vec<String> = all_specs.collect();
    for network in &tcp {
        let worker = worker(network, extras, &all_specs, &mut own_names);
        let groups = groups.as_ref();
        workload.worker.push(Worker {
            group: groups.and_then(|it| it.get(network.manager_index as usize).cloned()),
            ..worker
        });
    }
    let warnings = (!own_names.is_empty()).then(|| started_sinks_note(&own_names));
    (workload, warnings.into_iter().collect())
}

/// Note that pgmeter itself runs the sinks.
fn started_sinks_note(names: &[String]) -> Diagnostic {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", printable(name)))
        .collect();
    let message = format!(
        "the network workers' targets on this machine ({}) are a sink that pgmeter starts for the \
         run",
        names.join(", ")
    );
    let help = "for another machine, start `pgmeter sink` there and add `--target \
                tcp://HOST:PORT`";
    Diagnostic::warning("", message).help(help)
}

fn worker(
    network: &NetworkWorker,
    extras: &IometerSettings,
    all_specs: &[String],
    own_names: &mut Vec<String>,
) -> Worker {
    let NetworkWorker {
        manager_index,
        worker,
        ..
    } = network;
    let manager = extras.managers.get(*manager_index as usize);
    let targets = worker.targets.iter().flatten();
    let targets = targets.filter(|target| target.kind.is_network());
    let mut names = Vec::new();
    for target in targets {
        let name = peer_name(target, manager);
        let is_own = name == TcpAddress::own();
        if is_own && !own_names.contains(&target.name) {
            own_names.push(target.name.clone());
        }
        // Iometer ignores a target that is assigned a second time.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let is_known = |name: &&String| {
        let mut specs = all_specs.iter();
        specs.any(|spec| spec.eq_ignore_ascii_case(name)) || crate::check::is_idle(name)
    };
    let assigned = match &worker.assigned {
        // Iometer skips names of specifications that do not exist.
        Some(names) => names.iter().filter(is_known).cloned().collect(),
        None => default_specs(extras, all_specs),
    };
    let name = worker.name.replace(char::is_control, " ");
    let native = Worker {
        name: Some(name.trim().to_owned()).filter(|name| !name.is_empty()),
        access_specs: Some(assigned),
        targets: Some(OneOrMany::from(names)),
        ..Worker::default()
    };
    match &worker.settings {
        Some(settings) => with_settings(native, settings),
        None => native,
    }
}

fn with_settings(native: Worker, settings: &TargetSettings) -> Worker {
    let per_connection = settings.transactions_per_connection;
    Worker {
        iodepth: Some(settings.outstanding_ios),
        seed: settings.use_fixed_seed.then_some(settings.fixed_seed),
        transactions_per_connection: settings.test_connection_rate.then_some(per_connection),
        ..native
    }
}

/// The access specifications of a network worker without a saved list.
fn default_specs(extras: &IometerSettings, all_specs: &[String]) -> Vec<String> {
    let is_given = |name: &&String| {
        let assignment = extras.default_assignment.get(*name);
        matches!(assignment, Some(Assignment::All | Assignment::Net))
    };
    all_specs.iter().filter(is_given).cloned().collect()
}

/// Name of the peer for a network target: on this machine, a sink that pgmeter starts; elsewhere, a
/// peer without a port, which an option has to name.
fn peer_name(target: &Target, manager: Option<&ManagerShare>) -> String {
    let name = target.name.trim();
    let is_loopback = match name.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    };
    let is_of_own_manager = |id: &IdName| {
        let own = manager.map(|manager| &manager.identity);
        own.is_some_and(|own| own == id)
    };
    match is_loopback || target.manager.as_ref().is_none_or(is_of_own_manager) {
        true => TcpAddress::own(),
        false => TcpAddress::without_port(name),
    }
}
