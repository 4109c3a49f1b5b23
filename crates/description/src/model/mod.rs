//! The typed description of a workload: one field per option.
//!
//! A field's doc comment is its help, its entry in the schema and in the reference page. A field
//! that is `None` was not written; defaults belong to planning.

mod access;
mod block_size;
mod built;
pub(crate) mod by_key;
mod content;
mod cpus;
mod cycling;
pub mod defaults;
pub(crate) mod job;
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
pub use built::BuiltProgram;
pub use content::{ContentChoice, Reducible};
pub use cpus::CpuList;
pub use cycling::{Cycle, Cycling, DepthCycle, StepKind, TestType};
pub use job::{
    ByteZone, DirectionTable, FileOrderWord, FilesChoice, IoClassWord, JobFileChoice, JobFileTable,
    JobTable, SyncRangeWord, UntilSteadyTable,
};
pub use one_or_many::OneOrMany;
pub use precondition::Precondition;
pub use program::program;
pub(crate) use program::program_in_tables;
pub use program::{
    ActChoice, ActTable, ActWord, AmountChoice, BandTable, BeforeChoice, BranchTable, FilesetTable,
    GroupTable, GrownTable, LawChoice, LawTable, LawUnit, Mean, NestedTable, PhaseTable,
    PickChoice, PlaceChoice, PlaceTable, RoundsTable, TokensTable, WayTable,
};
pub use repetitions::Repetitions;
pub use seed::Seed;
pub use sizes::{BlockSizes, SizeShare};
pub use steady::{SteadyChoice, UntilChoice};
pub use table::PoolCounts;
pub use table::{OwnSeeds, Table};
pub use times_memory::TimesMemory;
pub use worker::Worker;

use by_key::by_key;

use crate::classics::postmark::Postmark;
use crate::classics::{CreateRemove, FsMark, LatFs};
use crate::icf::Extras;
use plan::job::BuiltJobs;
use plan::{ArrivalKind, CacheMode, CursorKind, EngineKind, PositionRule, ResponseLimit};

/// The name of the access specification that asks for no I/O at all.
pub const IDLE: &str = "Idle";

