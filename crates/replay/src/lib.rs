//! Traces of other programs as jobs that replay their requests, or as programs that replay their
//! calls.
//!
//! All requests and calls of a replay are in memory: the measurement loop must not wait for a
//! reader.

mod calls;
mod collect;
mod extents;
mod mapping;
mod recording;
mod select;
mod stream;
#[cfg(test)]
mod tests;

use std::io::Read;

use description::Workload;
use plan::job::{
    AddressMap, ConvertedJobs, DueProfile, FileCache, JobFile, JobFiles, JobLocation, JobPlan,
    Layout, NamedFile, RecordedKind, RecordedPlan, RecordedRequest, TracePlan, UnplannedJob,
};
use plan::{CacheMode, ContentPlan, Diagnostic, DiagnosticCode, EngineKind, FrontOrigin};
use trace::{TraceOptions, TraceReader};
use units::format;
use units::{Span, printable};

use collect::CollectedTrace;
use mapping::AddressMapper;
pub use recording::{RecordedHandle, Recording};
pub use select::TraceSelection;
pub use stream::{common_divisor, recorded_lengths, recorded_stream};

/// Maximum number of requests of a replay. They take 512 MiB.
pub const TRACE_REQUESTS_MAX: u64 = 1 << 24;

/// Longest pause between two requests in a replay, in nanoseconds. A longer one is a damaged time
/// or a trace of several recordings.
const PAUSE_NS_MAX: u64 = 86_400 * 1_000_000_000;
/// Buffers of all requests in flight take at most this, but for the minimum queue depth.
const BUFFERS_BYTES: u64 = 256 << 20;
/// Limits of the default queue depth.
const IODEPTH_MIN: u64 = 8;
const IODEPTH_MAX: u64 = 1024;
const REPLAY_SEED: u64 = 1;

/// How a trace is replayed.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// How the trace is read.
    pub reading: TraceOptions,
    /// Parts of the trace that are replayed.
    pub selection: TraceSelection,
    /// Speed, 1 for the recorded times; `None` to start each request as soon as a slot is free.
    pub speed: Option<f64>,
    /// Mapping of addresses. By default, the same addresses if every target has a fixed size and
    /// is large enough, and otherwise [`AddressMap::Compact`].
    pub map: Option<AddressMap>,
    /// Size of the file on each target in bytes.
    pub size_bytes: Option<u64>,
    /// `true` if requests go through the page cache or to no target, so that they need no
    /// alignment.
    pub is_unaligned: bool,
    /// `true` if no target is accessed.
    pub is_null: bool,
}

/// A target of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayTarget {
    /// Alignment of direct I/O in bytes.
    pub alignment_bytes: u32,
    /// Size of a device or existing file in bytes; `None` if a file is created.
    pub fixed_bytes: Option<u64>,
}

/// A trace to be read.
pub struct TraceSource<'a> {
    /// Name of the file, for messages.
    pub name: &'a str,
    /// Its content; several inputs are parts of one trace.
    pub inputs: Vec<Box<dyn Read + 'a>>,
}

/// The cell that replays a trace, and warnings about it.
///
/// # Errors
/// The trace cannot be read, has no requests to replay, or does not fit.
pub fn replay(
    source: TraceSource<'_>,
    options: &ReplayOptions,
    targets: &[ReplayTarget],
) -> Result<(Workload, Vec<Diagnostic>), Diagnostic> {
    let name = printable(source.name).into_owned();
    let unit = match options.is_unaligned {
        true => 1,
        false => targets
            .iter()
            .map(|it| it.alignment_bytes)
            .max()
            .unwrap_or(1),
    };
    let unit = u64::from(unit.max(1));
    let in_file = |error| Diagnostic {
        file: name.clone(),
        ..error
    };
    let reader = TraceReader::open(source.inputs, options.reading)
        .map_err(|error| in_file(collect::unreadable(error)))?;
    if reader.has_calls() {
        return calls::replay_calls(&name, reader, options).map_err(in_file);
    }
    let mut trace = collect::collect(reader, options, unit).map_err(in_file)?;
    let mut mapped = place(&mut trace, options, targets, unit).map_err(in_file)?;
    if trace.requests.is_empty() {
        let message = "nothing is left to replay: the trace discards only bytes that it neither \
                       reads nor writes";
        let help = "select other requests, or another trace";
        return Err(Diagnostic::error(&name, message).help(help));
    }
    let span_ns = trace.requests.last().map_or(0, |it| it.due_ns);
    pace(&mut trace, options.speed).map_err(in_file)?;
    let mut warnings = trace.warnings(&name);
    warnings.append(&mut mapped.warnings);
    let summary = TracePlan {
        format: trace.format_name.to_owned(),
        span_ns,
        speed: options.speed,
        map: mapped.map,
        end_bytes: trace.end_bytes(),
        touched_bytes: trace.extents.bytes(),
        successor_count: mapped.successor_count,
        kept_successor_count: mapped.kept_successor_count,
        due: options.speed.map(|_| DueProfile::of(&trace.requests)),
    };
    let recorded = RecordedPlan {
        trace: Some(summary),
        ..RecordedPlan::new(source.name.to_owned(), trace.requests.into())
    };
    let built = jobs(&name, recorded, &mapped.sizes_bytes, options);
    let workload = Workload {
        name: Some(stem(source.name)),
        title: Some(format!("replay of `{name}`")),
        source: Some(format!("trace ({})", trace.format_name)),
        engine: options.is_null.then_some(EngineKind::Null),
        jobs: Some(Box::new(built)),
        ..Workload::default()
    };
    Ok((workload, warnings))
}

