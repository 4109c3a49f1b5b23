//! The report of a run.

use super::{ClusterModel, Model};
use crate::VerdictPosition;
use crate::document::{Block, Document, DocumentPart, ReportMedium, TextLine};
use crate::styled::Style;
use crate::table::Table;
use crate::verdict::{RunVerdict, fit};

/// Returns the report of a run.
pub fn document(model: &Model, medium: ReportMedium, position: VerdictPosition) -> Document {
    let settings = [&model.environment, &model.settings].into_iter();
    let settings = settings.filter(|it| !it.is_empty());
    let outcome = model.outcome.iter();
    let outcome = outcome.map(|it| TextLine::styled(it.as_str(), Style::Red));
    // After a measurement, the user knows the command.
    let is_later = position == VerdictPosition::First && !model.command.is_empty();
    let command = is_later.then(|| TextLine::labeled("repeat", model.command.as_str()));
    let head = settings
        .map(|it| TextLine::from(it.as_str()))
        .chain(command)
        .chain(outcome);
    let tables = tables(model, medium, position).into_iter();
    let matrices = model.matrices.iter().map(|it| {
        let best = Block::paragraphs(it.best.as_deref());
        let blocks = [Block::Table(it.table.clone()), best];
        DocumentPart::new(medium.heading(&it.caption), blocks)
    });
    let cluster = model
        .cluster
        .iter()
        .flat_map(|cluster| cluster_parts(cluster, medium));
    let notes = DocumentPart::new(
        "",
        [Block::paragraphs(model.notes.iter().map(String::as_str))],
    );
    let warnings = [false, true].map(|is_note| warnings(model, is_note, medium));
    let rest = tables
        .chain(matrices)
        .chain(cluster)
        .chain([notes])
        .chain(warnings);
    let verdicts = match medium {
        ReportMedium::Terminal => fit::shortened(&model.verdicts),
        ReportMedium::Markdown | ReportMedium::Page => model.verdicts.clone(),
    };
    let verdicts = verdicts.iter().map(|it| verdict(it, medium));
    let verdicts: Vec<DocumentPart> = verdicts.collect();
    Document {
        title: model.title.clone(),
        head: vec![Block::list(head)],
        parts: match position {
            VerdictPosition::First => verdicts.into_iter().chain(rest).collect(),
            VerdictPosition::Last => rest.chain(verdicts).collect(),
        },
    }
}

/// Returns the tables below their headings. Means come before the single cells.
fn tables(model: &Model, medium: ReportMedium, position: VerdictPosition) -> Vec<DocumentPart> {
    let cells = match (model.is_means_only, position) {
        (true, _) => "measured once",
        // This table directly follows the settings.
        (false, VerdictPosition::Last) => "",
        (false, VerdictPosition::First) => "results",
    };
    let estimates = (
        "over repetitions, with 95 % confidence",
        model.estimates.as_ref(),
    );
    let mut tables: Vec<(&str, Option<&Table>)> = vec![
        (cells, Some(&model.cells)),
        (
            "by operation, over repetitions, with 95 % confidence",
            model.operation_estimates.as_ref(),
        ),
        ("by operation", model.operations.as_ref()),
        (
            "response times, from when requests were due",
            model.open_loop.as_ref(),
        ),
        ("replay of the trace", model.replays.as_ref()),
        (
            "response-time curve: its area over the highest rate (measured points only)",
            model.curves.as_ref(),
        ),
        ("as the classic program counts", model.classic.as_ref()),
        ("processor and device", model.usage.as_ref()),
        ("rounds until steady", model.steady.as_ref()),
        (
            "within the run, with 95 % confidence",
            model.within.as_ref(),
        ),
    ];
    let index = if model.is_means_only { 0 } else { tables.len() };
    tables.insert(index, estimates);
    let shown = tables.into_iter();
    let shown = shown.filter_map(|(heading, table)| Some((heading, table?)));
    let shown = shown.filter(|(_, table)| !table.rows.is_empty());
    let part = |(heading, table): (&str, &Table)| {
        DocumentPart::new(medium.heading(heading), [Block::Table(table.clone())])
    };
    shown.map(part).collect()
}

fn cluster_parts(cluster: &ClusterModel, medium: ReportMedium) -> Vec<DocumentPart> {
    let table_parts = cluster.tables().map(|(heading, table)| {
        DocumentPart::new(medium.heading(heading), [Block::Table(table.clone())])
    });
    let parts = cluster.parts.iter().map(|part| {
        let tables = part.tables.iter().cloned().map(Block::Table);
        let sentences = Block::paragraphs(part.sentences.iter().map(String::as_str));
        DocumentPart::new(medium.heading(&part.heading), tables.chain([sentences]))
    });
    table_parts.chain(parts).collect()
}

/// Returns the warnings, or the notes.
fn warnings(model: &Model, is_note: bool, medium: ReportMedium) -> DocumentPart {
    let (level, heading) = match is_note {
        true => ("note", "Notes"),
        false => ("warning", "Warnings"),
    };
    let own = model.warnings.iter().filter(|it| it.is_note == is_note);
    let lines = own.map(|warning| {
        // A backtick would end the code span early.
        let code = warning.code.replace('`', "");
        let style = match (warning.is_severe, is_note) {
            (true, _) => Some(Style::Red),
            (false, true) => None,
            (false, false) => Some(Style::Yellow),
        };
        let (label, text) = match medium {
            ReportMedium::Terminal => (level.to_owned(), format!("{} [{code}]", warning.message)),
            _ => (format!("`{code}`"), warning.message.clone()),
        };
        TextLine { label, text, style }
    });
    let lines: Vec<TextLine> = lines.collect();
    // In a terminal, each line begins with `warning` or `note`.
    let has_heading = medium != ReportMedium::Terminal && !lines.is_empty();
    DocumentPart::new(if has_heading { heading } else { "" }, [Block::List(lines)])
}

/// Returns a verdict with its sentences.
fn verdict(verdict: &RunVerdict, medium: ReportMedium) -> DocumentPart {
    let heading = match &verdict.subject {
        Some(of) => format!("verdict on {of}"),
        None => "verdict".to_owned(),
    };
    let sentences = verdict.sentences.iter();
    let sentences = sentences.map(|(name, text)| TextLine::labeled(*name, text.as_str()));
    let blocks = [
        Block::Table(verdict.table()),
        Block::paragraphs(verdict.more()),
        Block::list(sentences),
    ];
    DocumentPart::new(medium.heading(&heading), blocks)
}
