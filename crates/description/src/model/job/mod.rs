//! Jobs: workers that each have an engine, files, an order, a pace and an end of their own.

mod blocks;
mod clones;
mod defaults;
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

use super::by_key::by_key;
use super::{BlockSizeChoice, ContentChoice, CpuList, DistributionChoice, OneOrMany, Seed};
use plan::job::{DurableWrites, FileCache, GoalMeasure, Layout, NameWork, Wrap};
use plan::{ArrivalKind, CacheMode, EngineKind};
pub(crate) use waves::{check, check_whole, waves};
pub use waves::{job_title, jobs, waves_of_jobs, whole_job_tables};
pub(crate) use written::{in_tables, together};

/// A value that is not the default.
fn differing<T: PartialEq>(value: T, default: T) -> Option<T> {
    (value != default).then_some(value)
}

/// A job, which does one kind of work on files of its own. The jobs of a workload run beside each
/// other, but for those that wait; each has a result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JobTable {
    /// Name, for reports and for files without names. Default: `job-1`, `job-2`, ...
    pub name: Option<String>,
    /// How many clones of it run, 1 to 100000, each with an order of its own. Default: 1.
    pub count: Option<u32>,
    /// Begin when all jobs above have ended; the jobs below it run beside it, until one of them
    /// waits. Each such wave is a cell. Default: false.
    pub waits: Option<bool>,
    /// Begin when the jobs of this name, above it in its wave, have ended. Default: with the
    /// others.
    pub after: Option<String>,
    /// Begin so long after the others of its wave. Default: 0.
    pub start_delay: Option<Span>,
    /// When it ends, the others of its wave end, too. Default: false.
    pub ends_others: Option<bool>,
    /// The same when it fails: a request, a check, or what it is to keep to. Default: false.
    pub ends_others_on_error: Option<bool>,
    /// Go on when a request fails. Default: false.
    pub goes_on_after_errors: Option<bool>,
    /// End at the first read that does not verify. Default: false, all of them are counted.
    pub ends_on_mismatch: Option<bool>,
    /// How requests reach the kernel. Default: the workload's `engine`, else `io_uring`, but
    /// `psync` for work on `names`.
    pub engine: Option<EngineKind>,
    /// How the page cache is used. Default: the workload's `cache`, else `direct`, but `buffered`
    /// with the engine `mmap` and for work on `names`.
    pub cache: Option<CacheMode>,
    /// Requests in flight, over all its files, 1 to 32768. Default: 1.
    pub iodepth: Option<u32>,
    /// A kernel thread submits the requests (`io_uring` only). Default: false.
    pub sqpoll: Option<bool>,
    /// Poll for completions, where the device supports it (`io_uring` only). Default: false.
    pub iopoll: Option<bool>,
    /// The most requests issued with one system call, 1 to 32768. Default: 32 when none is in
    /// flight, else an eighth of the queue depth, or 1 where that is below 32.
    pub batch: Option<u32>,
    /// The target of its files: which of the workload's `targets`, counted from 1; of a list,
    /// clones take them in turn. Default: 1.
    pub target: Option<OneOrMany<u32>>,
    /// How many files each clone has, 1 to 100000; or their names, below the work directory, which
    /// clones and jobs that name them share; 0 is the target itself, a device or a file. Default:
    /// 1.
    pub files: Option<FilesChoice>,
    /// Names of files that are counted: `{job}` is the job's name, `{clone}` the number of the
    /// clone and `{file}` that of the file, both from 0 on. Default: `{job}.{clone}.{file}`.
    pub file_names: Option<String>,
    /// How much of each file is used, from `start` on; all of it where the target is the file.
    /// Default: 1 GiB, but 4 KiB for work on `names`.
    pub size: Option<Bytes>,
    /// First byte of each file that is used. Default: 0.
    pub start: Option<Bytes>,
    /// So much further begins each clone than the one before. Default: 0.
    pub start_step: Option<Bytes>,
    /// Where the target is the file: how much of it is used, up to its end. Default: 100.
    pub size_percent: Option<Percent>,
    /// Where the target is the file: where the used part begins, `start` further on. Default: 0.
    pub start_percent: Option<Percent>,
    /// A begin in percent is rounded up to multiples of this. Default: the smallest block size.
    pub start_align: Option<Bytes>,
    /// What is in its files when it begins. Default: `written`, but `absent` for `create`, and
    /// `sparse` for `stat` and `delete`.
    pub layout: Option<Layout>,
    /// What the page cache holds of its files when it begins. Default: `dropped`.
    pub page_cache: Option<FileCache>,
    /// Remove its files when its wave has ended. Default: false, which is at the end of the run.
    pub remove: Option<bool>,
    /// Make its files and do nothing else; all jobs of a wave do, or none. Default: false.
    pub layout_only: Option<bool>,
    /// Work on the names of its files instead of requests, one after the other. Default: requests.
    pub names: Option<NameWork>,
    /// Share of the requests that read, in percent. Default: 100.
    pub read: Option<Percent>,
    /// With a `read` of 0 or 100: still a mix, which a rate of each direction makes. Default:
    /// false.
    pub mixed: Option<bool>,
    /// Share of the requests that start at a random place, in percent. Default: 0.
    pub random: Option<Percent>,
    /// Sizes of requests, at most 1 GiB: one, `"4k-64k"` for any from the least to the most, or
    /// several with their shares of the requests, `"4k:60,64k:40"`. Default: 4 KiB.
    pub block_size: Option<BlockSizeChoice>,
    /// Sizes from a range are multiples of this. Default: the smallest.
    pub block_unit: Option<Bytes>,
    /// Random places are multiples of this, from `start` on. Default: the smallest block size.
    pub align: Option<Bytes>,
    /// Where random requests go. Default: `no-repeat`, for each file in the same order each time.
    pub distribution: Option<DistributionChoice>,
    /// In place of a `distribution`: zones of each file, told in bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub byte_zones: Vec<ByteZone>,
    /// Requests from each random place on, one behind the other. Default: 1.
    pub run_length: Option<u32>,
    /// Where the requests of such a run go: `onward`, or to the `same` place. Default: `onward`.
    pub run_place: Option<Wrap>,
    /// Bytes left out behind each sequential request. Default: 0.
    pub skip: Option<Bytes>,
    /// Each sequential request begins so far before the one before it. Default: they go onward.
    pub back: Option<Bytes>,
    /// Which of its files is next. Default: `round-robin`.
    pub file_order: Option<FileOrderWord>,
    /// How files are `drawn`. Default: `uniform`.
    pub file_distribution: Option<DistributionChoice>,
    /// Requests to one file before the next. Default: 1.
    pub requests_per_file: Option<u32>,
    /// Use zones of this size of each file, one after the other. Default: all of it.
    pub zone_size: Option<Bytes>,
    /// Bytes moved in each zone before the next; more than the `zone_size` goes through the zone
    /// again. Default: the `zone_size`.
    pub zone_used: Option<Bytes>,
    /// Bytes left out behind each zone. Default: 0.
    pub zone_skip: Option<Bytes>,
    /// Bytes moved in each loop, reads and writes together. Default: as many as it uses of its
    /// files.
    pub bytes: Option<Bytes>,
    /// The same in percent of what it uses of its files. Default: 100.
    pub bytes_percent: Option<Percent>,
    /// Requests in each loop, at most. Default: no limit.
    pub operations: Option<u64>,
    /// How often it does all this, each time in the same order; 0 is for as long as there is
    /// time. Default: 1 with `bytes`, `bytes_percent`, `operations` or `names`, else 0.
    pub loops: Option<u64>,
    /// Whether a loop starts over where the files have no more for it and bytes are left, and does
    /// not end there. Default: true where `bytes` is more than the files have, or `loops` is 0.
    pub starts_over: Option<bool>,
    /// The longest it is measured, at most 30 d; 0 is no limit. Default: the workload's
    /// `run_time`, else no limit, or 10 s where `loops` is 0.
    pub run_time: Option<Span>,
    /// What is not measured at its beginning, at most 30 d. Default: the workload's `ramp_time`,
    /// else 0, or 2 s where `loops` is 0.
    pub ramp_time: Option<Span>,
    /// `fsync` behind so many writes each. Default: never.
    pub fsync_each: Option<u32>,
    /// `fdatasync` behind so many writes each. Default: never.
    pub fdatasync_each: Option<u32>,
    /// `fsync` of each file behind all else. Default: false.
    pub fsync_at_end: Option<bool>,
    /// `sync_file_range` of what was written since, behind so many writes each. Default: never.
    pub sync_range_each: Option<u32>,
    /// What that does: `wait-before`, `write`, `wait-after`, or several of them. Default: `write`.
    pub sync_range: Option<OneOrMany<SyncRangeWord>>,
    /// How files are opened for writing. Default: `no`.
    pub durable: Option<DurableWrites>,
    /// Pause behind each burst. Default: none.
    pub delay: Option<Span>,
    /// Requests of a burst. Default: 1.
    pub burst: Option<u64>,
    /// Time of a burst, in place of requests. Default: requests count.
    pub burst_time: Option<Span>,
    /// Requests of a burst count when they are issued, not when they are done. Default: false.
    pub burst_counts_issued: Option<bool>,
    /// Requests due per second of each clone and direction, `20000` or `"20k/s"`. Default: no
    /// rate: each follows an earlier one.
    pub rate: Option<Rate>,
    /// In place of a `rate`: bytes due per second of each clone and direction. Default: no rate.
    pub byte_rate: Option<Bytes>,
    /// How requests of a rate are spread over time. Default: `uniform`.
    pub arrivals: Option<ArrivalKind>,
    /// Pauses push what is due back. Default: false, what is late is made up for.
    pub delay_moves_rate: Option<bool>,
    /// End with an error below so many requests a second of a direction. Default: any rate will do.
    pub rate_min: Option<Rate>,
    /// In place of a `rate_min`: below so many bytes a second. Default: any rate will do.
    pub byte_rate_min: Option<Bytes>,
    /// The time that such a rate is of. Default: 1 s.
    pub rate_min_window: Option<Span>,
    /// For so long no rate is judged. Default: 2 s.
    pub rate_min_settle: Option<Span>,
    /// End with an error when a request takes longer. Default: any latency will do.
    pub latency_max: Option<Span>,
    /// Look for the largest queue depth, up to `iodepth`, at which requests keep within this
    /// latency. Default: `iodepth` is the depth.
    pub latency_target: Option<Span>,
    /// For so long at least a depth is tried. Default: 0.
    pub latency_target_window: Option<Span>,
    /// The share of requests that keep within it, in percent. Default: 100.
    pub latency_target_percent: Option<Percent>,
    /// Look on when the depth was found. Default: false, it is measured for one window more.
    pub latency_target_goes_on: Option<bool>,
    /// End when its figures are steady. Default: they need not be.
    pub until_steady: Option<UntilSteadyTable>,
    /// Its part of the requests of all jobs with a `flow_weight`, 1 to 1000. Default: as many as
    /// it can.
    pub flow_weight: Option<u32>,
    /// Only jobs with the same number share. Default: 0.
    pub flow_group: Option<u32>,
    /// How long it pauses where it is ahead of the others. Default: until it is not.
    pub flow_pause: Option<Span>,
    /// The data that is written. Default: the workload's `content`, else `incompressible`.
    pub content: Option<ContentChoice>,
    /// Stamp every block that is written and check every block that is read. Default: the
    /// workload's `verify`, else false.
    pub verify: Option<bool>,
    /// Read back what was written, at the end of each loop. Default: false.
    pub read_back: Option<bool>,
    /// Read back behind so many writes each. Default: at the end of each loop.
    pub read_back_each: Option<u64>,
    /// How many are read back at once. Default: all.
    pub read_back_batch: Option<u64>,
    /// Seed of its streams; each clone has the next. Default: its number among all jobs and clones
    /// of the file.
    pub seed: Option<Seed>,
    /// CPUs to run on; clones take them in turn. Default: the workload's `cpus`.
    pub cpus: Option<CpuList>,
    /// CPUs of which each clone may run on any. Default: all.
    pub cpu_set: Option<CpuList>,
    /// How it gives way to other threads, from -20, hardly, to 19, always. Default: as pgmeter.
    pub nice: Option<i32>,
    /// Priority class of its requests, which some I/O schedulers heed. Default: as pgmeter, or
    /// `best-effort` with `io_priority`.
    pub io_class: Option<IoClassWord>,
    /// Priority of its requests within the class, 0, the highest, to 7. Default: 0.
    pub io_priority: Option<u8>,
    /// Do as fio does where it slips: sizes of random requests are cut where blocks were met
    /// before, Poisson arrivals are those of a grid. Default: false.
    pub fio_compat: Option<bool>,
    /// What is different for reads. Default: nothing.
    pub reads: Option<DirectionTable>,
    /// What is different for writes. Default: nothing.
    pub writes: Option<DirectionTable>,
}

