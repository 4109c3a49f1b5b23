//! Made-up records of runs with several processes: four on two hosts, and a thousand on 25.

use plan::*;
use results::*;

use crate::made_up::{self, MIXED, Shape};
use crate::sample::{self, SECOND};

/// Four processes on two different hosts: a cell limited by time, and one with a fixed number of
/// operations, in which one process is late.
pub fn few() -> RunRecord {
    let speeds = [1.0, 0.97, 0.71, 1.02];
    let hosts = [("node1.example.org", [0, 1]), ("node2.example.org", [2, 3])];
    let hosts = hosts.map(|(name, ranks)| host(name, ranks.into()));
    let mut plan = sample::plan();
    plan.cells = vec![
        sample::cell(0, "File Server", 8, 4, 80.0),
        sample::cell(1, "File Server, a million requests", 8, 4, 80.0),
    ];
    plan.cells[1].operations = Some(1_000_000);
    let mut cells = Vec::new();
    for index in 0..2 {
        let mut cell = made_up::scaled(&plan, index, &MIXED, 1.0, 1.0);
        if index == 1 {
            cell.planned_run_time_ns = 0;
        }
        share(&mut cell, &speeds, &hosts);
        cells.push(cell);
    }
    let mut record = finished(plan, cells, hosts.into());
    let cluster = record.cluster.as_mut().expect("it was shared");
    let second = &mut cluster.hosts[1].environment;
    second.kernel = "6.12.31".into();
    second.cpu.model = "EPYC 9124".into();
    record.warnings = doubts(&record);
    record
}

/// A thousand processes on 25 hosts. One host is slow, and one process was lost.
pub fn many() -> RunRecord {
    let hosts: Vec<HostRecord> = (0..25)
        .map(|number| {
            let first = number * 40;
            host(
                &format!("node{:03}", number + 1),
                (first..first + 40).collect(),
            )
        })
        .collect();
    let speed = |rank: u32| {
        let slow = if (280..320).contains(&rank) { 0.6 } else { 1.0 };
        slow * (0.92 + 0.16 * f64::from(rank.wrapping_mul(2_654_435_761) >> 16) / 65_536.0)
    };
    let speeds: Vec<f64> = (0..1000).map(speed).collect();
    let mut plan = sample::plan();
    plan.cells = vec![sample::cell(0, "File Server", 8, 1000, 80.0)];
    let shape = Shape {
        operations: &[(960_000.0, 8192, 92_000.0), (240_000.0, 8192, 131_000.0)],
        transactions: &[(1_200_000.0, 98_000.0)],
        ..MIXED
    };
    let mut cell = made_up::scaled(&plan, 0, &shape, 0.01, 1.0);
    share(&mut cell, &speeds, &hosts);
    let names = sample::NAMES;
    let workers = plan.cells[0].workers.iter().map(|worker| {
        let counted = sample::totals(100 + u64::from(worker.worker_index) % 7, true);
        WorkerFigures::of(worker, &counted, 10 * SECOND, names)
    });
    cell.worker_figures = workers.collect();
    let cluster = cell.cluster.as_mut().expect("it was shared");
    cluster.ranks.remove(417);
    let lost = (417, "node011".to_owned(), 4_200_000_000);
    cell.set_lost(std::iter::once(lost));
    let mut record = finished(plan, vec![cell], hosts);
    record.status = Status::Interrupted;
    record.warnings = doubts(&record);
    record.warnings.push(Warning::of_cell(
        WarningCode::RankLost,
        0,
        "rank 417 on node011 was lost and its work is missing from the results: it has sent \
         nothing for 5 s",
    ));
    record
}

fn host(name: &str, ranks: Vec<u32>) -> HostRecord {
    let mut environment = sample::environment();
    environment.host = name.into();
    HostRecord {
        name: name.into(),
        ranks,
        environment,
    }
}

/// Divides a cell among the processes.
fn share(cell: &mut CellRecord, speeds: &[f64], hosts: &[HostRecord]) {
    let (count, all) = (speeds.len() as u64, speeds.iter().sum::<f64>());
    let is_timed = cell.planned_run_time_ns > 0;
    let of = |rank: u32| hosts.iter().find(|host| host.ranks.contains(&rank));
    let ranks = speeds.iter().zip(0_u32..).map(|(speed, rank)| {
        let share = if is_timed {
            speed / all
        } else {
            1.0 / count as f64
        };
        let done_ns = match is_timed {
            true => cell.run_time_ns + u64::from(rank % 17) * 130_000,
            false => (cell.run_time_ns as f64 * 0.71 / speed) as u64,
        };
        RankFigures {
            rank,
            host: of(rank).map_or_else(String::new, |host| host.name.clone()),
            count: (cell.total.count as f64 * share) as u64,
            bytes: (cell.total.bytes as f64 * share) as u64,
            per_second: cell.total.per_second * speed / all,
            p50_ns: Some((92_000.0 / speed) as u64),
            p99_ns: Some((201_000.0 / speed) as u64),
            begin_ns: i64::from(rank % 23) * 310 - 900,
            done_ns,
            clock: ClockOffset {
                offset_ns: i64::from(rank) * 7_000_000,
                bound_ns: 11_000 + u64::from(rank % 13) * 700,
                drift_ppb: Some(f64::from(rank % 9) * 12.5),
            },
            ..RankFigures::default()
        }
    });
    let ranks: Vec<RankFigures> = ranks.collect();
    let dones = || ranks.iter().map(|it| it.done_ns);
    let (first_ns, last_ns) = (dones().min().unwrap_or(0), dones().max().unwrap_or(0));
    let idle_ns: u64 = dones().map(|it| last_ns - it).sum();
    cell.ranks = ranks.len() as u32;
    cell.cluster = Some(Box::new(CellCluster {
        start_spread_ns: 6_820,
        offset_bound_ns: 19_400,
        drift_ppb: Some(100.0),
        tail_ns: last_ns - first_ns,
        tail_share: idle_ns as f64 / (last_ns * count) as f64,
        first_done_per_second: Some(cell.total.per_second * 1.09),
        last_done_per_second: Some(cell.total.per_second),
        ranks,
    }));
}

fn finished(plan: Plan, cells: Vec<CellRecord>, hosts: Vec<HostRecord>) -> RunRecord {
    let command = [
        "run",
        "file-server",
        "--hosts",
        "node[1-2]",
        "--target",
        "/mnt/array",
    ];
    let mut record = made_up::finished(plan, cells, &command);
    record.environment = hosts[0].environment.clone();
    record.cluster = Some(ClusterRecord {
        carrier: "ssh: ssh".into(),
        ranks: hosts.iter().map(|host| host.ranks.len() as u32).sum(),
        hosts,
    });
    record
}

fn doubts(record: &RunRecord) -> Vec<Warning> {
    let cells = record.cells.iter().flat_map(doubt_cluster);
    record
        .cluster
        .iter()
        .filter_map(host_difference_warning)
        .chain(cells)
        .collect()
}
