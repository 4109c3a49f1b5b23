//! The verdict on a run that data sheets have no results for.

use results::RunRecord;
use units::format;

use crate::group::{Metric, Naming, RepeatedCell, best_of_each_workload};
use crate::measure::WorkloadMeasure;
use crate::parts::CountedOperations;

use super::limit::{LimitSubject, RateLimits};
use super::rate::UncertainRate;
use super::{RunVerdict, VerdictFigure};

/// Maximum number of main results.
const FIGURES_MAX: usize = 8;

/// Returns the verdict on all cells of a run.
pub(super) fn verdict(record: &RunRecord, groups: &[RepeatedCell], naming: &Naming) -> RunVerdict {
    let own = groups.iter().filter(|it| !it.depends_on_peak()).cloned();
    let own: Vec<RepeatedCell> = own.collect();
    let figures = best_of_each_workload(&own, FIGURES_MAX).into_iter();
    let has_peak = own.len() < groups.len();
    let figure = |it| {
        let figure = figure(it, naming)?;
        // Rates that were requested follow from this one.
        let name = match has_peak {
            true => format!("{}, closed-loop peak", figure.name),
            false => figure.name,
        };
        Some(VerdictFigure { name, ..figure })
    };
    let figures: Vec<VerdictFigure> = figures.filter_map(figure).collect();
    let is_measured = |it: &&RepeatedCell| it.cells.iter().any(|cell| cell.total.count > 0);
    let measured_count = own.iter().filter(is_measured).count();
    let subjects = own.iter().map(|group| LimitSubject {
        name: naming.place(&group.identity),
        group,
    });
    let limits = RateLimits {
        record,
        known: &[],
        subjects: subjects.collect(),
        // Cells of different targets or with their own pace may share a rate by chance.
        groups: Vec::new(),
    };
    RunVerdict {
        more_count: measured_count.saturating_sub(figures.len()),
        figures,
        sentences: match record.cells.is_empty() {
            true => Vec::new(),
            false => vec![("limit", limits.sentence())],
        },
        ..RunVerdict::default()
    }
}

/// Returns the main result of a group; `None` if nothing was measured.
fn figure(group: &RepeatedCell, naming: &Naming) -> Option<VerdictFigure> {
    let measure = WorkloadMeasure::of(group);
    let counts_transactions = group.figure(Metric::TransactionsPerSecond).is_some();
    let metric = match counts_transactions {
        true => Metric::TransactionsPerSecond,
        false => measure.metric(),
    };
    let rate = UncertainRate::of(group, metric)?;
    let counts_files = measure == WorkloadMeasure::Rate(CountedOperations::FileOperations);
    let moves = group.cells.iter().any(|cell| cell.total.bytes > 0);
    let depth = u64::from(group.identity.iodepth);
    Some(VerdictFigure {
        name: naming.line(&group.identity),
        depth: naming.has_depths().then_some(depth),
        value: match metric {
            Metric::BytesPerSecond => format::bandwidth(rate.mean),
            Metric::TransactionsPerSecond => {
                format!("{} transactions/s", format::iops(rate.mean))
            }
            _ if moves && !counts_files => format!("{} IOPS", format::iops(rate.mean)),
            _ => format!("{} per second", format::iops(rate.mean)),
        },
        uncertainty: rate.uncertainty_sentence(),
    })
}
