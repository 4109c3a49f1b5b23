//! Renders a report as Markdown.

use maud::html;

use crate::document::{Block, Document, Level, TextLine};
use crate::table::{Align, Table};

/// Returns the report in Markdown, with a final line break.
pub fn write(document: &Document) -> String {
    write_folded(document, usize::MAX)
}

/// As [`write`], but with the parts after the first `open_count` folded below their headings.
/// Sections stay in the part above them.
pub fn write_folded(document: &Document, open_count: usize) -> String {
    let mut lines = vec![format!("# {}", sentence(&document.title))];
    push_blocks(&mut lines, &document.head);
    let mut is_folded = false;
    for (index, part) in document.parts.iter().enumerate() {
        if part.is_empty() {
            continue;
        }
        let begins = part.level == Level::Part && !part.heading.is_empty();
        if begins && is_folded {
            lines.extend([String::new(), "</details>".to_owned()]);
            is_folded = false;
        }
        if begins && index >= open_count {
            // Within an HTML element, Markdown is text, so the heading is HTML.
            let heading = html! { details { summary { (part.heading) } } }.into_string();
            let heading = heading.trim_end_matches("</details>").to_owned();
            lines.extend([String::new(), heading]);
            is_folded = true;
        } else if !part.heading.is_empty() {
            let marks = match part.level {
                Level::Part => "##",
                Level::Section => "###",
            };
            let heading = format!("{marks} {}", sentence(&part.heading));
            lines.extend([String::new(), heading]);
        }
        push_blocks(&mut lines, &part.blocks);
    }
    if is_folded {
        lines.extend([String::new(), "</details>".to_owned()]);
    }
    lines.push(String::new());
    lines.join("\n")
}

fn push_blocks(lines: &mut Vec<String>, blocks: &[Block]) {
    let mut is_in_list = false;
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        let is_list = matches!(block, Block::List(_));
        // A blank line between two lists would make Markdown treat both as one list with
        // paragraphs.
        if !(is_list && is_in_list) {
            lines.push(String::new());
        }
        match block {
            Block::Paragraphs(texts) => {
                let texts: Vec<String> = texts.iter().map(line).collect();
                lines.push(texts.join("\n\n"));
            }
            Block::List(items) => lines.extend(items.iter().map(|it| format!("- {}", line(it)))),
            Block::Table(table) => lines.extend(table_lines(table)),
            Block::Markup(_) => {}
        }
        is_in_list = is_list;
    }
}

/// Formats a sentence with its label. Styled text without a label becomes bold.
fn line(line: &TextLine) -> String {
    let text = sentence(&line.text);
    match (line.label.as_str(), line.style) {
        ("", None) => text,
        // Markdown has no colors, so every style becomes bold.
        ("", Some(_)) => format!("**{}**", escape(&line.text)),
        (label, _) if label.starts_with('`') => format!("{}: {text}", sentence(label)),
        (label, _) => format!("**{}**: {text}", escape(label)),
    }
}

/// Formats a sentence. Text in backticks becomes code, unless the backticks are unpaired.
fn sentence(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let is_code = |index: usize| index % 2 == 1;
    let mut codes = (0..parts.len()).filter(|index| is_code(*index));
    // Markdown has no empty code spans: adjacent backticks would delimit a longer one.
    if parts.len().is_multiple_of(2) || codes.any(|index| parts[index].trim().is_empty()) {
        return escape(text);
    }
    let shown = parts
        .iter()
        .enumerate()
        .map(|(place, part)| match is_code(place) {
            true => format!("`{}`", units::printable(part)),
            false => escape(part),
        });
    shown.collect()
}

/// Returns a table in lines of Markdown.
fn table_lines(table: &Table) -> Vec<String> {
    // Markdown tables have a single row of heads, so a spanning head is repeated in each column.
    let heads = table
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| match &table.span {
            Some((first, last, text)) if (*first..=*last).contains(&index) => {
                escape(&format!("{}, {}", column.head, text))
            }
            _ => escape(&column.head),
        });
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---".to_owned(),
        Align::Right => "--:".to_owned(),
    });
    let mut lines = vec![row(heads), row(rules)];
    lines.extend(
        table
            .rows
            .iter()
            .map(|texts| row(texts.iter().map(|text| escape(text)))),
    );
    lines
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Escapes a text for Markdown, on one line. Names come from outside, and must not become headings,
/// links, images, rows or other markup.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let text = units::printable(text);
    for (at, character) in text.char_indices() {
        let (before, rest) = (&text[..at], &text[at..]);
        let is_markup = matches!(
            character,
            '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '#' | '~' | '&'
        );
        if is_markup || begins_list(before, rest) || begins_link(before, rest) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Returns `true` at the mark of a list, a rule or an underlined heading.
fn begins_list(before: &str, rest: &str) -> bool {
    let mut rest = rest.chars();
    let (mark, next) = (rest.next(), rest.next());
    let is_alone = next.is_some_and(char::is_whitespace);
    if before.is_empty() {
        let is_rule = next == mark && matches!(mark, Some('-' | '='));
        return is_rule || is_alone && matches!(mark, Some('-' | '+'));
    }
    let is_number = before.chars().all(|it| it.is_ascii_digit());
    is_number && is_alone && matches!(mark, Some('.' | ')'))
}

/// Returns `true` at the character that turns a bare address into a link.
fn begins_link(before: &str, rest: &str) -> bool {
    let ends = |end: &str| {
        let tail = before.len().checked_sub(end.len());
        let tail = tail.and_then(|at| before.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
    };
    // The schemes that GitHub's Markdown links without angle brackets.
    let schemes = ["http", "https", "ftp", "mailto", "xmpp"];
    let is_scheme = rest.starts_with(':') && schemes.iter().any(|scheme| ends(scheme));
    is_scheme || rest.starts_with('@') || rest.starts_with('.') && ends("www")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_in_markdown() {
        for (name, shown) in [
            (
                "<script>alert(1)</script>",
                "\\<script\\>alert(1)\\</script\\>",
            ),
            ("![x](y) | z", "!\\[x\\](y) \\| z"),
            ("a\n# b\r\n- c", "a\\\\n\\# b\\\\r\\\\n- c"),
            ("&lt;b&gt; &#60;", "\\&lt;b\\&gt; \\&\\#60;"),
            ("~~~sh", "\\~\\~\\~sh"),
            ("- item", "\\- item"),
            ("=====", "\\====="),
            ("12. item", "12\\. item"),
            ("see HTTPS://e.org", "see HTTPS\\://e.org"),
            ("www.e.org a@e.org", "www\\.e.org a\\@e.org"),
            ("-12.5 %", "-12.5 %"),
            ("1.5 GiB/s", "1.5 GiB/s"),
            ("4k reads, 1.5 GiB/s at -3 %", "4k reads, 1.5 GiB/s at -3 %"),
        ] {
            assert_eq!(escape(name), shown, "{name}");
        }
    }
}
