//! Made-up records that are the same each time, for every kind of page.

use plan::program::{FilePool, Program};
use plan::*;
use results::*;
use stats::Interval;

use crate::sample::{self, SECOND};

/// Contents of a made-up cell.
#[derive(Clone)]
pub struct Shape {
    pub names: CounterNames<'static>,
    /// Per operation: rate per second, bytes of each, median latency in nanoseconds.
    pub operations: &'static [(f64, u64, f64)],
    /// Per kind of transaction: rate per second, median latency in nanoseconds.
    pub transactions: &'static [(f64, f64)],
    pub seconds: u64,
    /// Number of points in the latency distribution of an operation within an interval.
    pub resolution: u32,
}

pub const MIXED: Shape = Shape {
    names: CounterNames {
        operations: &["read", "write"],
        transactions: &["transfer"],
    },
    operations: &[(9_600.0, 8192, 92_000.0), (2_400.0, 8192, 131_000.0)],
    transactions: &[(12_000.0, 98_000.0)],
    seconds: 12,
    resolution: 250,
};

const POSTMARK: CounterNames = CounterNames {
    operations: &["open", "create", "read", "write", "close", "unlink"],
    transactions: &["read", "append", "create", "delete"],
};

const CREATE: Shape = Shape {
    names: POSTMARK,
    operations: &[
        NONE,
        (9_400.0, 0, 11_800.0),
        NONE,
        (47_000.0, 512, 2_350.0),
        (9_400.0, 0, 900.0),
    ],
    transactions: &[NO_KIND, NO_KIND, (9_400.0, 41_000.0)],
    seconds: 3,
    resolution: 200,
};

const TRANSACTIONS: Shape = Shape {
    names: POSTMARK,
    operations: &[
        (5_200.0, 0, 2_900.0),
        (2_610.0, 0, 11_800.0),
        (13_100.0, 512, 1_150.0),
        (15_300.0, 512, 2_350.0),
        (7_800.0, 0, 900.0),
        (2_590.0, 0, 9_400.0),
    ],
    transactions: &[
        (2_600.0, 14_000.0),
        (2_600.0, 33_000.0),
        (2_610.0, 41_000.0),
        (2_590.0, 9_900.0),
    ],
    seconds: 12,
    resolution: 200,
};

const DELETE: Shape = Shape {
    names: POSTMARK,
    operations: &[NONE, NONE, NONE, NONE, NONE, (31_000.0, 0, 9_400.0)],
    transactions: &[NO_KIND, NO_KIND, NO_KIND, (31_000.0, 9_900.0)],
    seconds: 2,
    resolution: 200,
};

/// An operation that does not occur.
const NONE: (f64, u64, f64) = (0.0, 0, 0.0);
/// A kind of transaction that does not occur.
const NO_KIND: (f64, f64) = (0.0, 0.0);

/// All pages, with their names and records.
pub fn pages() -> Vec<(&'static str, Vec<RunRecord>)> {
    vec![
        ("single", vec![single()]),
        ("sweep", vec![sweep()]),
        ("postmark", vec![postmark()]),
        ("repeated", vec![repeated()]),
        ("compared", compared()),
        ("doubtful", vec![doubtful()]),
        ("empty", vec![empty()]),
        ("hostile", vec![hostile()]),
        ("thousand", vec![thousand()]),
    ]
}

/// One cell, as in a typical first run.
pub fn single() -> RunRecord {
    let mut plan = sample::plan();
    plan.cells = vec![sample::cell(0, "File Server", 8, 1, 80.0)];
    let cell = measured(&plan, 0, &MIXED, 1.0);
    finished(
        plan,
        vec![cell],
        &["run", "file-server", "--target", "/mnt/array"],
    )
}

/// Two workloads at seven queue depths.
pub fn sweep() -> RunRecord {
    let mut plan = sample::plan();
    let depths = [1, 2, 4, 8, 16, 32, 64];
    plan.cells = ["File Server", "Web Server"]
        .iter()
        .flat_map(|name| depths.map(|depth| (*name, depth)))
        .zip(0..)
        .map(|((name, depth), index)| sample::cell(index, name, depth, 1, 80.0))
        .collect();
    let cells = plan.cells.iter().map(|cell| {
        let depth = f64::from(cell.iodepth);
        // A device that serves about 20 requests at once.
        let speed = depth / (1.0 + depth / 20.0);
        let factor = if cell.access_spec.as_deref() == Some("Web Server") {
            0.7
        } else {
            1.0
        };
        scaled(&plan, cell.index, &MIXED, speed * factor, depth / speed)
    });
    let cells = cells.collect();
    finished(
        plan,
        cells,
        &[
            "run",
            "file-server",
            "web-server",
            "--iodepth",
            "1,2,4,8,16,32,64",
        ],
    )
}