/// Requests of a trace on one address space.
pub struct ReplayedRequests {
    /// In order of time.
    pub requests: Vec<RecordedRequest>,
    /// First address beyond all requests, in bytes.
    pub span_bytes: u64,
    /// Warnings about the trace.
    pub warnings: Vec<Diagnostic>,
}

/// The selected requests of a trace, one device after the other, and without unused
/// addresses.
///
/// # Errors
/// The trace cannot be read, or has no requests.
pub fn requests(
    source: TraceSource<'_>,
    reading: TraceOptions,
    selection: TraceSelection,
) -> Result<ReplayedRequests, Diagnostic> {
    let name = printable(source.name).into_owned();
    let in_file = |error| Diagnostic {
        file: name.clone(),
        ..error
    };
    let options = ReplayOptions {
        reading,
        selection,
        map: Some(AddressMap::Compact),
        is_unaligned: true,
        is_null: true,
        ..ReplayOptions::default()
    };
    let reader = TraceReader::open(source.inputs, options.reading)
        .map_err(|error| in_file(collect::unreadable(error)))?;
    if reader.has_calls() {
        let message = "the trace has system calls, and a fit needs requests";
        let help = "record the requests with `pgmeter record --target DIR`";
        return Err(in_file(Diagnostic::error("", message).help(help)));
    }
    let mut trace = collect::collect(reader, &options, 1).map_err(in_file)?;
    let mapped = place(&mut trace, &options, &[], 1).map_err(in_file)?;
    Ok(ReplayedRequests {
        span_bytes: mapped.sizes_bytes.iter().copied().max().unwrap_or(0),
        warnings: trace.warnings(&name),
        requests: trace.requests,
    })
}

/// Files of a replay after the mapping.
struct MappedTrace {
    map: AddressMap,
    /// Size of the file on each target in bytes.
    sizes_bytes: Vec<u64>,
    successor_count: u64,
    kept_successor_count: u64,
    warnings: Vec<Diagnostic>,
}

/// Moves all requests to their places in the files.
fn place(
    trace: &mut CollectedTrace,
    options: &ReplayOptions,
    targets: &[ReplayTarget],
    unit: u64,
) -> Result<MappedTrace, Diagnostic> {
    let fixed = targets
        .iter()
        .map(|it| it.fixed_bytes)
        .collect::<Option<Vec<u64>>>();
    let smallest = fixed.and_then(|sizes| sizes.into_iter().min());
    // A target cannot be used beyond its end, whatever size the user requests.
    let size_bytes = [options.size_bytes, smallest].into_iter().flatten().min();
    let file_count = targets.len().clamp(1, trace.devices.len().max(1));
    let same = || AddressMapper::new(AddressMap::OneToOne, trace, file_count, unit);
    let map = match (options.map, smallest) {
        (Some(map), _) => map,
        (None, Some(smallest)) if same().largest_bytes() <= smallest => AddressMap::OneToOne,
        (None, _) => AddressMap::Compact,
    };
    let mut mapper = AddressMapper::new(map, trace, file_count, unit);
    let mut warnings = Vec::new();
    let needed_bytes = mapper.largest_bytes();
    match (map, size_bytes) {
        (AddressMap::Wrap | AddressMap::Scale, None) => {
            let message = format!("`--map {}` needs the size of the test file", map.name());
            let help = "add `--size 1GiB`, or another size".to_owned();
            return Err(Diagnostic::error("", message).help(help));
        }
        (AddressMap::OneToOne | AddressMap::Shift, Some(size)) if needed_bytes > size => {
            let message = format!(
                "the replay needs {}, but the target has {}",
                format::size(needed_bytes),
                format::size(size)
            );
            let help = "use `--map compact`, `--map wrap` or `--map scale`";
            return Err(Diagnostic::error("", message).help(help));
        }
        (AddressMap::Compact, Some(size)) if needed_bytes > size => {
            let message = format!(
                "the trace uses {}, but the target has {}, so addresses beyond its end wrap around",
                format::size(needed_bytes),
                format::size(size)
            );
            warnings.push(Diagnostic::warning("", message).code(DiagnosticCode::SizeReduced));
            mapper.wrap(size)?;
        }
        (AddressMap::Wrap, Some(size)) => mapper.wrap(size)?,
        (AddressMap::Scale, Some(size)) => mapper.scale(size)?,
        _ => {}
    }
    let sizes_bytes = mapper.sizes_bytes();
    if sizes_bytes.iter().any(|size| i64::try_from(*size).is_err()) {
        let message = "the trace ends beyond the largest possible file";
        return Err(Diagnostic::error("", message).help("use `--map compact`"));
    }
    let successors = mapper.map_all(&mut trace.requests);
    Ok(MappedTrace {
        map,
        sizes_bytes,
        successor_count: successors.0,
        kept_successor_count: successors.1,
        warnings,
    })
}

