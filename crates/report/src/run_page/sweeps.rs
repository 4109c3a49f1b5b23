//! Section for queue depth sweeps.

use maud::{Markup, html};

use super::run::Run;
use crate::chart::{Chart, SweepLine, figures, sweeps};
use crate::html::sentence;
use crate::measure::WorkloadMeasure;
use crate::verdict::sweeps as sweeps_of;

/// Lines of a larger number would be hard to distinguish in one chart.
const LINES_MAX: usize = 6;

/// Returns charts of the workloads measured at several queue depths; empty without such workloads.
#[must_use]
pub fn section(runs: &[Run]) -> Markup {
    let lines: Vec<SweepLine> = runs.iter().flat_map(lines).collect();
    let parts =
        WorkloadMeasure::group_by_measure(lines, |line| WorkloadMeasure::of(&line.groups[0]));
    // On the page of a lab, each run has its own section.
    let id = match runs {
        [only] => only.id("sweeps"),
        _ => "sweeps".to_owned(),
    };
    html! {
        @if !parts.is_empty() {
            section #(id) {
                h2 { "Queue depth" }
                @for (measure, lines) in &parts { (charts(*measure, lines)) }
            }
        }
    }
}

/// Returns the two charts of the first measure; `None` without workloads at several depths.
pub(super) fn first(run: &Run) -> Option<[Chart; 2]> {
    let parts =
        WorkloadMeasure::group_by_measure(lines(run), |line| WorkloadMeasure::of(&line.groups[0]));
    let (measure, lines) = parts.first()?;
    Some(sweeps(&lines[..lines.len().min(LINES_MAX)], *measure))
}

/// Returns a chart of the first few lines of a measure. The others are in charts that can be
/// opened.
fn charts(measure: WorkloadMeasure, lines: &[SweepLine]) -> Markup {
    let mut charts = lines.chunks(LINES_MAX);
    html! {
        @if let Some(first) = charts.next() { (figures(&sweeps(first, measure))) }
        @for lines in charts {
            details.cell {
                summary { (sentence(&names(lines))) }
                (figures(&sweeps(lines, measure)))
            }
        }
    }
}

fn names(lines: &[SweepLine]) -> String {
    let names: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
    names.join(" · ")
}

/// Returns the groups of a run that differ only in queue depth, if there are several.
fn lines<'a>(run: &Run<'a>) -> Vec<SweepLine<'a>> {
    // Two depths make a line in a chart. Advice needs more of them.
    sweeps_of(&run.groups, 2)
        .into_iter()
        .map(|(identity, groups)| {
            let name = run.naming.line(&identity);
            let label = match &run.letter {
                None => name,
                Some(letter) => format!("{letter}: {name}"),
            };
            let groups = groups.into_iter().cloned().collect();
            SweepLine { label, groups }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn only_workloads_measured_at_several_depths_are_sweeps() {
        let mut record = sample::record();
        let records = [record.clone()];
        assert!(lines(&Run::all(&records)[0]).is_empty());
        let mut deeper = record.cells[0].clone();
        (deeper.first_index, deeper.iodepth) = (Some(2), 16);
        record.cells.push(deeper);
        let records = [record];
        let runs = Run::all(&records);
        let lines = lines(&runs[0]);
        assert_eq!((lines.len(), lines[0].groups.len()), (1, 2));
        assert_eq!(lines[0].label, "File Server, 2 workers");
    }
}
