//! The page of a submission.

use maud::{Markup, html};
use report::{RatioRow, ratio_plot};

use super::table_page::{range, ratio_row, with_interval};
use super::{BoardSite, SiteEntry, TEXT_CHARS_MAX, TITLE_CHARS_MAX, short};
use crate::{ANSWERS, BoardRanking, RuleLevel};

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
        let values = place
            .submission
            .values
            .iter()
            .find(|it| it.table == table.name);
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
            @if let Some(values) = values {
                div.frame tabindex="0" role="group" aria-label="Values" {
                    table.pairs { tbody {
                        @for (column, value) in &values.columns {
                            tr { th scope="row" { (column) } td { (with_interval(value)) } }
                        }
                    } }
                }
            }
            (ratio_plot(&rows, &short(&place.submission.title, TITLE_CHARS_MAX)))
        }
    }
}

fn facts(entry: &SiteEntry) -> Markup {
    let about = &entry.about;
    let checked = &entry.checked;
    let trust = match checked.is_signed {
        true => format!("{}, signed", checked.trust.name()),
        false => checked.trust.name().to_owned(),
    };
    let declared = &about.declared;
    let facts = [
        ("Submitter", Some(about.submitter.clone())),
        ("Submitted", about.submitted.clone()),
        ("License", Some(about.license.clone())),
        ("Year", Some(entry.year.clone()).filter(|it| !it.is_empty())),
        ("Data", Some(about.kind.name().to_owned())),
        ("Trust", Some(trust)),
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
