//! A report as plain text.

use crate::model::CrewModel;
use crate::page::Page;
use crate::styled::{Lines, Styled};
use crate::table::Table;
use crate::verdict::Verdict;
use crate::wrap::wrap;
use crate::{Model, ModelWarning};

/// The report on a page of its width, with a final line break.
pub fn render(model: &Model, page: Page) -> Styled {
    let width = page.width.max(20);
    let mut lines = Lines::default();
    lines.extend(wrap(&model.title, width).iter().map(|line| page.bold(line)));
    for sentence in [&model.environment, &model.settings] {
        lines.extend(
            wrap(sentence, width)
                .into_iter()
                .filter(|line| !line.is_empty()),
        );
    }
    if let Some(outcome) = &model.outcome {
        lines.extend(wrap(outcome, width).iter().map(|line| page.red(line)));
    }
    for (heading, table) in sections(model) {
        lines.push("");
        lines.extend(heading.map(|heading| page.bold(heading)));
        push_table(&mut lines, table, page, width);
    }
    if let Some(crew) = &model.crew {
        push_crew(&mut lines, crew, page, width);
    }
    if !model.notes.is_empty() {
        lines.push("");
    }
    for note in &model.notes {
        lines.extend(wrap(note, width));
    }
    push_warnings(&mut lines, &model.warnings, page, width);
    for verdict in &model.verdicts {
        push_verdict(&mut lines, verdict, page, width);
    }
    lines.push("");
    lines.into_text()
}

/// The tables with what stands above them; means before what they are of.
fn sections(model: &Model) -> Vec<(Option<&'static str>, &Table)> {
    let estimates = (
        Some("over repetitions, with 95 % confidence"),
        model.estimates.as_ref(),
    );
    let of_means = |section| {
        if model.is_of_means {
            section
        } else {
            (None, None)
        }
    };
    let once = if model.is_of_means {
        Some("measured once")
    } else {
        None
    };
    let sections = [
        of_means(estimates),
        (once, Some(&model.cells)),
        of_means((
            Some("by operation, over repetitions, with 95 % confidence"),
            model.operation_estimates.as_ref(),
        )),
        (Some("by operation"), model.operations.as_ref()),
        (
            Some("response times, from when requests were due"),
            model.open_loop.as_ref(),
        ),
        (
            Some("response-time curve: its area over the highest rate (measured points only)"),
            model.curves.as_ref(),
        ),
        (
            Some("as the classic program counts"),
            model.classic.as_ref(),
        ),
        (Some("processor and device"), model.usage.as_ref()),
        (Some("rounds until steady"), model.steady.as_ref()),
        (
            Some("within the run, with 95 % confidence"),
            model.within.as_ref(),
        ),
        if model.is_of_means {
            (None, None)
        } else {
            estimates
        },
    ];
    let known = sections.into_iter();
    let known = known.filter_map(|(heading, table)| Some((heading, table?)));
    known.filter(|(_, table)| !table.rows.is_empty()).collect()
}

/// What the figures say, last, so that it is what a terminal shows.
fn push_verdict(lines: &mut Lines, verdict: &Verdict, page: Page, width: usize) {
    const INDENT: &str = "  ";
    lines.push("");
    let heading = match &verdict.of {
        Some(of) => format!("verdict on {of}"),
        None => "verdict".to_owned(),
    };
    lines.extend(wrap(&heading, width).iter().map(|line| page.bold(line)));
    if !verdict.figures.is_empty() {
        lines.extend(verdict.table().lines(width).body);
    }
    for (name, text) in &verdict.sentences {
        let pieces = wrap(&format!("{name}: {text}"), width - INDENT.len());
        for (index, piece) in pieces.iter().enumerate() {
            let indent = if index == 0 { "" } else { INDENT };
            lines.push(Styled::from(indent).then(piece.as_str()));
        }
    }
}

fn push_crew(lines: &mut Lines, crew: &CrewModel, page: Page, width: usize) {
    for (heading, table) in crew.tables() {
        lines.push("");
        lines.push(page.bold(heading));
        push_table(lines, table, page, width);
    }
    for part in &crew.parts {
        lines.push("");
        let heading = wrap(&part.heading, width);
        lines.extend(heading.iter().map(|line| page.bold(line)));
        for table in &part.tables {
            push_table(lines, table, page, width);
        }
        for sentence in &part.sentences {
            lines.extend(wrap(sentence, width));
        }
    }
}

fn push_table(lines: &mut Lines, table: &Table, page: Page, width: usize) {
    let table = table.lines(width);
    lines.extend(table.head.iter().map(|line| page.bold(line)));
    lines.extend(table.body);
}

fn push_warnings(lines: &mut Lines, warnings: &[ModelWarning], page: Page, width: usize) {
    const INDENT: &str = "  ";
    for (place, warning) in warnings.iter().enumerate() {
        let is_first_of_level = place == 0 || warnings[place - 1].is_note != warning.is_note;
        if is_first_of_level {
            lines.push("");
        }
        let level = if warning.is_note { "note" } else { "warning" };
        let text = format!("{level}: {} [{}]", warning.message, warning.code);
        let pieces = wrap(&text, width - INDENT.len());
        for (index, piece) in pieces.iter().enumerate() {
            let indent = if index == 0 { "" } else { INDENT };
            let piece = match warning {
                it if it.severe => page.red(piece),
                it if it.is_note => piece.as_str().into(),
                _ => page.yellow(piece),
            };
            lines.push(Styled::from(indent).then(piece));
        }
    }
}