by_key! {
    JobTable, job_keys:
    name, count, waits, after, start_delay, ends_others, ends_others_on_error,
    goes_on_after_errors, ends_on_mismatch, engine, cache, iodepth, sqpoll, iopoll, batch, target,
    files, file_names, size, start, start_step, size_percent, start_percent, start_align, layout,
    page_cache, remove, layout_only, names, read, mixed, random, block_size, block_unit, align,
    distribution, byte_zones, run_length, run_place, skip, back, file_order, file_distribution,
    requests_per_file, zone_size, zone_used, zone_skip, bytes, bytes_percent, operations, loops,
    starts_over, run_time, ramp_time, fsync_each, fdatasync_each, fsync_at_end, sync_range_each,
    sync_range, durable, delay, burst, burst_time, burst_counts_issued, rate, byte_rate, arrivals,
    delay_moves_rate, rate_min, byte_rate_min, rate_min_window, rate_min_settle, latency_max,
    latency_target, latency_target_window, latency_target_percent, latency_target_goes_on,
    until_steady, flow_weight, flow_group, flow_pause, content, verify, read_back, read_back_each,
    read_back_batch, seed, cpus, cpu_set, nice, io_class, io_priority, fio_compat, reads, writes,
}

/// Keys of a job that may be different for reads and for writes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DirectionTable {
    /// Share of the requests that start at a random place, in percent. Default: the job's.
    pub random: Option<Percent>,
    /// Sizes of requests. Default: the job's.
    pub block_size: Option<BlockSizeChoice>,
    /// Sizes from a range are multiples of this. Default: the job's.
    pub block_unit: Option<Bytes>,
    /// Random places are multiples of this. Default: the job's.
    pub align: Option<Bytes>,
    /// Where random requests go. Default: the job's.
    pub distribution: Option<DistributionChoice>,
    /// Zones of each file, told in bytes. Default: the job's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub byte_zones: Vec<ByteZone>,
    /// Requests due per second. Default: the job's.
    pub rate: Option<Rate>,
    /// Bytes due per second. Default: the job's.
    pub byte_rate: Option<Bytes>,
    /// The least requests a second. Default: the job's.
    pub rate_min: Option<Rate>,
    /// The least bytes a second. Default: the job's.
    pub byte_rate_min: Option<Bytes>,
    /// The longest that a request may take. Default: the job's.
    pub latency_max: Option<Span>,
}

