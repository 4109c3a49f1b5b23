//! Runs side by side for a terminal, and in Markdown.

use results::Better;

use super::rows::{Row, Value};
use super::{MAYBE, SHORT, Section, SideBySide};
use crate::markdown::{escape, table_lines};
use crate::numbers::{ABSENT, digits};
use crate::page::Page;
use crate::styled::{Lines, Styled};
use crate::table::{Column, Table};
use crate::wrap::{printable, width, wrap};

/// Blanks between two columns.
const GAP: usize = 2;

/// The table in text: tables with as many columns as the page is wide.
pub(super) fn render(side_by_side: &SideBySide, page: Page) -> Styled {
    let limit = page.width.max(20);
    let mut lines = Lines::default();
    let title = wrap(&side_by_side.title, limit);
    lines.extend(title.iter().map(|line| page.bold(line)));
    for (_, fact) in &side_by_side.facts {
        lines.extend(wrap(fact, limit));
    }
    if let Some(summary) = side_by_side.summary() {
        lines.extend(wrap(&summary, limit).iter().map(|line| page.bold(line)));
    }
    for remark in &side_by_side.remarks {
        lines.extend(wrap(remark, limit));
    }
    if let Some(cache) = side_by_side.page_cache() {
        lines.extend(wrap(&cache, limit).iter().map(|line| page.yellow(line)));
    }
    for (name, behind) in &side_by_side.columns {
        lines.extend(wrap(&format!("{name}: {behind}"), limit));
    }
    for alarm in &side_by_side.alarms {
        lines.extend(alarm_lines(alarm, limit).iter().map(|line| page.red(line)));
    }
    for section in &side_by_side.sections {
        lines.push("");
        lines.push(page.bold(&printable(&section.heading)));
        for alarm in &section.alarms {
            lines.extend(wrap(alarm, limit).iter().map(|line| page.red(line)));
        }
        for sentence in section.sentences() {
            lines.extend(wrap(sentence, limit));
        }
        for table in tables(side_by_side, section, limit) {
            let shown = table.lines(limit);
            lines.extend(shown.head.iter().map(|line| page.bold(line)));
            lines.extend(shown.body);
        }
    }
    lines.push("");
    for note in side_by_side.foot(false) {
        lines.extend(wrap(&note, limit));
    }
    lines.push("");
    lines.into_text()
}

/// An alarm may quote what a program printed, line by line.
fn alarm_lines(alarm: &str, limit: usize) -> Vec<String> {
    alarm.lines().flat_map(|line| wrap(line, limit)).collect()
}

