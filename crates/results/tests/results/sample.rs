//! A made-up record, the same each time.

use plan::*;
use results::*;
use stats::Interval;

pub const SECOND: u64 = 1_000_000_000;
pub const NAMES: CounterNames<'static> = CounterNames {
    operations: &["read", "write"],
    transactions: &["transfer"],
};

pub fn plan() -> Plan {
    Plan {
        workloads: vec![PlannedWorkload {
            name: "file-server".into(),
            title: "File Server".into(),
            source: "made up".into(),
            pack: None,
            front: None,
            varied: None,
        }],
        targets: vec![TargetPlan {
            path: "/mnt/array".into(),
            kind: TargetKind::Directory,
            size_bytes: 8 << 30,
            block_bytes: 512,
        }],
        cells: vec![
            cell(0, "File Server", 8, 2, 80.0),
            cell(1, "4 KiB random read", 1, 1, 100.0),
        ],
        seed: 7,
        repetition_rule: None,
        settings: vec![Setting {
            workload: "file-server".into(),
            key: "run-time".into(),
            value: "10s".into(),
            source: Source::Option,
        }],
    }
}

pub fn cell(index: u32, name: &str, iodepth: u32, workers: u32, read_percent: f64) -> Cell {
    let workers = 0..workers;
    let workers = workers.map(|index| worker(index, name, iodepth, read_percent));
    let engine = (EngineKind::IoUring, CacheMode::Direct);
    Cell {
        index,
        first_index: Some(index),
        workload_index: Some(0),
        access_spec: Some(name.into()),
        iodepth,
        run_time_ns: 10 * SECOND,
        ramp_time_ns: 2 * SECOND,
        ..Cell::new("file-server", engine, Work::Access, workers.collect())
    }
}

fn worker(worker_index: u32, name: &str, iodepth: u32, read_percent: f64) -> WorkerPlan {
    WorkerPlan {
        worker_index,
        rank: 0,
        name: format!("Worker {}", worker_index + 1),
        access_spec: name.into(),
        lines: vec![LinePlan {
            size_bytes: 4096,
            of_size_percent: 100.0,
            read_percent,
            random_percent: 100.0,
            delay_ns: 0,
            burst: 1,
            align_bytes: 4096,
            reply_bytes: 0,
            distribution: Distribution::Uniform,
            sequence: Sequence::Forward,
        }],
        spans: vec![SpanPlan {
            target_index: 0,
            iodepth,
            start_bytes: 0,
            size_bytes: 8 << 30,
            sector_bytes: 512,
        }],
        seed: 11,
        position: PositionRule::Uniform,
        cursor: CursorKind::Worker,
        content: ContentPlan::Incompressible,
        verify: false,
        transactions_per_connection: None,
        network: false,
        cpu: None,
        job: None,
    }
}

/// Counters of `count` operations, every fifth a write when `mixed`.
pub fn totals(count: u64, mixed: bool) -> Interval {
    let mut interval = Interval::with(if mixed { 0..2 } else { 0..1 }, 1);
    interval.length_ns = 10 * SECOND;
    for number in 0..count {
        let write = mixed && number % 5 == 4;
        // 100 to 200 us, and one in a thousand takes 12 ms.
        let latency_ns = if number % 1000 == 999 {
            12_000_000
        } else {
            100_000 + number * 7919 % 100_000
        };
        interval
            .operation_mut(usize::from(write))
            .record(4096, latency_ns);
        interval.transaction_mut(0).record(4096, latency_ns);
    }
    interval
}

pub fn cell_record(plan: &Plan, index: usize, count: u64) -> CellRecord {
    let planned = &plan.cells[index];
    let mixed = index == 0;
    let mut record = CellRecord::of(planned, plan, &totals(count, mixed), 10 * SECOND, NAMES);
    let share = count / planned.workers.len() as u64;
    let workers = planned.workers.iter().map(|worker| {
        let counted = totals(share, mixed);
        let mut figures = WorkerFigures::of(worker, &counted, 10 * SECOND, NAMES)
            .with_cpu(2 * SECOND, 3 * SECOND);
        figures.done_ns = Some(10 * SECOND + u64::from(worker.worker_index));
        figures.targets = vec![TargetFigures::of(plan, 0, &counted, 10 * SECOND, NAMES)];
        figures
    });
    record.set_workers(workers.collect());
    record.started_at = "2026-11-21T02:36:14.5Z".parse().ok();
    record.cpu = CpuFigures::of_process(4 * SECOND, 6 * SECOND, 10 * SECOND);
    record.cpu.machine = Some(MachineCpu {
        busy: 0.25,
        user: 0.1,
        system: 0.12,
        irq: 0.01,
        softirq: 0.02,
        interrupts_per_second: Some(50_000.0),
        ..MachineCpu::default()
    });
    record.cpu.processors = vec![ProcessorFigures {
        cpu: 0,
        shares: MachineCpu::default(),
    }];
    record.device = Some(DeviceFigures {
        read_bytes: record.operation("read").map_or(0, |read| read.bytes),
        write_bytes: record.operation("write").map_or(0, |write| write.bytes),
        reads: count,
        writes: 0,
        utilization: Some(0.987),
        source: "nvme0n1".into(),
        ..DeviceFigures::default()
    });
    record.own_cost_ns_per_operation = Some(18.25);
    record.engine_notes.ring = Some(RingSetup {
        flags: vec!["SINGLE_ISSUER".into()],
        ..RingSetup::default()
    });
    record.intervals = vec![IntervalRecord::of(&totals(count / 10, mixed), NAMES)];
    record
}

pub fn environment() -> Environment {
    Environment {
        host: "bench".into(),
        kernel: "6.12.9".into(),
        architecture: "x86_64".into(),
        distribution: "Debian 13".into(),
        cpu: Processor {
            model: "EPYC 9354".into(),
            logical_count: 64,
            ..Processor::default()
        },
        memory_bytes: 64 << 30,
        file_systems: vec![FileSystem {
            kind: "ext4".into(),
            ..FileSystem::default()
        }],
        devices: vec![Device {
            name: "nvme0n1".into(),
            model: "PM9A3".into(),
            ..Device::default()
        }],
        ..Environment::default()
    }
}

pub fn record() -> RunRecord {
    let plan = plan();
    let cells = vec![cell_record(&plan, 0, 100_000), cell_record(&plan, 1, 5_000)];
    let environment = environment();
    let mut record = RunRecord::new(plan, environment, vec!["pgmeter".into(), "run".into()]);
    record.id = "20261121-023612-042-1f".into();
    record.started_at = "2026-11-21T02:36:12.042Z"
        .parse()
        .expect("the time is well formed");
    record.finished_at = "2026-11-21T02:36:40Z".parse().ok();
    record.pgmeter.version = "0.1.0".into();
    record.status = Status::Complete;
    record.warnings = cells
        .iter()
        .flat_map(|cell| doubt(cell, &record.environment, &record.plan))
        .collect();
    record.cells = cells;
    record
}
