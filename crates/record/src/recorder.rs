//! Records requests from the ring buffers into a file.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};
use trace::{NameId, TraceContent, TraceRequest, TraceWriter, TracedKind};

use crate::block::{BlockEvents, KernelRequest};
use crate::error::RecordError;
use crate::format::EventFormat;
use crate::instance::TraceInstance;
use crate::layer::{RecordLayer, RecordedDevice, filter};
use crate::ring::{PageLayout, RingPage};

/// Time between two looks at the ring buffers.
const TURN: Duration = Duration::from_millis(50);
/// Time after which recorded events are in the file, even if it is killed.
const FLUSH_PERIOD: Duration = Duration::from_secs(1);
/// Memory of all ring buffers: two seconds of a million events per second.
const RINGS_BYTES: usize = 256 << 20;
/// Limits of the ring buffer of a CPU.
const RING_BYTES_MIN: usize = 1 << 20;
const RING_BYTES_MAX: usize = 16 << 20;
/// An event whose time is this much older than the last look is certainly in its ring: it was in
/// the making at most for the length of an interrupt.
const SETTLED_NS: i64 = 10_000_000;

/// What to record.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// Devices; several may be parts of one disk.
    pub devices: Vec<RecordedDevice>,
    /// Layer.
    pub layer: RecordLayer,
    /// A line about the recording, for its readers.
    pub about: String,
}

/// State of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordProgress {
    /// Time since the start in nanoseconds.
    pub elapsed_ns: u64,
    /// Number of requests so far.
    pub request_count: u64,
    /// Bytes that they read and write.
    pub bytes: u64,
    /// Number of events so far; a request has several.
    pub event_count: u64,
    /// Number of events that the kernel dropped because this process was too slow.
    pub lost_count: u64,
    /// CPU time of this process since the start in nanoseconds.
    pub cpu_ns: u64,
}

/// A recording that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedRecording {
    /// State at the end.
    pub progress: RecordProgress,
    /// Time from the first to the last request in nanoseconds; `None` without requests.
    pub span_ns: Option<u64>,
    /// Size of the trace in bytes.
    pub size_bytes: u64,
}

/// Records until its caller ends it.
#[derive(Debug)]
pub struct TraceRecorder<W: Write> {
    // Before the instance, which cannot be removed while its files are open.
    rings: Vec<CpuRing>,
    instance: TraceInstance,
    layout: PageLayout,
    events: BlockEvents,
    layer: RecordLayer,
    output: RequestOutput<W>,
    /// Decoded requests that may still be out of order.
    pending: Vec<TraceRequest>,
    page: Vec<u8>,
    started: Instant,
    start_ns: i64,
    start_cpu_ns: u64,
    flushed: Instant,
    lost_count: u64,
}

/// The ring buffer of a CPU.
#[derive(Debug)]
struct CpuRing {
    cpu: u32,
    pages: File,
}

/// Counts requests and writes them.
#[derive(Debug)]
struct RequestOutput<W> {
    writer: TraceWriter<W>,
    counted: trace::TraceLayer,
    devices: HashMap<(u32, u32), NameId>,
    progress: RecordProgress,
    /// Times of the first and the last request.
    times_ns: Option<(i64, i64)>,
}

impl<W: Write> TraceRecorder<W> {
    /// Starts to record.
    ///
    /// # Errors
    /// If the kernel cannot trace, denies it, or lacks an event, or if the output fails.
    pub fn start(options: &RecordOptions, output: W) -> Result<Self, RecordError> {
        let instance = TraceInstance::create()?;
        let layout = page_layout(&instance)?;
        // All CPUs share one clock, which other programs can read, too.
        instance.write(&instance.path("trace_clock"), "mono")?;
        let cpus = cpus(&instance)?;
        let share = RINGS_BYTES / cpus.len().max(1);
        let ring_bytes = share.clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let ring_kib = (ring_bytes >> 10).to_string();
        instance.write(&instance.path("buffer_size_kb"), &ring_kib)?;
        let mut events = BlockEvents::default();
        for (name, layer) in options.layer.events() {
            let directory = instance.event("block", name)?;
            let format = directory.join("format");
            let text = instance.read(&format)?;
            let is_known = EventFormat::parse(&text).is_some_and(|it| events.add(*layer, &it));
            if !is_known {
                return Err(instance.bad_format(&format));
            }
            instance.write(&directory.join("filter"), &filter(&options.devices))?;
        }
        let rings = cpus.into_iter().map(|cpu| CpuRing::open(&instance, cpu));
        let rings = rings.collect::<Result<_, _>>()?;
        let writer = TraceWriter::new(output, TraceContent::Requests, &options.about)
            .map_err(|source| RecordError::Output { source })?;
        let recorder = Self {
            rings,
            page: vec![0; layout.page_bytes],
            layout,
            events,
            layer: options.layer,
            output: RequestOutput::new(writer, options),
            pending: Vec::new(),
            started: Instant::now(),
            start_ns: monotonic_ns(),
            start_cpu_ns: process_cpu_ns(),
            flushed: Instant::now(),
            lost_count: 0,
            instance,
        };
        recorder.enable("1")?;
        Ok(recorder)
    }