/// The table in Markdown.
pub(super) fn markdown(side_by_side: &SideBySide) -> String {
    let mut lines = vec![format!("# {}", escape(&side_by_side.title)), String::new()];
    let summary = side_by_side.summary();
    lines.extend(summary.iter().flat_map(|it| [escape(it), String::new()]));
    let facts = side_by_side.facts.iter().map(|(_, fact)| fact);
    let remarks = facts.chain(&side_by_side.remarks);
    lines.extend(remarks.map(|it| format!("- {}", escape(it))));
    lines.extend(
        side_by_side
            .page_cache()
            .map(|it| format!("- **{}**", escape(&it))),
    );
    for (name, behind) in &side_by_side.columns {
        lines.push(format!("- **{}**: {}", escape(name), escape(behind)));
    }
    lines.extend(
        side_by_side
            .alarms
            .iter()
            .map(|it| format!("- **{}**", escape(it))),
    );
    for section in &side_by_side.sections {
        let heading = format!("## {}", escape(&section.heading));
        lines.extend([String::new(), heading, String::new()]);
        for alarm in &section.alarms {
            lines.extend([format!("**{}**", escape(alarm)), String::new()]);
        }
        for sentence in section.sentences() {
            lines.extend([escape(sentence), String::new()]);
        }
        let all: Vec<usize> = (0..side_by_side.columns.len()).collect();
        lines.extend(table_lines(&table(side_by_side, section, &all)));
    }
    for note in side_by_side.foot(false) {
        lines.extend([String::new(), escape(&note)]);
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The rows in as few tables as fit the page.
fn tables(side_by_side: &SideBySide, section: &Section, limit: usize) -> Vec<Table> {
    let count = side_by_side.columns.len();
    let places: Vec<usize> = (0..count).collect();
    for parts in 1..=count.max(1) {
        // As even as can be.
        let each = count.div_ceil(parts).max(1);
        let tables: Vec<Table> = places
            .chunks(each)
            .map(|places| table(side_by_side, section, places))
            .collect();
        if each == 1 || tables.iter().all(|table| natural_width(table) <= limit) {
            return tables;
        }
    }
    Vec::new()
}

fn natural_width(table: &Table) -> usize {
    let column = |place: usize| {
        let texts = table.rows.iter().map(|row| width(&row[place]));
        let head = table.columns[place].head.split(' ').map(width);
        texts.chain(head).max().unwrap_or(0) + GAP
    };
    (0..table.columns.len()).map(column).sum()
}

/// The rows with these columns.
fn table(side_by_side: &SideBySide, section: &Section, places: &[usize]) -> Table {
    let mut columns = vec![Column::name("")];
    columns.extend(places.iter().map(|place| {
        let name = side_by_side
            .columns
            .get(*place)
            .map_or("", |(name, _)| name);
        Column::number(&printable(name), 50)
    }));
    Table {
        columns,
        rows: section
            .rows
            .iter()
            .flat_map(|row| lines(row, places))
            .collect(),
        span: None,
    }
}

/// A figure in lines: values, ratios, and their intervals where there are any.
fn lines(row: &Row, places: &[usize]) -> Vec<Vec<String>> {
    let line = |label: &str, text: &dyn Fn(usize, &Value) -> String| {
        let texts = places.iter().map(|place| {
            let value = row.values.get(*place).and_then(Option::as_ref);
            value.map_or_else(|| ABSENT.to_owned(), |value| text(*place, value))
        });
        std::iter::once(label.to_owned())
            .chain(texts)
            .collect::<Vec<String>>()
    };
    let best = row.best();
    let arrow = match row.better {
        Better::Higher => " ↑",
        Better::Lower => " ↓",
        Better::Neither => "",
    };
    let short = match row.is_short {
        true => format!(" {SHORT}"),
        false => String::new(),
    };
    let label = format!("{}{arrow}{short}", row.label);
    let mut lines = vec![line(&label, &|place, value| {
        let mark = if best == Some(place) { "*" } else { "" };
        format!("{mark}{}", value.shown)
    })];
    let ratios = || row.values.iter().flatten().filter_map(|value| value.ratio);
    if ratios().count() > 0 {
        lines.push(line("ratio", &|_, value| {
            value
                .ratio
                .map_or_else(|| "1".to_owned(), |it| ratio(it.value))
        }));
    }
    if ratios().any(|ratio| ratio.certainty.is_some()) {
        lines.push(line("95 %", &|place, value| interval(row, place, value)));
    }
    lines
}

/// A ratio: two decimals, more where it is small and fewer where it is large.
pub(super) fn ratio(value: f64) -> String {
    if (0.095..10.0).contains(&value) {
        format!("{value:.2}")
    } else {
        digits(value)
    }
}

/// The interval of a ratio, with a mark where it is beside 1 as one of so many; nothing where the
/// ratio has none.
pub(super) fn interval(row: &Row, place: usize, value: &Value) -> String {
    let certainty = value.ratio.and_then(|ratio| ratio.certainty);
    certainty.map_or_else(String::new, |certainty| {
        let (low, high) = (certainty.ci95_low, certainty.ci95_high);
        let is_beside = low > 1.0 || high < 1.0;
        let mark = match is_beside && !row.differs_from_first(place) {
            true => MAYBE,
            false => "",
        };
        format!("{}-{}{mark}", ratio(low), ratio(high))
    })
}
