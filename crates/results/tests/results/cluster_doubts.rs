//! What makes figures of several processes doubtful.

use plan::{CacheMode, WorkerPlan};
use results::{
    CellCluster, CellRecord, ClusterRecord, HostRecord, RankFigures, Warning, WarningCode, doubt,
    doubt_cluster, host_difference_warning,
};

use crate::sample;

fn cluster_of(rates: &[f64]) -> CellCluster {
    let ranks = rates.iter().zip(0..).map(|(per_second, rank)| RankFigures {
        rank,
        host: format!("node{}", rank / 2),
        per_second: *per_second,
        ..RankFigures::default()
    });
    CellCluster {
        ranks: ranks.collect(),
        ..CellCluster::default()
    }
}

fn cell_of(cluster: CellCluster) -> CellRecord {
    let mut cell = sample::cell_record(&sample::plan(), 0, 1_000);
    cell.cluster = Some(Box::new(cluster));
    cell
}

#[track_caller]
fn only(cell: &CellRecord, code: WarningCode, message: &str) {
    assert_eq!(
        doubt_cluster(cell),
        [Warning::of_cell(code, 0, message.to_owned())]
    );
}

#[test]
fn processes_that_are_alike_raise_no_doubt() {
    let mut cell = cell_of(cluster_of(&[100.0, 99.0, 81.0, 120.0]));
    assert_eq!(doubt_cluster(&cell), []);
    cell.cluster = None;
    assert_eq!(doubt_cluster(&cell), []);
}

#[test]
fn poorly_synchronized_clocks_are_reported() {
    let mut cell = cell_of(cluster_of(&[100.0, 100.0]));
    cell.intervals[0].length_ns = 1_000_000_000;
    cell.cluster.as_mut().unwrap().offset_bound_ns = 10_000_000;
    assert_eq!(doubt_cluster(&cell), []);
    cell.cluster.as_mut().unwrap().offset_bound_ns = 12_345_678;
    let message =
        "the clocks of the hosts are known within 12.346 ms only: more than 1 % of an interval";
    only(&cell, WarningCode::ClockOffset, message);
}

#[test]
fn processes_that_do_not_start_together_are_reported() {
    let mut cell = cell_of(cluster_of(&[100.0, 100.0]));
    cell.run_time_ns = 10_000_000_000;
    cell.cluster.as_mut().unwrap().start_spread_ns = 250_000_000;
    let message = "the processes began within 250.0 ms: more than 1 % of the measured time";
    only(&cell, WarningCode::StartSpread, message);
}

#[test]
fn slow_processes_are_listed_slowest_first() {
    let message = "2 of 5 processes reached less than 80 % of the median rate: 4 on node2, 1 on \
                   node0";
    let cell = cell_of(cluster_of(&[100.0, 70.0, 110.0, 100.0, 50.0]));
    only(&cell, WarningCode::RankImbalance, message);
    // With two processes, it is unknown which of them is the slow one.
    assert_eq!(doubt_cluster(&cell_of(cluster_of(&[100.0, 10.0]))), []);
}

#[test]
fn a_lost_process_is_not_a_slow_one() {
    let mut cluster = cluster_of(&[100.0, 0.0, 100.0, 101.0]);
    cluster.ranks[1].lost_ns = Some(2_000_000_000);
    assert_eq!(cluster.median_per_second(), Some(100.0));
    assert_eq!(doubt_cluster(&cell_of(cluster)), []);
    assert_eq!(CellCluster::default().median_per_second(), None);
}

#[test]
fn only_the_slowest_of_many_slow_processes_are_named() {
    let rates: Vec<f64> = (0..1000)
        .map(|rank| if rank < 300 { f64::from(rank) } else { 1e4 })
        .collect();
    let warnings = doubt_cluster(&cell_of(cluster_of(&rates)));
    let message = &warnings[0].message;
    assert!(message.starts_with("300 of 1000 processes"), "{message}");
    assert!(message.ends_with("3 on node1, 296 more"), "{message}");
}

#[test]
fn files_of_all_processes_on_a_host_share_its_memory() {
    let mut plan = sample::plan();
    let memory_bytes = sample::environment().memory_bytes;
    plan.targets[0].size_bytes = memory_bytes / 2;
    let worker = plan.cells[0].workers[0].clone();
    plan.cells[0].workers = (0..4)
        .map(|rank| WorkerPlan {
            rank,
            ..worker.clone()
        })
        .collect();
    let memory_doubt = |cluster: CellCluster| {
        let mut cell = cell_of(cluster);
        cell.cache = CacheMode::Buffered;
        let warnings = doubt(&cell, &sample::environment(), &plan).into_iter();
        let mut warnings = warnings.filter(|it| it.code == WarningCode::FileSmallerThanMemory);
        warnings.next().map(|it| it.message)
    };
    // Two on each machine.
    assert_eq!(memory_doubt(cluster_of(&[100.0; 4])), None);
    let mut apart = cluster_of(&[100.0; 4]);
    for (rank, number) in apart.ranks.iter_mut().zip(0..) {
        rank.host = format!("node{number}");
    }
    let message = memory_doubt(apart).expect("a doubt");
    assert!(
        message.starts_with("the data is 50 % of the memory"),
        "{message}"
    );
}

fn hosts(of: impl Fn(&mut HostRecord, u32)) -> ClusterRecord {
    let host = |number| {
        let mut host = HostRecord {
            name: format!("node{number}"),
            ranks: vec![2 * number, 2 * number + 1],
            environment: sample::environment(),
        };
        of(&mut host, number);
        host
    };
    ClusterRecord {
        carrier: "ssh: ssh".to_owned(),
        ranks: 4,
        hosts: vec![host(0), host(1)],
    }
}

#[test]
fn differing_hosts_are_reported() {
    let differing = hosts(|host, number| {
        host.environment.kernel = format!("6.12.{number}");
        host.environment.memory_bytes = (64 << 30) >> number;
    });
    let message = "the hosts are not alike: 6.12.0 and 6.12.1; 32 GiB to 64 GiB of memory";
    let warning = Warning::of_run(WarningCode::UnequalHosts, message);
    assert_eq!(host_difference_warning(&differing), Some(warning));
    let similar = hosts(|host, number| host.environment.memory_bytes += u64::from(number) << 20);
    assert_eq!(host_difference_warning(&similar), None);
}

#[test]
fn processes_and_hosts_of_a_run_are_described_briefly() {
    let mut cluster = hosts(|_, _| {});
    assert_eq!(cluster.place(), "4 processes on 2 hosts");
    cluster.hosts.pop();
    assert_eq!(cluster.place(), "4 processes on node0");
    cluster.hosts[0].name.clear();
    cluster.ranks = 1;
    assert_eq!(cluster.place(), "1 process on 1 host");
}
