//! The page of a submission.

use maud::{Markup, html};
use report::{RatioRow, ratio_plot};
use units::printable;

use super::table_page::{range, ratio_row, with_interval};
use super::{BoardSite, ShownImport, SiteEntry, TEXT_CHARS_MAX, TITLE_CHARS_MAX, short};
use crate::rank::RankedPlace;
use crate::{ANSWERS, BoardRanking, MeasuredValue, RuleLevel};

/// Number of systems on each side of a submission that its page compares it with.
const NEIGHBORS: usize = 20;

impl BoardSite<'_> {
    pub(super) fn submission_page(&self, entry: &SiteEntry) -> String {
        let checked = &entry.checked;
        let slug = &checked.slug;
        let body = html! {
            main id="content" {
                header {
                    h1 { (short(&entry.about.title, TITLE_CHARS_MAX)) }
                    @if let Some(system) = &entry.about.system {
                        p.lead { (short(system, TEXT_CHARS_MAX)) }
                    }
                }
                (facts(entry))
                @if checked.run.is_some() {
                    p {
                        a href={ (slug) "-report.html" } { "The report of the run" }
                        ", with all results, charts and the environment. "
                        a href={ (slug) "-record.json" } { "The record" }
                    }
                }
                @for ranking in &self.rankings { (self.standing(ranking, slug)) }
                (findings(entry))
                (answers(entry))
                @if let Some(import) = &entry.import { (original(import)) }
            }
        };
        self.page(&entry.about.title, "../", &body)
    }

    /// Shows where the submission stands in a table; nothing if it is not in the table.
    fn standing(&self, ranking: &BoardRanking, slug: &str) -> Markup {
        let Some((index, place)) = ranking.place(slug) else {
            return html! {};
        };
        let table = ranking.table;
        let from = index.saturating_sub(NEIGHBORS);
        let near = ranking
            .places
            .iter()
            .enumerate()
            .skip(from)
            .take(2 * NEIGHBORS + 1);
        let rows: Vec<RatioRow> = near
            .filter(|(other, _)| *other != index)
            .filter_map(|(_, it)| ratio_row(&it.submission.title, it.value, place.value))
            .collect();
        html! {
            h2 {
                a href={ "../tables/" (table.name) ".html" } {
                    (short(&table.title, TEXT_CHARS_MAX))
                }
            }
            p {
                "Place " (range(place.range)) ": "
                (ranking.standing(slug).unwrap_or_default()) "."
            }
            (self.neighbors(ranking, index))
            (ratio_plot(&rows, &short(&place.submission.title, TITLE_CHARS_MAX)))
        }
    }
}

impl BoardSite<'_> {
    /// Shows all values of a table next to the values of the next better and the next worse system.
    fn neighbors(&self, ranking: &BoardRanking, index: usize) -> Markup {
        let shown = [Some(index), index.checked_sub(1), index.checked_add(1)];
        let shown = shown
            .into_iter()
            .flatten()
            .filter_map(|it| ranking.places.get(it));
        let shown: Vec<&RankedPlace> = shown.collect();
        let value = |place: &RankedPlace, column: &str| {
            let mut tables = place.submission.values.iter();
            let values = tables.find(|it| it.table == ranking.table.name)?;
            values.columns.get(column).cloned()
        };
        html! {
            div.frame tabindex="0" role="group" aria-label="Values and their neighbors" {
                table {
                    thead { tr {
                        th.name scope="col" { "value" }
                        th scope="col" { "this system" }
                        @for place in &shown[1..] {
                            th scope="col" {
                                a href={ (place.submission.slug) ".html" } {
                                    (short(&place.submission.title, TITLE_CHARS_MAX))
                                }
                            }
                        }
                    } }
                    tbody { @for column in &ranking.table.columns { tr {
                        @let own = value(shown[0], &column.name);
                        th scope="row" { (column.name) }
                        @for (number, place) in shown.iter().enumerate() {
                            td {
                                @if let Some(it) = value(place, &column.name) {
                                    (with_interval(&it))
                                    @if let Some(own) = own.as_ref().filter(|_| number > 0) {
                                        (times(own, &it))
                                    }
                                }
                            }
                        }
                    } } }
                }
            }
        }
    }
}

