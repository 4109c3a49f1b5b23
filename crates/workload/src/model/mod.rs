//! The typed description of a workload: one field per option.
//!
//! A field's doc comment is its help, its entry in the schema and in the reference page. A field
//! that is `None` was not written; defaults belong to planning.

mod access;
mod content;
mod cpus;
mod cycling;
mod one_or_many;
mod precondition;
mod repetitions;
mod seed;
mod steady;
mod table;
mod times_memory;
mod worker;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Percent, Rate, Span};

pub use access::{AccessLine, AccessSpec, DistributionChoice, SequenceChoice, ZoneChoice};
pub use content::{ContentChoice, Reducible};
pub use cpus::CpuList;
pub use cycling::{Cycle, Cycling, DepthCycle, StepKind, TestType};
pub use one_or_many::OneOrMany;
pub use precondition::Precondition;
pub use repetitions::Repetitions;
pub use seed::Seed;
pub use steady::{SteadyChoice, UntilChoice};
pub(crate) use table::Table;
pub use times_memory::TimesMemory;
pub use worker::Worker;

use crate::classics::{CreateRemove, FsMark, LatFs};
use crate::icf::Extras;
use crate::plan::{ArrivalKind, CacheMode, CursorKind, EngineKind, PositionRule, ResponseLimit};
use crate::postmark::Postmark;

/// The name of the access specification that asks for no I/O at all.
pub const IDLE: &str = "Idle";

/// A workload file: what to do, to what, and how long.
///
/// Sizes are written `4096`, `"4k"`, `"4KiB"` or `"4kB"` (4000); times `10` (seconds), `"500ms"`,
/// `"5m"`; percents are numbers from 0 to 100.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Workload {
    /// Name in kebab case, for the command line and for records. Default: the file's stem.
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
    /// Start from this built-in workload; every key written here replaces the one found there.
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
    /// Requests each worker keeps in flight on each of its targets, or files it works on at once,
    /// 1 to 32768; a list makes one cell for each. Default: 1.
    pub iodepth: Option<OneOrMany<u32>>,
    /// Requests due each second, of all workers together, `20000` or `"20k/s"`: each begins when it
    /// is due, whether or not those before it are done, and waits while `iodepth` are in flight
    /// already. A list makes one cell for each. Default: no rate; each request follows the one
    /// before it.
    pub rate: Option<OneOrMany<Rate>>,
    /// When the requests of a `rate` are due: `uniform`, all equally far apart, or `poisson`, at
    /// random and independent of each other. Default: `uniform`, but `poisson` with `curve`.
    pub arrivals: Option<ArrivalKind>,
    /// Measure the peak without a rate, then at 10 %, 20 %, ... 100 % of it with one: the
    /// response-time curve. The `arrivals` are `poisson` unless written. Default: false.
    pub curve: Option<bool>,
    /// Find the highest rate at which a percentile of the response time holds, as in `"p99<=2ms"`:
    /// the peak is measured without a rate, then trials with one, each halving what is open, until
    /// 2 % are left and both ends were tried twice. p50, p90, p95, p99, p99.9 or p99.99. The
    /// `arrivals` are `poisson` unless written. Default: none.
    pub find_rate: Option<ResponseLimit>,
    /// Find the queue depth from which on deeper ones bring nothing: the depths of `iodepth` are
    /// measured in rising order until two in a row bring less than 2 %. Without `iodepth` they are
    /// 1, 2, 4 and so on to 256. Default: false.
    pub find_depth: Option<bool>,
    /// How many workers run, 1 to 1024. With `[[worker]]` tables, the tables are taken in turn
    /// until there are so many. Workers on many files take the targets in turn. Default: 1, or one
    /// for each table (see its `count`), or for many files one for each target.
    pub workers: Option<u32>,
    /// Bytes of each target that are used, from `start` on; `0` means all of a device or of an
    /// existing file. Default: all of a device or of an existing file, else 1 GiB.
    pub size: Option<Bytes>,
    /// How much data there is, in all, as times the machine's memory: `"2x"`, `"0.5x"`, up to 100.
    /// In place of `size`, or of the number of files that a table says; what is written later of
    /// either replaces the other. Less, with a warning, where it would take over three quarters of
    /// what is free on a target. Default: not measured by the memory.
    pub times_memory: Option<TimesMemory>,
    /// First byte of each target that is used. Default: 0.
    pub start: Option<Bytes>,
    /// Measured time of each cell, at most 30 d; `0` together with `operations` means until they
    /// are done. Default: 10 s, or 0 when `operations` or `new_file` is written and for work on
    /// many files.
    pub run_time: Option<Span>,
    /// Time each cell runs before it is measured, at most 30 d. Default: 2 s, but 0 with
    /// `new_file` and for work on many files.
    pub ramp_time: Option<Span>,
    /// End a cell after so many operations of all workers together, ramp not counted.
    /// Default: no such limit.
    pub operations: Option<u64>,
    /// Begin each cell with an empty test file, so that its writes allocate space as first writes
    /// do; it only writes, in sequence, and ends when the file has its `size` at the latest.
    /// Default: false.
    pub new_file: Option<bool>,
    /// When a cell ends: by `time`, or when rounds of `run_time` each are `steady`; then those of
    /// the steady window are its figures. Default: `time`.
    pub until: Option<UntilChoice>,
    /// When rounds count as steady.
    pub steady: Option<SteadyChoice>,
    /// How many times what is used of a target is written, in sequence, before the first cell that
    /// uses it: `"2x"`, `"1.5x"`, `"none"`, up to 100. Default: `none`.
    pub precondition: Option<Precondition>,
    /// How often the whole series of cells is measured, 1 to 1000, or `auto`: at least 3 times,
    /// until the rate of every cell is known to `precision` or the `budget` is spent. Default: 1.
    pub repetitions: Option<Repetitions>,
    /// How close to the mean both ends of the 95 % confidence interval are to be when
    /// `repetitions` is `auto`, above 0 to 50 %. Default: 2 %.
    pub precision: Option<Percent>,
    /// How long the cells are repeated at most when `repetitions` is `auto`, up to 30 d. Default:
    /// 10 min.
    pub budget: Option<Span>,
    /// The number from which the seeds of all workers come. Same plan, same seed: same requests.
    /// Default: 1, but 42 for PostMark.
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
    /// their pages are dropped before each cell, so that it starts cold. Default: false.
    pub warm: Option<bool>,
    /// Where requests go: `uniform` over all aligned starts that fit, or as `iometer` is coded,
    /// its generator and its bias included. Default: `uniform`.
    pub position: Option<PositionRule>,
    /// Whose position sequential requests continue: each `worker` its own, or one `shared` by all
    /// workers of a target. Default: `worker`.
    pub cursor: Option<CursorKind>,
    /// What is written. Default: `incompressible`.
    pub content: Option<ContentChoice>,
    /// A kernel thread submits the requests (`io_uring` only). Default: false.
    pub sqpoll: Option<bool>,
    /// Completions are polled for, where the device can (`io_uring` only). Default: false.
    pub iopoll: Option<bool>,
    /// Requests issued with one system call at most, 1 to 32768. Default: 32 where none is in
    /// flight, else an eighth of the queue depth from 32 on, and 1 below.
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
    /// What is asked of the targets; several are run one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub access_spec: Vec<AccessSpec>,
    /// What an Iometer configuration says that has no meaning here; kept for the way back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iometer: Option<Extras>,
    /// Workers that differ from each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worker: Vec<Worker>,
    /// The parts of a pack: each is a workload, run in order. Keys at the top of the file hold for
    /// all parts that do not say otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<Workload>,
}
