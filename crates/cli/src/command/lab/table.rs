//! The table of a lab matrix.

use std::time::Duration;

use lab::{JobCosts, LabMatrix, LabWorkload, MatrixOutcome};
use report::{BetterDirection, Extra};
use results::{LabColumn, LabRecord, LabSection, Timestamp};

use super::remarks::{alarms, built_as, notes_of, remarks};

const MIB: f64 = 1_048_576.0;

/// A row of costs in the table.
struct CostRow {
    label: &'static str,
    better: BetterDirection,
    value: fn(&JobCosts) -> Option<f64>,
}

impl CostRow {
    const fn lower(label: &'static str, of: fn(&JobCosts) -> Option<f64>) -> Self {
        Self {
            label,
            better: BetterDirection::Lower,
            value: of,
        }
    }

    const fn neutral(label: &'static str, of: fn(&JobCosts) -> Option<f64>) -> Self {
        Self {
            label,
            better: BetterDirection::Neither,
            value: of,
        }
    }
}

/// Labels that end in `, s` are times.
const COSTS: [CostRow; 12] = [
    CostRow::lower("sync afterwards, s", |it| seconds(it.sync)),
    CostRow::neutral("user writes, MiB", |it| mebibytes(it.user_written_bytes)),
    CostRow::lower("device writes, MiB", |it| {
        mebibytes(it.device_written_bytes)
    }),
    CostRow::lower("device per user byte", JobCosts::device_bytes_per_user_byte),
    CostRow::neutral("segments cleaned", |it| {
        it.cleaned_segments.map(|count| count as f64)
    }),
    CostRow::neutral("cleaning wrote, MiB", |it| {
        mebibytes(it.cleaning_written_bytes)
    }),
    CostRow::neutral("trimmed, MiB", |it| mebibytes(it.trimmed_bytes)),
    CostRow::lower("mkfs, s", |it| seconds(it.mkfs)),
    CostRow::lower("unmount, s", |it| seconds(it.unmount)),
    CostRow::neutral("aged: full, %", |it| it.aged.map(|aged| aged.full_percent)),
    CostRow::lower("aged: extents per file", |it| {
        it.layout().map(|layout| layout.extents_per_file())
    }),
    CostRow::lower("aged: files in several extents, %", |it| {
        it.layout().map(|layout| layout.split_percent())
    }),
];

fn seconds(span: Option<Duration>) -> Option<f64> {
    span.map(|span| span.as_secs_f64())
}

fn mebibytes(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|bytes| bytes as f64 / MIB)
}

/// Returns a matrix as a record: one section per workload, file systems in columns.
pub(super) fn record(
    matrix: &LabMatrix,
    outcome: &MatrixOutcome,
    (start, title): (LabRecord, String),
) -> LabRecord {
    let choices = &matrix.request.choices;
    let columns = choices.iter().zip(&outcome.setups);
    let columns = columns.map(|(choice, built)| LabColumn {
        name: choice.label.clone(),
        behind: built
            .as_ref()
            .map_or_else(|| "not mounted".to_owned(), built_as),
    });
    let all: Vec<usize> = (0..choices.len()).collect();
    let section = |(workload_index, workload): (usize, &LabWorkload)| LabSection {
        heading: workload.name.clone(),
        runs: all
            .iter()
            .map(|choice_index| {
                let measured = outcome.of_job(workload_index, *choice_index);
                measured.map(|it| it.record.id.clone()).collect()
            })
            .collect(),
        figures: costs(outcome, workload_index, &all),
        words: Vec::new(),
    };
    LabRecord {
        finished_at: Some(Timestamp::now()),
        title,
        is_of_guests: matrix.request.host.is_some(),
        remarks: remarks(&matrix.request),
        columns: columns.collect(),
        alarms: alarms(matrix, outcome),
        sections: matrix.workloads.iter().enumerate().map(section).collect(),
        notes: notes_of(matrix, outcome),
        runs: outcome
            .measured
            .iter()
            .map(|it| it.record.clone())
            .collect(),
        ..start
    }
}

/// Returns the known costs of the jobs of a workload on each of these file systems, in addition to
/// the results of the workload itself.
pub(crate) fn costs(
    outcome: &MatrixOutcome,
    workload_index: usize,
    choices: &[usize],
) -> Vec<Extra> {
    let samples = |choice_index: usize, of: fn(&JobCosts) -> Option<f64>| {
        let measured = outcome.of_job(workload_index, choice_index);
        measured.filter_map(|it| of(&it.costs)).collect()
    };
    let extras = COSTS.iter().map(|row| Extra {
        label: row.label.to_owned(),
        samples: choices.iter().map(|it| samples(*it, row.value)).collect(),
        better: row.better,
        is_time: row.label.ends_with(", s"),
    });
    let is_known = |extra: &Extra| extra.samples.iter().any(|samples| !samples.is_empty());
    extras.filter(is_known).collect()
}
