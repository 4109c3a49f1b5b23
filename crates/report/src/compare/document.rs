//! The report of a comparison.

use ::compare::{CellComparison, Comparison, Difference};
use maud::Markup;

use super::summary::summary;
use super::tables::{self, ComparedRow};
use super::{forest, sentences};
use crate::VerdictPosition;
use crate::document::{Block, Document, DocumentPart, ReportMedium, TextLine};
use crate::numbers::LatencyUnit;
use crate::styled::Style;
use crate::table::{Column, Table};
use crate::wrap::printable;

/// Maximum number of differences listed per kind.
const DIFFERENCES_MAX: usize = 20;

/// A cell of the first side, with its entry in each comparison.
type AlignedCells<'a> = Vec<Option<&'a CellComparison>>;

/// Returns the report of comparisons requested by the user. The position is for the summary of a
/// text; in other media, it comes first.
pub(crate) fn document(
    comparisons: &[Comparison],
    medium: ReportMedium,
    position: VerdictPosition,
) -> Document {
    let sides = sentences::sides(comparisons);
    let because = |unlike| format!("{unlike}; they are compared because of `--force`");
    let unlike = sentences::different_sides(comparisons)
        .into_iter()
        .map(because);
    let alarms = sentences::alarms(comparisons).into_iter().chain(unlike);
    let sides = sides
        .into_iter()
        .map(|(letter, side)| TextLine::labeled(letter, side));
    let sides = Block::list(sides);
    let alarms = Block::list(alarms.map(|it| TextLine::styled(it, Style::Red)));
    let mut parts = parts(comparisons, medium);
    if position.is_last_in(medium) {
        let summary = Block::paragraphs([title(comparisons)]);
        parts.push(DocumentPart::verdict([summary, alarms]));
        return Document {
            title: "comparison".to_owned(),
            head: vec![sides],
            parts,
        };
    }
    // The first clause is the answer; the others say how sure it is.
    let title = title(comparisons);
    let (answer, rest) = title.split_once("; ").unwrap_or((&title, ""));
    let rest = (!rest.is_empty()).then(|| TextLine::styled(medium.heading(rest), Style::Bold));
    Document {
        title: medium.heading(answer),
        head: vec![
            Block::paragraphs(rest),
            sides,
            alarms,
            plot(comparisons, medium),
        ],
        parts,
    }
}

/// Returns the comparisons for a page of runs, which already lists the runs.
pub(crate) fn document_for_run_page(comparisons: &[Comparison]) -> Document {
    let unlike = sentences::different_sides(comparisons);
    let alarms = sentences::alarms(comparisons).into_iter().chain(unlike);
    Document {
        title: title(comparisons),
        head: vec![
            Block::list(alarms.map(|it| TextLine::styled(it, Style::Red))),
            plot(comparisons, ReportMedium::Page),
        ],
        parts: parts(comparisons, ReportMedium::Page),
    }
}

fn title(comparisons: &[Comparison]) -> String {
    summary(comparisons).unwrap_or_else(|| "nothing is compared".to_owned())
}

/// Returns the forest plot, which only pages have.
fn plot(comparisons: &[Comparison], medium: ReportMedium) -> Block {
    let unit = sentences::latency_unit(comparisons);
    let plot = || forest::plot(&align_cells(comparisons), unit);
    let is_page = medium == ReportMedium::Page;
    Block::Markup(if is_page { plot() } else { Markup::default() })
}

/// Returns the differences, then the cells, then notes on reading the tables.
fn parts(comparisons: &[Comparison], medium: ReportMedium) -> Vec<DocumentPart> {
    let unit = sentences::latency_unit(comparisons);
    let names_targets = comparisons.iter().any(sentences::has_several_targets);
    let aligned = align_cells(comparisons);
    let cells = aligned.iter().map(|cell| part(cell, unit, names_targets));
    let notes = DocumentPart::new("", [Block::paragraphs(sentences::notes(comparisons))]);
    let chapter = |heading: &str, id: &str| {
        let chapter = DocumentPart::new(heading, []).at(id);
        // A terminal has no navigation, and the headings of the sections are enough for reading.
        (medium != ReportMedium::Terminal).then_some(chapter)
    };
    let differences = chapter("What differs", "differences").into_iter();
    let differences = differences.chain(differences_of(comparisons, medium));
    let cells = chapter("Compared", "compared").into_iter().chain(cells);
    differences.chain(cells).chain([notes]).collect()
}

