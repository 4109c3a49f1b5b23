//! A line each second, and the table of operations.

use results::{CellRecord, IntervalRecord, LabelFigures, Phase, RunEvent, RunRecord, WarningCode};

use super::NANOS;
use super::load::OPERATIONS;
use super::options::Options;
use crate::figures::general;
use crate::windows::label;
use crate::{ClassicText, FrontOrigin};

/// The text of a run.
pub(super) fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    let options = Options::read(&origin.arguments);
    Box::new(Lines {
        // What was read once is read again.
        options: options.unwrap_or_else(|_| Options::of_file("")),
        ..Lines::default()
    })
}

#[derive(Default)]
struct Lines {
    options: Options,
    /// Seconds that were told of.
    told_s: u64,
    requests: u64,
    bytes: u64,
    /// The longest call since the last line.
    most_ns: u64,
}

/// What a line each second is of: as people read it, and as programs do.
type Stage = (&'static str, char);
const WARM_UP: Stage = ("warmup ", 'W');
const EXECUTE: Stage = ("execute", 'R');

impl ClassicText for Lines {
    fn event(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::Started { .. } => self.begin(),
            RunEvent::Progress {
                phase: Phase::Ramp,
                elapsed_ns,
                bytes_per_second,
                p99_ns,
                ..
            } => self.warm_up(elapsed_ns / NANOS, *bytes_per_second, p99_ns.unwrap_or(0)),
            RunEvent::Interval { interval, .. } => self.interval(interval),
            RunEvent::CellDone { record } => self.clean_up(record),
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        let cells = record.cells.iter();
        let tables: String = cells.map(|cell| table(&self.options, cell)).collect();
        let warnings = record.warnings.iter();
        let broken = warnings.filter(|it| it.code == WarningCode::TraceBroken);
        let broken = broken.map(|it| format!("ERROR: {}\n", it.message));
        broken.collect::<String>() + &tables
    }
}

impl Lines {
    fn begin(&self) -> String {
        if self.options.is_machine_readable {
            return String::new();
        }
        let (file, clients) = (&self.options.load_file, self.options.clients);
        let (time_s, warm_up_s) = (self.options.time_s, self.options.warm_up_s);
        format!(
            "Running for {time_s} seconds with load '{file}' and minimum warmup {warm_up_s} \
             secs\n{clients} of {clients} processes prepared for launch   0 sec\n\
             releasing clients\n"
        )
    }

    fn warm_up(&mut self, seconds: u64, bytes_per_second: f64, most_ns: u64) -> String {
        // What is not known yet is none.
        let rate = bytes_per_second.max(0.0) / 1e6;
        self.line(WARM_UP, seconds, 0, rate, most_ns)
    }

    fn interval(&mut self, interval: &IntervalRecord) -> String {
        for (name, figures) in &interval.operations {
            self.requests += figures.count + figures.errors;
            self.most_ns = self.most_ns.max(figures.max_ns.unwrap_or(0));
            if matches!(name.as_str(), "read" | "write") {
                self.bytes += figures.bytes;
            }
        }
        if interval.at_ns == 0 {
            self.told_s = 0;
        }
        let end_ns = interval.at_ns + interval.length_ns;
        // One may be a moment short of its second.
        let seconds = (end_ns + NANOS / 20) / NANOS;
        let requests = self.requests / u64::from(self.options.clients);
        let rate = self.bytes as f64 * 1e3 / end_ns.max(1) as f64;
        let line = self.line(EXECUTE, seconds, requests, rate, self.most_ns);
        if !line.is_empty() {
            self.most_ns = 0;
        }
        line
    }

    /// The line of a second, unless it was told of; the rate is in MB/s.
    fn line(
        &mut self,
        (name, letter): Stage,
        seconds: u64,
        requests: u64,
        rate: f64,
        most_ns: u64,
    ) -> String {
        if seconds <= self.told_s {
            return String::new();
        }
        self.told_s = seconds;
        let (clients, latency_ms) = (self.options.clients, most_ns as f64 / 1e6);
        match self.options.is_machine_readable {
            true => {
                format!("@{letter}@{clients}@{requests}@{rate:.2}@{seconds}@{latency_ms:.3}@\n")
            }
            false => format!(
                "{clients:4}  {requests:8}  {rate:7.2} MB/sec  {name} {seconds:3} sec  \
                 latency {latency_ms:.3} ms\n"
            ),
        }
    }

    fn clean_up(&self, record: &CellRecord) -> String {
        let seconds = (record.run_time_ns + NANOS / 2) / NANOS;
        match self.options.is_machine_readable {
            true => format!("@C@0@{seconds}@\n"),
            false => format!("   0  cleanup {seconds:3} sec\n"),
        }
    }
}

/// The table of operations, and the throughput.
fn table(options: &Options, cell: &CellRecord) -> String {
    // In the order of the original.
    let labels = OPERATIONS.iter().filter_map(|(name, ..)| label(cell, name));
    let labels: Vec<&LabelFigures> = labels.filter(|it| it.count > 0).collect();
    let bytes: u64 = labels.iter().map(|it| it.bytes).sum();
    let most_ns = labels.iter().map(|it| it.max_ns).max().unwrap_or(0);
    let rate = general(bytes as f64 * 1e3 / cell.run_time_ns.max(1) as f64);
    let (clients, most_ms) = (options.clients, most_ns as f64 / 1e6);
    let rows = labels.iter().map(|it| row(options.is_machine_readable, it));
    let rows: String = rows.collect();
    if options.is_machine_readable {
        return format!("{rows};{rate};{clients};{clients};{most_ms:.3};\n");
    }
    let sync = if options.is_sync { " (sync open)" } else { "" };
    let directories = match options.syncs_directories {
        true => " (sync dirs)",
        false => "",
    };
    format!(
        "\n Operation      Count    AvgLat    MaxLat\n \
         ----------------------------------------\n{rows}\nThroughput {rate} \
         MB/sec{sync}{directories}  {clients} clients  {clients} procs  \
         max_latency={most_ms:.3} ms\n"
    )
}

fn row(is_machine_readable: bool, figures: &LabelFigures) -> String {
    let (name, count) = (&figures.label, figures.count);
    let mean_ms = figures.sum_ns as f64 / count as f64 / 1e6;
    let most_ms = figures.max_ns as f64 / 1e6;
    match is_machine_readable {
        true => format!(":{name}:{count}:{mean_ms:.3}:{most_ms:.3}:\n"),
        false => format!(" {name:<12} {count:7} {mean_ms:9.3} {most_ms:9.3}\n"),
    }
}
