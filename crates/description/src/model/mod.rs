//! The typed description of a workload: one field per option.
//!
//! The doc comment of a field becomes its help text, its schema entry and its row on the reference
//! page. A field that is `None` was not written; planning fills in the defaults.

mod access;
mod block_size;
mod built;
mod content;
mod cpus;
mod cycling;
pub mod defaults;
pub(crate) mod job;
pub(crate) mod keyed;
mod keys;
pub(crate) mod limits;
mod names;
mod one_or_many;
mod precondition;
mod program;
mod repetitions;
mod seed;
mod sizes;
mod steady;
mod table;
mod times_memory;
mod worker;

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Percent, Rate, Span};

pub use access::{AccessLine, AccessSpec, DistributionChoice, SequenceChoice, ZoneChoice};
pub use block_size::BlockSizeChoice;
pub use built::{ConvertedProgram, OwnHelps};
pub use content::{ContentChoice, Reducible};
pub use cpus::CpuList;
pub use cycling::{Cycle, Cycling, DepthCycle, StepKind, TestType};
pub use job::{
    ByteZone, DirectionTable, FileOrderSetting, FilesChoice, IoClass, JobFileChoice, JobFileTable,
    JobTable, SyncRangeFlag, TrimSetting, UntilSteadyTable,
};
pub use one_or_many::OneOrMany;
pub use precondition::Precondition;
pub use program::program;
pub(crate) use program::program_to_tables;
pub use program::{
    ActChoice, ActTable, AmountChoice, BandTable, BareVerb, BeforeChoice, BranchTable,
    FilesetTable, FractionalAmount, GroupTable, GrownTable, LawChoice, LawTable, LawUnit,
    NestedTable, OpenModeTable, PhaseTable, PickChoice, PositionChoice, PositionTable, RoundsTable,
    TokensTable,
};
pub use repetitions::Repetitions;
pub use seed::Seed;
pub use sizes::{BlockSizeList, BlockSizes, SizeShare};
pub use steady::{SteadyChoice, UntilChoice};
pub use table::PoolCounts;
pub use table::{SeedRange, WorkloadTable};
pub use times_memory::TimesMemory;
pub use worker::Worker;

use keyed::keyed_deserialize;

use crate::classics::postmark::Postmark;
use crate::classics::{CreateRemove, FsMark, LatFs};
use crate::iometer::IometerSettings;
use plan::job::ConvertedJobs;
use plan::{ArrivalKind, CacheMode, CursorKind, EngineKind, PositionRule, ResponseLimit, Variant};

/// Name of the access specification that issues no I/O at all.
pub const IDLE: &str = "Idle";