/// Returns the differences in plan and environment, for each comparison.
fn differences_of(comparisons: &[Comparison], medium: ReportMedium) -> Vec<DocumentPart> {
    let mut parts = Vec::new();
    for (comparison, letter) in comparisons.iter().zip(sentences::other_letters()) {
        let of = match comparisons.len() {
            1 => String::new(),
            _ => format!(" in A and {letter}"),
        };
        let kinds = [
            ("different configuration", &comparison.plan_differences),
            (
                "machine, system and program",
                &comparison.environment_differences,
            ),
        ];
        let is_known = comparison.a.origins.is_empty() && comparison.b.origins.is_empty();
        if kinds.iter().all(|(_, found)| found.is_empty()) {
            let none = match is_known {
                true => format!("no difference{of} of plan, machine, system or program"),
                false => format!("no known difference{of}: a source states little of them"),
            };
            parts.push(DocumentPart::section(medium.heading(&none), []));
        }
        for (kind, found) in kinds.iter().filter(|(_, found)| !found.is_empty()) {
            let heading = medium.heading(&format!("{kind}{of}"));
            parts.push(DocumentPart::section(heading, differing(found, &letter)));
        }
    }
    parts
}

fn differing(differences: &[Difference], letter: &str) -> [Block; 2] {
    let side = |value: &Option<String>| match value {
        Some(value) => printable(value),
        None => "-".to_owned(),
    };
    let rows = differences.iter().take(DIFFERENCES_MAX).map(|difference| {
        vec![
            printable(&sentences::difference(&difference.what)),
            side(&difference.a),
            side(&difference.b),
        ]
    });
    let left = differences.len().saturating_sub(DIFFERENCES_MAX);
    let more = (left > 0)
        .then(|| format!("the first {DIFFERENCES_MAX} of them; `--format json` has {left} more"));
    let columns = ["what", "A", letter].map(Column::name);
    [
        Block::paragraphs(more),
        Block::Table(Table::new(columns, rows)),
    ]
}

/// Returns the cells of the first side in order, each with its entry in every comparison.
fn align_cells(comparisons: &[Comparison]) -> Vec<AlignedCells<'_>> {
    let mut cells: Vec<AlignedCells> = Vec::new();
    for (comparison_index, comparison) in comparisons.iter().enumerate() {
        for cell in &comparison.cells {
            let known = cells.iter_mut().find(|known| {
                // Cells with equal names are matched in order: an occupied entry belongs to an
                // earlier cell.
                known[comparison_index].is_none()
                    && known.iter().flatten().all(|other| is_same(other, cell))
            });
            match known {
                Some(known) => known[comparison_index] = Some(cell),
                None => {
                    let mut new = vec![None; comparisons.len()];
                    new[comparison_index] = Some(cell);
                    cells.push(new);
                }
            }
        }
    }
    cells
}

/// Returns `true` if both compare the same cell of the first side.
fn is_same(one: &CellComparison, other: &CellComparison) -> bool {
    one.name == other.name && one.target_a == other.target_a
}

fn part(cell: &AlignedCells, unit: LatencyUnit, names_targets: bool) -> DocumentPart {
    let first = cell.iter().flatten().next();
    let heading = first.map_or_else(String::new, |cell| sentences::cell_heading(&cell.name));
    let rows = ComparedRow::of(cell, unit);
    let letters = sentences::other_letters();
    let sides: Vec<(String, &CellComparison)> = letters
        .zip(cell)
        .filter_map(|(letter, cell)| Some((letter, (*cell)?)))
        .collect();
    let others = sides.iter().filter_map(|(letter, cell)| {
        let name = cell.name_b.as_ref()?;
        Some(format!("{letter}: {}", sentences::cell_heading(name)))
    });
    let targets = names_targets.then(|| sentences::targets(&sides));
    let errors = sentences::errors(&sides);
    let table = match cell.len() {
        1 => tables::for_two_sides(&rows),
        _ => tables::for_several_sides(&rows),
    };
    let blocks = [
        Block::paragraphs(others.chain(targets)),
        Block::paragraphs(errors.map(|it| TextLine::styled(it, Style::Red))),
        Block::Table(table),
    ];
    DocumentPart::section(heading, blocks)
}
