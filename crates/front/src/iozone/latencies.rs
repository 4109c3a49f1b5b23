//! Files of `-Q`: the offset, latency and size of each record.

use std::collections::BTreeMap;

use plan::job::{LoggedRequest, RecordedKind};
use results::{CellRecord, RunRecord, WorkerFigures};

use super::options::IozoneOptions;
use super::text::measured;

const HEADING: &str = "Offset in kBytes   Latency in microseconds  Transfer size in bytes\n";

/// Names of the files by phase, without prefix and ending. A single stream only has the first four.
const NAMES: [(&str, &str); 14] = [
    ("write", "wol"),
    ("rewrite", "rwol"),
    ("read", "rol"),
    ("reread", "rrol"),
    ("backward read", "revol"),
    ("stride read", "strol"),
    ("random read", "randrol"),
    ("mixed", "randrol"),
    ("random write", "randwol"),
    ("mixed", "randwol"),
    ("pwrite", "pwol"),
    ("pread", "prol"),
    ("fwrite", "fwol"),
    ("fread", "frol"),
];
const SINGLE_COUNT: usize = 4;

/// The files of a run with their names, in the current directory as in the original. Results of
/// several sizes follow each other in one file.
pub(super) fn files(options: &IozoneOptions, record: &RunRecord) -> Vec<(String, String)> {
    let is_together = options.is_together();
    let names = match is_together {
        true => &NAMES[..],
        false => &NAMES[..SINGLE_COUNT],
    };
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for sizes in measured(record) {
        for (phase, name) in names {
            let Some(cell) = sizes.phase(phase) else {
                continue;
            };
            for (child, worker) in cell.worker_figures.iter().enumerate() {
                // In the mixed test, a child either reads or writes.
                let rows = rows(worker, name);
                if rows.is_empty() {
                    continue;
                }
                let name = match is_together {
                    true => format!("Child_{child}_{name}.dat"),
                    false => format!("{name}.dat"),
                };
                let text = files.entry(name).or_insert_with(|| HEADING.to_owned());
                text.push_str(&rows);
                // As in the original, only a single stream has this line.
                if !is_together {
                    text.push_str(&times(cell, worker));
                }
            }
        }
    }
    files.into_iter().collect()
}

/// A row for each record.
fn rows(worker: &WorkerFigures, name: &str) -> String {
    let kind = match name.ends_with("wol") {
        true => RecordedKind::Write,
        false => RecordedKind::Read,
    };
    let is_record = |it: &&LoggedRequest| it.request.kind == kind;
    let mut next_bytes = 0;
    let mut text = String::new();
    for it in worker.noted.iter().filter(is_record) {
        let length = u64::from(it.request.length_bytes);
        // A call at the position of the file follows the one before.
        let offset_bytes = Some(it.request.offset_bytes).filter(|it| *it <= FILE_BYTES_MAX);
        let offset_bytes = offset_bytes.unwrap_or(next_bytes);
        next_bytes = offset_bytes + length;
        let latency_us = it.done_ns.saturating_sub(it.request.due_ns) as f64 / 1e3;
        let offset_kib = offset_bytes >> 10;
        text.push_str(&format!("{offset_kib:10} {latency_us:10.0} {length:10}\n"));
    }
    text
}

/// Larger offsets are codes.
const FILE_BYTES_MAX: u64 = 1 << 41;

fn times(cell: &CellRecord, worker: &WorkerFigures) -> String {
    let seconds = |ns: u64| ns as f64 / 1e9;
    format!(
        "\nSystem time {:10.3} User time {:10.3} Real {:10.3}  (seconds)\n",
        seconds(worker.system_ns),
        seconds(worker.user_ns),
        seconds(cell.run_time_ns)
    )
}

#[cfg(test)]
mod tests {
    use plan::job::RecordedRequest;

    use super::*;

    #[test]
    fn records_at_the_position_of_the_file_follow_each_other() {
        let logged = |kind, offset_bytes, length_bytes, times: (u64, u64)| LoggedRequest {
            request: RecordedRequest {
                due_ns: times.0,
                kind,
                part_index: 0,
                length_bytes,
                offset_bytes,
            },
            index: 0,
            moved_bytes: length_bytes,
            submitted_ns: times.0,
            done_ns: times.1,
        };
        let worker = WorkerFigures {
            noted: vec![
                logged(RecordedKind::Write, u64::MAX, 65_536, (0, 26_400)),
                logged(RecordedKind::Other, 0, 0, (26_400, 27_000)),
                logged(RecordedKind::Write, u64::MAX, 65_536, (30_000, 37_000)),
                logged(RecordedKind::Write, 0, 4096, (37_000, 38_000)),
            ],
            ..WorkerFigures::default()
        };
        assert_eq!(
            rows(&worker, "wol"),
            "         0         26      65536\n        64          7      65536\n         \
             0          1       4096\n"
        );
        assert_eq!(rows(&worker, "rol"), "");
    }
}