/// Returns how many times a value is another one.
fn times(own: &MeasuredValue, other: &MeasuredValue) -> Markup {
    html! {
        @if own.mean != 0.0 {
            " " small { "(× " (crate::value::significant(other.mean / own.mean)) ")" }
        }
    }
}

fn facts(entry: &SiteEntry) -> Markup {
    let about = &entry.about;
    let checked = &entry.checked;
    let declared = &about.declared;
    let facts = [
        ("Submitter", Some(about.submitter.clone())),
        ("Submitted", about.submitted.clone()),
        ("License", Some(about.license.clone())),
        ("Year", Some(entry.year.clone()).filter(|it| !it.is_empty())),
        ("Data", Some(about.kind.name().to_owned())),
        ("Trust", Some(entry.trust())),
        ("Source", about.source.clone()),
        ("Note", about.note.clone()),
        ("Run", checked.run.clone()),
        ("Cache", declared.cache.clone()),
        ("Server", declared.server.clone()),
        ("Errors", declared.errors.clone()),
    ];
    html! {
        div.frame tabindex="0" role="group" aria-label="Facts" {
            table.pairs { tbody {
                @for (name, text) in &facts {
                    @if let Some(text) = text {
                        tr {
                            th scope="row" { (name) }
                            td.name { (short(text, TEXT_CHARS_MAX)) }
                        }
                    }
                }
            } }
        }
    }
}

fn findings(entry: &SiteEntry) -> Markup {
    let findings = &entry.checked.findings;
    html! {
        h2 { "Findings" }
        @if let Some(import) = &entry.import {
            p.remark {
                "Unknown, because outputs of " (short(&import.program, TITLE_CHARS_MAX))
                " do not state it: " (entry.checked.unknown.join(", ")) "."
            }
        }
        @if findings.is_empty() { p.no-warning { "Every rule of the board holds." } }
        @else {
            @if entry.checked.is_refused() {
                p.alarm { "A rule refuses this submission, so no table ranks it." }
            }
            div.frame tabindex="0" role="group" aria-label="Findings" {
                table {
                    thead { tr {
                        th.name scope="col" { "rule" } th.name scope="col" { "place" }
                        th.name scope="col" { "expected" } th.name scope="col" { "found" }
                    } }
                    tbody {
                        @for it in findings {
                            tr {
                                th scope="row" {
                                    (it.rule) " " (it.name)
                                    @if it.level == RuleLevel::Error { ", refused" }
                                }
                                td.name { (short(&it.place, TITLE_CHARS_MAX)) }
                                td.name { (short(&it.expected, TEXT_CHARS_MAX)) }
                                td.name { (short(&it.actual, TEXT_CHARS_MAX)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Shows the beginning of the text that the figures come from.
fn original(import: &ShownImport) -> Markup {
    html! {
        h2 { "Original text" }
        @for text in &import.texts {
            @let name = short(&printable(&text.name), TITLE_CHARS_MAX);
            details {
                summary { (name) }
                pre.command tabindex="0" { (text.beginning) }
                @if text.is_cut { p.remark { "The report has the rest." } }
            }
        }
    }
}

fn answers(entry: &SiteEntry) -> Markup {
    let answers = &entry.about.answers;
    html! {
        @if !answers.is_empty() {
            h2 { "Answers" }
            dl {
                @for (key, question) in ANSWERS {
                    @if let Some(answer) = answers.get(key) {
                        dt { strong { (question) } }
                        dd { p { (short(answer, TEXT_CHARS_MAX)) } }
                    }
                }
            }
        }
    }
}