/// Turns times since the start of the trace into due times of the replay.
fn pace(trace: &mut CollectedTrace, speed: Option<f64>) -> Result<(), Diagnostic> {
    let Some(speed) = speed else {
        for request in &mut trace.requests {
            request.due_ns = 0;
        }
        return Ok(());
    };
    let (pause_ns, row) = trace.longest_pause;
    if pause_ns as f64 / speed > PAUSE_NS_MAX as f64 {
        let message = format!(
            "row {row} comes {} after the previous request, and a replay would wait for it",
            Span(pause_ns)
        );
        let help = "select a part with `--from`, `--to` or `--first`, or use `--pace as-fast`";
        return Err(Diagnostic::error("", message).help(help));
    }
    if speed != 1.0 {
        for request in &mut trace.requests {
            request.due_ns = (request.due_ns as f64 / speed) as u64;
        }
    }
    Ok(())
}

fn jobs(
    name: &str,
    recorded: RecordedPlan,
    sizes_bytes: &[u64],
    options: &ReplayOptions,
) -> ConvertedJobs {
    let stream = recorded_stream(&recorded);
    let largest = recorded_lengths(&recorded.acts).max().unwrap_or(512);
    let depth = (BUFFERS_BYTES / u64::from(largest)).clamp(IODEPTH_MIN, IODEPTH_MAX);
    let layout = match recorded.has(RecordedKind::Read) {
        // File systems answer reads of space that was never written without their device.
        true => Layout::Written,
        false => Layout::Allotted,
    };
    let file = |(index, size_bytes): (u32, &u64)| NamedFile {
        target_index: index,
        name: Some(format!("replay-{index}")),
        size_bytes: *size_bytes,
        layout,
        is_removed: true,
        is_left: false,
        cache: FileCache::Dropped,
    };
    let part = |(file_index, size_bytes): (u32, &u64)| JobFile {
        file_index,
        start_bytes: 0,
        size_bytes: *size_bytes,
    };
    let engine = match options.is_null {
        true => EngineKind::Null,
        false => EngineKind::IoUring,
    };
    let plan = JobPlan {
        cache: match options.is_unaligned && !options.is_null {
            true => CacheMode::Buffered,
            false => CacheMode::Direct,
        },
        iodepth: depth as u32,
        files: (0..).zip(sizes_bytes).map(part).collect(),
        goes_on_after_errors: true,
        recorded: Some(recorded),
        ..JobPlan::new(engine, stream)
    };
    let job = UnplannedJob {
        name: stem(name),
        plan,
        share: None,
        content: ContentPlan::Incompressible,
        verify: false,
        seed: REPLAY_SEED,
        cpu: None,
        fills: false,
        location: JobLocation::default(),
    };
    ConvertedJobs {
        origin: FrontOrigin::default(),
        jobs: vec![job],
        files: JobFiles {
            files: (0..).zip(sizes_bytes).map(file).collect(),
            is_layout_only: false,
        },
    }
}

/// The name of the file up to its first dot, in characters that a workload's name may have.
#[must_use]
pub fn stem(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split('.').next().unwrap_or(file);
    let stem: String = stem
        .chars()
        .map(|it| match it.is_ascii_alphanumeric() {
            true => it.to_ascii_lowercase(),
            false => '-',
        })
        .collect();
    match stem.trim_matches('-') {
        "" => "trace".to_owned(),
        stem => stem.to_owned(),
    }
}