/// A workload file: what to do, to what, and how long.
///
/// Sizes are written `4096`, `"4k"`, `"4KiB"` or `"4kB"` (4000); times `10` (seconds), `"500ms"`,
/// `"5m"`; percents are numbers from 0 to 100.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Workload {
    /// Name in kebab case, for the command line and for records. Default: the file's name without
    /// extension.
    pub name: Option<String>,
    /// The pack that it was a part of, which no file says.
    #[serde(skip)]
    pub pack: Option<String>,
    /// One line for people. Default: the name.
    pub title: Option<String>,
    /// What the workload stands for, in as many lines as it needs.
    pub description: Option<String>,
    /// Where the workload comes from: a publication, a product, a trace. Default: the file's name.
    pub source: Option<String>,
    /// Start from this built-in workload; every key written here replaces the workload's own.
    #[serde(rename = "use")]
    pub base: Option<String>,
    /// Directories, files and block devices to measure. Each worker uses all of them. `--target`
    /// replaces them: as many targets as the file names are replaced one by one, in order;
    /// otherwise each worker uses all that are given. One that is not there is refused, unless
    /// `--create` lets a test file of its name be made; a file that pgmeter did not make is used
    /// by workloads that only read. Default: a new directory, removed at the end.
    pub targets: Option<OneOrMany<String>>,
    /// How requests reach the kernel: `io_uring`, `psync`, `mmap` or `null`. Default: `io_uring`,
    /// but `psync` for work on many files.
    pub engine: Option<EngineKind>,
    /// How the page cache is used: `direct`, `buffered` or `dontcache`. Default: `direct`, but
    /// `buffered` with the engine `mmap` and for work on many files.
    pub cache: Option<CacheMode>,
    /// Requests each worker keeps in flight on each of its targets, or rounds of work on many
    /// files, 1 to 32768; a list makes one cell for each. Also the depth of jobs that name none; a
    /// `psync` or `mmap` job runs that many threads, each on its own part of the files, and work on
    /// many files with `psync` as many threads, each of which counts as a worker. Default: 1.
    pub iodepth: Option<OneOrMany<u32>>,
    /// Requests due per second, of all workers together, `20000` or `"20k/s"` (an open loop): each
    /// starts when it is due, whether or not earlier ones are done, and waits only while `iodepth`
    /// are in flight. Of work on many files these are the rounds of each phase, such as the
    /// transactions of PostMark or recorded calls. A list makes one cell for each. Default: no rate
    /// (a closed loop): each request follows an earlier one.
    pub rate: Option<OneOrMany<Rate>>,
    /// How the requests of a `rate` are spread over time: `uniform`, at equal intervals, or
    /// `poisson`, at random and independent of each other. Default: `uniform`, but `poisson` with
    /// `curve`.
    pub arrivals: Option<ArrivalKind>,
    /// Measure the peak without a rate, then at 10 %, 20 %, ... 100 % of it with one: the
    /// response-time curve. The `arrivals` are `poisson` unless written. Default: false.
    pub curve: Option<bool>,
    /// Find the highest rate that keeps a percentile of the response time within a limit, as in
    /// `"p99<=2ms"`: the peak is measured without a rate, then trials bisect the rates until 2 %
    /// are left and both ends were tried twice. p50, p90, p95, p99, p99.9 or p99.99. The `arrivals`
    /// are `poisson` unless written. Default: none.
    pub find_rate: Option<ResponseLimit>,
    /// Find the queue depth beyond which deeper queues no longer help: the depths of `iodepth` are
    /// measured in ascending order until two in a row gain less than 2 %. Without `iodepth` they
    /// are 1, 2, 4 and so on to 256. Default: false.
    pub find_depth: Option<bool>,
    /// How many workers run, 1 to 1024. With `[[worker]]` tables, the tables are taken in turn
    /// until there are that many. Workers on many files take the targets in turn. A job without a
    /// `count` runs as that many clones. Default: 1, or one for each table (see its `count`), or
    /// for many files one for each target.
    pub workers: Option<u32>,
    /// How much of each target is used, from `start` on; `0` means all of a device or of an
    /// existing file. For jobs, the size of each file; for phases, the mean size of the files of
    /// each fileset. Default: all of a device or of an existing file, else 1 GiB.
    pub size: Option<Bytes>,
    /// How much data there is, in all, as times the machine's memory: `"2x"`, `"0.5x"`, up to 100.
    /// In place of `size`, or of the number of files that a table says; what is written later of
    /// either replaces the other. Less, with a warning, where it would take over three quarters of
    /// what is free on a target. Default: not measured by the memory.
    pub times_memory: Option<TimesMemory>,
    /// The size of all test files together. Workloads of many files get as many as that takes. It
    /// replaces `size`, `times_memory` and the number of files, as `times_memory` does. Default:
    /// what the workload says itself.
    pub total_size: Option<Bytes>,
    /// First byte of each target that is used. Default: 0.
    pub start: Option<Bytes>,
    /// Measured time of each cell, at most 30 d; `0` together with `operations` means until they
    /// are done. Default: 10 s, or 0 when `operations` or `new_file` is written and for work on
    /// many files.
    pub run_time: Option<Span>,
    /// Time each cell runs before it is measured, at most 30 d. Default: 2 s, but 0 with
    /// `new_file` and for work on many files.
    pub ramp_time: Option<Span>,
    /// End a cell after this many operations of all workers together, not counting the ramp; jobs
    /// begin again until then. Of work on many files each phase has so many rounds. Default: no
    /// limit.
    pub operations: Option<u64>,
    /// Start each cell with an empty test file, so that its writes allocate space. Such a cell only
    /// writes, sequentially, and ends at the latest when the file has its `size`. Default: false.
    pub new_file: Option<bool>,
    /// When a cell ends: after a `time`, or once rounds of `run_time` each are `steady`; its
    /// figures are then those of the steady window. Of work on many files it holds for phases that
    /// end by time, and for the passes of `[lat_fs]`. Default: `time`.
    pub until: Option<UntilChoice>,
    /// When rounds count as steady.
    pub steady: Option<SteadyChoice>,
    /// How many times the used part of a target is written, sequentially, before the first cell
    /// that uses it: `"2x"`, `"1.5x"`, `"none"`, up to 100. For work on many files it is a file as
    /// large as all of them, which is removed again. Default: `none`.
    pub precondition: Option<Precondition>,
    /// How often the whole series of cells is measured, 1 to 1000, or `auto`: at least 3 times,
    /// until the rate of every cell is known to `precision` or the `budget` is spent. Default: 1.
    pub repetitions: Option<Repetitions>,
    /// How close to the mean both ends of the 95 % confidence interval must be when `repetitions`
    /// is `auto`, above 0 to 50 %. Default: 2 %.
    pub precision: Option<Percent>,
    /// Time limit for all repetitions when `repetitions` is `auto`, up to 30 d. Default: 10 min.
    pub budget: Option<Span>,
    /// The seed of all workers' random streams. Same plan, same seed: same requests. Default: 1,
    /// but 42 for PostMark.
    pub seed: Option<Seed>,
    /// CPUs to run on, `[0, 2]` or `"0-3,8"`; workers take them in turn. Default: wherever the
    /// kernel puts them.
    pub cpus: Option<CpuList>,
    /// Stamp every block that is written and check every block that is read; PostMark's files
    /// are compared with what was written. Default: false.
    pub verify: Option<bool>,
    /// Keep the test files after the run, for the next one. Default: false.
    pub keep: Option<bool>,
    /// Read the test files into the page cache before each cell, to measure the cache; otherwise
    /// their pages are dropped before each cell, so that it starts cold. Of work on many files they
    /// are those that are there before the first phase. Default: false.
    pub warm: Option<bool>,
    /// Close each target after so many transactions and open it again; 0 opens and closes only.
    /// Iometer's test connection rate. Default: keep the targets open.
    pub transactions_per_connection: Option<u32>,
    /// Where requests go: `uniform` over all aligned offsets that fit, or as `iometer` computes it,
    /// with its generator and its bias. Default: `uniform`.
    pub position: Option<PositionRule>,
    /// Where sequential requests continue: at each `worker`'s own position, or at one `shared` by
    /// all workers of a target. Default: `worker`.
    pub cursor: Option<CursorKind>,
    /// The data that is written. Default: `incompressible`.
    pub content: Option<ContentChoice>,
    /// A kernel thread submits the requests (`io_uring` only). Default: false.
    pub sqpoll: Option<bool>,
    /// Poll for completions, where the device supports it (`io_uring` only). Default: false.
    pub iopoll: Option<bool>,
    /// The most requests issued with one system call, 1 to 32768. Default: 32 when none is in
    /// flight, else an eighth of the queue depth, or 1 where that is below 32.
    pub batch: Option<u32>,
    /// Which series of cells each access specification yields: Iometer's eight test types.
    /// Default: `normal`.
    pub test_type: Option<TestType>,
    /// The steps of the cycling test types.
    pub cycling: Option<Cycling>,
    /// Many files: a pool of them under transactions, as PostMark has it. A workload has access
    /// specifications, or one table such as this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postmark: Option<Postmark>,
    /// Many files: each size created, then removed, as the LFS project did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create_remove: Option<CreateRemove>,
    /// Many files: a few created and removed over and over, as lmbench's lat_fs does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat_fs: Option<LatFs>,
    /// Many files: created and made durable by threads, as fs_mark does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_mark: Option<FsMark>,
    /// Many files of the workload's own kind: which there are. A workload of phases has neither
    /// access specifications nor a table such as `[postmark]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fileset: Vec<FilesetTable>,
    /// How files of filesets are opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<WayTable>,
    /// Counters that workers wait for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokensTable>,
    /// What happens to filesets, one phase after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phase: Vec<PhaseTable>,
    /// Phases that are repeated one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundsTable>,
    /// Phases that another program's arguments or file stand for, in the place of those above; no
    /// file says them.
    #[serde(skip)]
    pub built: Option<Box<BuiltProgram>>,
    /// Jobs that another program's arguments or file stand for, in the place of those below; no
    /// file says them.
    #[serde(skip)]
    pub jobs: Option<Box<BuiltJobs>>,
    /// Workers that each have an engine, files, an order, a pace and an end of their own. A
    /// workload of jobs has neither access specifications nor tables of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub job: Vec<JobTable>,
    /// What to do to the targets; several are run one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub access_spec: Vec<AccessSpec>,
    /// Settings of an Iometer configuration that have no meaning here, kept for converting back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iometer: Option<Extras>,
    /// Workers that differ from each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worker: Vec<Worker>,
    /// The parts of a pack: each is a workload, run in order. Keys at the top of the file apply to
    /// all parts that do not set them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<Workload>,
}

by_key! {
    Workload, workload_keys:
    name, title, description, source, base = "use", targets, engine, cache, iodepth, rate, arrivals,
    curve, find_rate, find_depth, workers, size, times_memory, total_size, start, run_time,
    ramp_time, operations, new_file, until, steady, precondition, repetitions, precision, budget,
    seed, cpus, verify, keep, warm, transactions_per_connection, position, cursor, content, sqpoll,
    iopoll, batch, test_type, cycling, postmark, create_remove, lat_fs, fs_mark, fileset, way,
    tokens, phase, rounds, job, access_spec, iometer, worker, part,
}
