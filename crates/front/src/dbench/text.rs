//! Output of dbench: a line each second, and the table of operations.

use results::{CellRecord, IntervalRecord, LabelFigures, Phase, RunEvent, RunRecord, WarningCode};

use super::load::OPERATIONS;
use super::options::DbenchOptions;
use crate::acts::NS_PER_SECOND;
use crate::figures::format_general;
use crate::windows::{WorkerProgress, label, mean_ms, sum_of_labels};
use crate::{ClassicText, FrontOrigin};

/// The text of a run.
pub(super) fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(DbenchText {
        // The same arguments were parsed before the run.
        options: DbenchOptions::read(&origin.arguments).unwrap_or_default(),
        ..DbenchText::default()
    })
}

#[derive(Default)]
struct DbenchText {
    options: DbenchOptions,
    /// Seconds up to which lines were printed.
    printed_s: u64,
    requests: u64,
    bytes: u64,
    /// Longest call since the last line, in nanoseconds.
    max_ns: u64,
}

impl ClassicText for DbenchText {
    fn event(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::Started { .. } if !self.options.is_machine_readable => begin(&self.options),
            RunEvent::Progress {
                phase: Phase::Ramp,
                elapsed_ns,
                bytes_per_second,
                p99_ns,
                ..
            } => {
                // During the warm-up, only this percentile is known.
                self.max_ns = p99_ns.unwrap_or(0);
                // NaN until there are results; `max` turns that into 0.
                let rate = bytes_per_second.max(0.0) / 1e6;
                self.line('W', elapsed_ns / NS_PER_SECOND, rate)
            }
            RunEvent::Interval { interval, .. } => self.interval(interval),
            RunEvent::CellDone { record } => {
                let seconds = (record.run_time_ns + NS_PER_SECOND / 2) / NS_PER_SECOND;
                match self.options.is_machine_readable {
                    true => format!("@C@0@{seconds}@\n"),
                    false => {
                        // pgmeter removes the files after the run, so both cleanup lines show the
                        // end of the run.
                        let clients = self.options.clients;
                        format!(
                            "{clients:4}  cleanup {seconds:3} sec\n   0  cleanup {seconds:3} sec\n"
                        )
                    }
                }
            }
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        let warnings = record.warnings.iter();
        let broken = warnings.filter(|it| it.code == WarningCode::TraceBroken);
        let broken: String = broken
            .map(|it| format!("ERROR: {}\n", it.message))
            .collect();
        let cells = record.cells.iter();
        cells.fold(broken, |text, cell| text + &table(&self.options, cell))
    }
}

fn begin(options: &DbenchOptions) -> String {
    let (file, clients) = (&options.load_file, options.clients);
    let (time_s, warm_up_s) = (options.time_s, options.warm_up_s);
    format!(
        "dbench version 4.00 - emulated by pgmeter\n\n\
         Running for {time_s} seconds with load '{file}' and minimum warmup {warm_up_s} secs\n\
         {clients} of {clients} processes prepared for launch   0 sec\nreleasing clients\n"
    )
}

impl DbenchText {
    fn interval(&mut self, interval: &IntervalRecord) -> String {
        if interval.at_ns == 0 {
            // The measured time starts at 0 again after the warm-up.
            (self.printed_s, self.max_ns) = (0, 0);
        }
        for (name, figures) in &interval.operations {
            // Failed calls are lines of the load file, too.
            self.requests += figures.count + figures.errors;
            self.max_ns = self.max_ns.max(figures.max_ns.unwrap_or(0));
            if matches!(name.as_str(), "read" | "write") {
                self.bytes += figures.bytes;
            }
        }
        let end_ns = interval.at_ns + interval.length_ns;
        let rate = self.bytes as f64 * 1e3 / end_ns.max(1) as f64;
        // An interval may end slightly before a full second.
        self.line('R', (end_ns + NS_PER_SECOND / 20) / NS_PER_SECOND, rate)
    }