/// When the figures of a job are steady, which ends it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UntilSteadyTable {
    /// What is looked at. Default: `iops`.
    pub measure: Option<GoalMeasure>,
    /// Its slope from one reading to the next is to be small, not the distance of the farthest
    /// reading from the mean. Default: false.
    pub slope: Option<bool>,
    /// What that is to be below, in percent of the mean. Default: 1.
    pub percent: Option<Percent>,
    /// In place of a `percent`: requests or bytes a second, or nanoseconds. Default: none.
    pub limit: Option<f64>,
    /// The time that is judged, a multiple of `interval`.
    pub window: Span,
    /// What is not judged at the beginning of the measurement. Default: 0.
    pub ramp: Option<Span>,
    /// The time that one reading is of. Default: 1 s.
    pub interval: Option<Span>,
    /// The jobs of a wave with the same number are judged together. Default: it alone.
    pub group: Option<u32>,
}

/// What `sync_file_range` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncRangeWord {
    /// Waits for what is being written out before.
    WaitBefore,
    /// Begins to write out what is not yet.
    Write,
    /// Waits until all is written out.
    WaitAfter,
}

/// A zone of a file, behind the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByteZone {
    /// Share of the requests that go here, in percent; the zones' shares add up to 100.
    pub access: Percent,
    /// Bytes of the zone.
    pub size: Bytes,
}

