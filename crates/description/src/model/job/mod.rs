//! Jobs: workers that each have their own engine, files, request order, rate and end.

mod block_check;
mod blocks;
mod choices;
mod clones;
mod defaults;
mod direction;
mod files;
mod goals;
mod names;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod waves;
mod written;

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use units::{Bytes, Percent, Rate, Span};

use super::keyed::keyed_deserialize;
use super::{BlockSizeChoice, ContentChoice, CpuList, DistributionChoice, OneOrMany, Seed};
pub use choices::{FileOrderSetting, IoClass, SyncRangeFlag, TrimSetting};
pub use direction::DirectionTable;
use plan::job::{
    BlockCheckKind, DurableWrites, FileCache, GoalMeasure, Layout, MetadataWork, RunDirection,
    SpaceWork,
};
use plan::{ArrivalKind, CacheMode, EngineKind};
pub(crate) use waves::{check, check_whole, waves};
pub use waves::{complete_job_tables, job_title, jobs, waves_of_jobs};
pub(crate) use written::{combine_waves, to_tables};

/// A value that is not the default.
fn differing<T: PartialEq>(value: T, default: T) -> Option<T> {
    (value != default).then_some(value)
}

/// A job: one kind of work on its own files. The jobs of a workload run in parallel, except those
/// that wait; each job has its own result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JobTable {
    /// Name, for reports and for files without names. Default: `job-1`, `job-2`, ...
    pub name: Option<String>,
    /// Number of parallel clones, 1 to 100000, each with its own random order. Default: the
    /// workload's `workers`, else 1.
    pub count: Option<u32>,
    /// Start when all jobs above have ended. The jobs below run in parallel with it, until the next
    /// one that waits. Each such wave is a cell. Default: false.
    pub waits: Option<bool>,
    /// Start when the jobs of this name have ended; they must be above it in the same wave.
    /// Default: start with the others.
    pub after: Option<String>,
    /// Delay after the start of the wave. Default: 0.
    pub start_delay: Option<Span>,
    /// End the other jobs of the wave when this job ends. Default: false.
    pub ends_others: Option<bool>,
    /// End the other jobs of the wave when this job fails: on a failed request, a failed check or a
    /// missed goal. Default: false.
    pub ends_others_on_error: Option<bool>,
    /// Continue when a request fails. Default: false.
    pub goes_on_after_errors: Option<bool>,
    /// End at the first read that fails verification. Default: false, all of them are counted.
    pub ends_on_mismatch: Option<bool>,
    /// I/O interface. Default: the workload's `engine`, else `io_uring`, but `psync` for work on
    /// `names`.
    pub engine: Option<EngineKind>,
    /// Use of the page cache. Default: the workload's `cache`, else `direct`, but `buffered` with
    /// the engine `mmap` and for work on `names`.
    pub cache: Option<CacheMode>,
    /// Requests in flight, all of its files together, 1 to 32768. Default: 1.
    pub iodepth: Option<u32>,
    /// Submit the requests from a kernel thread (`io_uring` only). Default: false.
    pub sqpoll: Option<bool>,
    /// Poll for completions, if the device supports it (`io_uring` only). Default: false.
    pub iopoll: Option<bool>,
    /// Fail reads and writes that would have to wait, with `EAGAIN` (`RWF_NOWAIT`; `io_uring` and
    /// `psync` only). Use it with `goes_on_after_errors`. Default: false.
    pub nowait: Option<bool>,
    /// Let a kernel thread execute one of this many requests from the start (`IOSQE_ASYNC`;
    /// `io_uring` only). Default: 0, the kernel decides for each request.
    pub force_async_each: Option<u32>,
    /// Maximum number of requests issued with one system call, 1 to 32768. Default: 32 when none is
    /// in flight, else an eighth of the queue depth, or 1 if that is below 32.
    pub batch: Option<u32>,
    /// Target of its files: index into the workload's `targets`, counted from 1; with a list,
    /// clones use the targets in turn. Default: 1.
    pub target: Option<OneOrMany<u32>>,
    /// Number of files of each clone, 1 to 100000; or a list of file names below the work
    /// directory, shared by all clones and jobs that name them. 0 means the target itself, a device
    /// or a file. Default: 1.
    pub files: Option<FilesChoice>,
    /// Pattern for the names of counted files: `{job}` is the job's name, `{clone}` the number of
    /// the clone and `{file}` the number of the file, both from 0. Default: `{job}.{clone}.{file}`.
    pub file_names: Option<String>,
    /// Bytes of each file that are used, from `start` on; all of it if the target is the file.
    /// Default: 1 GiB, but 4 KiB for work on `names`.
    pub size: Option<Bytes>,
    /// First byte of each file that is used. Default: 0.
    pub start: Option<Bytes>,
    /// Each clone starts this many bytes after the previous one. Default: 0.
    pub start_step: Option<Bytes>,
    /// If the target is the file: used share of it in percent, at most to its end. Default: 100.
    pub size_percent: Option<Percent>,
    /// If the target is the file: where the used part begins, in percent of the file; `start` is
    /// added. Default: 0.
    pub start_percent: Option<Percent>,
    /// A start in percent is rounded up to a multiple of this. Default: the smallest block size.
    pub start_align: Option<Bytes>,
    /// Content of its files when it starts. Default: `written`, but `absent` for `create` and
    /// `mkdir`, `sparse` for `stat` and `delete`, and `directory` for `stat-directory` and `rmdir`.
    pub layout: Option<Layout>,
    /// State of its files in the page cache when it starts. Default: `dropped`.
    pub page_cache: Option<FileCache>,
    /// Remove its files when its wave has ended. Default: false, at the end of the run.
    pub remove: Option<bool>,
    /// Only create the files; either all jobs of a wave do this or none. Default: false.
    pub layout_only: Option<bool>,
    /// Create, stat or delete its files or directories in turn, instead of issuing requests.
    /// Default: requests.
    pub names: Option<MetadataWork>,
    /// Allocate the range of each request, or truncate the file to the offset of each write,
    /// instead of transferring data. Default: data.
    pub space: Option<SpaceWork>,
    /// Share of the requests that read, in percent. Default: 100, but 0 with `trim`.
    pub read: Option<Percent>,
    /// Trim instead of reading and writing (`only`), or each block before it is written
    /// (`before-writes`): discard blocks of a device, or punch holes into files. Keys for writes,
    /// such as the table `writes`, apply to trims. Default: no trims.
    pub trim: Option<TrimSetting>,
    /// With a `read` of 0 or 100: treat the job as a mix, a rate per direction. Default: false.
    pub mixed: Option<bool>,
    /// Share of the requests that start at a random position, in percent. Default: 0.
    pub random: Option<Percent>,
    /// Sizes of requests, at most 1 GiB: one size, `"4k-64k"` for any size in this range, or
    /// several with their shares of the requests, `"4k:60,64k:40"`. Default: 4 KiB.
    pub block_size: Option<BlockSizeChoice>,
    /// Sizes from a range are its smallest size plus a multiple of this; no effect on other sizes.
    /// Default: the smallest size.
    pub block_unit: Option<Bytes>,
    /// Random positions are multiples of this, from `start` on. Default: the smallest block size.
    pub align: Option<Bytes>,
    /// Distribution of random requests. Default: `no-repeat`, in the same order in every loop.
    pub distribution: Option<DistributionChoice>,
    /// Zones of each file in bytes, instead of a `distribution`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub byte_zones: Vec<ByteZone>,
    /// Number of consecutive requests from each random position on. Default: 1.
    pub run_length: Option<u32>,
    /// Where the requests of such a run go: `onward`, or to the `same` position. Default: `onward`.
    pub run_place: Option<RunDirection>,
    /// Bytes skipped after each sequential request. Default: 0.
    pub skip: Option<Bytes>,
    /// Bytes by which each sequential request starts before the previous one. Default: go onward.
    pub back: Option<Bytes>,
    /// Order in which its files are used. Default: `round-robin`.
    pub file_order: Option<FileOrderSetting>,
    /// Distribution over the files with `file_order = "drawn"`. Default: `uniform`.
    pub file_distribution: Option<DistributionChoice>,
    /// Number of requests to one file before the next. Default: 1.
    pub requests_per_file: Option<u32>,
    /// Use zones of this size of each file, one after the other. Default: the whole file.
    pub zone_size: Option<Bytes>,
    /// Bytes moved in each zone before the next one; if this exceeds the `zone_size`, the zone is
    /// used again. Default: the `zone_size`.
    pub zone_used: Option<Bytes>,
    /// Bytes skipped after each zone. Default: 0.
    pub zone_skip: Option<Bytes>,
    /// Bytes moved in each loop, reads and writes together; a block that is trimmed and then
    /// written counts once. Default: the used bytes of its files.
    pub bytes: Option<Bytes>,
    /// As `bytes`, in percent of the used bytes of its files. Default: 100.
    pub bytes_percent: Option<Percent>,
    /// Maximum number of requests in each loop; a trim and its write count once. Default: no limit.
    pub operations: Option<u64>,
    /// Number of loops, each in the same order; 0 repeats until the time is up. Default: 1 with
    /// `bytes`, `bytes_percent`, `operations` or `names`, else 0.
    pub loops: Option<u64>,
    /// Start over within a loop when the end of the files is reached and bytes are left, instead of
    /// ending the loop. Default: true if `bytes` exceeds the size of the files, if `loops` is 0, or
    /// with a `zone_size`.
    pub starts_over: Option<bool>,
    /// Longest measured time, at most 30 d; 0 means no limit. Default: the workload's `run_time`,
    /// else no limit, or 10 s if `loops` is 0.
    pub run_time: Option<Span>,
    /// Time at the beginning that is not measured, at most 30 d. Default: the workload's
    /// `ramp_time`, else 0, or 2 s if `loops` is 0.
    pub ramp_time: Option<Span>,
    /// `fsync` after this many writes. Default: never.
    pub fsync_each: Option<u32>,
    /// `fdatasync` after this many writes. Default: never.
    pub fdatasync_each: Option<u32>,
    /// `fsync` each file at the very end. Default: false.
    pub fsync_at_end: Option<bool>,
    /// `sync_file_range` over the bytes written since the last one, after this many writes.
    /// Default: never.
    pub sync_range_each: Option<u32>,
    /// Flags of `sync_range_each`: `wait-before`, `write`, `wait-after`, or several of them.
    /// Default: `write`.
    pub sync_range: Option<OneOrMany<SyncRangeFlag>>,
    /// Open files for durable writes: `no`, `sync` or `data-sync`. Default: `no`.
    pub durable: Option<DurableWrites>,
    /// Pause after each burst. Default: none.
    pub delay: Option<Span>,
    /// Number of requests in a burst. Default: 1.
    pub burst: Option<u64>,
    /// Duration of a burst, instead of a number of requests. Default: requests count.
    pub burst_time: Option<Span>,
    /// Count requests of a burst when they are issued, not when they complete. Default: false.
    pub burst_counts_issued: Option<bool>,
    /// Requests due per second, per clone and direction, `20000` or `"20k/s"`. Default: no rate:
    /// each request waits for an earlier one.
    pub rate: Option<Rate>,
    /// Bytes due per second, per clone and direction, instead of a `rate`. Default: no rate.
    pub byte_rate: Option<Bytes>,
    /// Distribution of the requests of a rate over time. Default: `uniform`.
    pub arrivals: Option<ArrivalKind>,
    /// Let each pause push the due times of a rate back. Default: false, late requests catch up.
    pub delay_moves_rate: Option<bool>,
    /// Lowest acceptable rate of a direction, in requests per second; the job ends with an error
    /// below it. Default: no limit.
    pub rate_min: Option<Rate>,
    /// Lowest acceptable rate in bytes per second, instead of a `rate_min`. Default: no limit.
    pub byte_rate_min: Option<Bytes>,
    /// Averaging window of such a minimum rate. Default: 1 s.
    pub rate_min_window: Option<Span>,
    /// Grace period before the minimum rate applies. Default: 2 s.
    pub rate_min_settle: Option<Span>,
    /// End with an error when a request takes longer than this. Default: no limit.
    pub latency_max: Option<Span>,
    /// Find the largest queue depth, at most `iodepth`, at which requests stay within this latency.
    /// Default: `iodepth` is the depth.
    pub latency_target: Option<Span>,
    /// Minimum time that each depth is tried. Default: 0.
    pub latency_target_window: Option<Span>,
    /// Share of the requests that must stay within `latency_target`, in percent. Default: 100.
    pub latency_target_percent: Option<Percent>,
    /// Continue to search after the depth is found. Default: false, the found depth is measured for
    /// one more window.
    pub latency_target_goes_on: Option<bool>,
    /// End when the results are steady, as this table defines it. Default: not used.
    pub until_steady: Option<UntilSteadyTable>,
    /// Weight of this job, 1 to 1000: all jobs with a `flow_weight` share their requests by weight.
    /// Default: no sharing.
    pub flow_weight: Option<u32>,
    /// Only jobs with the same group number share. Default: 0.
    pub flow_group: Option<u32>,
    /// Length of a pause when the job is ahead of the others. Default: until it is no longer ahead.
    pub flow_pause: Option<Span>,
    /// Data that is written. Default: the workload's `content`, else `incompressible`.
    pub content: Option<ContentChoice>,
    /// Mark every block that is written and check every block that is read. Default: the
    /// workload's `verify`, else false.
    pub verify: Option<bool>,
    /// Mark blocks with fio's header and this checksum, or compare them with the `pattern`. Reads
    /// then also verify what other runs and fio wrote. In a mix, only read-back data is checked.
    /// Default: pgmeter's own stamps, which are valid within a run.
    pub verify_with: Option<BlockCheckKind>,
    /// Number of bytes that each header covers. Default: the largest number that divides all block
    /// sizes.
    pub verify_interval: Option<Bytes>,
    /// Offset of the header in its interval. Default: 0.
    pub verify_offset: Option<Bytes>,
    /// Bytes to write instead of a `content`: two hexadecimal digits for each, repeated; `%o`
    /// stands for the offset in the file, as 8 bytes. Default: the `content`.
    pub pattern: Option<String>,
    /// Number of bytes after which the `pattern` starts over, with the offset of that place.
    /// Default: each request.
    pub pattern_interval: Option<Bytes>,
    /// Read back the written data at the end of each loop. Default: false.
    pub read_back: Option<bool>,
    /// Write nothing: read back what the job would have written, from files that exist. Default:
    /// false.
    pub read_back_only: Option<bool>,
    /// Read back after this many writes. Default: at the end of each loop.
    pub read_back_each: Option<u64>,
    /// Number of writes that are read back in one batch. Default: all.
    pub read_back_batch: Option<u64>,
    /// Seed of its random streams; each clone uses the next number. Default: its number among all
    /// jobs and clones of the file.
    pub seed: Option<Seed>,
    /// CPUs to run on; clones use them in turn. Default: the workload's `cpus`.
    pub cpus: Option<CpuList>,
    /// Set of CPUs on which every clone may run. Default: all CPUs.
    pub cpu_set: Option<CpuList>,
    /// Nice value of its threads, from -20 (highest priority) to 19 (lowest). Default: as pgmeter.
    pub nice: Option<i32>,
    /// I/O priority class, used by some I/O schedulers. Default: as pgmeter, or `best-effort` with
    /// `io_priority`.
    pub io_class: Option<IoClass>,
    /// I/O priority within the class, from 0 (highest) to 7. Default: 0.
    pub io_priority: Option<u8>,
    /// Reproduce two quirks of fio: random requests are cut where they reach blocks that were used
    /// before, and Poisson arrivals fall on a grid. Default: false.
    pub fio_compat: Option<bool>,
    /// Keys that differ for reads. Default: none.
    pub reads: Option<DirectionTable>,
    /// Keys that differ for writes. Default: none.
    pub writes: Option<DirectionTable>,
}

