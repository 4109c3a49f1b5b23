//! The front page.

use maud::{Markup, html};

use super::{BoardSite, TEXT_CHARS_MAX, TITLE_CHARS_MAX, short};
use crate::BoardRanking;

impl BoardSite<'_> {
    pub(super) fn front(&self) -> String {
        let config = self.config;
        let refused = self.entries.iter().filter(|it| it.checked.is_refused());
        let body = html! {
            main id="content" {
                header {
                    h1 { (short(&config.title, TITLE_CHARS_MAX)) }
                    @if let Some(about) = &config.about {
                        p.lead { (short(about, TEXT_CHARS_MAX)) }
                    }
                }
                h2 { "Tables" }
                div.frame tabindex="0" role="group" aria-label="Tables" {
                    table.sorted {
                        thead { tr {
                            th.name scope="col" { "table" }
                            th scope="col" { "systems" }
                            th.name scope="col" { "first" }
                            th scope="col" { "value" }
                            th.name scope="col" { "ranked by" }
                        } }
                        tbody { @for ranking in &self.rankings { (row(ranking)) } }
                    }
                }
                h2 { "Submissions" }
                p {
                    (self.entries.len()) " submissions, of which rules refuse "
                    (refused.count()) ". All values: " a href="board.json" { "JSON" } "."
                }
                (self.submissions())
            }
        };
        self.page("", "", &body)
    }

    fn submissions(&self) -> Markup {
        html! {
            div.frame.long[self.entries.len() > 40] tabindex="0" role="group"
                aria-label="Submissions" {
                table.sorted {
                    thead { tr {
                        th.name scope="col" { "system" }
                        th.name scope="col" { "submitter" }
                        th scope="col" { "year" }
                        th.name scope="col" { "data" }
                        th.name scope="col" { "trust" }
                        th scope="col" { "findings" }
                    } }
                    tbody {
                        @for entry in self.entries {
                            @let checked = &entry.checked;
                            tr {
                                th scope="row" {
                                    a href=(entry.path()) {
                                        (short(&entry.about.title, TITLE_CHARS_MAX))
                                    }
                                }
                                td.name { (short(&entry.about.submitter, TITLE_CHARS_MAX)) }
                                td { (short(&entry.year, TITLE_CHARS_MAX)) }
                                td.name { (entry.about.kind.name()) }
                                td.name {
                                    @match checked.is_refused() {
                                        true => "refused",
                                        false => (checked.trust.name()),
                                    }
                                }
                                td { (checked.findings.len()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn row(ranking: &BoardRanking) -> Markup {
    let table = ranking.table;
    let first = ranking.places.first();
    html! {
        tr {
            th scope="row" {
                a href={ "tables/" (table.name) ".html" } { (short(&table.title, TEXT_CHARS_MAX)) }
            }
            td { (ranking.places.len()) }
            td.name { @if let Some(it) = first { (short(&it.submission.title, TITLE_CHARS_MAX)) } }
            td { @if let Some(it) = first { (it.value.text()) } }
            td.name { (table.rank_by) }
        }
    }
}