/// The three phases of PostMark, with PostMark's own results.
pub fn postmark() -> RunRecord {
    let mut plan = sample::plan();
    plan.workloads = vec![PlannedWorkload {
        name: "postmark".into(),
        title: "PostMark".into(),
        source: "Katcher, PostMark: A New File System Benchmark, 1997".into(),
        pack: None,
        front: None,
        varied: None,
    }];
    let mut cell = sample::cell(0, "postmark", 1, 1, 0.0);
    cell.workload = "postmark".into();
    cell.access_spec = None;
    cell.cache = CacheMode::Buffered;
    cell.engine = EngineKind::Psync;
    cell.workers[0].lines.clear();
    let program = Program::of_pool(FilePool::default(), None);
    cell.work = Work::Acts(program.into());
    plan.cells = vec![cell];
    let phases = [
        ("create", CREATE, 3),
        ("transactions", TRANSACTIONS, 12),
        ("delete", DELETE, 2),
    ];
    let mut cells: Vec<CellRecord> = phases
        .into_iter()
        .map(|(phase, shape, seconds)| {
            let mut cell = measured(&plan, 0, &Shape { seconds, ..shape }, 1.0);
            cell.phase = Phase::Classic(phase.to_owned());
            let counts = cell.transactions.values().map(|kind| kind.count);
            cell.total.count = counts.sum();
            cell.total.per_second = per_second(cell.total.count, cell.run_time_ns);
            cell
        })
        .collect();
    cells[1].phase_figures = Some(PhaseFigures {
        pool: Some(PoolFigures {
            transactions_count: 125_000,
            created_count: 62_904,
            created_before_count: 500,
            read_count: 62_310,
            appended_count: 62_690,
            deleted_count: 62_904,
            deleted_after_count: 308,
            read_bytes: 402_653_184,
            written_bytes: 771_751_936,
            read_bytes_float: 402_653_184.0,
            written_bytes_float: 771_751_936.0,
            creation_ns: 3_000_000_000,
            transactions_ns: 12_000_000_000,
            deletion_ns: 2_000_000_000,
            ..PoolFigures::default()
        }),
        ..PhaseFigures::default()
    });
    finished(
        plan,
        cells,
        &["run", "postmark", "--target", "/mnt/it's here"],
    )
}

/// A sweep with three repetitions of each cell.
pub fn repeated() -> RunRecord {
    let mut plan = sample::plan();
    plan.cells = [1, 8, 32]
        .iter()
        .flat_map(|depth| (0..3).map(|repetition| (*depth, repetition)))
        .zip(0..)
        .map(|((depth, repetition), index)| Cell {
            first_index: Some(index - repetition),
            repetition,
            ..sample::cell(index, "File Server", depth, 1, 80.0)
        })
        .collect();
    let cells = plan.cells.iter().map(|cell| {
        let depth = f64::from(cell.iodepth);
        let noise = 1.0 + (wobble(cell.index.into()) - 0.5) * 0.2;
        let speed = noise * depth / (1.0 + depth / 20.0);
        scaled(&plan, cell.index, &MIXED, speed, depth / speed)
    });
    let cells: Vec<CellRecord> = cells.collect();
    let mut record = finished(plan, cells, &["run", "file-server", "--repetitions", "3"]);
    record.estimates = estimates(&record.cells);
    record
}

/// The same sweep on two file systems.
pub fn compared() -> Vec<RunRecord> {
    let first = repeated();
    let mut second = repeated();
    second.id = "20261121-031612-042-2f".into();
    second.environment.file_systems[0].kind = "xfs".into();
    second.environment.kernel = "6.13.1".into();
    for target in &mut second.plan.targets {
        target.path = "/mnt/xfs".into();
    }
    for cell in &mut second.cells {
        cell.target = "/mnt/xfs".into();
        cell.total.per_second *= 1.13;
        cell.total.bytes_per_second *= 1.13;
    }
    second.estimates = estimates(&second.cells);
    vec![first, second]
}