keyed_deserialize! {
    JobTable, job_keys:
    name, count, waits, after, start_delay, ends_others, ends_others_on_error, goes_on_after_errors,
    ends_on_mismatch, engine, cache, iodepth, sqpoll, iopoll, nowait, force_async_each, batch,
    target, files, file_names, size, start, start_step, size_percent, start_percent, start_align,
    layout, page_cache, remove, layout_only, names, space, read, trim, mixed, random, block_size,
    block_unit, align, distribution, byte_zones, run_length, run_place, skip, back, file_order,
    file_distribution, requests_per_file, zone_size, zone_used, zone_skip, bytes, bytes_percent,
    operations, loops, starts_over, run_time, ramp_time, fsync_each, fdatasync_each, fsync_at_end,
    sync_range_each, sync_range, durable, delay, burst, burst_time, burst_counts_issued, rate,
    byte_rate, arrivals, delay_moves_rate, rate_min, byte_rate_min, rate_min_window,
    rate_min_settle, latency_max, latency_target, latency_target_window, latency_target_percent,
    latency_target_goes_on, until_steady, flow_weight, flow_group, flow_pause, content, verify,
    verify_with, verify_interval, verify_offset, pattern, pattern_interval, read_back,
    read_back_only, read_back_each, read_back_batch, seed, cpus, cpu_set, nice, io_class,
    io_priority, fio_compat, reads, writes,
}

