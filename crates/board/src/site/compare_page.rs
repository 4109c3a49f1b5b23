//! The page that shows any two submissions next to each other.

use std::collections::BTreeMap;

use maud::{PreEscaped, html};
use serde::Serialize;
use units::{json_line, printable};

use super::{BoardSite, TITLE_CHARS_MAX, short};

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
                noscript { p {
                    "Choosing two systems needs JavaScript. Without it, the page of each system "
                    "compares it with the others in its tables."
                } }
                form.pair hidden {
                    label { "First " select {} } " " label { "Second " select {} }
                }
                p #nothing-common hidden { "No table has both." }
                div.frame tabindex="0" role="group" aria-label="Comparison" {
                    table #compared { thead {} tbody {} }
                }
                script type="application/json" id="values" { (PreEscaped(data)) }
            }
        };
        self.page("Compare", "", &body)
    }
}
