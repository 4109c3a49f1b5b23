//! What the report of a comparison says.

use ::compare::{CellComparison, Comparison, Difference};

use super::sentences;
use super::summary::summary;
use super::tables::{self, Row};
use crate::numbers::LatencyUnit;
use crate::table::{Column, Table};
use crate::wrap::printable;

/// So many differences of one kind are told.
const DIFFERENCES_MAX: usize = 20;

/// What a comparison says, in whichever form it is written.
#[derive(Debug)]
pub(super) struct Model {
    /// What came out, in one sentence.
    pub title: String,
    /// One line for each side.
    pub sides: Vec<String>,
    /// Reasons to doubt the whole.
    pub alarms: Vec<String>,
    /// Which sides measure other things than the first.
    pub unlike: Vec<String>,
    /// What differs.
    pub differences: Vec<Section>,
    /// The cells.
    pub cells: Vec<Section>,
    /// How to read the tables.
    pub notes: Vec<String>,
}

/// A table with what is said above it.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub heading: String,
    pub remarks: Vec<String>,
    /// What failed.
    pub alarms: Vec<String>,
    /// None where it has no rows.
    pub table: Table,
    /// Whether the last column is a verdict.
    pub is_judged: bool,
}

/// A cell of the first side with what each comparison says of it.
type Aligned<'a> = Vec<Option<&'a CellComparison>>;

impl Model {
    /// The alarms of a comparison that was asked for by name.
    pub fn alarms_of_command(&self) -> impl Iterator<Item = String> {
        let because = |unlike: &String| format!("{unlike}; they are compared because of `--force`");
        let unlike = self.unlike.iter().map(because);
        self.alarms.iter().cloned().chain(unlike)
    }

    /// What differs, then the cells.
    pub fn sections(&self) -> impl Iterator<Item = &Section> {
        self.differences.iter().chain(&self.cells)
    }

    pub fn new(comparisons: &[Comparison]) -> Self {
        let unit = sentences::latency_unit(comparisons);
        let cells = aligned(comparisons);
        let names_targets = comparisons.iter().any(sentences::has_several_targets);
        let cells = cells.iter().map(|cell| section(cell, unit, names_targets));
        Self {
            title: summary(comparisons).unwrap_or_else(|| "nothing is compared".to_owned()),
            sides: sentences::sides(comparisons),
            alarms: sentences::alarms(comparisons),
            unlike: sentences::unlike(comparisons),
            differences: differences(comparisons),
            cells: cells.collect(),
            notes: sentences::notes(comparisons),
        }
    }
}

/// What was planned otherwise and what is otherwise about the machine, for each comparison.
fn differences(comparisons: &[Comparison]) -> Vec<Section> {
    let mut sections = Vec::new();
    for (comparison, letter) in comparisons.iter().zip(sentences::other_letters()) {
        let of = match comparisons.len() {
            1 => String::new(),
            _ => format!(" in A and {letter}"),
        };
        let kinds = [
            ("planned otherwise", &comparison.plan_differences),
            (
                "machine, system and program",
                &comparison.environment_differences,
            ),
        ];
        if kinds.iter().all(|(_, found)| found.is_empty()) {
            sections.push(Section {
                heading: format!("no difference{of} of plan, machine, system or program"),
                ..Section::default()
            });
        }
        for (kind, found) in kinds.iter().filter(|(_, found)| !found.is_empty()) {
            sections.push(differing(format!("{kind}{of}"), found, &letter));
        }
    }
    sections
}

fn differing(heading: String, found: &[Difference], letter: &str) -> Section {
    let side = |value: &Option<String>| match value {
        Some(value) => printable(value),
        None => "-".to_owned(),
    };
    let rows = found.iter().take(DIFFERENCES_MAX).map(|difference| {
        vec![
            printable(&sentences::difference(&difference.what)),
            side(&difference.a),
            side(&difference.b),
        ]
    });
    let left = found.len().saturating_sub(DIFFERENCES_MAX);
    let more = (left > 0)
        .then(|| format!("the first {DIFFERENCES_MAX} of them; `--format json` has {left} more"));
    Section {
        heading,
        remarks: more.into_iter().collect(),
        table: Table {
            columns: ["what", "A", letter].map(Column::name).into(),
            rows: rows.collect(),
            span: None,
        },
        ..Section::default()
    }
}

/// The cells of the first side, in its order, each with its place in every comparison.
fn aligned(comparisons: &[Comparison]) -> Vec<Aligned<'_>> {
    let mut cells: Vec<Aligned> = Vec::new();
    for (place, comparison) in comparisons.iter().enumerate() {
        for cell in &comparison.cells {
            let known = cells.iter_mut().find(|known| {
                known[place].is_none() && known.iter().flatten().all(|other| is_same(other, cell))
            });
            match known {
                Some(known) => known[place] = Some(cell),
                None => {
                    let mut new = vec![None; comparisons.len()];
                    new[place] = Some(cell);
                    cells.push(new);
                }
            }
        }
    }
    cells
}

/// Whether both speak of the same cell of the first side.
fn is_same(one: &CellComparison, other: &CellComparison) -> bool {
    one.name == other.name && one.target_a == other.target_a
}

fn section(cell: &Aligned, unit: LatencyUnit, names_targets: bool) -> Section {
    let first = cell.iter().flatten().next();
    let heading = first.map_or_else(String::new, |cell| sentences::cell_heading(&cell.name));
    let rows = Row::of(cell, unit);
    let letters = sentences::other_letters();
    let sides: Vec<(String, &CellComparison)> = letters
        .zip(cell)
        .filter_map(|(letter, cell)| Some((letter, (*cell)?)))
        .collect();
    let mut remarks: Vec<String> = sides
        .iter()
        .filter_map(|(letter, cell)| {
            let name = cell.name_b.as_ref()?;
            Some(format!("{letter}: {}", sentences::cell_heading(name)))
        })
        .collect();
    if names_targets {
        remarks.push(sentences::targets(&sides));
    }
    Section {
        heading,
        remarks,
        alarms: sentences::errors(&sides).into_iter().collect(),
        table: match cell.len() {
            1 => tables::of_two(&rows),
            _ => tables::of_several(&rows),
        },
        is_judged: true,
    }
}
