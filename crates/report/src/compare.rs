//! Comparisons turned into text, Markdown and a page.

mod html;
mod model;
mod sentences;
mod summary;
mod tables;

use ::compare::{Comparison, Verdict};

use crate::markdown::{escape, table_lines};
use crate::page::Page;
use crate::styled::{Lines, Styled};
use crate::wrap::wrap;
pub(crate) use html::{Part, page as comparison_page};
pub(crate) use sentences::letter;

use model::{Model, Section};

/// The forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonFormat {
    /// Tables for people, which can be pasted into a mail.
    Text,
    /// Tables in Markdown.
    Markdown,
    /// One page that needs nothing but itself.
    Html,
}

/// Comparisons of one first side with each of the others, with a final line break.
#[must_use]
pub fn render_comparisons(
    comparisons: &[Comparison],
    format: ComparisonFormat,
    page: Page,
) -> Styled {
    match format {
        ComparisonFormat::Text => text(&Model::new(comparisons), page),
        ComparisonFormat::Markdown => markdown(&Model::new(comparisons)).into(),
        ComparisonFormat::Html => html::page(comparisons, &[]).into(),
    }
}

/// Figures that are worse by more than `percent` of the first side's, each in a line of its own.
#[must_use]
pub fn regression_lines(comparison: &Comparison, percent: f64) -> Vec<String> {
    comparison
        .regressions(percent)
        .map(|(cell, figure)| sentences::regression(cell, figure))
        .collect()
}

fn text(model: &Model, page: Page) -> Styled {
    let width = page.width.max(20);
    let mut lines = Lines::default();
    lines.extend(wrap(&model.title, width).iter().map(|line| page.bold(line)));
    for side in &model.sides {
        lines.extend(wrap(side, width));
    }
    for alarm in model.alarms_of_command() {
        lines.extend(wrap(&alarm, width).iter().map(|line| page.red(line)));
    }
    for section in model.sections() {
        lines.push("");
        push_section(&mut lines, section, page, width);
    }
    if !model.notes.is_empty() {
        lines.push("");
    }
    for note in &model.notes {
        lines.extend(wrap(note, width));
    }
    lines.push("");
    lines.into_text()
}

fn push_section(lines: &mut Lines, section: &Section, page: Page, width: usize) {
    let heading = wrap(&section.heading, width);
    lines.extend(heading.iter().map(|line| page.bold(line)));
    for remark in &section.remarks {
        lines.extend(wrap(remark, width));
    }
    for alarm in &section.alarms {
        lines.extend(wrap(alarm, width).iter().map(|line| page.red(line)));
    }
    if section.table.rows.is_empty() {
        return;
    }
    let table = section.table.lines(width);
    lines.extend(table.head.iter().map(|line| page.bold(line)));
    if section.is_judged {
        lines.extend(table.body.iter().map(|line| colored(line, page)));
    } else {
        lines.extend(table.body);
    }
}

/// A row of a table whose last column is the verdict, which gets its color.
fn colored(line: &str, page: Page) -> Styled {
    let before = |verdict: Verdict| {
        line.strip_suffix(verdict.name())
            .filter(|rest| rest.is_empty() || rest.ends_with(' '))
    };
    if let Some(rest) = before(Verdict::Better) {
        return Styled::from(rest).then(page.green(Verdict::Better.name()));
    }
    if let Some(rest) = before(Verdict::Worse) {
        return Styled::from(rest).then(page.red(Verdict::Worse.name()));
    }
    line.into()
}

fn markdown(model: &Model) -> String {
    let mut lines = vec![format!("# {}", escape(&model.title)), String::new()];
    let items = model.sides.iter().map(|side| escape(side));
    let alarms = model.alarms_of_command();
    let alarms = alarms.map(|it| format!("**{}**", escape(&it)));
    lines.extend(items.chain(alarms).map(|item| format!("- {item}")));
    for section in model.sections() {
        let heading = format!("## {}", escape(&section.heading));
        lines.extend([String::new(), heading]);
        for remark in &section.remarks {
            lines.extend([String::new(), escape(remark)]);
        }
        for alarm in &section.alarms {
            lines.extend([String::new(), format!("**{}**", escape(alarm))]);
        }
        if !section.table.rows.is_empty() {
            lines.push(String::new());
            lines.extend(table_lines(&section.table));
        }
    }
    for note in &model.notes {
        lines.extend([String::new(), escape(note)]);
    }
    lines.push(String::new());
    lines.join("\n")
}