/// A record with failures and warnings.
pub fn doubtful() -> RunRecord {
    let mut record = single();
    let cell = &mut record.cells[0];
    cell.total.errors = 17;
    cell.operations.get_mut("write").expect("it wrote").errors = 17;
    cell.errors = vec![ErrnoCount {
        operation: "write".into(),
        errno: 5,
        message: "Input/output error".into(),
        count: 17,
    }];
    cell.status = Status::Interrupted;
    record.status = Status::Interrupted;
    cell.device = Some(DeviceFigures::default());
    record.warnings = doubt(&record.cells[0], &record.environment, &record.plan);
    record.warnings.extend([
        Warning::of_run(
            WarningCode::LoadBefore,
            "the machine was already busy before the run: load 3.1 on 2 CPUs",
        ),
        Warning::of_cell(
            WarningCode::StealTime,
            0,
            "the hypervisor withheld 2.3 % of the CPU time (steal); use a host with spare \
             CPUs",
        ),
        Warning::of_cell(
            WarningCode::NotSteady,
            0,
            "the rate fell by 14 % along its trend while it was measured",
        ),
        Warning::of_run(
            WarningCode::ClockUnstable,
            "the clock source `hpet` is not synchronized across CPUs; latencies may be wrong",
        ),
    ]);
    record
}

/// A record that was interrupted before its first cell.
pub fn empty() -> RunRecord {
    let mut record = finished(sample::plan(), Vec::new(), &["run"]);
    record.status = Status::Interrupted;
    record
}

/// Names with markup and other dangerous contents.
pub fn hostile() -> RunRecord {
    const SCRIPT: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
    let mut record = single();
    record.plan.workloads[0].title = format!("Title {SCRIPT}");
    record.plan.workloads[0].source = SCRIPT.into();
    record.plan.targets[0].path = format!("/mnt/\"{SCRIPT}").into();
    record.plan.settings[0].value = SCRIPT.into();
    record.command.push(SCRIPT.into());
    record.id = SCRIPT.into();
    record.environment.host = SCRIPT.into();
    record.environment.devices[0].model = SCRIPT.into();
    record.environment.settings = vec![format!("{SCRIPT}={SCRIPT}")];
    record.warnings = vec![Warning::of_run(WarningCode::Other(SCRIPT.into()), SCRIPT)];
    let cell = &mut record.cells[0];
    cell.access_spec = Some(format!("{SCRIPT}--><!--"));
    cell.target = SCRIPT.into();
    let read = cell.operations.remove("read").expect("it read");
    cell.operations.insert(SCRIPT.into(), read);
    cell.phase_figures = Some(PhaseFigures {
        figures_before: [(SCRIPT.to_owned(), SCRIPT.into())].into(),
        ..PhaseFigures::default()
    });
    cell.engine_notes.notes = vec![SCRIPT.into()];
    for interval in &mut cell.intervals {
        let figures = interval.operations.remove("read").expect("it read");
        interval.operations.insert(SCRIPT.into(), figures);
    }
    record
}

/// A record with a thousand cells.
pub fn thousand() -> RunRecord {
    let mut plan = sample::plan();
    let depths = [1, 2, 4, 8, 16, 32, 64, 128];
    plan.cells = (0..125)
        .flat_map(|spec| depths.map(|depth| (spec, depth)))
        .zip(0..)
        .map(|((spec, depth), index)| {
            sample::cell(
                index,
                &format!("{} KiB, variant {spec}", 4 << (spec % 6)),
                depth,
                1,
                80.0,
            )
        })
        .collect();
    let shape = Shape {
        operations: &[(96.0, 8192, 92_000.0), (24.0, 8192, 131_000.0)],
        transactions: &[(120.0, 98_000.0)],
        seconds: 60,
        resolution: 60,
        ..MIXED
    };
    let cells = plan.cells.iter().map(|cell| {
        let depth = f64::from(cell.iodepth);
        let speed = depth / (1.0 + depth / (8.0 + f64::from(cell.index % 37)));
        scaled(&plan, cell.index, &shape, speed, depth / speed)
    });
    let cells = cells.collect();
    finished(plan, cells, &["run", "many.toml"])
}

pub fn finished(plan: Plan, cells: Vec<CellRecord>, arguments: &[&str]) -> RunRecord {
    let mut environment = sample::environment();
    environment.mounts = vec![Mount {
        mount_point: "/mnt/array".into(),
        source: "/dev/nvme0n1".into(),
        kind: "ext4".into(),
        options: "rw,relatime".into(),
        ..Mount::default()
    }];
    environment.settings = vec![
        "vm.dirty_ratio=20".into(),
        "kernel.io_uring_disabled=0".into(),
    ];
    let command = std::iter::once("pgmeter").chain(arguments.iter().copied());
    let mut record = RunRecord::new(plan, environment, command.map(str::to_owned).collect());
    record.id = "20261121-023612-042-1f".into();
    record.started_at = "2026-11-21T02:36:12.042Z"
        .parse()
        .expect("the time is well formed");
    record.finished_at = "2026-11-21T02:37:01Z".parse().ok();
    record.pgmeter.version = "0.1.0".into();
    record.status = Status::Complete;
    record.cells = cells;
    record
}