    fn enable(&self, switch: &str) -> Result<(), RecordError> {
        for (name, _) in self.layer.events() {
            let directory = self.instance.event("block", name)?;
            self.instance.write(&directory.join("enable"), switch)?;
        }
        Ok(())
    }

    /// Records until `goes_on`, which is called about 20 times a second, returns `false`.
    ///
    /// # Errors
    /// If reading or writing fails.
    pub fn run(
        &mut self,
        mut goes_on: impl FnMut(&RecordProgress) -> bool,
    ) -> Result<(), RecordError> {
        loop {
            self.turn()?;
            if !goes_on(&self.progress()) {
                return Ok(());
            }
            std::thread::sleep(TURN);
        }
    }

    /// State of the recording.
    #[must_use]
    pub fn progress(&self) -> RecordProgress {
        RecordProgress {
            elapsed_ns: u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            lost_count: self.lost_count,
            cpu_ns: process_cpu_ns().saturating_sub(self.start_cpu_ns),
            ..self.output.progress
        }
    }

    /// Reads the rings once, and writes the events that no other can precede any more.
    fn turn(&mut self) -> Result<(), RecordError> {
        let settled_ns = monotonic_ns() - SETTLED_NS;
        self.drain()?;
        self.write_until(settled_ns)?;
        if self.flushed.elapsed() >= FLUSH_PERIOD {
            self.flushed = Instant::now();
            self.count_lost()?;
            self.output.flush()?;
        }
        Ok(())
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// If reading or writing fails.
    pub fn finish(mut self) -> Result<EndedRecording, RecordError> {
        self.enable("0")?;
        self.drain()?;
        self.write_until(i64::MAX)?;
        self.count_lost()?;
        let progress = self.progress();
        let span_ns = self.output.span_ns();
        let finished = self.output.writer.finish();
        let (_, size_bytes) = finished.map_err(|source| RecordError::Output { source })?;
        Ok(EndedRecording {
            progress,
            span_ns,
            size_bytes,
        })
    }

    /// Reads all rings until they are empty, or until each was read once completely.
    fn drain(&mut self) -> Result<(), RecordError> {
        let pages_max = RING_BYTES_MAX / self.layout.page_bytes.max(1);
        for ring in &mut self.rings {
            for _ in 0..pages_max {
                let Some(length) = ring.read(&mut self.page, &self.instance)? else {
                    break;
                };
                let bytes = &self.page[..length];
                let Some(page) = RingPage::parse(bytes, &self.layout) else {
                    break;
                };
                for event in page.events() {
                    if let Some(found) = self.events.decode(event.bytes) {
                        let time_ns = i64::try_from(event.time_ns).unwrap_or(i64::MAX);
                        self.pending.push(self.output.request(&found, time_ns));
                    }
                }
            }
        }
        Ok(())
    }

    fn write_until(&mut self, settled_ns: i64) -> Result<(), RecordError> {
        // The events of a CPU are in order, and this sort is fast where whole runs are.
        self.pending.sort_by_key(|request| request.time_ns);
        let is_settled = |request: &TraceRequest| request.time_ns < settled_ns;
        let count = self.pending.partition_point(is_settled);
        for mut request in self.pending.drain(..count) {
            request.time_ns -= self.start_ns;
            self.output.write(&request)?;
        }
        Ok(())
    }

    /// Adds the events that the kernel dropped since the last call.
    fn count_lost(&mut self) -> Result<(), RecordError> {
        let mut lost = 0;
        for ring in &self.rings {
            let path = self.instance.path(format!("per_cpu/cpu{}/stats", ring.cpu));
            lost += lost_in(&self.instance.read(&path)?);
        }
        let new = lost.saturating_sub(self.lost_count);
        if new > 0 {
            self.lost_count = lost;
            let written = self.output.writer.lost(new);
            written.map_err(|source| RecordError::Output { source })?;
        }
        Ok(())
    }
}

impl<W: Write> RequestOutput<W> {
    fn new(mut writer: TraceWriter<W>, options: &RecordOptions) -> Self {
        let mut devices = HashMap::new();
        for device in &options.devices {
            let name = writer.name(device.extent.disk_name.as_bytes());
            // Requests to a partition have places on its disk, so both have the name of the disk.
            devices.insert(device.number, name);
            devices.insert(device.extent.disk, name);
        }
        Self {
            writer,
            counted: options.layer.counted(),
            devices,
            progress: RecordProgress::default(),
            times_ns: None,
        }
    }

