//! The section of response-time curves.

use maud::{Markup, html};

use super::chart::response_curve;
use super::packed::figures;
use super::run::Run;
use super::table::table;
use crate::curve::curves;

/// Response time against achieved rate; nothing where no curve was measured.
#[must_use]
pub fn section(run: &Run) -> Markup {
    let charts: Vec<_> = curves(run.record)
        .iter()
        .map(|curve| response_curve(curve, &run.naming.cell(curve.peak)))
        .collect();
    html! {
        @if !charts.is_empty() {
            section #(run.id("curves")) {
                h2 { (run.heading("Response-time curve")) }
                (figures(&charts))
                @if let Some(curves) = &run.model.curves {
                    @let caption = "Overall response time: the area under the curve over its \
                                    highest achieved rate, between measured points only";
                    (table(curves, caption, |_| None))
                }
                @if let Some(points) = &run.model.open_loop {
                    (table(points, "Every point", |_| None))
                }
            }
        }
    }
}
