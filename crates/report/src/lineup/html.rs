//! A line-up as a page, with a bar for each figure.

use maud::{Markup, html};

use super::rows::{Row, Value};
use super::text::{interval, ratio};
use super::{Lineup, Section};
use crate::html::{document, sentence};
use crate::numbers::ABSENT;

/// The page, which needs nothing but itself.
pub(super) fn render(lineup: &Lineup) -> String {
    let navigation = html! {
        @for (place, section) in lineup.sections.iter().enumerate() {
            a href={ "#section-" (place) } { (sentence(&section.heading)) }
        }
    };
    let body = html! {
        header { h1 { (sentence(&lineup.title)) } }
        main #content {
            @for remark in &lineup.remarks { p { (sentence(remark)) } }
            @for alarm in &lineup.alarms { pre role="alert" { (alarm) } }
            section {
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
            @if let Some(legend) = lineup.legend() { p { (sentence(&legend)) } }
            @for note in &lineup.notes { p { (sentence(note)) } }
        }
    };
    document(&lineup.title, &navigation, &body)
}

fn part(lineup: &Lineup, section: &Section, place: usize) -> Markup {
    html! {
        section id={ "section-" (place) } {
            h2 { (sentence(&section.heading)) }
            @for alarm in &section.alarms { p role="alert" { strong { (sentence(alarm)) } } }
            div.frame tabindex="0" role="group" aria-label=(section.heading) {
                table {
                    thead {
                        tr {
                            th.name scope="col" { "figure" }
                            @for (name, _) in &lineup.columns { th scope="col" { (name) } }
                        }
                    }
                    tbody { @for row in &section.rows { (line(row)) } }
                }
            }
        }
    }
}

fn line(row: &Row) -> Markup {
    let (best, most) = (row.best(), row.most());
    html! {
        tr {
            th scope="row" { (sentence(&row.label)) }
            @for (place, value) in row.values.iter().enumerate() {
                td {
                    @match value {
                        Some(value) => { (cell(value, best == Some(place), most)) }
                        None => { (ABSENT) }
                    }
                }
            }
        }
    }
}

fn cell(value: &Value, is_best: bool, most: f64) -> Markup {
    let share = if most > 0.0 {
        value.mean / most * 100.0
    } else {
        0.0
    };
    let style = format!(
        "display:block;height:0.35rem;margin-left:auto;border-radius:2px;\
         width:{share:.1}%;background:var({})",
        if is_best { "--good" } else { "--color-0" }
    );
    html! {
        @if is_best { strong { "* " (value.shown) } } @else { (value.shown) }
        @if most > 0.0 { span style=(style) {} }
        @if let Some(of) = value.ratio {
            small {
                "× " (ratio(of.value))
                @let interval = interval(value.ratio);
                @if !interval.is_empty() { br; (interval) }
            }
        }
    }
}
