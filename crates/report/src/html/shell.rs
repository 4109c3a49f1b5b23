//! The frame of a page: head, style, script and security policy.

use std::io::Read;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::DeflateDecoder;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use units::{printable, printable_lines};

const DEFLATED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shell.deflate"));

/// Pages that load the charts as a module import these names.
const EXPORTED: &str =
    "export { color, faded, figure, figures, logTicks, redraw, sentence, show, tick };\n";

/// Style and scripts of every page.
static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let mut text = String::new();
    // The data comes from the build, and a test reads it, so this cannot fail.
    let _ = DeflateDecoder::new(DEFLATED).read_to_string(&mut text);
    // `build.rs` puts NUL between the parts, because no style or script contains it.
    let mut parts = text.split('\0');
    let mut part = || parts.next().unwrap_or_default();
    let (style, library, charts, page) = (part(), part(), part(), part());
    Assets {
        style: style.to_owned(),
        charts: format!("/*\n{CHART_LICENSE}*/\n{library}{charts}{EXPORTED}"),
        // A single script with a shared scope: the chart library, then the page's own files.
        script: format!("{library}(()=>{{\"use strict\";\n{charts}{page}}})();\n"),
    }
});

struct Assets {
    style: String,
    charts: String,
    script: String,
}

/// The license requires its text in every copy.
const CHART_LICENSE: &str = include_str!("vendor/uPlot.LICENSE");

/// Returns the complete page. `links` lead to its parts. Characters that would reorder or hide text
/// are made visible.
#[must_use]
pub fn shell(title: &str, links: &Markup, body: &Markup) -> String {
    // Applied to the finished markup, so that no caller can forget a text.
    let [top, body] = [&top(links), body].map(|it| printable_lines(&it.0).into_owned());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, &page_policy()))
            body {
                a.skip href="#content" { "Skip to the content" }
                (PreEscaped(top)) (PreEscaped(body))
                (PreEscaped("<!-- uPlot:\n")) (PreEscaped(CHART_LICENSE)) (PreEscaped("-->\n"))
                script { (PreEscaped(&ASSETS.script)) }
            }
        }
    };
    page.into_string()
}

/// Returns a page without charts: in the same style, but with another script, so that it is small.
#[must_use]
pub fn small_page(title: &str, links: &Markup, body: &Markup, script: &str) -> String {
    let [top, body] = [&top(links), body].map(|it| printable_lines(&it.0).into_owned());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, &policy_of(&[script])))
            body {
                a.skip href="#content" { "Skip to the content" }
                (PreEscaped(top)) (PreEscaped(body))
                script { (PreEscaped(script)) }
            }
        }
    };
    page.into_string()
}

/// Returns the head of a page, with its security policy.
fn head(title: &str, policy: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            // An element, because a page opened from a file has no HTTP headers.
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content="pgmeter";
            title { (printable(title)) }
            // Without it, browsers request `/favicon.ico`.
            link rel="icon" href="data:,";
            style { (PreEscaped(&ASSETS.style)) }
        }
    }
}

/// Returns the top bar. The button works only with the script, which makes it visible.
fn top(links: &Markup) -> Markup {
    html! {
        div.top {
            span.brand { "pgmeter" }
            nav aria-label="Page" { (links) }
            button.theme type="button" hidden { "Dark" }
        }
    }
}

/// Returns the security policy of every page. It allows no external resources, and no script except
/// the page's own.
#[must_use]
pub fn page_policy() -> String {
    policy_of(&[&ASSETS.script])
}

/// Returns a security policy for a site with reports and with pages that [`small_page`] made with
/// this script.
#[must_use]
pub fn site_policy(script: &str) -> String {
    policy_of(&[script, &ASSETS.script])
}

fn policy_of(scripts: &[&str]) -> String {
    // Bars set their width with `style` attributes, which hashes do not cover, so styles are
    // allowed inline.
    // A hash admits only its script. A script that a name smuggles into the page does not run.
    let hashes = scripts.iter().map(|script| {
        let hash = BASE64_STANDARD.encode(Sha256::digest(script));
        format!(" 'sha256-{hash}'")
    });
    let hashes: String = hashes.collect();
    format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src{hashes}; \
         base-uri 'none'; form-action 'none'"
    )
}

/// Returns the style of the pages, for other pages that look like them.
#[must_use]
pub fn page_style() -> &'static str {
    &ASSETS.style
}

/// Returns the chart library and the charts of the pages as a module, with the library's license.
#[must_use]
pub fn page_charts() -> &'static str {
    &ASSETS.charts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assets_do_not_end_their_elements_early() {
        let Assets { style, script, .. } = &*ASSETS;
        assert!(style.contains(".uplot") && script.contains("\"use strict\""));
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!style.contains("</style"));
        assert!(!CHART_LICENSE.contains("--"));
    }

    #[test]
    fn the_assets_load_nothing_from_elsewhere() {
        let Assets { style, script, .. } = &*ASSETS;
        for loader in ["@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
            assert!(
                !script.contains(loader) && !style.contains(loader),
                "{loader}"
            );
        }
    }
}
