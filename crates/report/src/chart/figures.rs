//! Charts on pages. They are packed until the page's script draws them.

use maud::{Markup, html};
use units::is_hidden;

use super::Chart;
use crate::html::waiting;

/// Returns charts side by side; empty without charts.
#[must_use]
pub fn figures(charts: &[Chart]) -> Markup {
    html! {
        @if !charts.is_empty() {
            div.figures { (waiting(&json(charts))) }
        }
    }
}

fn json(charts: &[Chart]) -> String {
    let text = units::json_line(&charts).expect("the maps of a chart have text for keys");
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            // Such characters occur only within JSON strings, where an escaped backslash needs two.
            escaped.push('\\');
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, AxisScale, AxisUnit};
    use crate::html::compressed::tests::unpacked;

    fn chart(title: &str) -> Chart {
        Chart {
            title: title.to_owned(),
            summary: "a & b".to_owned(),
            x: Axis {
                label: "x",
                unit: AxisUnit::Count,
                scale: AxisScale::Linear,
            },
            at: Vec::new(),
            places: None,
            views: Vec::new(),
        }
    }

    #[test]
    fn charts_can_be_unpacked() {
        let title = "</script><script>alert(1)</script><!--";
        let page = figures(&[chart(title)]).into_string();
        let read: serde_json::Value = serde_json::from_str(&unpacked(&page)).unwrap();
        assert_eq!(read[0]["title"], *title);
    }

    #[test]
    fn characters_that_would_reorder_a_title_are_escaped() {
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
}