    /// The line of a second, unless it was printed before. `stage` is `W` for the warm-up or `R`
    /// for the run; `rate` is in MB/s.
    fn line(&mut self, stage: char, seconds: u64, rate: f64) -> String {
        if seconds <= self.printed_s {
            return String::new();
        }
        self.printed_s = seconds;
        let latency_ms = std::mem::take(&mut self.max_ns) as f64 / 1e6;
        let clients = self.options.clients;
        // The original prints the mean line number of its clients here.
        let requests = self.requests / u64::from(clients.max(1));
        let name = if stage == 'W' { "warmup " } else { "execute" };
        match self.options.is_machine_readable {
            true => {
                format!("@{stage}@{clients}@{requests}@{rate:.2}@{seconds}@{latency_ms:.3}@\n")
            }
            false => format!(
                "{clients:4}  {requests:8}  {rate:7.2} MB/sec  {name} {seconds:3} sec  \
                 latency {latency_ms:.3} ms\n"
            ),
        }
    }
}

/// The table of operations, a table of each client on request, and the throughput in MB/s.
fn table(options: &DbenchOptions, cell: &CellRecord) -> String {
    // In the order of the original.
    let labels = OPERATIONS.iter().filter_map(|(name, ..)| label(cell, name));
    let labels: Vec<&LabelFigures> = labels.filter(|it| it.count > 0).collect();
    let all = sum_of_labels(labels.iter().copied());
    let rate = format_general(all.bytes as f64 * 1e3 / cell.run_time_ns.max(1) as f64);
    let (clients, processes) = (options.clients, options.processes);
    let most_ms = all.max_ns as f64 / 1e6;
    let rows = labels.iter().map(|it| {
        let (count, mean_ms, most_ms) = (it.count, mean_ms(it), it.max_ns as f64 / 1e6);
        row(options, &it.label, count, mean_ms, most_ms)
    });
    let rows: String = rows.collect();
    if options.is_machine_readable {
        return format!("{rows};{rate};{clients};{processes};{most_ms:.3};\n");
    }
    let text_if = |is_so, text| if is_so { text } else { "" };
    let sync = text_if(options.is_sync, " (sync open)");
    let directories = text_if(options.syncs_directories, " (sync dirs)");
    let each = match options.has_client_tables {
        true => client_tables(options, cell),
        false => String::new(),
    };
    format!(
        "\n{HEAD}{rows}\n{each}Throughput {rate} MB/sec{sync}{directories}  {clients} clients  \
         {processes} procs  max_latency={most_ms:.3} ms\n"
    )
}

const HEAD: &str = " Operation      Count    AvgLat    MaxLat
 ----------------------------------------
";

/// A row of a table; times in milliseconds.
fn row(options: &DbenchOptions, name: &str, count: u64, mean_ms: f64, most_ms: f64) -> String {
    match options.is_machine_readable {
        true => format!(":{name}:{count}:{mean_ms:.3}:{most_ms:.3}:\n"),
        false => format!(" {name:<12} {count:7} {mean_ms:9.3} {most_ms:9.3}\n"),
    }
}

/// The tables of the clients.
fn client_tables(options: &DbenchOptions, cell: &CellRecord) -> String {
    let rounds = cell.phase_figures.iter().flat_map(|it| it.rounds.first());
    let clients = rounds.flat_map(|it| &it.workers).enumerate();
    let tables = clients.map(|(number, client)| {
        let window = client.window.unwrap_or_default();
        let rows = OPERATIONS.iter().map(|(name, ..)| (name, client.of(name)));
        let rows = rows.filter(|(_, times)| times.count > 0);
        let rows = rows.map(|(name, times)| {
            let mean_ms = times.sum_ns as f64 / times.count as f64 / 1e6;
            row(
                options,
                name,
                times.count,
                mean_ms,
                times.max_ns as f64 / 1e6,
            )
        });
        let (calls, bytes) = (window.calls, WorkerProgress::at_end(&window).bytes);
        let rows: String = rows.collect();
        format!("Client {number} did {calls} lines and {bytes} bytes\n{HEAD}{rows}\n")
    });
    tables.fold("Per client results:\n".to_owned(), |text, table| {
        text + &table
    })
}
