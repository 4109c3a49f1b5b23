//! The repetitions of a run's cells around their means.

use maud::Markup;

use super::run::Run;
use crate::forest::{ForestRow, forest};
use crate::group::{GroupFigure, RepeatedCell};
use crate::measure::WorkloadMeasure;

/// Returns the rate of each repetition of each cell as a ratio to their mean; nothing if no cell
/// was repeated.
pub(super) fn plot(run: &Run) -> Markup {
    let rows = run.groups.iter().filter_map(|group| row(run, group));
    forest(&rows.collect::<Vec<_>>(), "the mean of the repetitions")
}

fn row(run: &Run, group: &RepeatedCell) -> Option<ForestRow> {
    let metric = WorkloadMeasure::of(group).metric();
    let GroupFigure { mean, interval, n } = group.figure(metric)?;
    let ends = interval.filter(|_| mean > 0.0)?;
    let detail = format!("{} in {n} repetitions", metric.show(mean));
    Some(ForestRow {
        label: run.naming.place(&group.identity),
        detail,
        ratio: 1.0,
        interval: Some(ends.map(|end| end / mean)),
        detectable: group.smallest_difference(metric).map(|it| it / mean),
        repetitions: group.values(metric).iter().map(|it| it / mean).collect(),
        verdict: None,
        bars: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn repeated_cells_show_their_repetitions_around_the_mean() {
        let mut record = sample::record();
        let plan = record.plan.clone();
        let counts = [10_000, 11_000, 9_000];
        let cells = counts.map(|count| sample::cell_record(&plan, 0, count));
        record.cells = cells.into();
        for (repetition, cell) in (0..).zip(&mut record.cells) {
            cell.repetition = repetition;
        }
        let page = |record: &results::RunRecord| {
            let runs = Run::all(std::slice::from_ref(record));
            plot(&runs[0]).into_string()
        };
        assert!(page(&record).is_empty(), "without estimates");
        record.estimates = results::estimates(&record.cells);
        let shown = page(&record);
        assert!(shown.contains("class=\"forest\""), "{shown}");
        assert_eq!(shown.matches("class=\"single\"").count(), 3);
        assert!(shown.contains("class=\"shade\""), "{shown}");
        assert!(shown.contains("in 3 repetitions"), "{shown}");
    }
}
