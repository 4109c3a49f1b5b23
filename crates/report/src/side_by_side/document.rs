//! The report of runs side by side.

use results::BetterDirection;

use super::of_record::REPEAT;
use super::rows::{ColumnValue, FigureRow, interval, ratio};
use super::{SHORT_MARK, SideBySide, WorkloadSection, drawn};
use crate::VerdictPosition;
use crate::document::{Block, Document, DocumentPart, ReportMedium, TextLine};
use crate::html::again;
use crate::numbers::ABSENT;
use crate::styled::Style;
use crate::table::{Column, Table};
use crate::wrap::printable;

/// Returns the report of a table with verdicts. The position is for the summary of a text; in
/// other media, it comes first.
pub(super) fn document(
    side_by_side: &SideBySide,
    medium: ReportMedium,
    position: VerdictPosition,
) -> Document {
    let is_page = medium == ReportMedium::Page;
    let labeled = |(label, text): (&str, &str)| TextLine::labeled(label, text);
    let columns = side_by_side.columns.iter();
    let columns = columns.map(|(name, description)| labeled((name, description)));
    let columns = Block::list(columns);
    let foot = DocumentPart::new("", [Block::paragraphs(side_by_side.footnotes(is_page))]);
    let sections = side_by_side.sections.iter().enumerate();
    let sections = sections.map(|(index, section)| part(side_by_side, section, index, medium));
    let plot = DocumentPart::new("", [Block::Markup(drawn::ratios(side_by_side))]);
    let plot = is_page.then_some(plot).into_iter();
    let mut document = Document {
        title: side_by_side.title.clone(),
        head: Vec::new(),
        parts: plot.chain(sections).chain([foot]).collect(),
    };
    let answer = answer(side_by_side);
    match position.is_last_in(medium) {
        true => document.parts.push(DocumentPart::verdict(answer)),
        false => document.head.extend(answer),
    }
    document.head.extend(facts(side_by_side, is_page));
    if !is_page {
        document.head.push(columns);
        return document;
    }
    document.parts.extend([
        DocumentPart::new("File systems", [columns]).at("columns"),
        drawn::runs(side_by_side),
        again(&side_by_side.command),
    ]);
    document
}

/// Returns the summary, and what makes it doubtful.
fn answer(side_by_side: &SideBySide) -> [Block; 2] {
    let summary = side_by_side.summary();
    let cache = side_by_side.page_cache();
    let doubts = cache.into_iter().chain(side_by_side.warned());
    let doubts = doubts.map(|it| TextLine::styled(it, Style::Yellow));
    let alarms = side_by_side.failures.iter();
    let alarms = alarms.map(|it| TextLine::styled(it.as_str(), Style::Red));
    [
        Block::paragraphs(summary.map(|it| TextLine::styled(it, Style::Bold))),
        Block::list(doubts.chain(alarms)),
    ]
}

/// Returns facts about the measurement, and remarks.
fn facts(side_by_side: &SideBySide, is_page: bool) -> Vec<Block> {
    // On a page, the command has its own part.
    let facts = side_by_side.facts.iter();
    let facts = facts.filter(|(name, _)| !is_page || *name != REPEAT);
    vec![
        Block::list(facts.map(|(name, fact)| TextLine::labeled(*name, fact.as_str()))),
        Block::list(side_by_side.remarks.iter().map(String::as_str)),
    ]
}

fn part(
    side_by_side: &SideBySide,
    section: &WorkloadSection,
    index: usize,
    medium: ReportMedium,
) -> DocumentPart {
    let alarms = section.failures.iter();
    let alarms = alarms.map(|it| TextLine::styled(it.as_str(), Style::Red));
    let figures = match medium {
        ReportMedium::Page => Block::Markup(drawn::table(side_by_side, section, index)),
        ReportMedium::Terminal | ReportMedium::Markdown => {
            Block::Table(table(side_by_side, section))
        }
    };
    let blocks = [
        Block::paragraphs(alarms),
        Block::paragraphs(section.sentences().map(String::as_str)),
        figures,
    ];
    DocumentPart::new(section.heading.as_str(), blocks).at(format!("section-{index}"))
}

fn table(side_by_side: &SideBySide, section: &WorkloadSection) -> Table {
    let names = side_by_side.columns.iter().map(|(name, _)| printable(name));
    let columns = names.map(|name| Column::number(&name, 50));
    let count = side_by_side.columns.len();
    let rows = section.rows.iter().flat_map(|row| lines(row, count));
    Table {
        is_split: true,
        ..Table::new(std::iter::once(Column::name("")).chain(columns), rows)
    }
}

/// Returns the lines of a metric: values, ratios, and confidence intervals if there are any.
fn lines(row: &FigureRow, count: usize) -> Vec<Vec<String>> {
    let line = |label: &str, text: &dyn Fn(usize, &ColumnValue) -> String| {
        let texts = (0..count).map(|column| {
            let value = row.values.get(column).and_then(Option::as_ref);
            value.map_or_else(|| ABSENT.to_owned(), |value| text(column, value))
        });
        std::iter::once(label.to_owned())
            .chain(texts)
            .collect::<Vec<String>>()
    };
    let best = row.best();
    let arrow = match row.better {
        BetterDirection::Higher => " ↑",
        BetterDirection::Lower => " ↓",
        BetterDirection::Neither => "",
    };
    let short = match row.is_short {
        true => format!(" {SHORT_MARK}"),
        false => String::new(),
    };
    let label = format!("{}{arrow}{short}", row.label);
    let mut lines = vec![line(&label, &|column, value| {
        let mark = if best == Some(column) { "*" } else { "" };
        format!("{mark}{}", value.text)
    })];
    let ratios = || row.values.iter().flatten().filter_map(|value| value.ratio);
    if ratios().count() > 0 {
        lines.push(line("ratio", &|_, value| {
            value
                .ratio
                // Only the first column with a value has no ratio, because it is the reference.
                .map_or_else(|| "1".to_owned(), |it| ratio(it.value))
        }));
    }
    if ratios().any(|ratio| ratio.certainty.is_some()) {
        lines.push(line("95 %", &|column, value| interval(row, column, value)));
    }
    lines
}