/// A workload file: what to do, to which targets, and for how long.
///
/// Sizes are written `4096`, `"4k"`, `"4KiB"` or `"4kB"` (4000 bytes); times `10` (seconds),
/// `"500ms"`, `"5m"`; percentages are numbers from 0 to 100.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Workload {
    /// Name in kebab case, for the command line and for records. Default: the file's name without
    /// extension.
    pub name: Option<String>,
    /// Name of the pack that the workload is a part of. Set by the loader, not by a file.
    #[serde(skip)]
    pub pack: Option<String>,
    /// Values of the settings in which this workload differs from others that were made of the same
    /// workload; reports show them in one table. `--print toml` writes it for options with several
    /// values. Default: none.
    pub varied: Option<Box<Variant>>,
    /// One line for people. Default: the name.
    pub title: Option<String>,
    /// Description of what the workload represents; may have several lines.
    pub description: Option<String>,
    /// Where the workload comes from: a publication, a product, a trace. Default: the file's name.
    pub source: Option<String>,
    /// Start from this built-in workload; every key written here replaces the workload's own.
    #[serde(rename = "use")]
    pub base: Option<String>,
    /// Directories, files and block devices to measure. Each worker uses all of them. `--target`
    /// replaces them. If as many are given as the file names, they are replaced one by one, in
    /// order; otherwise each worker uses all of the given ones. A target that does not exist is
    /// refused, unless `--create` allows a test file of that name to be created. A file that
    /// pgmeter did not create is used only by workloads that only read. Default: a new directory,
    /// removed at the end.
    pub targets: Option<OneOrMany<String>>,
    /// I/O interface: `io_uring`, `psync`, `mmap` or `null`. Default: `io_uring`, but `psync` for
    /// work on many files.
    pub engine: Option<EngineKind>,
    /// Use of the page cache: `direct`, `buffered` or `dontcache`. Default: `direct`, but
    /// `buffered` with the engine `mmap` and for work on many files.
    pub cache: Option<CacheMode>,
    /// Requests each worker keeps in flight on each of its targets, or rounds for work on many
    /// files, 1 to 32768; a list makes one cell per depth. Jobs without an `iodepth` use it too. A
    /// `psync` or `mmap` job runs that many threads, each on its own part of the files. Work on
    /// many files with `psync` runs as many threads, each of which counts as a worker. Default: 1.
    pub iodepth: Option<OneOrMany<u32>>,
    /// Requests due per second, all workers together, `20000` or `"20k/s"` (an open loop). Each
    /// request starts when it is due, even if earlier ones are still in flight; it waits only while
    /// `iodepth` requests are in flight. For work on many files it counts the rounds of each phase,
    /// such as PostMark's transactions or recorded calls. A list makes one cell per rate. Default:
    /// no rate (a closed loop): each request waits for an earlier one.
    pub rate: Option<OneOrMany<Rate>>,
    /// Distribution of the requests of a `rate` over time: `uniform` (equal intervals) or `poisson`
    /// (random and independent). Default: `uniform`, but `poisson` with `curve`.
    pub arrivals: Option<ArrivalKind>,
    /// Measure the response-time curve: first the peak without a rate, then rates of 10 %, 20 %,
    /// ... 100 % of it. The `arrivals` are `poisson` unless written. Default: false.
    pub curve: Option<bool>,
    /// Find the highest rate that keeps a percentile of the response time within a limit, such as
    /// `"p99<=2ms"`. The peak is measured without a rate, then trials bisect the rates until the
    /// bracket is 2 % wide and both ends were tried twice. Percentiles: p50, p90, p95, p99, p99.9
    /// or p99.99. The `arrivals` are `poisson` unless written. Default: none.
    pub find_rate: Option<ResponseLimit>,
    /// Find the queue depth beyond which deeper queues no longer help: the depths of `iodepth` are
    /// measured in ascending order until two in a row gain less than 2 %. Without `iodepth`, the
    /// depths are 1, 2, 4 and so on to 256. Default: false.
    pub find_depth: Option<bool>,
    /// Number of workers, 1 to 1024. With `[[worker]]` tables, the tables are used in turn until
    /// there are that many workers. Workers on many files use the targets in turn. A job without a
    /// `count` runs as that many clones. Default: 1, or one per table (see its `count`), or one per
    /// target for work on many files.
    pub workers: Option<u32>,
    /// Bytes of each target that are used, from `start` on; `0` means all of a device or of an
    /// existing file. For jobs, the size of each file; for phases, the mean size of the files of
    /// each fileset. Default: all of a device or of an existing file, else 1 GiB.
    pub size: Option<Bytes>,
    /// Total amount of data as a multiple of the machine's memory: `"2x"`, `"0.5x"`, up to 100.
    /// Replaces `size` or the number of files in a table; if both are written, the later one wins.
    /// The amount is reduced, with a warning, if it would take more than three quarters of the free
    /// space on a target. Default: not derived from the memory size.
    pub times_memory: Option<TimesMemory>,
    /// Total size of all test files. Workloads of many files get as many files as that takes.
    /// Replaces `size`, `times_memory` and the number of files. Default: the workload's own sizes.
    pub total_size: Option<Bytes>,
    /// First byte of each target that is used. Default: 0.
    pub start: Option<Bytes>,
    /// Measured time of each cell, at most 30 d; `0` together with `operations` means until they
    /// are done. Default: 10 s, or 0 when `operations` or `new_file` is written and for work on
    /// many files.
    pub run_time: Option<Span>,
    /// Time each cell runs before the measurement starts, at most 30 d. Default: 2 s, but 0 with
    /// `new_file` and for work on many files.
    pub ramp_time: Option<Span>,
    /// End a cell after this many operations of all workers together, not counting the ramp time;
    /// jobs are repeated until then. For work on many files, it is the number of rounds of each
    /// phase. Default: no limit.
    pub operations: Option<u64>,
    /// Start each cell with an empty test file, so that its writes allocate space. Such a cell only
    /// writes, sequentially, and ends at the latest when the file has reached its `size`. Default:
    /// false.
    pub new_file: Option<bool>,
    /// When a cell ends: after a `time`, or once rounds of `run_time` each are `steady`; its
    /// results are then taken from the steady window. For work on many files it applies to phases
    /// that end by time, and to the passes of `[lat_fs]`. Default: `time`.
    pub until: Option<UntilChoice>,
    /// Criteria for a steady state, used with `until = "steady"`.
    pub steady: Option<SteadyChoice>,
    /// How many times the part of a target that the run will use is written, sequentially, before
    /// the first cell that uses it: `"2x"`, `"1.5x"`, `"none"`, up to 100. For work on many files,
    /// a file as large as all of them is written and removed again. Default: `none`.
    pub precondition: Option<Precondition>,
    /// Number of times the whole series of cells is measured, 1 to 1000, or `auto`: at least 3
    /// times, until the rate of every cell is known to `precision` or the `budget` is spent.
    /// Default: 1.
    pub repetitions: Option<Repetitions>,
    /// Largest distance between the mean and either end of the 95 % confidence interval when
    /// `repetitions` is `auto`, above 0 to 50 % of the mean. Default: 2 %.
    pub precision: Option<Percent>,
    /// Time limit for all repetitions when `repetitions` is `auto`, up to 30 d. Default: 10 min.
    pub budget: Option<Span>,
    /// Seed of all workers' random streams; the same plan with the same seed issues the same
    /// requests. Default: 1, but 42 for PostMark.
    pub seed: Option<Seed>,
    /// CPUs to run on, `[0, 2]` or `"0-3,8"`; workers use them in turn. Default: no pinning.
    pub cpus: Option<CpuList>,
    /// Stamp every block that is written and check every block that is read; PostMark's files are
    /// compared with the data written. Default: false.
    pub verify: Option<bool>,
    /// Keep the test files after the run, for the next one. Default: false.
    pub keep: Option<bool>,
    /// Read the test files into the page cache before each cell, to measure the cache. Otherwise
    /// their pages are dropped before each cell, so that it starts cold. For work on many files, it
    /// applies to the files that exist before the first phase. Default: false.
    pub warm: Option<bool>,
    /// Close each target after this many transactions and open it again; 0 opens and closes only.
    /// Iometer's test connection rate. Default: keep the targets open.
    pub transactions_per_connection: Option<u32>,
    /// How random offsets are drawn: `uniform` over all aligned offsets that fit, or as `iometer`
    /// computes them, with its generator and its bias. Default: `uniform`.
    pub position: Option<PositionRule>,
    /// Where sequential requests continue: at each `worker`'s own position, or at one `shared` by
    /// all workers of a target. Default: `worker`.
    pub cursor: Option<CursorKind>,
    /// Data that is written. Default: `incompressible`.
    pub content: Option<ContentChoice>,
    /// Submit the requests from a kernel thread (`io_uring` only). Default: false.
    pub sqpoll: Option<bool>,
    /// Poll for completions, if the device supports it (`io_uring` only). Default: false.
    pub iopoll: Option<bool>,
    /// Maximum number of requests issued with one system call, 1 to 32768. Default: 32 when none is
    /// in flight, else an eighth of the queue depth, or 1 if that is below 32.
    pub batch: Option<u32>,
    /// Series of cells that each access specification yields: one of Iometer's eight test types.
    /// Default: `normal`.
    pub test_type: Option<TestType>,
    /// Steps of the cycling test types.
    pub cycling: Option<Cycling>,
    /// Many files: a pool of files under transactions, as in PostMark. A workload has either access
    /// specifications or one table such as this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postmark: Option<Postmark>,
    /// Many files: all files of each size are created, then removed, as in the LFS project's
    /// benchmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create_remove: Option<CreateRemove>,
    /// Many files: a few are created and removed repeatedly, as in lmbench's lat_fs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat_fs: Option<LatFs>,
    /// Many files: threads create files and make them durable, as in fs_mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_mark: Option<FsMark>,
    /// Many files: the files that the phases work on. A workload of phases has neither access
    /// specifications nor a table such as `[postmark]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fileset: Vec<FilesetTable>,
    /// Ways in which files of filesets are opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<OpenModeTable>,
    /// Counters that workers add to, take from and wait for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokensTable>,
    /// Work on the filesets, one phase after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phase: Vec<PhaseTable>,
    /// Phases that are repeated together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundsTable>,
    /// Phases converted from another program's arguments or file, instead of the tables above; not
    /// a key of any file.
    #[serde(skip)]
    pub built: Option<Box<ConvertedProgram>>,
    /// Jobs converted from another program's arguments or file, instead of the tables below; not a
    /// key of any file.
    #[serde(skip)]
    pub jobs: Option<Box<ConvertedJobs>>,
    /// Workers that each have their own engine, files, request order, rate and end. A workload of
    /// jobs has neither access specifications nor tables of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub job: Vec<JobTable>,
    /// Request mixes to run against the targets; several are run one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub access_spec: Vec<AccessSpec>,
    /// Settings of an Iometer configuration that pgmeter does not use, kept for converting back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iometer: Option<IometerSettings>,
    /// Workers that differ from each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worker: Vec<Worker>,
    /// Parts of a pack: each is a workload, and they run in order. Keys at the top of the file
    /// apply to all parts that do not set them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<Workload>,
}

// Fields with `serde(skip)` are missing here; `overlay` merges them by name.
keyed_deserialize! {
    Workload, workload_keys:
    name, title, description, source, base = "use", targets, engine, cache, iodepth, rate, arrivals,
    curve, find_rate, find_depth, workers, size, times_memory, total_size, start, run_time,
    ramp_time, operations, new_file, until, steady, precondition, repetitions, precision, budget,
    seed, cpus, verify, keep, warm, transactions_per_connection, position, cursor, content, sqpoll,
    iopoll, batch, test_type, cycling, postmark, create_remove, lat_fs, fs_mark, fileset, way,
    tokens, phase, rounds, job, access_spec, iometer, worker, part, varied,
}
