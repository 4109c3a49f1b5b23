//! A report in Markdown.

use crate::html::capital;
use crate::model::CrewModel;
use crate::table::{Align, Table};
use crate::verdict::Verdict;
use crate::{Model, ModelWarning};

/// The report in Markdown, with a final line break.
pub fn render(model: &Model) -> String {
    let mut lines = vec![format!("# {}", escape(&model.title)), String::new()];
    for sentence in [&model.environment, &model.settings] {
        if !sentence.is_empty() {
            lines.push(format!("- {}", escape(sentence)));
        }
    }
    lines.extend(
        model
            .outcome
            .as_ref()
            .map(|outcome| format!("- **{}**", escape(outcome))),
    );
    for verdict in &model.verdicts {
        lines.extend([String::new(), "## Verdict".to_owned()]);
        lines.extend(verdict_lines(verdict));
    }
    let sections = [
        ("Results", Some(&model.cells)),
        ("By operation", model.operations.as_ref()),
        (
            "Response times, from when requests were due",
            model.open_loop.as_ref(),
        ),
        (
            "Response-time curve: its area over the highest rate (measured points only)",
            model.curves.as_ref(),
        ),
        ("As the classic program counts", model.classic.as_ref()),
        ("Processor and device", model.usage.as_ref()),
        ("Rounds until steady", model.steady.as_ref()),
        (
            "Within the run, with 95 % confidence",
            model.within.as_ref(),
        ),
        (
            "Over repetitions, with 95 % confidence",
            model.estimates.as_ref(),
        ),
    ];
    for (heading, table) in sections {
        let Some(table) = table.filter(|table| !table.rows.is_empty()) else {
            continue;
        };
        lines.extend([String::new(), format!("## {heading}"), String::new()]);
        lines.extend(table_lines(table));
    }
    lines.extend(model.crew.iter().flat_map(crew_lines));
    for note in &model.notes {
        lines.extend([String::new(), escape(note)]);
    }
    for (heading, is_note) in [("## Warnings", false), ("## Notes", true)] {
        let own = model.warnings.iter().filter(|it| it.is_note == is_note);
        let own: Vec<String> = own.map(warning_line).collect();
        if !own.is_empty() {
            lines.extend([String::new(), heading.to_owned(), String::new()]);
            lines.extend(own);
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn crew_lines(crew: &CrewModel) -> Vec<String> {
    let mut lines = Vec::new();
    for (heading, table) in crew.tables() {
        lines.extend([
            String::new(),
            format!("## {}", capital(heading)),
            String::new(),
        ]);
        lines.extend(table_lines(table));
    }
    for part in &crew.parts {
        let heading = escape(&capital(&part.heading));
        lines.extend([String::new(), format!("## {heading}")]);
        for table in &part.tables {
            lines.push(String::new());
            lines.extend(table_lines(table));
        }
        for sentence in &part.sentences {
            lines.extend([String::new(), escape(sentence)]);
        }
    }
    lines
}

fn verdict_lines(verdict: &Verdict) -> Vec<String> {
    let mut lines = vec![String::new()];
    if let Some(of) = &verdict.of {
        lines.extend([escape(of), String::new()]);
    }
    if !verdict.figures.is_empty() {
        lines.extend(table_lines(&verdict.table()));
        lines.push(String::new());
    }
    let sentences = verdict.sentences.iter();
    lines.extend(sentences.map(|(name, text)| format!("- **{name}**: {}", escape(text))));
    lines
}

fn warning_line(warning: &ModelWarning) -> String {
    let code = warning.code.replace('`', "");
    format!("- `{code}`: {}", escape(&warning.message))
}

/// A table in lines of Markdown.
pub(crate) fn table_lines(table: &Table) -> Vec<String> {
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
    let mut lines = vec![line(heads), line(rules)];
    lines.extend(
        table
            .rows
            .iter()
            .map(|row| line(row.iter().map(|text| escape(text)))),
    );
    lines
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Text on one line that Markdown shows as it is: names come from outside, and none of them may
/// become a heading, a link, an image, a row or markup.
pub(crate) fn escape(text: &str) -> String {
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

/// Whether a mark of a list, a rule or an underlined heading stands first.
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

/// Whether this is what makes a link of an address that stands there as it is.
fn begins_link(before: &str, rest: &str) -> bool {
    let ends = |end: &str| {
        let tail = before.len().checked_sub(end.len());
        let tail = tail.and_then(|at| before.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
    };
    let schemes = ["http", "https", "ftp", "mailto", "xmpp"];
    let is_scheme = rest.starts_with(':') && schemes.iter().any(|scheme| ends(scheme));
    is_scheme || rest.starts_with('@') || rest.starts_with('.') && ends("www")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_markup() {
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
