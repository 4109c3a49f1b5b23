//! Pages that show two submissions next to each other.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use units::{json_line, printable};

use super::table_page::with_interval;
use super::{BoardSite, SiteEntry, TEXT_CHARS_MAX, TITLE_CHARS_MAX, short};
use crate::{SubmissionComparison, SubmissionPair};

/// Values of a submission for the script: number and text by table and column.
#[derive(Serialize)]
struct ComparableValues {
    title: String,
    values: BTreeMap<String, (f64, String)>,
}

impl BoardSite<'_> {
    pub(super) fn compare_page(&self) -> String {
        let accepted = self.entries.iter().filter(|it| !it.checked.is_refused());
        let all = accepted.map(|entry| {
            let tables = entry.checked.values.iter();
            let values = tables.flat_map(|it| {
                let columns = it.columns.iter();
                columns.map(|(column, value)| {
                    (
                        format!("{}: {column}", it.table),
                        (value.mean, value.text()),
                    )
                })
            });
            let title = short(&printable(&entry.about.title), TITLE_CHARS_MAX);
            ComparableValues {
                title: format!("{title} ({})", entry.year),
                values: values.collect(),
            }
        });
        let all: Vec<ComparableValues> = all.collect();
        // A `<` could end the element, and is not needed in JSON.
        let data = json_line(&all).unwrap_or_default().replace('<', "\\u003c");
        let body = html! {
            main id="content" {
                header { h1 { "Compare two systems" } }
                form.pair hidden {
                    label { "First " select {} } " " label { "Second " select {} }
                }
                p #nothing-common hidden { "No table has both." }
                div.frame tabindex="0" role="group" aria-label="Comparison" {
                    table #compared { thead {} tbody {} }
                }
                (self.pair_list())
                p {
                    "The page of each system compares it with the next better and the next worse "
                    "one in each table. For any other two, run "
                    code { "pgmeter board compare FIRST SECOND --board DIR" }
                    " in a clone of the board, with the names of their directories."
                }
                script type="application/json" id="values" { (PreEscaped(data)) }
            }
        };
        self.page("Compare", "", &body)
    }

    /// Lists the pairs of `board.toml`.
    fn pair_list(&self) -> Markup {
        html! {
            @if !self.config.pairs.is_empty() {
                h2 { "Selected pairs" }
                ul {
                    @for pair in &self.config.pairs {
                        @if let Some([first, second]) = self.pair(pair) {
                            li {
                                a href=(pair.path()) {
                                    (short(&first.about.title, TITLE_CHARS_MAX)) " and "
                                    (short(&second.about.title, TITLE_CHARS_MAX))
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the page of a pair of `board.toml`; `None` if the board lacks one of the two.
    pub(super) fn pair_page(&self, pair: &SubmissionPair) -> Option<String> {
        let entries = self.pair(pair)?;
        let titles = entries.map(|it| short(&it.about.title, TITLE_CHARS_MAX));
        let compared = SubmissionComparison::of(self.config, entries.map(|it| &it.checked));
        let title = format!("{} and {}", titles[0], titles[1]);
        let body = html! {
            main id="content" {
                header { h1 { (title) } }
                @if let Some(note) = &pair.note { p.lead { (short(note, TEXT_CHARS_MAX)) } }
                @for entry in entries {
                    p {
                        a href={ "../" (entry.path()) } {
                            (short(&entry.about.title, TITLE_CHARS_MAX))
                        }
                        @if let Some(system) = &entry.about.system {
                            ": " (short(system, TEXT_CHARS_MAX))
                        }
                    }
                }
                @if compared.values.is_empty() { p { "No table has both." } }
                @else { (table(&compared, &titles)) }
            }
        };
        Some(self.page(&title, "../", &body))
    }

    fn pair(&self, pair: &SubmissionPair) -> Option<[&SiteEntry; 2]> {
        Some([self.entry(&pair.first)?, self.entry(&pair.second)?])
    }
}

fn table(compared: &SubmissionComparison, titles: &[String; 2]) -> Markup {
    html! {
        div.frame tabindex="0" role="group" aria-label="Comparison" {
            table {
                thead { tr {
                    th.name scope="col" { "value" }
                    @for title in titles { th scope="col" { (title) } }
                    th scope="col" { "ratio" }
                    th.name scope="col" { "better" }
                } }
                tbody {
                    @for it in &compared.values {
                        tr {
                            th scope="row" { (it.table) ": " (it.column) }
                            @for value in &it.values { td { (with_interval(value)) } }
                            td { @if let Some(ratio) = it.ratio { (format!("{ratio:.3}")) } }
                            td.name { (it.verdict(titles)) }
                        }
                    }
                }
            }
        }
    }
}