/// Criteria for steady results, which end a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UntilSteadyTable {
    /// Quantity to judge. Default: `iops`.
    pub measure: Option<GoalMeasure>,
    /// Judge the slope of the readings over time instead of the largest deviation of a reading from
    /// the mean. Default: false.
    pub slope: Option<bool>,
    /// Upper limit of the slope or deviation, in percent of the mean. Default: 1.
    pub percent: Option<Percent>,
    /// Absolute limit instead of a `percent`: requests or bytes per second, or nanoseconds.
    /// Default: none.
    pub limit: Option<f64>,
    /// Length of the time that is judged, a multiple of `interval`.
    pub window: Span,
    /// Time at the beginning of the measurement that is not judged. Default: 0.
    pub ramp: Option<Span>,
    /// Length of one reading. Default: 1 s.
    pub interval: Option<Span>,
    /// Jobs of a wave with the same number are judged together. Default: the job alone.
    pub group: Option<u32>,
}

/// A zone of a file; it starts where the previous one ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByteZone {
    /// Share of the requests that go here, in percent; the zones' shares add up to 100.
    pub access: Percent,
    /// Length of the zone in bytes.
    pub size: Bytes,
}

/// A file of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JobFileTable {
    /// Name, with one or more components. Default: none, the target itself is the file.
    pub name: Option<String>,
    /// Index into the workload's `targets`, counted from 1. Default: the job's `target`.
    pub target: Option<u32>,
    /// First byte that is used. Default: the job's `start`.
    pub start: Option<Bytes>,
    /// Bytes of it that are used. Default: the job's `size`.
    pub size: Option<Bytes>,
}

