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

/// Text that Markdown shows as it is.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in units::printable_lines(text).chars() {
        if matches!(
            character,
            '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '#'
        ) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