fn measured(plan: &Plan, index: u32, shape: &Shape, speed: f64) -> CellRecord {
    scaled(plan, index, shape, speed, 1.0)
}

/// A cell of this shape. `speed` scales the rates and `slowness` the latencies.
pub fn scaled(plan: &Plan, index: u32, shape: &Shape, speed: f64, slowness: f64) -> CellRecord {
    let cell = &plan.cells[index as usize];
    let slices: Vec<Interval> = (0..shape.seconds)
        .map(|second| slice(shape, u64::from(index) * 1000 + second, speed, slowness))
        .enumerate()
        .map(|(second, mut slice)| {
            slice.at_ns = second as u64 * SECOND;
            slice.length_ns = SECOND;
            slice
        })
        .collect();
    let mut totals = slices[0].like();
    slices.iter().for_each(|slice| totals.merge(slice));
    let run_time_ns = shape.seconds * SECOND;
    let mut record = CellRecord::of(cell, plan, &totals, run_time_ns, shape.names);
    record.planned_run_time_ns = run_time_ns;
    record.intervals = slices
        .iter()
        .map(|slice| IntervalRecord::of(slice, shape.names))
        .collect();
    record.cpu = CpuFigures::of_process(run_time_ns / 12, run_time_ns / 3, run_time_ns);
    record.cpu.machine = Some(MachineCpu {
        busy: 0.23,
        iowait: 0.31,
        steal: 0.004,
        ..MachineCpu::default()
    });
    let bytes = |name: &str| record.operation(name).map_or(0, |figures| figures.bytes);
    record.device = Some(DeviceFigures {
        read_bytes: bytes("read"),
        write_bytes: bytes("write"),
        reads: record.operation("read").map_or(0, |figures| figures.count),
        writes: record.operation("write").map_or(0, |figures| figures.count),
        utilization: Some(0.874),
        source: "nvme0n1".into(),
        own_read_bytes: Some(bytes("read")),
        own_write_bytes: Some(bytes("write")),
        covered_ns: Some(run_time_ns),
    });
    record.own_cost_ns_per_operation = Some(74.58);
    record.engine_notes.ring = Some(RingSetup {
        flags: vec!["SINGLE_ISSUER".into(), "DEFER_TASKRUN".into()],
        ..RingSetup::default()
    });
    record
}

/// One second of a cell. Its rate varies, and some seconds have a stall.
fn slice(shape: &Shape, seed: u64, speed: f64, slowness: f64) -> Interval {
    let mut slice = Interval::with(0..shape.operations.len(), shape.transactions.len());
    let drift = 1.0 + 0.12 * (wobble(seed) - 0.5) + 0.04 * (seed as f64 / 5.0).sin();
    let stall = if seed % 11 == 7 { 9.0 } else { 1.0 };
    for (index, &(rate, bytes, median)) in shape.operations.iter().enumerate() {
        let spread = Spread {
            count: rate * speed * drift,
            median: median * slowness / drift,
            stall,
            resolution: shape.resolution,
        };
        spread.record(slice.operation_mut(index), bytes);
    }
    for (kind, &(rate, median)) in shape.transactions.iter().enumerate() {
        let spread = Spread {
            count: rate * speed * drift,
            median: median * slowness / drift,
            stall,
            resolution: shape.resolution,
        };
        spread.record(slice.transaction_mut(kind), 0);
    }
    slice
}

/// Latencies with a typical distribution of devices: a body, a shoulder and a tail.
struct Spread {
    count: f64,
    median: f64,
    stall: f64,
    resolution: u32,
}

impl Spread {
    fn record(&self, counter: &mut stats::Counter, bytes: u64) {
        let steps = self.resolution;
        if self.count == 0.0 {
            return;
        }
        let per_step = (self.count / f64::from(steps)).max(1.0) as u64;
        for step in 0..steps {
            let q = (f64::from(step) + 0.5) / f64::from(steps);
            let body = self.median * (q / (1.0 - q)).powf(0.16);
            let latency = if q > 0.93 { body * 1.9 } else { body };
            let latency = if q > 0.996 {
                latency * 4.0 * self.stall
            } else {
                latency
            };
            for number in 0..per_step {
                // Spread the values within the step, so that the histogram has no gaps.
                let within = 1.0 + 0.02 * (number as f64 / per_step as f64 - 0.5);
                counter.record(bytes, (latency * within) as u64);
            }
        }
    }
}

/// A pseudorandom number from 0 to 1.
fn wobble(seed: u64) -> f64 {
    let mixed = seed
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 11) as f64
        / (1_u64 << 53) as f64
}
