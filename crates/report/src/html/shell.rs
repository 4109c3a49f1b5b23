//! The page around its content: head, style, script and security policy.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use units::{printable, printable_lines};

const STYLE: &str = concat!(
    include_str!("vendor/uPlot.min.css"),
    include_str!("page/style.css"),
);

/// The license asks for its text beside every copy.
const CHART_LICENSE: &str = include_str!("vendor/uPlot.LICENSE");

/// One script: the chart library, then the page's own parts, which share a scope.
const SCRIPT: &str = concat!(
    include_str!("vendor/uPlot.iife.min.js"),
    "(()=>{\"use strict\";\n",
    include_str!("page/format.js"),
    include_str!("page/palette.js"),
    include_str!("page/axes.js"),
    include_str!("page/plot.js"),
    include_str!("page/figure.js"),
    include_str!("page/page.js"),
    "})();\n",
);

/// The whole page; `links` lead to its parts, beside the name and the button that every page has.
/// Characters that would reorder or hide the text beside them are seen instead.
#[must_use]
pub fn shell(title: &str, links: &Markup, body: &Markup) -> String {
    let title = printable(title);
    let [top, body] = [&top(links), body].map(|it| printable_lines(&it.0).into_owned());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(page_policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="pgmeter";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                (PreEscaped(top)) (PreEscaped(body))
                (PreEscaped("<!-- uPlot:\n")) (PreEscaped(CHART_LICENSE)) (PreEscaped("-->\n"))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// What stands at the very top. The button is of use only to the script, which shows it.
fn top(links: &Markup) -> Markup {
    html! {
        div.top {
            span.brand { "pgmeter" }
            nav aria-label="Page" { (links) }
            button.theme type="button" hidden { "Dark" }
        }
    }
}

/// The security policy of every page: nothing is loaded from anywhere, and no script runs but the
/// page's own.
#[must_use]
pub fn page_policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; \
         base-uri 'none'; form-action 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_page_itself_ends_its_elements_early() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
        assert!(!CHART_LICENSE.contains("--"));
    }

    #[test]
    fn nothing_of_the_page_itself_is_loaded_from_elsewhere() {
        for loader in ["@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
            assert!(
                !SCRIPT.contains(loader) && !STYLE.contains(loader),
                "{loader}"
            );
        }
    }
}
