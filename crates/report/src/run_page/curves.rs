//! Sections for response-time curves and for searches for the highest rate.

use maud::{Markup, html};

use super::run::Run;
use crate::chart::{Chart, figures, rate_search, response_curve};
use crate::curve::curves;
use crate::html::table;
use crate::verdict::searches;

/// Returns charts of response time by rate; empty without curves and trials.
#[must_use]
pub fn section(run: &Run) -> Markup {
    let charts: Vec<Chart> = curves(run.record)
        .iter()
        .map(|curve| response_curve(curve, &run.naming.cell(curve.peak)))
        .collect();
    let found = searches(run.record, &run.naming).into_iter();
    let trials: Vec<Chart> = found
        .filter_map(|(search, found)| rate_search(&search, format!("{found}.")))
        .collect();
    let heading = match (charts.is_empty(), trials.is_empty()) {
        (false, _) => "Response-time curve",
        (true, false) => "Highest rate",
        (true, true) => return html! {},
    };
    let charts = [charts, trials].concat();
    html! {
        section #(run.id("curves")) {
            h2 { (run.heading(heading)) }
            (figures(&charts))
            @if let Some(curves) = &run.model.curves {
                @let caption = "Overall response time: the area under the curve over its \
                                highest achieved rate, between measured points only";
                (table(curves, caption, |_| None))
            }
            @if let Some(points) = &run.model.open_loop {
                (table(points, "Every rate", |_| None))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::{ArrivalKind, CurvePart, ResponseLimit};
    use results::{OpenLoopFigures, RunRecord, Status};

    use super::*;
    use crate::curve::tests::record;
    use crate::sample;

    /// The points of a curve as trials.
    fn tried(rates: &[(u32, f64)]) -> RunRecord {
        let limit: ResponseLimit = "p99<=2ms".parse().unwrap();
        let arrivals = ArrivalKind::Poisson;
        let trial = CurvePart::Trial {
            number: 1,
            limit,
            arrivals,
        };
        let mut record = record(rates);
        for (index, cell) in (0..).zip(record.cells.iter_mut()) {
            cell.index = index;
            cell.repetition = 0;
            cell.status = Status::Complete;
            if let Some(CurvePart::Point { .. }) = cell.curve {
                cell.curve = Some(trial);
            }
            if let Some(figures) = &mut cell.open_loop {
                let figures: &mut OpenLoopFigures = figures;
                figures.response.percentiles_ns.p99 = figures.response.mean_ns.map(|ns| ns as u64);
            }
        }
        let first = record.cells[0].first_index;
        for cell in &mut record.plan.cells {
            cell.first_index = first;
            cell.curve = Some(trial);
        }
        record
    }

    #[test]
    fn trials_have_a_chart_and_a_table() {
        let records = [tried(&[(50, 1e6), (75, 1.5e6), (100, 9e6)])];
        let runs = Run::all(&records);
        let page = section(&runs[0]).into_string();
        assert!(page.contains("<h2>Highest rate</h2>"), "{page}");
        assert!(page.contains("class=\"figures\""), "{page}");
        assert!(page.contains("Every rate"), "{page}");
    }

    #[test]
    fn a_run_without_a_rate_has_no_curve_section() {
        let records = [sample::record()];
        assert!(section(&Run::all(&records)[0]).into_string().is_empty());
    }
}