/// A file of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JobFileTable {
    /// Its name, of one component or several. Default: none, the target itself is the file.
    pub name: Option<String>,
    /// Which of the workload's `targets`, counted from 1. Default: the job's `target`.
    pub target: Option<u32>,
    /// First byte that is used. Default: the job's `start`.
    pub start: Option<Bytes>,
    /// How much of it is used. Default: the job's `size`.
    pub size: Option<Bytes>,
}

/// Which file of a job is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileOrderWord {
    /// One after the other.
    RoundRobin,
    /// The next one when one is done.
    Sequential,
    /// Drawn each time.
    Drawn,
}

/// Priority classes of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoClassWord {
    /// None of its own.
    None,
    /// Before all others.
    RealTime,
    /// By their priorities.
    BestEffort,
    /// When nobody else has any.
    Idle,
}

impl IoClassWord {
    /// In the order of the kernel's numbers.
    pub(crate) const ALL: [Self; 4] = [Self::None, Self::RealTime, Self::BestEffort, Self::Idle];
}

/// The files of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FilesChoice {
    /// So many, each of its own; 0 for the target itself.
    Count(u32),
    /// These.
    Each(Vec<JobFileChoice>),
}

/// A file of a job by its name, or with what is different for it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum JobFileChoice {
    /// By its name.
    Name(String),
    /// With what is different for it.
    Table(Box<JobFileTable>),
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
    /// How many files there are, in 64 bits; the target itself is one.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Count(count) => u64::from(*count).max(1),
            Self::Each(files) => files.len() as u64,
        }
    }

    /// The targets that files name.
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
