//! Comparisons in pages.

use ::compare::{Comparison, Verdict};
use maud::{Markup, html};

use super::model::{Model, Section};
use crate::html::{capital, document, frame, heads, sentence};
use crate::table::{Align, Table};

/// A page of comparisons alone, with texts of others below them.
pub(crate) fn page(comparisons: &[Comparison], texts: &[String]) -> String {
    let model = Model::new(comparisons);
    let navigation = html! {
        a href="#differences" { "What differs" }
        a href="#compared" { "Compared" }
    };
    let body = html! {
        header {
            @if !comparisons.is_empty() {
                h1 { (sentence(&model.title)) }
                @for side in &model.sides { p.where { (sentence(side)) } }
                @for alarm in model.alarms_of_command() { (alarm_line(&alarm)) }
            }
        }
        main #content {
            @if !comparisons.is_empty() {
                (differences(&model.differences))
                (compared(&model))
            }
            @for text in texts { pre tabindex="0" { (text) } }
        }
    };
    document("Runs compared · pgmeter", &navigation, &body)
}

/// What a comparison adds to the page of its runs.
pub(crate) struct Part {
    model: Model,
}

impl Part {
    pub(crate) fn new(comparisons: &[Comparison]) -> Self {
        let model = Model::new(comparisons);
        Self { model }
    }

    /// What came out, with reasons to doubt it.
    pub(crate) fn summary(&self) -> Markup {
        html! {
            p.where { strong { (sentence(&self.model.title)) } }
            @for alarm in self.model.alarms.iter().chain(&self.model.unlike) {
                (alarm_line(alarm))
            }
        }
    }

    /// What differs between the runs apart from the figures.
    pub(crate) fn differences(&self) -> Markup {
        differences(&self.model.differences)
    }

    /// Every figure with its ratio, interval and verdict.
    pub(crate) fn compared(&self) -> Markup {
        compared(&self.model)
    }
}

fn alarm_line(alarm: &str) -> Markup {
    html! { p role="alert" { strong { (sentence(alarm)) } } }
}

fn differences(sections: &[Section]) -> Markup {
    html! {
        section #differences {
            h2 { "What differs" }
            @for section in sections { (part(&capital(&section.heading), section)) }
        }
    }
}

fn compared(model: &Model) -> Markup {
    html! {
        section #compared {
            h2 { "Compared" }
            @for section in &model.cells { (part(&section.heading, section)) }
            @for note in &model.notes { p { (sentence(note)) } }
        }
    }
}

fn part(heading: &str, section: &Section) -> Markup {
    html! {
        h3 { (sentence(heading)) }
        @for remark in &section.remarks { p { (sentence(remark)) } }
        @for alarm in &section.alarms { (alarm_line(alarm)) }
        @if !section.table.rows.is_empty() {
            (frame(&section.heading, section.table.rows.len() > 40, &table(section)))
        }
    }
}

fn table(section: &Section) -> Markup {
    let table = &section.table;
    let last = table.columns.len().saturating_sub(1);
    html! {
        table {
            thead { (heads(table)) }
            tbody {
                @for row in &table.rows {
                    tr {
                        @for (place, text) in row.iter().enumerate() {
                            (cell(table, place, text, section.is_judged && place == last))
                        }
                    }
                }
            }
        }
    }
}

fn cell(table: &Table, place: usize, text: &str, is_verdict: bool) -> Markup {
    let style = match text {
        _ if !is_verdict => None,
        better if better == Verdict::Better.name() => Some("color:var(--good);font-weight:600"),
        worse if worse == Verdict::Worse.name() => Some("color:var(--severe);font-weight:600"),
        _ => None,
    };
    let is_name = table.columns[place].align == Align::Left;
    html! {
        @if place == 0 {
            th scope="row" { (text) }
        } @else if is_name || is_verdict {
            td.name style=[style] { (text) }
        } @else {
            td { (text) }
        }
    }
}