/// The files of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FilesChoice {
    /// Number of files, each clone having its own; 0 for the target itself.
    Count(u32),
    /// The files in this list.
    Each(Vec<JobFileChoice>),
}

/// A file of a job: its name, or a table of the keys that differ for it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum JobFileChoice {
    /// Name only.
    Name(String),
    /// Name with further keys.
    Table(Box<JobFileTable>),
}

impl JobTable {
    /// `true` if it reads or writes data, instead of working on names or on space.
    #[must_use]
    pub const fn moves_data(&self) -> bool {
        self.names.is_none() && self.space.is_none()
    }
}

impl<'de> Deserialize<'de> for FilesChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FilesVisitor)
    }
}

impl<'de> Deserialize<'de> for JobFileChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FileVisitor)
    }
}

struct FilesVisitor;

impl<'de> Visitor<'de> for FilesVisitor {
    type Value = FilesChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of files or a list of their names")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<FilesChoice, E> {
        match u32::try_from(value) {
            Ok(count) => Ok(FilesChoice::Count(count)),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<FilesChoice, E> {
        let file = JobFileChoice::Name(value.to_owned());
        Ok(FilesChoice::Each(vec![file]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<FilesChoice, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(values)).map(FilesChoice::Each)
    }
}

struct FileVisitor;

impl<'de> Visitor<'de> for FileVisitor {
    type Value = JobFileChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a file or `{ name = \"a\", size = \"1g\" }`")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<JobFileChoice, E> {
        Ok(JobFileChoice::Name(value.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<JobFileChoice, A::Error> {
        let table = JobFileTable::deserialize(MapAccessDeserializer::new(map))?;
        Ok(JobFileChoice::Table(Box::new(table)))
    }
}

impl FilesChoice {
    /// Number of files; the target itself counts as one.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Count(count) => u64::from(*count).max(1),
            Self::Each(files) => files.len() as u64,
        }
    }

    /// The targets that the files name.
    pub(crate) fn targets(&self) -> impl Iterator<Item = u32> {
        let files = match self {
            Self::Count(_) => &[][..],
            Self::Each(files) => files,
        };
        files.iter().filter_map(|file| match file {
            JobFileChoice::Name(_) => None,
            JobFileChoice::Table(table) => table.target,
        })
    }
}
