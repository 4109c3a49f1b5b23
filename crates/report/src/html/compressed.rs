//! Deferred parts of the page, compressed and encoded in base64. The script unpacks them on demand.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use maud::{Markup, PreEscaped, html};
use units::printable_lines;

/// A part that can be opened. If `is_plain`, its content is included directly. Otherwise the script
/// creates the content when the part is opened, so that large pages load fast.
#[must_use]
pub fn opening(summary: &Markup, content: &Markup, is_plain: bool) -> Markup {
    html! {
        summary { (summary) }
        // The frame of the page makes hidden characters visible, but cannot see into packed
        // content.
        @if is_plain { (content) } @else { (waiting(&printable_lines(&content.0))) }
    }
}

/// A script element that no browser runs. Base64 characters have no special meaning in HTML.
pub fn waiting(text: &str) -> Markup {
    html! { script type="text/plain" { (PreEscaped(pack(text.as_bytes()))) } }
}

fn pack(bytes: &[u8]) -> String {
    // Without zlib's header: the script unpacks with `DecompressionStream("deflate-raw")`. The page
    // is written once, so its size matters more than the time.
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    BASE64_STANDARD.encode(written.expect("memory takes every byte"))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;

    use super::*;

    /// The only packed part of a page.
    pub fn unpacked(page: &str) -> String {
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
    fn content_is_packed_unless_it_is_plain() {
        let content = html! { p { "a < b" } };
        let page = opening(&html! { "s" }, &content, true).into_string();
        assert_eq!(page, "<summary>s</summary><p>a &lt; b</p>");
        let page = opening(&html! { "s" }, &content, false).into_string();
        assert_eq!(unpacked(&page), "<p>a &lt; b</p>");
    }
}
