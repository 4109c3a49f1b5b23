//! The document of runs side by side.

use results::Better;

use super::of_record::REPEAT;
use super::rows::{Row, Value, interval, ratio};
use super::{SHORT, Section, SideBySide, drawn};
use crate::document::{Block, Document, Line, Medium, Part};
use crate::html::again;
use crate::numbers::ABSENT;
use crate::styled::Style;
use crate::table::{Column, Table};
use crate::wrap::printable;

/// The document, of a judged table.
pub(super) fn document(side_by_side: &SideBySide, medium: Medium) -> Document {
    let is_page = medium == Medium::Page;
    let labeled = |(label, text): (&str, &str)| Line::labeled(label, text);
    let columns = side_by_side.columns.iter();
    let columns = columns.map(|(name, behind)| labeled((name, behind)));
    let columns = Block::list(columns);
    let foot = Part::new("", [Block::paragraphs(side_by_side.foot(is_page))]);
    let sections = side_by_side.sections.iter().enumerate();
    let sections = sections.map(|(place, section)| part(side_by_side, section, place, medium));
    let mut document = Document {
        title: side_by_side.title.clone(),
        head: head(side_by_side, is_page),
        parts: sections.chain([foot]).collect(),
    };
    if !is_page {
        document.head.push(columns);
        return document;
    }
    document.parts.extend([
        Part::new("File systems", [columns]).at("columns"),
        drawn::runs(side_by_side),
        again(&side_by_side.command),
    ]);
    document
}

/// What came out, what speaks against it, and what was measured on what.
fn head(side_by_side: &SideBySide, is_page: bool) -> Vec<Block> {
    let summary = side_by_side.summary();
    let cache = side_by_side.page_cache();
    let cache = cache.map(|it| Line::styled(it, Style::Yellow));
    let alarms = side_by_side.alarms.iter();
    let alarms = alarms.map(|it| Line::styled(it.as_str(), Style::Red));
    // A page has the command in a part of its own.
    let facts = side_by_side.facts.iter();
    let facts = facts.filter(|(name, _)| !is_page || *name != REPEAT);
    vec![
        Block::paragraphs(summary.map(|it| Line::styled(it, Style::Bold))),
        Block::list(cache.into_iter().chain(alarms)),
        Block::list(facts.map(|(name, fact)| Line::labeled(*name, fact.as_str()))),
        Block::list(side_by_side.remarks.iter().map(String::as_str)),
    ]
}

fn part(side_by_side: &SideBySide, section: &Section, place: usize, medium: Medium) -> Part {
    let alarms = section.alarms.iter();
    let alarms = alarms.map(|it| Line::styled(it.as_str(), Style::Red));
    let figures = match medium {
        Medium::Page => Block::Drawn(drawn::table(side_by_side, section, place)),
        Medium::Terminal | Medium::Markdown => Block::Table(table(side_by_side, section)),
    };
    let blocks = [
        Block::paragraphs(alarms),
        Block::paragraphs(section.sentences().map(String::as_str)),
        figures,
    ];
    Part::new(section.heading.as_str(), blocks).at(format!("section-{place}"))
}

fn table(side_by_side: &SideBySide, section: &Section) -> Table {
    let names = side_by_side.columns.iter().map(|(name, _)| printable(name));
    let columns = names.map(|name| Column::number(&name, 50));
    let count = side_by_side.columns.len();
    let rows = section.rows.iter().flat_map(|row| lines(row, count));
    Table {
        is_split: true,
        ..Table::new(std::iter::once(Column::name("")).chain(columns), rows)
    }
}

/// A figure in lines: values, ratios, and their intervals where there are any.
fn lines(row: &Row, count: usize) -> Vec<Vec<String>> {
    let line = |label: &str, text: &dyn Fn(usize, &Value) -> String| {
        let texts = (0..count).map(|place| {
            let value = row.values.get(place).and_then(Option::as_ref);
            value.map_or_else(|| ABSENT.to_owned(), |value| text(place, value))
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