    fn request(&mut self, event: &KernelRequest<'_>, time_ns: i64) -> TraceRequest {
        TraceRequest {
            time_ns,
            offset_bytes: event.offset_bytes,
            length_bytes: event.length_bytes,
            latency_ns: None,
            row: 0,
            device: self.devices.get(&event.device).copied().unwrap_or_default(),
            process: self.writer.name(event.process),
            pid: event.pid,
            kind: event.kind,
            layer: event.layer,
            is_forced: event.is_forced,
        }
    }

    fn write(&mut self, request: &TraceRequest) -> Result<(), RecordError> {
        self.progress.event_count += 1;
        if request.layer == self.counted {
            self.progress.request_count += 1;
            if matches!(request.kind, TracedKind::Read | TracedKind::Write) {
                self.progress.bytes += request.length_bytes;
            }
            let (first, last) = self.times_ns.unwrap_or((i64::MAX, i64::MIN));
            let now = request.time_ns;
            self.times_ns = Some((first.min(now), last.max(now)));
        }
        let written = self.writer.request(request);
        written.map_err(|source| RecordError::Output { source })
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        let flushed = self.writer.flush();
        flushed.map_err(|source| RecordError::Output { source })
    }

    fn span_ns(&self) -> Option<u64> {
        let (first, last) = self.times_ns?;
        u64::try_from(last - first).ok()
    }
}

impl CpuRing {
    fn open(instance: &TraceInstance, cpu: u32) -> Result<Self, RecordError> {
        let path = instance.path(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(&path);
        let pages = opened.map_err(|source| instance.failed("read", &path, source))?;
        Ok(Self { cpu, pages })
    }

    /// Reads a page, filled or not; `None` if the ring is empty.
    fn read(
        &mut self,
        page: &mut [u8],
        instance: &TraceInstance,
    ) -> Result<Option<usize>, RecordError> {
        match self.pages.read(page) {
            Ok(0) => Ok(None),
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
            Err(source) => {
                let path = instance.path(format!("per_cpu/cpu{}/trace_pipe_raw", self.cpu));
                Err(instance.failed("read", &path, source))
            }
        }
    }
}

fn page_layout(instance: &TraceInstance) -> Result<PageLayout, RecordError> {
    let path = instance.path("events/header_page");
    // Old kernels have this file only at the top.
    let path = match path.exists() {
        true => path,
        false => instance.path("../../events/header_page"),
    };
    let layout = PageLayout::parse(&instance.read(&path)?);
    layout.ok_or_else(|| instance.bad_format(&path))
}

/// CPUs that have a ring buffer, running or not.
fn cpus(instance: &TraceInstance) -> Result<Vec<u32>, RecordError> {
    let path = instance.path("per_cpu");
    let entries =
        std::fs::read_dir(&path).map_err(|source| instance.failed("read", &path, source))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let cpu = |name: std::ffi::OsString| name.to_str()?.strip_prefix("cpu")?.parse().ok();
    let mut cpus: Vec<u32> = names.filter_map(cpu).collect();
    cpus.sort_unstable();
    Ok(cpus)
}

/// Number of lost events in the text of a `stats` file.
fn lost_in(stats: &str) -> u64 {
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        let is_loss = matches!(key, "overrun" | "commit overrun" | "dropped events");
        is_loss.then(|| value.trim().parse::<u64>().ok())?
    };
    stats.lines().filter_map(value).sum()
}

fn monotonic_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

pub(crate) fn process_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_events_are_added_up_from_the_kernels_statistics() {
        let stats = "entries: 9\noverrun: 17\ncommit overrun: 1\nbytes: 88\n\
                     oldest event ts:     5.000001\ndropped events: 2\nread events: 4\n";
        assert_eq!(lost_in(stats), 20);
        assert_eq!(lost_in("overrun: many\n"), 0);
    }
}
