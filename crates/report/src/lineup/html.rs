//! A line-up as a page, with a bar for each figure.

use maud::{Markup, html};

use super::rows::{Row, Value};
use super::text::{interval, ratio};
use super::{Lineup, SHORT, Section};
use crate::html::{document, plain, sentence};
use crate::numbers::ABSENT;
use crate::table::Column;

/// The page, which needs nothing but itself.
pub(super) fn render(lineup: &Lineup) -> String {
    let navigation = html! {
        @for (place, section) in lineup.sections.iter().enumerate() {
            a href={ "#section-" (place) } { (sentence(&section.heading)) }
        }
        @if !lineup.runs.is_empty() { a href="#runs" { "Runs" } }
    };
    let body = html! {
        header {
            h1 { (sentence(&lineup.title)) }
            @if !lineup.facts.is_empty() {
                dl.facts {
                    @for (name, fact) in &lineup.facts { div { dt { (name) } dd { (fact) } } }
                }
            }
            @if let Some(summary) = lineup.summary() {
                p.lead { (sentence(&summary)) }
            }
            @if let Some(cache) = lineup.page_cache() {
                section.warnings aria-label="Page cache" { p { (sentence(&cache)) } }
            }
        }
        main #content {
            @for remark in &lineup.remarks { p { (sentence(remark)) } }
            @for alarm in &lineup.alarms { pre role="alert" { (alarm) } }
            section #columns {
                h2 { "What was mounted how" }
                div.frame tabindex="0" role="group" aria-label="What was mounted how" {
                    table.pairs {
                        tbody {
                            @for (name, behind) in &lineup.columns {
                                tr { th scope="row" { (name) } td.name { (sentence(behind)) } }
                            }
                        }
                    }
                }
            }
            @for (place, section) in lineup.sections.iter().enumerate() {
                (part(lineup, section, place))
            }
            @for note in lineup.foot() { p { (sentence(&note)) } }
            (runs(lineup))
        }
    };
    document(&lineup.title, &navigation, &body)
}

fn part(lineup: &Lineup, section: &Section, place: usize) -> Markup {
    html! {
        section id={ "section-" (place) } {
            h2 { (sentence(&section.heading)) }
            @for alarm in &section.alarms { p role="alert" { strong { (sentence(alarm)) } } }
            @for text in section.sentences() { p { (sentence(text)) } }
            div.frame tabindex="0" role="group" aria-label=(section.heading) {
                table {
                    thead {
                        tr {
                            th.name scope="col" { "figure" }
                            @for (name, _) in &lineup.columns {
                                th scope="col" { a href="#columns" { (name) } }
                            }
                        }
                    }
                    tbody { @for row in &section.rows { (line(row)) } }
                }
            }
        }
    }
}

/// The runs that it is made of, each with what there is to doubt of it.
fn runs(lineup: &Lineup) -> Markup {
    let heads = ["run", "workload", "file system", "began", "warnings"];
    let rows = lineup.runs.iter().map(|run| {
        let warnings: Vec<String> = run.warnings.iter().map(|it| format!("`{it}`")).collect();
        vec![
            run.id.clone(),
            run.section.clone(),
            run.column.clone(),
            run.started.clone(),
            warnings.join(", "),
        ]
    });
    html! {
        @if !lineup.runs.is_empty() {
            section #runs {
                h2 { "Runs" }
                p { (sentence("`pgmeter report RUN --format html` makes the page of a run.")) }
                (plain(heads.map(Column::name).into(), rows.collect(), "Runs"))
            }
        }
    }
}

fn line(row: &Row) -> Markup {
    let best = row.best();
    html! {
        tr {
            th scope="row" {
                (sentence(&row.label))
                @if row.is_short { " " (SHORT) }
                @if !row.direction().is_empty() { br; small { (row.direction()) } }
            }
            @for (place, value) in row.values.iter().enumerate() {
                td {
                    @match value {
                        Some(value) => { (cell(row, place, value, best == Some(place))) }
                        None => { (ABSENT) }
                    }
                }
            }
        }
    }
}

fn cell(row: &Row, place: usize, value: &Value, is_best: bool) -> Markup {
    html! {
        @if is_best { strong { "* " (value.shown) } } @else { (value.shown) }
        @if row.most() > 0.0 { (bar(row.most(), value, is_best)) }
        @if let Some(of) = value.ratio {
            small {
                "× " (ratio(of.value))
                @let interval = interval(row, place, value);
                @if !interval.is_empty() { br; (interval) }
            }
        }
    }
}

/// A bar as long as the figure's share of the largest, with the ends of its interval.
fn bar(most: f64, value: &Value, is_best: bool) -> Markup {
    let share = |part: f64| format!("{:.1}%", (100.0 * part / most).clamp(0.0, 100.0));
    let ends = value.estimate.and_then(|it| it.ci95_low.zip(it.ci95_high));
    html! {
        div.bar.below.best[is_best] aria-hidden="true" {
            div.fill style={ "width:" (share(value.mean)) } {}
            @if let Some((low, high)) = ends {
                @let low = low.clamp(0.0, most);
                @let width = share(high.min(most) - low);
                div.whisker style={ "left:" (share(low)) ";width:" (width) } {}
            }
        }
    }
}
