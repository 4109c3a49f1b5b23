//! Runs side by side as a page, with a bar for each figure.

use maud::{Markup, html};

use super::of_record::REPEAT;
use super::rows::{Row, Value};
use super::text::{interval, ratio};
use super::{SHORT, Section, SideBySide};
use crate::html::{RunGroup, again, document, opened, plain_table, sentence};
use crate::numbers::ABSENT;
use crate::table::{Column, Table};

/// The page, which needs nothing but itself: the runs that it is made of open within it.
pub(super) fn render(side_by_side: &SideBySide) -> String {
    let navigation = html! {
        @for (place, section) in side_by_side.sections.iter().enumerate() {
            a href={ "#section-" (place) } { (sentence(&section.heading)) }
        }
        a href="#columns" { "File systems" }
        @if !side_by_side.runs.is_empty() { a href="#runs" { "Runs" } }
        @if !side_by_side.command.is_empty() { a href="#again" { "Repeat" } }
    };
    let body = html! {
        (header(side_by_side))
        main #content {
            @for (place, section) in side_by_side.sections.iter().enumerate() {
                (part(side_by_side, section, place))
            }
            @for note in side_by_side.foot(true) { p { (sentence(&note)) } }
            (columns(side_by_side))
            (runs(side_by_side))
            (again(&side_by_side.command))
        }
    };
    document(&side_by_side.title, &navigation, &body)
}

/// What was measured on what, what came out of it, and what speaks against it.
fn header(side_by_side: &SideBySide) -> Markup {
    let facts = || {
        side_by_side
            .facts
            .iter()
            .filter(|(name, _)| *name != REPEAT)
    };
    html! {
        header {
            h1 { (sentence(&side_by_side.title)) }
            @if let Some(summary) = side_by_side.summary() {
                p.lead { (sentence(&summary)) }
            }
            @if let Some(cache) = side_by_side.page_cache() {
                section.warnings aria-label="Page cache" { p { (sentence(&cache)) } }
            }
            @if !side_by_side.alarms.is_empty() {
                section.warnings aria-label="What failed" {
                    h2 { "What failed" }
                    ul {
                        @for alarm in &side_by_side.alarms {
                            li.severe.alarm { (sentence(alarm)) }
                        }
                    }
                }
            }
            @if facts().count() > 0 {
                dl.facts {
                    @for (name, fact) in facts() { div { dt { (name) } dd { (fact) } } }
                }
            }
            @for remark in &side_by_side.remarks { p.remark { (sentence(remark)) } }
        }
    }
}

/// How each file system was made and mounted.
fn columns(side_by_side: &SideBySide) -> Markup {
    html! {
        section #columns {
            h2 { "File systems" }
            div.frame tabindex="0" role="group" aria-label="File systems" {
                table.pairs {
                    tbody {
                        @for (name, behind) in &side_by_side.columns {
                            tr { th scope="row" { (name) } td.name { (sentence(behind)) } }
                        }
                    }
                }
            }
        }
    }
}

fn part(side_by_side: &SideBySide, section: &Section, place: usize) -> Markup {
    html! {
        section id={ "section-" (place) } {
            h2 { (sentence(&section.heading)) }
            @for alarm in &section.alarms { p role="alert" { strong { (sentence(alarm)) } } }
            @for text in section.sentences() { p { (sentence(text)) } }
            div.frame tabindex="0" role="group" aria-label=(section.heading) {
                table.side-by-side {
                    thead {
                        tr {
                            th.name scope="col" { "figure" }
                            @for (name, _) in &side_by_side.columns {
                                th scope="col" { a href="#columns" { (name) } }
                            }
                        }
                    }
                    tbody { @for row in &section.rows { (line(side_by_side, row, place)) } }
                }
            }
        }
    }
}

/// What the runs of a section in a column are called among the page's elements.
fn group_id([section, column]: [usize; 2]) -> String {
    format!("runs-{section}-{column}")
}

/// The runs of each workload on each file system.
fn groups(side_by_side: &SideBySide) -> Vec<RunGroup> {
    let mut groups: Vec<RunGroup> = Vec::new();
    for (index, run) in side_by_side.runs.iter().enumerate() {
        let id = group_id(run.place);
        match groups.last_mut().filter(|group| group.id == id) {
            Some(group) => group.runs.push(index),
            None => groups.push(RunGroup {
                id,
                name: format!("{} on {}", run.section, run.column),
                runs: vec![index],
            }),
        }
    }
    groups
}

/// The runs that it is made of, each with what there is to doubt of it, and then each in full.
fn runs(side_by_side: &SideBySide) -> Markup {
    let heads = ["run", "workload", "file system", "began", "warnings"];
    let rows = side_by_side.runs.iter().map(|run| {
        let warnings: Vec<String> = run.warnings.iter().map(|it| format!("`{it}`")).collect();
        vec![
            run.id.clone(),
            run.section.clone(),
            run.column.clone(),
            run.started.clone(),
            warnings.join(", "),
        ]
    });
    let listed = Table {
        columns: heads.map(Column::name).into(),
        rows: rows.collect(),
        span: None,
    };
    let link = |row: usize| side_by_side.runs.get(row).map(|run| group_id(run.place));
    html! {
        @if !side_by_side.runs.is_empty() {
            section #runs {
                h2 { "Runs" }
                (plain_table(&listed, "Runs", link))
                (opened(&side_by_side.records, &groups(side_by_side)))
            }
        }
    }
}

fn line(side_by_side: &SideBySide, row: &Row, section: usize) -> Markup {
    let best = row.best();
    let has_runs = |place: &[usize; 2]| side_by_side.runs.iter().any(|run| run.place == *place);
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
                        Some(value) => {
                            @let link = Some([section, place]).filter(has_runs);
                            (cell(row, place, value, (best == Some(place), link)))
                        }
                        None => { (ABSENT) }
                    }
                }
            }
        }
    }
}

/// A figure with its bar and its ratio; it leads to the runs that it was got from.
fn cell(
    row: &Row,
    place: usize,
    value: &Value,
    (is_best, link): (bool, Option<[usize; 2]>),
) -> Markup {
    let shown = html! {
        @if is_best { strong { "* " (value.shown) } } @else { (value.shown) }
    };
    html! {
        @match link {
            Some(place) => { a href={ "#" (group_id(place)) } { (shown) } }
            None => { (shown) }
        }
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
                @let is_cut = high > most;
                div.whisker.cut[is_cut] style={ "left:" (share(low)) ";width:" (width) } {}
            }
        }
    }
}
