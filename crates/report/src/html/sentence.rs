//! Sentences that contain code.

use maud::{Markup, html};

/// Converts a sentence to markup; text in backticks becomes code. A sentence with unpaired
/// backticks stays as it is.
pub(crate) fn sentence(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_backticks_is_code() {
        let html = |text| sentence(text).into_string();
        assert_eq!(
            html("made by `mkfs -q`; `a<b`"),
            "made by <code>mkfs -q</code>; <code>a&lt;b</code>"
        );
        assert_eq!(html("one ` alone"), "one ` alone");
        assert_eq!(html("none"), "none");
    }
}
