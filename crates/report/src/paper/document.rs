//! The report of an experiment: the rank of this machine, the tables and the runs.

use results::RunRecord;

use super::board::{Ranking, boards, doubts, is_incomparable, standings};
use super::charts::charts;
use super::{HARDWARE, PaperSide, PaperTable, TitledTable};
use crate::document::{Block, Document, DocumentPart, ReportMedium, TextLine};
use crate::html::again;
use crate::model;
use crate::run_page::{RunGroup, opened};
use crate::styled::Style;
use crate::table::{Column, Table};
use crate::wrap::printable;

/// Returns the report of an experiment with these tables.
pub(super) fn document(
    table: &PaperTable,
    tables: Vec<TitledTable>,
    medium: ReportMedium,
) -> Document {
    let boards = boards(table);
    let (title, source) = match table.heading.as_slice() {
        [title, source @ ..] => (title.as_str(), source),
        [] => (table.paper.name, [].as_slice()),
    };
    let tables = tables.into_iter().enumerate();
    let tables = tables.map(|(index, (heading, table))| {
        DocumentPart::new(heading, [Block::Table(table)]).at(format!("table-{index}"))
    });
    let mut document = Document {
        title: title.to_owned(),
        head: head(table, source, &boards),
        parts: tables.chain([published_part(table)]).collect(),
    };
    if medium == ReportMedium::Page {
        let charts = [Block::Markup(charts(&boards, &doubted(table)))];
        let charts = DocumentPart::new("Charts: this machine among the published systems", charts);
        let charts = charts.at("charts");
        let charts = (!boards.is_empty()).then_some(charts);
        document.parts.splice(0..0, charts);
        document.parts.extend(runs(table));
        document.parts.push(again(command(table)));
    }
    document
}

/// Returns the source, the rank of this machine, and reasons against a comparison.
fn head(table: &PaperTable, source: &[String], boards: &[Ranking]) -> Vec<Block> {
    let standings = standings(table, boards).into_iter();
    let alarms = table.failures.iter();
    let alarms = alarms.map(|it| TextLine::styled(it.as_str(), Style::Red));
    let doubts = doubts(table).into_iter();
    let doubts = doubts.map(|it| TextLine::styled(it, Style::Yellow));
    vec![
        Block::paragraphs(source.iter().map(String::as_str)),
        Block::paragraphs(standings.map(|it| TextLine::styled(it, Style::Bold))),
        Block::list(alarms.chain(doubts)),
        Block::list(facts(table)),
        Block::list(table.remarks.iter().map(String::as_str)),
    ]
}

/// Returns time, machine and program; empty without runs.
fn facts(table: &PaperTable) -> Vec<TextLine> {
    let Some(first) = first(table) else {
        return Vec::new();
    };
    let when = first.started_at.strftime("%Y-%m-%d %H:%M:%S UTC");
    let by = format!("pgmeter {}", printable(&first.pgmeter.version));
    vec![
        TextLine::labeled("System", model::host_and_machine(&first.environment)),
        TextLine::labeled("When", when.to_string()),
        TextLine::labeled("By", by),
    ]
}

/// Describes the published results and their systems.
fn published_part(table: &PaperTable) -> DocumentPart {
    let hardware = table.paper.published.is_some() && !table.sides.is_empty();
    let sentences = [format!("Full size: {}.", table.paper.size)]
        .into_iter()
        .chain(hardware.then(|| HARDWARE.to_owned()))
        .chain([table.paper.remark.to_owned()]);
    let known = table.paper.systems().into_iter();
    let rows = known.filter(|it| !it.what.is_empty());
    let rows = rows.map(|it| vec![it.system, it.year, it.what]);
    let heads = ["system", "published", "description, if known"];
    let systems = Table::new(heads.map(Column::name), rows);
    let blocks = [Block::paragraphs(sentences), Block::Table(systems)];
    DocumentPart::new("The published results", blocks).at("about")
}

/// Returns the runs, each of which can be opened.
fn runs(table: &PaperTable) -> Option<DocumentPart> {
    let runs = table.sides.iter().flat_map(|side| side.records);
    let runs: Vec<RunRecord> = runs.cloned().collect();
    let mut next = 0;
    let group = |(index, side): (usize, &PaperSide)| {
        let first = next;
        next += side.records.len();
        RunGroup {
            id: format!("runs-0-{index}"),
            name: format!("{} on {}", table.paper.name, side.name),
            runs: (first..next).collect(),
        }
    };
    let groups: Vec<RunGroup> = table.sides.iter().enumerate().map(group).collect();
    let opened = || [Block::Markup(opened(&runs, &groups))];
    (!runs.is_empty()).then(|| DocumentPart::new("Runs", opened()).at("runs"))
}

fn first<'a>(table: &'a PaperTable) -> Option<&'a RunRecord> {
    table.sides.iter().flat_map(|side| side.records).next()
}

/// Returns the command line; empty in guests, because the user did not enter their commands.
fn command<'a>(table: &'a PaperTable) -> &'a [String] {
    let first = first(table).filter(|_| !table.is_of_guests);
    first.map_or(&[], |record| &record.command)
}

/// Marks the sides that are not comparable with the published systems.
fn doubted(table: &PaperTable) -> Vec<bool> {
    let sides = table.sides.iter();
    let is_doubted = |side| table.paper.published.is_some() && is_incomparable(table, side);
    sides.map(is_doubted).collect()
}
