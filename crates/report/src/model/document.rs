//! The document of a run.

use super::{CrewModel, Model};
use crate::document::{Block, Document, Line, Medium, Part};
use crate::styled::Style;
use crate::table::Table;
use crate::verdict::Verdict;

/// The document of a run. A terminal shows its end, so the verdicts stand last there, and first
/// elsewhere.
pub fn document(model: &Model, medium: Medium) -> Document {
    let settings = [&model.environment, &model.settings].into_iter();
    let settings = settings.filter(|it| !it.is_empty());
    let outcome = model.outcome.iter();
    let outcome = outcome.map(|it| Line::styled(it.as_str(), Style::Red));
    let head = settings.map(|it| Line::from(it.as_str())).chain(outcome);
    let tables = tables(model, medium).into_iter();
    let crew = model.crew.iter().flat_map(|crew| crew_parts(crew, medium));
    let notes = Part::new(
        "",
        [Block::paragraphs(model.notes.iter().map(String::as_str))],
    );
    let warnings = [false, true].map(|is_note| warnings(model, is_note, medium));
    let rest = tables.chain(crew).chain([notes]).chain(warnings);
    let verdicts = model.verdicts.iter().map(|it| verdict(it, medium));
    Document {
        title: model.title.clone(),
        head: vec![Block::list(head)],
        parts: match medium {
            Medium::Terminal => rest.chain(verdicts).collect(),
            Medium::Markdown | Medium::Page => verdicts.chain(rest).collect(),
        },
    }
}

/// The tables below their headings; means before the cells that they are of.
fn tables(model: &Model, medium: Medium) -> Vec<Part> {
    let cells = match (model.is_of_means, medium) {
        (true, _) => "measured once",
        // A terminal shows them right below the settings.
        (false, Medium::Terminal) => "",
        (false, Medium::Markdown | Medium::Page) => "results",
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
    let place = if model.is_of_means { 0 } else { tables.len() };
    tables.insert(place, estimates);
    let known = tables.into_iter();
    let known = known.filter_map(|(heading, table)| Some((heading, table?)));
    let known = known.filter(|(_, table)| !table.rows.is_empty());
    let part = |(heading, table): (&str, &Table)| {
        Part::new(medium.heading(heading), [Block::Table(table.clone())])
    };
    known.map(part).collect()
}

fn crew_parts(crew: &CrewModel, medium: Medium) -> Vec<Part> {
    let whole = crew
        .tables()
        .map(|(heading, table)| Part::new(medium.heading(heading), [Block::Table(table.clone())]));
    let parts = crew.parts.iter().map(|part| {
        let tables = part.tables.iter().cloned().map(Block::Table);
        let sentences = Block::paragraphs(part.sentences.iter().map(String::as_str));
        Part::new(medium.heading(&part.heading), tables.chain([sentences]))
    });
    whole.chain(parts).collect()
}

/// The warnings, or the notes.
fn warnings(model: &Model, is_note: bool, medium: Medium) -> Part {
    let (level, heading) = match is_note {
        true => ("note", "Notes"),
        false => ("warning", "Warnings"),
    };
    let own = model.warnings.iter().filter(|it| it.is_note == is_note);
    let lines = own.map(|warning| {
        let code = warning.code.replace('`', "");
        let style = match (warning.severe, is_note) {
            (true, _) => Some(Style::Red),
            (false, true) => None,
            (false, false) => Some(Style::Yellow),
        };
        let (label, text) = match medium {
            Medium::Terminal => (level.to_owned(), format!("{} [{code}]", warning.message)),
            _ => (format!("`{code}`"), warning.message.clone()),
        };
        Line { label, text, style }
    });
    let lines: Vec<Line> = lines.collect();
    let has_heading = medium != Medium::Terminal && !lines.is_empty();
    Part::new(if has_heading { heading } else { "" }, [Block::List(lines)])
}

/// What the figures say.
fn verdict(verdict: &Verdict, medium: Medium) -> Part {
    let heading = match &verdict.of {
        Some(of) => format!("verdict on {of}"),
        None => "verdict".to_owned(),
    };
    let sentences = verdict.sentences.iter();
    let sentences = sentences.map(|(name, text)| Line::labeled(*name, text.as_str()));
    let blocks = [Block::Table(verdict.table()), Block::list(sentences)];
    Part::new(medium.heading(&heading), blocks)
}
