//! Parts of the page that wait: deflated, in base 64, until the script unpacks them.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use maud::{Markup, PreEscaped, html};
use units::{is_hidden, printable_lines};

use super::chart::Chart;

/// The charts beside each other; nothing when there are none.
#[must_use]
pub fn figures(charts: &[Chart]) -> Markup {
    html! {
        @if !charts.is_empty() {
            div.figures { (waiting(&json(charts))) }
        }
    }
}

/// A part that opens. Its content is there at once where it is plain, and else made when it is
/// opened, so that a page of many parts opens soon.
#[must_use]
pub fn opening(summary: &Markup, content: &Markup, is_plain: bool) -> Markup {
    html! {
        summary { (summary) }
        @if is_plain { (content) } @else { (waiting(&printable_lines(&content.0))) }
    }
}

/// A script element that no browser runs. Letters, digits, `+`, `/` and `=` have no meaning in
/// HTML.
fn waiting(text: &str) -> Markup {
    html! { script type="text/plain" { (PreEscaped(packed(text.as_bytes()))) } }
}

fn json(charts: &[Chart]) -> String {
    let text = units::json_line(&charts).expect("the maps of a chart have text for keys");
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            // It can only be within a JSON string, in which two backslashes stand for one.
            shown.push('\\');
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

fn packed(bytes: &[u8]) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    BASE64_STANDARD.encode(written.expect("memory takes every byte"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;

    use super::*;
    use crate::html::chart::{Axis, Scale, Unit};

    fn chart(title: &str) -> Chart {
        Chart {
            title: title.to_owned(),
            summary: "a & b".to_owned(),
            x: Axis {
                label: "x",
                unit: Unit::Count,
                scale: Scale::Linear,
            },
            at: Vec::new(),
            places: None,
            views: Vec::new(),
        }
    }

    fn unpacked(page: &str) -> String {
        let start = page.find("text/plain\">").unwrap() + "text/plain\">".len();
        let end = page.rfind("</script>").unwrap();
        let bytes = BASE64_STANDARD.decode(&page[start..end]).unwrap();
        let mut text = String::new();
        DeflateDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    #[test]
    fn charts_can_be_unpacked() {
        let title = "</script><script>alert(1)</script><!--";
        let page = figures(&[chart(title)]).into_string();
        let read: serde_json::Value = serde_json::from_str(&unpacked(&page)).unwrap();
        assert_eq!(read[0]["title"], *title);
    }

    #[test]
    fn what_would_reorder_a_title_is_seen() {
        let page = figures(&[chart("a\u{202e}b \\u{1b}")]).into_string();
        let read: serde_json::Value = serde_json::from_str(&unpacked(&page)).unwrap();
        assert_eq!(read[0]["title"], *"a\\u{202e}b \\u{1b}");
    }

    #[test]
    fn no_name_ends_the_script_element() {
        let page = figures(&[chart("</script><!--")]).into_string();
        assert_eq!(page.matches("</script>").count(), 1, "{page}");
        assert!(!page.contains("<!--"));
    }

    #[test]
    fn content_waits_only_where_it_is_not_plain() {
        let content = html! { p { "a < b" } };
        let page = opening(&html! { "s" }, &content, true).into_string();
        assert_eq!(page, "<summary>s</summary><p>a &lt; b</p>");
        let page = opening(&html! { "s" }, &content, false).into_string();
        assert_eq!(unpacked(&page), "<p>a &lt; b</p>");
    }
}
