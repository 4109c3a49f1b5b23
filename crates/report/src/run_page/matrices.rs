//! Section for settings that vary.

use maud::{Markup, html};

use super::run::Run;
use crate::chart::{by_setting, figures};
use crate::html::{below_heading, sentence};
use crate::matrix::{SettingMatrix, matrices};
use crate::names::capital;

/// Lines of a larger number would be hard to distinguish in one chart.
const LINES_MAX: usize = 6;
/// Number of charts that are open at first.
const OPEN_COUNT: usize = 2;

/// Returns a table and charts for each workload that was measured with several values of some
/// settings; empty without such workloads.
#[must_use]
pub fn section(run: &Run) -> Markup {
    let matrices = matrices(&run.groups, &run.record.plan);
    html! {
        @if !matrices.is_empty() {
            section #(run.id("settings")) {
                h2 { (run.heading("Settings that vary")) }
                @for matrix in &matrices { (part(matrix)) }
            }
        }
    }
}

fn part(matrix: &SettingMatrix) -> Markup {
    let charts = by_setting(matrix, LINES_MAX);
    let (first, rest) = charts.split_at(OPEN_COUNT.min(charts.len()));
    html! {
        h3 { (sentence(&matrix.caption())) }
        (below_heading(&matrix.table(), &matrix.caption()))
        @if let Some(best) = matrix.best() { p { (sentence(&capital(&best))) "." } }
        (figures(first))
        @if !rest.is_empty() {
            details.cell {
                summary { "Charts of the other combinations" }
                (figures(rest))
            }
        }
    }
}
